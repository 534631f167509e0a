import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { formats, setView, texts, view } from '../../components/view.ts'
import type { FigureFormat } from '../../model/formats.ts'
import { lineBreaks, type Trend, type TrendLine } from '../../model/rates/history.ts'
import type { Chart } from './chart.ts'

type DayIndex = { index: number; isSelected: boolean }

/**
 * Chart, values of the selected day, and a slider that selects days by keyboard and touch.
 * @param note text beside the values of a day
 * @param onZoom receives the days of a dragged range; undefined: they become those of the view's history
 */
export function ChartPanel(props: {
  trend: Trend | undefined
  figure: FigureFormat
  note: (index: number) => ComponentChildren
  onZoom?: (from: string, to: string) => void
}) {
  const { trend, figure, note, onZoom = (from, to) => setView({ from, to }) } = props
  const words = texts.value.history
  const [selected, select] = useState<number | undefined>(undefined)
  const host = useRef<HTMLDivElement>(null)
  const chart = useChart(host, trend, { onPoint: select, onZoom })
  const last = (trend?.days.length ?? 0) - 1
  const index = selected === undefined || selected > last ? last : selected
  const isSelected = selected !== undefined && selected <= last
  useEffect(() => select(undefined), [trend])
  useEffect(
    () => chart?.point(isSelected ? index : undefined),
    [chart, index, isSelected, trend, formats.value],
  )
  return (
    <>
      <Readout trend={trend} day={{ index, isSelected }} figure={figure}>
        {trend && note(index)}
      </Readout>
      <p class="chart-key printed-only">
        {trend?.lines.map(({ name, label }) => (
          <span key={name}>
            <i class={`key key-${name}`} /> {label}
          </span>
        ))}
      </p>
      <div class="chart" ref={host} aria-hidden="true" />
      <Slider trend={trend} index={index} last={last} figure={figure} onPoint={select} />
      <p class="hint chart-hint">{words.zoomHint}</p>
    </>
  )
}

/** Fetches the file of the chart after the first render. */
function useChart(
  host: { current: HTMLDivElement | null },
  trend: Trend | undefined,
  events: { onPoint: (index: number) => void; onZoom: (from: string, to: string) => void },
) {
  const [chart, setChart] = useState<Chart | undefined>(undefined)
  const current = useRef({ trend, events })
  current.current = { trend, events }
  useEffect(() => {
    let newChart: Chart | undefined
    let isUnmounted = false
    import('./chart.ts').then(({ openChart }) => {
      if (isUnmounted || !host.current) return
      newChart = openChart(host.current, {
        onPoint: events.onPoint,
        onZoom(from, to) {
          const { trend, events } = current.current
          const [first, end] = [trend?.days[from], trend?.days[to]]
          if (first && end && first < end) events.onZoom(first, end)
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
    if (trend) chart?.draw(trend, lineBreaks(trend.days, trend.holes, trend.maxGapDays), formats.value)
  }, [chart, trend, formats.value])
  return chart
}

function Readout(props: {
  trend: Trend | undefined
  day: DayIndex
  figure: FigureFormat
  children: ComponentChildren
}) {
  const { trend, day, figure, children } = props
  const { index, isSelected } = day
  if (!trend) return <p class="readout flex above-10 one-line">{'\u00a0'}</p>
  return (
    <p class="readout flex above-10 one-line">
      <span class="readout-day">
        {!isSelected && <span class="quiet">{texts.value.history.published} </span>}
        <strong>{dayText(trend, index)}</strong>
      </span>
      {trend.lines.map((line) => (
        <span key={line.name} class="readout-line">
          <i class={`key key-${line.name}`} />
          {lineLabel(line, index)} <strong>{valueText(line, index, figure)}</strong>
          {line.realValues && <span class="quiet"> ({priceText(line.realValues[index], figure)})</span>}
        </span>
      ))}
      {children}
    </p>
  )
}

function Slider(props: {
  trend: Trend | undefined
  index: number
  last: number
  figure: FigureFormat
  onPoint: (index: number) => void
}) {
  const { trend, index, last, figure, onPoint } = props
  const id = useId()
  const values = trend?.lines.map((line) => `${lineLabel(line, index)} ${valueText(line, index, figure)}`)
  return (
    <div class="slider flex">
      <label class="unseen" for={id}>
        {texts.value.history.cursor}
      </label>
      <input
        id={id}
        type="range"
        min={0}
        max={Math.max(last, 0)}
        value={index}
        disabled={last < 0}
        aria-valuetext={trend && [dayText(trend, index), ...(values ?? [])].join(', ')}
        onInput={(event) => onPoint(Number(event.currentTarget.value))}
      />
    </div>
  )
}

/** Day of the values; without the year where years are compared. */
function dayText({ days, lines }: Trend, index: number): string {
  const day = days[index]
  if (day === undefined) return ''
  return lines[0]?.ownDays ? formats.value.shortDay(day) : formats.value.day(day)
}

function lineLabel({ label, ownDays }: TrendLine, index: number): string {
  return ownDays?.[index]?.slice(0, 4) ?? label
}

function valueText({ values, realValues }: TrendLine, index: number, figure: FigureFormat): string {
  return figureText(values[index], realValues ? formats.value.cents : figure)
}

/** Value with the sign of the colón. */
function priceText(value: string | undefined, figure: FigureFormat): string {
  const sign = value !== undefined && view.value.pair.endsWith('/CRC') ? '₡' : ''
  return sign + figureText(value, figure)
}

function figureText(value: string | undefined, figure: FigureFormat): string {
  return value === undefined ? '—' : figure(value)
}
