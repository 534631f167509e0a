// Price directives of plain-text accounting: a line for each point of a pair's history. The programs value a day by the
// last price before it and read no comment. So no text spans days that were not synchronized (decisions#points).

import type { RateType } from '../../providers/provider.ts'
import { addDays, EARLIEST_DAY, type IsoDate } from '../../values/dates.ts'
import type { Interval } from '../../values/intervals.ts'
import { rejectUnknown, UNKNOWN_DAYS } from './covered-days.ts'
import { type PairPoint, pairHistory } from './history/pair-history.ts'
import type { RateSnapshot } from './rate-cache.ts'

/** `ledger`: also for hledger. */
export type PriceFormat = 'ledger' | 'beancount'

export type PriceQuery = { provider: string; base: string; quote: string; type: RateType }

/** Prices of a pair on the days of a range. */
export type Prices = PriceQuery & {
  providerName: string
  /** Computed lazily, oldest first; can be iterated once. */
  points: Iterable<PairPoint>
  /** Days of the range that were not synchronized. */
  holes: readonly Interval[]
}

/** Prices since the newest days that were not synchronized, which are `hole`. */
export type RecentPrices = Omit<Prices, 'points' | 'holes'> & {
  points: readonly PairPoint[]
  hole: Interval | undefined
}

/** Finds the prices of a range. @throws AppError as pairHistory, and `not-found` where coverage is not recorded */
export async function findPrices(
  snapshot: RateSnapshot,
  { from, last, ...query }: PriceQuery & { from: IsoDate; last: IsoDate },
): Promise<Prices> {
  const period = { from, last, today: last, every: 'day', stat: 'last' } as const
  const { rateType, points, holes } = await pairHistory(snapshot, { ...query, ...period })
  if (holes === null) rejectUnknown(UNKNOWN_DAYS)
  const { name = '' } = snapshot.providers.find(({ code }) => code === query.provider) ?? {}
  return { ...query, type: rateType, providerName: name, points, holes: holes ?? [] }
}

/** Finds the prices up to a day, after the newest days that were not synchronized. @throws AppError as pairHistory */
export async function findRecentPrices(
  snapshot: RateSnapshot,
  query: PriceQuery,
  last: IsoDate,
): Promise<RecentPrices> {
  const { holes, points, ...prices } = await findPrices(snapshot, { ...query, from: EARLIEST_DAY, last })
  const hole = holes.at(-1)
  if (!hole) return { ...prices, points: [...points], hole }
  const from = addDays(hole.to, 1)
  if (from > last) return { ...prices, points: [], hole }
  return { ...prices, points: [...(await findPrices(snapshot, { ...query, from, last })).points], hole }
}

/** The comment that names a pair, its side and the provider; without the end of the line. */
export function priceTitle({ base, quote, type, providerName }: Omit<Prices, 'points' | 'holes'>): string {
  return `; ${base}/${quote} ${type}, ${providerName}`
}

/** The directive of a point; without the end of the line. */
export function priceLine(
  format: PriceFormat,
  { base, quote }: Pick<PriceQuery, 'base' | 'quote'>,
  { date, value, rounded_to }: PairPoint,
): string {
  const price = `${base} ${value} ${quote}`
  const line = format === 'ledger' ? `P ${date} ${price}` : `${date} price ${price}`
  if (rounded_to === undefined) return line
  return `${line} ; rounded to ${rounded_to} ${rounded_to === 1 ? 'decimal' : 'decimals'}`
}

/** Lines of a pair, each with its end. */
export function* priceLines(format: PriceFormat, prices: Prices): Generator<string, void> {
  yield `${priceTitle(prices)}\n`
  for (const point of prices.points) yield `${priceLine(format, prices, point)}\n`
}
