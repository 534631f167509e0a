// Holes: days of a range that were not synchronized. A list must not show them as days without data (decisions#lists).
// Days with rounded values are missing in the same way where no rounded value is served (decisions#shapes).

import type { SeriesRow } from '../../store/rates/series.ts'
import { dayNumber, type IsoDate, isoDate } from '../../values/dates.ts'
import { addInterval, type Interval } from '../../values/intervals.ts'
import {
  type Column,
  type CoveredDays,
  columnDecimals,
  type DamagedDay,
  type DayRange,
  toInterval,
} from './column.ts'
import { areCovered, UNKNOWN_DAYS, uncoveredDays } from './covered-days.ts'
import type { RateSnapshot } from './rate-cache.ts'
import { pointRange } from './rates.ts'

/** Covered days without a value before the first value, after which that value is the start of the history. */
export const EMPTY_DAYS = 366

/** Values and covered days of a series; `startsOn` is the first day of its history if the provider knows it. */
export type SeriesDays = { column: Column; covered: CoveredDays; startsOn: IsoDate | undefined }

/**
 * Days that no answer may bridge; `isRounded`: their values are rounded, and no rounded value is served. `damage`: the
 * first of them whose stored value is damaged.
 */
export type UnknownDays = { days: readonly Interval[]; isRounded: boolean; damage?: DamagedDay | undefined }

/** Values and covered days of a series in a snapshot. */
export function seriesDays(snapshot: RateSnapshot, series: SeriesRow, column: Column): SeriesDays {
  return { column, covered: snapshot.coveredDays(series.id), startsOn: snapshot.historyStart(series) }
}

/**
 * Finds the days of a range that were not synchronized in at least one series, ascending. Null: coverage is not
 * recorded. Days after the newest covered day are no holes, because nothing is published yet. Neither are days before
 * a known start of the history. A series without covered days is a hole as a whole.
 */
export function findHoles(series: readonly SeriesDays[], { from, to }: Interval): Interval[] | null {
  if (series.some(({ covered }) => covered === UNKNOWN_DAYS)) return null
  const holes = series.flatMap((one) => seriesHoles(one, dayNumber(from), dayNumber(to)))
  if (series.length > 1) holes.sort((a, b) => a.first - b.first)
  const merged: DayRange[] = []
  for (const hole of holes) {
    const previous = merged.at(-1)
    if (previous && hole.first <= previous.last + 1) previous.last = Math.max(previous.last, hole.last)
    else merged.push({ ...hole })
  }
  return merged.map(toInterval)
}

/**
 * Finds the holes of findHoles, and earlier ones that deny a day of the range its point. Another leg has a value on
 * that day, and this leg's value would be carried over the hole to it.
 */
export function findPairHoles(legs: readonly SeriesDays[], range: Interval): Interval[] | null {
  const holes = findHoles(legs, range)
  const first = dayNumber(range.from)
  return (
    holes &&
    carriedLegs(legs, range)
      .filter(({ isShown }) => isShown)
      .flatMap(({ leg: { covered }, valueDay }) =>
        uncoveredDays(covered, valueDay + 1, Math.min(first, covered.at(-1) ?? valueDay)),
      )
      .filter(({ last }) => last < first) // others reach into the range, and are holes of it
      .map(toInterval)
      .reduce(addInterval, holes)
  )
}

/**
 * Finds legs without a value on the first day of a range, and the day of their last earlier value. `isShown`:
 * another leg has a value on a day to which that value would be carried.
 */
export function carriedLegs<L extends Pick<SeriesDays, 'column'>>(
  legs: readonly L[],
  { from, to }: Interval,
): { leg: L; valueDay: number; isShown: boolean }[] {
  return legs.flatMap((leg) => {
    const { days } = leg.column
    const { first } = pointRange(leg.column, from, to)
    const [valueDay, next = Number.POSITIVE_INFINITY] = [days[first - 1], days[first]]
    if (valueDay === undefined || next === dayNumber(from)) return []
    const carriedEnd = isoDate(Math.min(next - 1, dayNumber(to)))
    return { leg, valueDay, isShown: hasValue(legs, { from, to: carriedEnd }) }
  })
}

/** True if a leg has a value in the range. */
export function hasValue(legs: readonly Pick<SeriesDays, 'column'>[], { from, to }: Interval): boolean {
  return legs.some(({ column }) => {
    const { first, end } = pointRange(column, from, to)
    return first < end
  })
}

/** Lists the days of a range on which a rounded reference rate is the last value, ascending. */
export function listRoundedDays(
  { series, column }: { series: SeriesRow; column: Column },
  { from, to }: Interval,
): Interval[] {
  if (!column.rounded || series.rate_type !== 'referencia') return []
  const { first, end } = pointRange(column, from, to)
  const intervals: Interval[] = []
  let begin: number | undefined
  const close = (last: number) => {
    if (begin !== undefined && begin <= last) intervals.push({ from: isoDate(begin), to: isoDate(last) })
    begin = undefined
  }
  // The value before the range is carried into it.
  for (let at = Math.max(0, first - 1); at < end; at += 1) {
    const day = column.days[at] ?? 0
    if (columnDecimals(column, at) === undefined) close(day - 1)
    else begin ??= Math.max(day, dayNumber(from))
  }
  close(dayNumber(to))
  return intervals
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
