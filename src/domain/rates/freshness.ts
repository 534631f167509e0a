// Whether a provider's benchmark is fresh: each side for itself, because one that is missing is not made up for by the
// other (decisions 2.11).

import { addDays, type Clock, dayOf, type IsoDate, timeIn, todayIn } from '../../dates.ts'
import type { Provider, RateType } from '../../providers/provider.ts'
import type { SeriesRow } from '../../store/rates/series.ts'

/** What freshness needs to know of a provider. */
export type Publisher = Pick<Provider, 'timeZone' | 'publication' | 'benchmark'>

/** A side of the benchmark that is synchronized. `ageDays` is -1 for tomorrow's value. */
export type BenchmarkSide = { rateType: RateType; newest: IsoDate | undefined; ageDays: number | undefined }

const SATURDAY = 6
const SUNDAY = 0

export function benchmarkSide(
  rateType: RateType,
  newest: IsoDate | undefined,
  today: IsoDate,
): BenchmarkSide {
  return { rateType, newest, ageDays: newest === undefined ? undefined : dayOf(today) - dayOf(newest) }
}

/** Whether a series of the provider is a side of its benchmark. */
export function isBenchmark({ benchmark }: Publisher, { base_currency, quote_currency }: SeriesRow): boolean {
  return base_currency === benchmark.base && quote_currency === benchmark.quote
}

/** The newest day whose values must be there by now. `today` is another one where the clock is known to be wrong. */
export function dueDay(
  { timeZone, publication }: Publisher,
  clock: Clock,
  today: IsoDate = todayIn(clock, timeZone),
): IsoDate {
  const newest = timeIn(clock, timeZone) >= publication.time ? today : addDays(today, -1)
  if (publication.days === 'every day') return newest
  const weekday = (dayOf(newest) + 4) % 7 // 1970-01-01 was a Thursday
  return addDays(newest, weekday === SATURDAY ? -1 : weekday === SUNDAY ? -2 : 0)
}

/** What is due, in words: `today's dollar`. */
export function dueInWords({ benchmark: { noun } }: Publisher, due: IsoDate, today: IsoDate): string {
  return due === today ? `today's ${noun}` : `the ${noun} of ${due}`
}

/** What is wrong with a side on a day when the values of `due` must be there, in words; undefined: it is fresh. */
export function staleness(
  { benchmark: { noun, staleDays } }: Publisher,
  { rateType, newest, ageDays }: BenchmarkSide,
  due: IsoDate,
): string | undefined {
  if (newest === undefined) return `the ${noun} has no value of ${rateType}`
  if (dayOf(due) - dayOf(newest) <= staleDays) return undefined
  return `the newest ${rateType} of the ${noun} is of ${newest}, ${ageDays} days ago`
}
