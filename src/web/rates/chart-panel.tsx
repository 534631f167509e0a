import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { formats, look, texts } from '../parts/view.ts'
import { breaksIn } from '../words/history.ts'
import type { Chart } from './chart.ts'
import type { Loaded } from './loaded-history.ts'

/** The chart, the day that is read from it, and a slider that points at days for keys and fingers. */
export function ChartPanel({ loaded }: { loaded: Loaded | undefined }) {
  const words = texts.value.history
  const [pointed, point] = useState<number | undefined>(undefined)
  const host = useRef<HTMLDivElement>(null)
  const chart = useChart(host, loaded, point)
  const last = (loaded?.data.days.length ?? 0) - 1
  const index = pointed === undefined || pointed > last ? last : pointed
  const isPointing = pointed !== undefined && pointed <= last
  useEffect(() => point(undefined), [loaded])
  useEffect(
    () => chart?.point(isPointing ? index : undefined),
    [chart, index, isPointing, loaded, formats.value],
  )
  return (
    <>
      <Readout loaded={loaded} index={index} isPointing={isPointing} />
      <div class="chart" ref={host} aria-hidden="true" />
      <Slider loaded={loaded} index={index} last={last} onPoint={point} />
      <p class="hint chart-hint">{words.zoomHint}</p>
    </>
  )
}

/** The chart's own file is fetched when it is first needed. */
function useChart(
  host: { current: HTMLDivElement | null },
  loaded: Loaded | undefined,
  point: (index: number) => void,
) {
  const [chart, setChart] = useState<Chart | undefined>(undefined)
  const shown = useRef(loaded)
  shown.current = loaded
  useEffect(() => {
    let opened: Chart | undefined
    let isGone = false
    import('./chart.ts').then(({ openChart }) => {
      if (isGone || !host.current) return
      opened = openChart(host.current, {
        pointed: point,
        zoomed(from, to) {
          const days = shown.current?.data.days
          const [first, end] = [days?.[from], days?.[to]]
          if (first && end && first < end) look({ from: first, to: end })
        },
      })
      setChart(opened)
    })
    return () => {
      isGone = true
      opened?.close()
    }
  }, [])
  useEffect(() => {
    if (loaded) chart?.draw(loaded.data, breaksIn(loaded.data.days, loaded.missing.holes), formats.value)
  }, [chart, loaded, formats.value])
  return chart
}

function Readout({
  loaded,
  index,
  isPointing,
}: {
  loaded: Loaded | undefined
  index: number
  isPointing: boolean
}) {
  const { history, sides } = texts.value
  if (!loaded) return <p class="readout">{'\u00a0'}</p>
  const day = loaded.data.days[index]
  return (
    <p class="readout">
      <span class="readout-day">
        {!isPointing && <span class="quiet">{history.published} </span>}
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
  loaded: Loaded | undefined
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
