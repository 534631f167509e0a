import { useMemo } from 'preact/hooks'
import { formats, texts } from '../../components/view.ts'
import { computeStatistics, type Point } from '../../model/statistics.ts'
import type { LoadedHistory } from './loaded-history.ts'

export function StatisticsTable({ loaded }: { loaded: LoadedHistory }) {
  const { history, sides } = texts.value
  const { exact, signed, percent } = formats.value
  const all = useMemo(
    () => loaded.lines.map(({ name, points }) => ({ name, statistics: computeStatistics(points) })),
    [loaded],
  )
  return (
    <table class="statistics">
      <thead>
        <tr>
          <th scope="col">
            <span class="unseen">{texts.value.convert.side}</span>
          </th>
          <th scope="col">{history.low}</th>
          <th scope="col">{history.high}</th>
          <th scope="col">{history.mean}</th>
          <th scope="col">{history.change}</th>
        </tr>
      </thead>
      <tbody>
        {all.map(
          ({ name, statistics }) =>
            statistics && (
              <tr key={name}>
                <th scope="row">
                  <i class={`key key-${name}`} />
                  {sides[name]}
                </th>
                <Extreme point={statistics.low} />
                <Extreme point={statistics.high} />
                <td>{exact(statistics.mean)}</td>
                <td>
                  {statistics.percent === undefined ? '—' : percent(statistics.percent)}
                  <small>{signed(statistics.change)}</small>
                </td>
              </tr>
            ),
        )}
      </tbody>
    </table>
  )
}

function Extreme({ point }: { point: Point }) {
  return (
    <td>
      {formats.value.exact(point.value)}
      <small>{formats.value.day(point.rate_date)}</small>
    </td>
  )
}
