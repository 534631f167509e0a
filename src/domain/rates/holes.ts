// Days of a range that were not synchronized: a list over them must not look like days without data (decisions 2.6).

import { dayOf, type IsoDate, isoOf } from '../../dates.ts'
import type { Interval } from '../../intervals.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import type { Column, CoveredDays } from './column.ts'
import { areCovered, UNKNOWN_DAYS } from './coverage.ts'
import type { RateSnapshot } from './rate-cache.ts'

/** After so many covered days without a value before the first value, the history of a series has begun with it. */
export const EMPTY_DAYS = 366

/** Values and covered days of a series; `startsOn` is the first day of its history where its provider knows it. */
export type SeriesDays = { column: Column; covered: CoveredDays; startsOn: IsoDate | undefined }

/** Values and covered days of a series in a snapshot. */
export function seriesDays(snapshot: RateSnapshot, series: SeriesRow, column: Column): SeriesDays {
  return { column, covered: snapshot.coveredOf(series.id), startsOn: snapshot.startOf(series) }
}

/**
 * The days from `from` to `to` that were not synchronized of one or more of the series, ascending; null where there is no
 * record of covered days. Days after the newest covered day are none, for nothing was published yet, nor are those before
 * the first day of a history where that is known. Of a series without covered days all are.
 */
export function holesOf(
  series: readonly SeriesDays[],
  { from, to }: { from: IsoDate; to: IsoDate },
): Interval[] | null {
  if (series.some(({ covered }) => covered === UNKNOWN_DAYS)) return null
  const holes = series.flatMap((one) => holesIn(one, dayOf(from), dayOf(to)))
  if (series.length > 1) holes.sort((a, b) => a.first - b.first)
  const merged: Days[] = []
  for (const hole of holes) {
    const before = merged.at(-1)
    if (before && hole.first <= before.last + 1) before.last = Math.max(before.last, hole.last)
    else merged.push({ ...hole })
  }
  return merged.map(({ first, last }) => ({ from: isoOf(first), to: isoOf(last) }))
}

/** Day numbers, both ends included. */
type Days = { first: number; last: number }

function holesIn(series: SeriesDays, first: number, last: number): Days[] {
  const { covered } = series
  const begin = Math.max(first, firstDayOf(series) ?? first)
  const end = covered.length === 0 ? last : Math.min(last, covered.at(-1) ?? last)
  const holes: Days[] = []
  let next = begin
  for (let at = 0; at < covered.length && next <= end; at += 2) {
    const [from = 0, to = 0] = [covered[at], covered[at + 1]]
    if (from > next) holes.push({ first: next, last: Math.min(from - 1, end) })
    next = Math.max(next, to + 1)
  }
  if (next <= end) holes.push({ first: next, last: end })
  return holes
}

/** The first day of a history: the provider's, or that of the first value after enough covered days without one. */
function firstDayOf({ column, covered, startsOn }: SeriesDays): number | undefined {
  if (startsOn !== undefined) return dayOf(startsOn)
  const first = column.days[0]
  return first !== undefined && areCovered(covered, first - EMPTY_DAYS, first - 1) ? first : undefined
}
