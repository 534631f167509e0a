import { useEffect, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Scroller } from '../../components/scroller.tsx'
import { formats, texts } from '../../components/view.ts'
import type { FigureFormat } from '../../model/formats.ts'
import type { Trend } from '../../model/rates/history.ts'

const INITIAL_ROWS = 60
const PRINTED_ROWS = 400
const IDLE_MS = 400

/** Values by day, newest first. A closed table is in the document for the printer. */
export function HistoryTable(props: { pair: string; trend: Trend; figure: FigureFormat; isOpen: boolean }) {
  const { pair, trend, figure, isOpen } = props
  const { days } = trend
  const columns = trendColumns(trend, figure)
  const { history } = texts.value
  const { day, count } = formats.value
  const [rows, setRows] = useState(INITIAL_ROWS)
  const isIdle = useIdle()
  const visibleCount = Math.min(days.length, isOpen ? rows : 0)
  const rowCount = Math.min(days.length, isIdle ? Math.max(visibleCount, PRINTED_ROWS) : visibleCount)
  const caption = history.caption(pair, day(days[0] ?? ''), day(days.at(-1) ?? ''))
  const indexes = Array.from({ length: rowCount }, (_, index) => days.length - 1 - index)
  return (
    <div class={isOpen ? 'history-table' : 'history-table printed-only'}>
      <Scroller class="scroll" label={caption}>
        <table class="data">
          <caption>{caption}</caption>
          <thead>
            <tr>
              <th scope="col">{history.day}</th>
              {columns.map(({ title }) => (
                <th key={title} scope="col" class="number">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {indexes.map((dayIndex, index) => (
              <tr key={days[dayIndex]} class={index < visibleCount ? undefined : 'printed-only'}>
                <th scope="row">{day(days[dayIndex] ?? '')}</th>
                {columns.map(({ title, values, format }) => (
                  <td key={title} class="number">
                    {values[dayIndex] === undefined ? '—' : format(values[dayIndex])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
      {isOpen && (
        <p class="line quiet table-foot above-14">
          {history.rows(count(visibleCount), count(days.length))}
          {visibleCount < days.length && <Button onClick={() => setRows(rows * 2)}>{history.more}</Button>}
        </p>
      )}
      {rowCount < days.length && (
        <p class="print-note">
          {history.rows(count(rowCount), count(days.length))}. {history.allInExcel}
        </p>
      )}
    </div>
  )
}

type TrendColumn = { title: string; values: readonly (string | undefined)[]; format: FigureFormat }

/** Columns beside the day: a value of each line, after its own day or index. */
function trendColumns(trend: Trend, figure: FigureFormat): TrendColumn[] {
  const { indexTitle, day } = texts.value.history
  return trend.lines.flatMap(({ label, values, realValues, ownDays }, at): TrendColumn[] => {
    const line = { title: label, values: realValues ?? values, format: figure }
    if (ownDays && at > 0)
      return [{ title: `${day} ${label}`, values: ownDays, format: formats.value.day }, line]
    return realValues ? [{ title: indexTitle(label), values, format: formats.value.cents }, line] : [line]
  })
}

/** Returns true 400 ms after the first paint, when rows for the printer are added. */
function useIdle(): boolean {
  const [isIdle, setIdle] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setIdle(true), IDLE_MS)
    return () => clearTimeout(timer)
  }, [])
  return isIdle
}
