// Freshness of a provider's benchmark. Each side counts on its own: a fresh one does not excuse the other
// (decisions#health).

import type { Provider, RateType } from '../../providers/provider.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import { addDays, type Clock, currentDay, currentTime, dayNumber, type IsoDate } from '../../values/dates.ts'

/** Facts of a provider that decide on freshness. */
export type Publisher = Pick<Provider, 'timeZone' | 'publication' | 'benchmark'>

/** A synchronized side of the benchmark. `ageDays` is -1 for tomorrow's value. */
export type BenchmarkSide = { rateType: RateType; newest: IsoDate | undefined; ageDays: number | undefined }

const SATURDAY = 6
const SUNDAY = 0

export function benchmarkSide(
  rateType: RateType,
  newest: IsoDate | undefined,
  today: IsoDate,
): BenchmarkSide {
  return {
    rateType,
    newest,
    ageDays: newest === undefined ? undefined : dayNumber(today) - dayNumber(newest),
  }
}

/** True if a series of the provider is a side of its benchmark. */
export function isBenchmark({ benchmark }: Publisher, { base_currency, quote_currency }: SeriesRow): boolean {
  return base_currency === benchmark.base && quote_currency === benchmark.quote
}

/** Newest day whose values must be published by now. Pass `today` if the clock is known to be wrong. */
export function dueDay(
  { timeZone, publication }: Publisher,
  clock: Clock,
  today: IsoDate = currentDay(clock, timeZone),
): IsoDate {
  const newest = currentTime(clock, timeZone) >= publication.time ? today : addDays(today, -1)
  if (publication.days === 'every day') return newest
  const weekday = (dayNumber(newest) + 4) % 7 // 1970-01-01 was a Thursday
  return addDays(newest, weekday === SATURDAY ? -1 : weekday === SUNDAY ? -2 : 0)
}

/** Names the due value: `today's dollar`. */
export function dueInWords({ benchmark: { noun } }: Publisher, due: IsoDate, today: IsoDate): string {
  return due === today ? `today's ${noun}` : `the ${noun} of ${due}`
}

/** Describes why a side is stale when the values of `due` must be published; undefined: it is fresh. */
export function staleness(
  { benchmark: { noun, staleDays } }: Publisher,
  { rateType, newest, ageDays }: BenchmarkSide,
  due: IsoDate,
): string | undefined {
  if (newest === undefined) return `the ${noun} has no value of ${rateType}`
  if (dayNumber(due) - dayNumber(newest) <= staleDays) return undefined
  return `the newest ${rateType} of the ${noun} is of ${newest}, ${ageDays} days ago`
}
