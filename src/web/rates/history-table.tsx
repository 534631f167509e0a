import { useEffect, useState } from 'preact/hooks'
import { Scroller } from '../parts/scroller.tsx'
import { formats, texts } from '../parts/view.ts'
import type { Loaded } from './loaded-history.ts'

const ROWS = 60
const ROWS_PRINTED = 400
const IDLE_MS = 400

/** The days, newest first. Closed on the screen it is there all the same, to be printed. */
export function HistoryTable({ loaded, isOpen }: { loaded: Loaded; isOpen: boolean }) {
  const { history, sides } = texts.value
  const { day, exact, count } = formats.value
  const [rows, setRows] = useState(ROWS)
  const isIdle = useIdle()
  const { days, lines } = loaded.data
  const shown = Math.min(days.length, isOpen ? rows : 0)
  const made = Math.min(days.length, isIdle ? Math.max(shown, ROWS_PRINTED) : shown)
  const caption = history.caption(loaded.pair, day(days[0] ?? ''), day(days.at(-1) ?? ''))
  const places = Array.from({ length: made }, (_, index) => days.length - 1 - index)
  return (
    <div class={isOpen ? 'history-table' : 'history-table printed-only'}>
      <Scroller class="scroll" label={caption}>
        <table class="data">
          <caption>{caption}</caption>
          <thead>
            <tr>
              <th scope="col">{history.day}</th>
              {lines.map(({ name }) => (
                <th key={name} scope="col" class="number">
                  {sides[name]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {places.map((place, index) => (
              <tr key={days[place]} class={index < shown ? undefined : 'printed-only'}>
                <th scope="row">{day(days[place] ?? '')}</th>
                {lines.map(({ name, values }) => (
                  <td key={name} class="number">
                    {values[place] === undefined ? '—' : exact(values[place])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
      {isOpen && (
        <p class="table-foot">
          {history.rows(count(shown), count(days.length))}
          {shown < days.length && (
            <button type="button" class="button" onClick={() => setRows(rows * 2)}>
              {history.more}
            </button>
          )}
        </p>
      )}
      {made < days.length && (
        <p class="print-note">
          {history.rows(count(made), count(days.length))}. {history.allInExcel}
        </p>
      )}
    </div>
  )
}

/** The rows for the printer are made once the screen is painted. */
function useIdle(): boolean {
  const [isIdle, setIdle] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setIdle(true), IDLE_MS)
    return () => clearTimeout(timer)
  }, [])
  return isIdle
}
