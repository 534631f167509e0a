// The bank's indicators by its own codes: the stored values, and those that may be served.

import { columnDecimals, columnValue } from '../../domain/rates/column.ts'
import { listSeries, seriesHistory } from '../../domain/rates/queries.ts'
import type { RateSnapshot } from '../../domain/rates/rate-cache.ts'
import { smallest } from '../../domain/rates/rates.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import { type IsoDate, isoDate } from '../../values/dates.ts'
import { addInterval, type Interval } from '../../values/intervals.ts'
import { type CompatDeps, PROVIDER } from './shape.ts'

export type IndicatorValue = { day: IsoDate; value: string }

/**
 * The values of an indicator, ascending; `roundedTo` decimals where a parity among them is rounded. `unserved`:
 * days whose stored value is not returned, with the days after them up to the next exact value.
 */
export type IndicatorValues = {
  series: SeriesRow
  values: readonly IndicatorValue[]
  roundedTo: number | undefined
  unserved: readonly Interval[]
  holes: readonly Interval[]
}

/** The series of the bank, by id. */
export function listIndicators(snapshot: RateSnapshot): SeriesRow[] {
  return listSeries(snapshot, { provider: PROVIDER })
}

export function findIndicator(snapshot: RateSnapshot, code: string): SeriesRow | undefined {
  return listIndicators(snapshot).find((one) => one.external_code === code)
}

/** Returns the values of a range of days that may be served. */
export function findIndicatorValues(
  deps: Pick<CompatDeps, 'serveRounded' | 'unserved'>,
  snapshot: RateSnapshot,
  series: SeriesRow,
  { from, to }: { from: IsoDate; to: IsoDate },
): IndicatorValues | Promise<IndicatorValues> {
  const history = seriesHistory(snapshot, { seriesId: series.id, from, to, last: to })
  return history instanceof Promise
    ? history.then((values) => servedValues(deps, values))
    : servedValues(deps, history)
}

type History = Awaited<ReturnType<typeof seriesHistory>>

/**
 * Filters rounded parities. The dollar has two decimals at the bank, so only a rounded parity differs from the
 * bank's value.
 */
function servedValues(
  { serveRounded, unserved: log }: Pick<CompatDeps, 'serveRounded' | 'unserved'>,
  { series, column, first, end, to, holes }: History,
): IndicatorValues {
  const isParity = series.rate_type === 'referencia'
  const values: IndicatorValue[] = []
  let unserved: Interval[] = []
  let leastDecimals: number | undefined
  for (let at = first; at < end; at++) {
    const decimals = isParity ? columnDecimals(column, at) : undefined
    const day = isoDate(column.days[at] ?? 0)
    if (decimals !== undefined && !serveRounded) {
      const next = column.days[at + 1]
      const days = { from: day, to: at + 1 < end && next !== undefined ? isoDate(next - 1) : to }
      unserved = addInterval(unserved, days)
      continue
    }
    leastDecimals = smallest(leastDecimals, decimals)
    values.push({ day, value: columnValue(column, at) })
  }
  if (values.length < end - first) log.rounded(end - first - values.length)
  return { series, values, roundedTo: leastDecimals, unserved, holes: holes ?? [] }
}
