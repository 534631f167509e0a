import { useMemo } from 'preact/hooks'
import { formats, texts } from '../../components/view.ts'
import type { FigureFormat } from '../../model/formats.ts'
import type { Trend } from '../../model/rates/history.ts'
import { computeStatistics, type Point, type Statistics } from '../../model/rates/statistics.ts'

/**
 * @param isPublished the values are those of the bank, and their difference has all digits
 * @param points name of percentage points, of which the change is a number; undefined: it is a percentage
 */
export function StatisticsTable(props: {
  trend: Trend
  figure: FigureFormat
  isPublished: boolean
  points?: string | undefined
}) {
  const { trend, figure, isPublished, points } = props
  const { history, convert } = texts.value
  const { cross } = formats.value
  const all = useMemo(
    () =>
      trend.lines.map(({ name, label, points }) => ({ name, label, statistics: computeStatistics(points) })),
    [trend],
  )
  const titles = [history.first, history.low, history.high, history.mean, history.last, history.change]
  return (
    <table class="statistics">
      <thead>
        <tr>
          <th scope="col">
            <span class="unseen">{convert.side}</span>
          </th>
          {titles.map((title) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {all.map(
          ({ name, label, statistics }) =>
            statistics && (
              <tr key={name}>
                <th scope="row">
                  <i class={`key key-${name}`} />
                  {label}
                </th>
                <Extreme point={statistics.first} figure={figure} />
                <Extreme point={statistics.low} figure={figure} />
                <Extreme point={statistics.high} figure={figure} />
                <td>
                  {cross(statistics.mean)}
                  <small>{history.dayCount(formats.value.count(statistics.count))}</small>
                </td>
                <Extreme point={statistics.last} figure={figure} />
                <Change statistics={statistics} isPublished={isPublished} points={points} />
              </tr>
            ),
        )}
      </tbody>
    </table>
  )
}

function Extreme({ point, figure }: { point: Point; figure: FigureFormat }) {
  return (
    <td>
      {figure(point.value)}
      <small>{formats.value.day(point.date)}</small>
    </td>
  )
}

function Change(props: { statistics: Statistics; isPublished: boolean; points: string | undefined }) {
  const { statistics, isPublished, points } = props
  const { percent, signed, crossChange } = formats.value
  const { change, first } = statistics
  if (points !== undefined) {
    return (
      <td>
        {signed(change)}
        <small>{points}</small>
      </td>
    )
  }
  return (
    <td>
      {statistics.percent === undefined ? '—' : percent(statistics.percent)}
      <small>{isPublished ? signed(change) : crossChange(change, first.value)}</small>
    </td>
  )
}
