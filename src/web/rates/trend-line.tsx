// Line of the last 30 days of one side, from the history that the chart has loaded.

import { formats, texts } from '../components/view.ts'
import { addDays } from '../model/days.ts'
import { computeStatistics, type Point } from '../model/rates/statistics.ts'
import { shownHistory } from './trend/loaded-history.ts'

const DAYS = 30
const PAIR = 'USD/CRC'
const [WIDTH, HEIGHT, MARGIN] = [300, 36, 3]

/** @param day last day of the line */
export function TrendLine({ day }: { day: string | undefined }) {
  const words = texts.value.dollar
  const points = day === undefined ? [] : lastPoints(day)
  const range = computeStatistics(points)
  if (!range || points.length < 2) return <p class="trend line" />
  const { cents } = formats.value
  return (
    <p class="trend line">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <path d={linePath(points)} />
      </svg>
      <span>
        <small>{words.trend}</small>{' '}
        <strong>{words.trendRange(cents(range.low.value), cents(range.high.value))}</strong>
      </span>
    </p>
  )
}

/** Points of the 30 days; none unless the chart has them all. */
function lastPoints(day: string): readonly Point[] {
  const history = shownHistory.value
  const from = addDays(day, -DAYS)
  if (history?.pair !== PAIR || history.from > from || history.to < day) return []
  const points = history.lines.find(({ name }) => name === 'venta')?.points ?? []
  return points.filter(({ date }) => date > from && date <= day)
}

/** Positions in pixels are floats; the figures beside the line are not. */
function linePath(points: readonly Point[]): string {
  const values = points.map(({ value }) => Number(value))
  const times = points.map(({ date }) => Date.parse(date))
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const [start = 0, end = 1] = [times[0], times.at(-1)]
  const place = (value: number, from: number, to: number) =>
    to === from ? 0.5 : (value - from) / (to - from)
  return points
    .map((_, index) => {
      const x = place(times[index] ?? 0, start, end) * WIDTH
      const y = HEIGHT - MARGIN - place(values[index] ?? 0, low, high) * (HEIGHT - 2 * MARGIN)
      return `${index === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`
    })
    .join('')
}
