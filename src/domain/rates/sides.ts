// The published sides of a pair, day by day: for answers that have compra and venta beside each other.

import { dayOf, type IsoDate, isoOf } from '../../dates.ts'
import type { RateType } from '../../providers/provider.ts'
import { valueAt } from './column.ts'
import { withColumns } from './queries.ts'
import type { RateSnapshot } from './rate-cache.ts'
import { pointsBetween } from './rates.ts'

/** What was published for a day; a side that was not is absent. */
export type DaySides = { day: IsoDate } & { [side in RateType]?: string }

/** The days of a range for which a side of the pair was published, in order. */
export function sidesBetween(
  snapshot: RateSnapshot,
  asked: { provider: string; base: string; quote: string; from: IsoDate; to: IsoDate },
): DaySides[] | Promise<DaySides[]> {
  const { provider, base, quote, from, to } = asked
  const series = snapshot.pairsOf(provider).get(`${base}/${quote}`) ?? []
  return withColumns(snapshot, series, (columns) => {
    const byDay = new Map<number, DaySides>()
    for (const [at, column] of columns.entries()) {
      const { first, end } = pointsBetween(column, from, to)
      for (let index = first; index < end; index += 1) {
        const number = column.days[index] ?? 0
        const day = byDay.getOrInsertComputed(number, () => ({ day: isoOf(number) }))
        day[series[at]?.rate_type ?? 'referencia'] = valueAt(column, index)
      }
    }
    return [...byDay.values()].sort((a, b) => dayOf(a.day) - dayOf(b.day))
  })
}
