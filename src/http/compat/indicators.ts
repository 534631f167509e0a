// The bank's indicators under its own codes: what is stored of each, and what of that may be answered.

import { type IsoDate, isoOf } from '../../dates.ts'
import { roundedAt, valueAt } from '../../domain/rates/column.ts'
import { historyOf, seriesIn } from '../../domain/rates/queries.ts'
import type { RateSnapshot } from '../../domain/rates/rate-cache.ts'
import { smallest } from '../../domain/rates/rates.ts'
import { type Interval, joined } from '../../intervals.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import { PROVIDER, type ShapeDeps } from './shape.ts'

export type IndicatorValue = { day: IsoDate; value: string }

/**
 * The values of an indicator, ascending; `roundedTo` decimals where a parity among them is rounded. `unserved` are the days
 * of which a value is stored and not answered, each with the days after it up to the next exact value.
 */
export type IndicatorValues = {
  series: SeriesRow
  values: readonly IndicatorValue[]
  roundedTo: number | undefined
  unserved: readonly Interval[]
  holes: readonly Interval[]
}

/** The series of the bank, by id. */
export function indicatorsIn(snapshot: RateSnapshot): SeriesRow[] {
  return seriesIn(snapshot, { provider: PROVIDER })
}

export function findIndicator(snapshot: RateSnapshot, code: string): SeriesRow | undefined {
  return indicatorsIn(snapshot).find((one) => one.external_code === code)
}

/** What was published on the days from one to another, and may be answered. */
export function valuesBetween(
  deps: Pick<ShapeDeps, 'serveRounded' | 'missed'>,
  snapshot: RateSnapshot,
  series: SeriesRow,
  { from, to }: { from: IsoDate; to: IsoDate },
): IndicatorValues | Promise<IndicatorValues> {
  const found = historyOf(snapshot, { seriesId: series.id, from, to, last: to })
  return found instanceof Promise ? found.then((one) => served(deps, one)) : served(deps, found)
}

type History = Awaited<ReturnType<typeof historyOf>>

/** The dollar is published with two decimals: only a parity that is rounded is not the bank's value. */
function served(
  { serveRounded, missed }: Pick<ShapeDeps, 'serveRounded' | 'missed'>,
  { series, column, first, end, to, holes }: History,
): IndicatorValues {
  const isParity = series.rate_type === 'referencia'
  const values: IndicatorValue[] = []
  let unserved: Interval[] = []
  let roundedTo: number | undefined
  for (let at = first; at < end; at++) {
    const decimals = isParity ? roundedAt(column, at) : undefined
    const day = isoOf(column.days[at] ?? 0)
    if (decimals !== undefined && !serveRounded) {
      const next = column.days[at + 1]
      const days = { from: day, to: at + 1 < end && next !== undefined ? isoOf(next - 1) : to }
      unserved = joined(unserved, days)
      continue
    }
    roundedTo = smallest(roundedTo, decimals)
    values.push({ day, value: valueAt(column, at) })
  }
  if (values.length < end - first) missed.rounded(end - first - values.length)
  return { series, values, roundedTo, unserved, holes: holes ?? [] }
}
