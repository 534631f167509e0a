// The published sides of a pair, day by day: for answers that have compra and venta beside each other.

import { dayOf, type IsoDate, isoOf } from '../../dates.ts'
import type { Interval } from '../../intervals.ts'
import type { RateType } from '../../providers/provider.ts'
import { makeColumn, valueAt } from './column.ts'
import { holesOf, seriesDays } from './holes.ts'
import { withColumns } from './queries.ts'
import type { RateSnapshot } from './rate-cache.ts'
import { pointsBetween } from './rates.ts'

const EMPTY = makeColumn(new Int32Array(), [])

/** What was published for a day; a side that was not is absent. */
export type DaySides = { day: IsoDate } & { [side in RateType]?: string }

/** Days in order, and the days of the range that were not synchronized of one side or more; null: not in the record. */
export type Sides = { days: DaySides[]; holes: readonly Interval[] | null }

/** The days of a range for which a side of the pair was published. */
export function sidesBetween(
  snapshot: RateSnapshot,
  asked: { provider: string; base: string; quote: string; from: IsoDate; to: IsoDate },
): Sides | Promise<Sides> {
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
    const days = [...byDay.values()].sort((a, b) => dayOf(a.day) - dayOf(b.day))
    const stored = series.map((one, at) => seriesDays(snapshot, one, columns[at] ?? EMPTY))
    const isStored = series.length > 0 || from > to // before the first sync there is no series
    return { days, holes: isStored ? holesOf(stored, { from, to }) : [{ from, to }] }
  })
}
