// Holes: days of a range that were not synchronized. A list must not show them as days without data (decisions 2.6).

import type { SeriesRow } from '../../store/rates/series.ts'
import { dayNumber, type IsoDate, isoDate } from '../../values/dates.ts'
import type { Interval } from '../../values/intervals.ts'
import type { Column, CoveredDays } from './column.ts'
import { areCovered, type DayRange, UNKNOWN_DAYS, uncoveredDays } from './coverage.ts'
import type { RateSnapshot } from './rate-cache.ts'

/** Covered days without a value before the first value, after which that value is the start of the history. */
export const EMPTY_DAYS = 366

/** Values and covered days of a series; `startsOn` is the first day of its history if the provider knows it. */
export type SeriesDays = { column: Column; covered: CoveredDays; startsOn: IsoDate | undefined }

/** Values and covered days of a series in a snapshot. */
export function seriesDays(snapshot: RateSnapshot, series: SeriesRow, column: Column): SeriesDays {
  return { column, covered: snapshot.coveredDays(series.id), startsOn: snapshot.historyStart(series) }
}

/**
 * Finds the days of a range that were not synchronized in at least one series, ascending. Null: coverage is not
 * recorded. Days after the newest covered day are no holes, because nothing is published yet. Neither are days before
 * a known start of the history. A series without covered days is a hole as a whole. /
 */
export function findHoles(
  series: readonly SeriesDays[],
  { from, to }: { from: IsoDate; to: IsoDate },
): Interval[] | null {
  if (series.some(({ covered }) => covered === UNKNOWN_DAYS)) return null
  const holes = series.flatMap((one) => seriesHoles(one, dayNumber(from), dayNumber(to)))
  if (series.length > 1) holes.sort((a, b) => a.first - b.first)
  const merged: DayRange[] = []
  for (const hole of holes) {
    const previous = merged.at(-1)
    if (previous && hole.first <= previous.last + 1) previous.last = Math.max(previous.last, hole.last)
    else merged.push({ ...hole })
  }
  return merged.map(({ first, last }) => ({ from: isoDate(first), to: isoDate(last) }))
}

function seriesHoles(series: SeriesDays, first: number, last: number): DayRange[] {
  const { covered } = series
  const begin = Math.max(first, historyStart(series) ?? first)
  return uncoveredDays(covered, begin, Math.min(last, covered.at(-1) ?? last))
}

/** First day of a history: the provider's, or that of the first value after enough covered days without one. */
function historyStart({ column, covered, startsOn }: SeriesDays): number | undefined {
  if (startsOn !== undefined) return dayNumber(startsOn)
  const first = column.days[0]
  return first !== undefined && areCovered(covered, first - EMPTY_DAYS, first - 1) ? first : undefined
}
