import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { formats, setView, texts } from '../../components/view.ts'
import { lineBreaks } from '../../model/history.ts'
import type { Chart } from './chart.ts'
import type { LoadedHistory } from './loaded-history.ts'

/** Chart, values of the selected day, and a slider that selects days by keyboard and touch. */
export function ChartPanel({ loaded }: { loaded: LoadedHistory | undefined }) {
  const words = texts.value.history
  const [selected, select] = useState<number | undefined>(undefined)
  const host = useRef<HTMLDivElement>(null)
  const chart = useChart(host, loaded, select)
  const last = (loaded?.data.days.length ?? 0) - 1
  const index = selected === undefined || selected > last ? last : selected
  const isSelected = selected !== undefined && selected <= last
  useEffect(() => select(undefined), [loaded])
  useEffect(
    () => chart?.point(isSelected ? index : undefined),
    [chart, index, isSelected, loaded, formats.value],
  )
  return (
    <>
      <Readout loaded={loaded} index={index} isSelected={isSelected} />
      <div class="chart" ref={host} aria-hidden="true" />
      <Slider loaded={loaded} index={index} last={last} onPoint={select} />
      <p class="hint chart-hint">{words.zoomHint}</p>
    </>
  )
}

/** Fetches the file of the chart after the first render. */
function useChart(
  host: { current: HTMLDivElement | null },
  loaded: LoadedHistory | undefined,
  point: (index: number) => void,
) {
  const [chart, setChart] = useState<Chart | undefined>(undefined)
  const current = useRef(loaded)
  current.current = loaded
  useEffect(() => {
    let newChart: Chart | undefined
    let isUnmounted = false
    import('./chart.ts').then(({ openChart }) => {
      if (isUnmounted || !host.current) return
      newChart = openChart(host.current, {
        onPoint: point,
        onZoom(from, to) {
          const days = current.current?.data.days
          const [first, end] = [days?.[from], days?.[to]]
          if (first && end && first < end) setView({ from: first, to: end })
        },
      })
      setChart(newChart)
    })
    return () => {
      isUnmounted = true
      newChart?.close()
    }
  }, [])
  useEffect(() => {
    if (loaded) chart?.draw(loaded.data, lineBreaks(loaded.data.days, loaded.missing.holes), formats.value)
  }, [chart, loaded, formats.value])
  return chart
}

function Readout(props: { loaded: LoadedHistory | undefined; index: number; isSelected: boolean }) {
  const { loaded, index, isSelected } = props
  const { history, sides } = texts.value
  if (!loaded) return <p class="readout">{'\u00a0'}</p>
  const day = loaded.data.days[index]
  return (
    <p class="readout">
      <span class="readout-day">
        {!isSelected && <span class="quiet">{history.published} </span>}
        <strong>{day && formats.value.day(day)}</strong>
      </span>
      {loaded.data.lines.map(({ name, values }) => (
        <span key={name} class="readout-line">
          <i class={`key key-${name}`} />
          {sides[name]}{' '}
          <strong>{values[index] === undefined ? '—' : formats.value.exact(values[index])}</strong>
        </span>
      ))}
    </p>
  )
}

function Slider(props: {
  loaded: LoadedHistory | undefined
  index: number
  last: number
  onPoint: (index: number) => void
}) {
  const { history, sides } = texts.value
  const { loaded, index, last, onPoint } = props
  const id = useId()
  const day = loaded?.data.days[index]
  const values = loaded?.data.lines.map(
    ({ name, values }) =>
      `${sides[name]} ${values[index] === undefined ? '—' : formats.value.exact(values[index])}`,
  )
  return (
    <div class="slider">
      <label class="unseen" for={id}>
        {history.cursor}
      </label>
      <input
        id={id}
        type="range"
        min={0}
        max={Math.max(last, 0)}
        value={index}
        disabled={last < 0}
        aria-valuetext={day && [formats.value.day(day), ...(values ?? [])].join(', ')}
        onInput={(event) => onPoint(Number(event.currentTarget.value))}
      />
    </div>
  )
}
