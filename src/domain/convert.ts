// Conversion: which route leads from one currency to another, and what it gives, to the last digit.
// Refuses to guess: no inverse of a side, no second pivot, no rate that was not published (decisions 2.9).

import type { IsoDate } from '../dates.ts'
import { canonicalDecimal, product, ratio } from '../decimal.ts'
import type { RateType } from '../providers/provider.ts'
import type { Column } from '../store/rate-book.ts'
import type { SeriesRow } from '../store/series.ts'
import { rateOn } from './rates.ts'

export const PIVOT = 'USD'

/** One step of a route: a stored series, read in its own direction or against it. */
export type Leg = { series: SeriesRow; inverse: boolean }

export type Route = { path: readonly string[]; legs: readonly Leg[]; rateType: RateType }

/** Why there is no route: a currency that nothing is stored for, or a side that is not published. */
export type NoRoute = { missing: string }

export type Conversion = { rateDate: IsoDate; amount: string; rate: string; result: string }

/**
 * The route between two currencies over one provider's series: nothing to do, a stored pair in either
 * direction, or two legs through the dollar. `side` picks the series where a pair publishes more than one.
 */
export function findRoute(
  series: readonly SeriesRow[],
  from: string,
  to: string,
  side: RateType,
): Route | NoRoute {
  for (const currency of [from, to]) {
    if (!series.some((one) => one.base_currency === currency || one.quote_currency === currency)) {
      return { missing: `no rates of ${currency} are stored` }
    }
  }
  if (from === to) return { path: [from, to], legs: [], rateType: 'referencia' }

  const direct = legsBetween(series, from, to)
  if (direct.length > 0) return routeOver([from, to], [direct], side)

  const first = legsBetween(series, from, PIVOT)
  const second = legsBetween(series, PIVOT, to)
  if (first.length === 0 || second.length === 0) {
    return { missing: `no series leads from ${from} to ${to}, directly or through ${PIVOT}` }
  }
  return routeOver([from, PIVOT, to], [first, second], side)
}

/**
 * What the amount is worth over the legs and their columns, with the last values on or before the day.
 * Undefined when a leg has none. `amount` must be a decimal; the result is exactly amount x rate.
 */
export function convert(
  amount: string,
  legs: readonly Leg[],
  columns: readonly Column[],
  day: IsoDate,
): Conversion | undefined {
  const numerator: string[] = []
  const denominator: string[] = []
  let rateDate = day
  for (const [at, leg] of legs.entries()) {
    const column = columns[at]
    const point = column && rateOn(column, day)
    if (!point) return undefined
    if (at === 0 || point.rate_date < rateDate) rateDate = point.rate_date
    if (leg.inverse) denominator.push(point.value)
    else numerator.push(point.value)
  }
  const asPublished = numerator.length <= 1 && denominator.length === 0
  const rate = asPublished ? (numerator[0] ?? '1') : ratio(numerator, denominator)
  const canonical = canonicalDecimal(amount) ?? amount
  return { rateDate, amount: canonical, rate, result: product(canonical, rate) }
}

function legsBetween(series: readonly SeriesRow[], from: string, to: string): Leg[] {
  const legs: Leg[] = []
  for (const one of series) {
    if (one.base_currency === from && one.quote_currency === to) legs.push({ series: one, inverse: false })
    if (one.base_currency === to && one.quote_currency === from) legs.push({ series: one, inverse: true })
  }
  return legs
}

function routeOver(path: string[], choices: Leg[][], side: RateType): Route | NoRoute {
  const legs: Leg[] = []
  let rateType: RateType = 'referencia'
  for (const choice of choices) {
    const sided = choice.some((leg) => leg.series.rate_type !== 'referencia')
    const leg = choice.find((one) => one.series.rate_type === (sided ? side : 'referencia'))
    if (!leg) return { missing: `${path.join(' -> ')} has no published ${side}` }
    if (sided) rateType = side
    legs.push(leg)
  }
  return { path, legs, rateType }
}
