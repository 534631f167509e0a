// Conversion: which route leads from one currency to another, and what it gives, to the last digit.
// Refuses to guess: no inverse of a side, no second pivot, no rate that was not published (decisions 2.9).

import type { IsoDate } from '../../dates.ts'
import { product, ratio } from '../../decimal.ts'
import type { RateType } from '../../providers/provider.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import type { Column, CoveredDays } from './column.ts'
import type { SeriesByPair } from './rate-cache.ts'
import { type Hole, knownRateOn, type RatePoint, smallest } from './rates.ts'

/** One step of a route: a stored series, read in its own direction or against it. */
export type Leg = { series: SeriesRow; inverse: boolean }

export type Route = { path: readonly string[]; legs: readonly Leg[]; rateType: RateType }

/** Why there is no route: a currency that nothing is stored for, or a side that is not published. */
export type NoRoute = { missing: string }

/** A leg with the value that it was computed with. */
export type ValuedLeg = Leg & { point: RatePoint }

export type Conversion = {
  rateDate: IsoDate
  rate: string
  result: string
  /** The fewest decimals that a leg's value is rounded to; undefined: all are exact. */
  roundedTo: number | undefined
  legs: readonly ValuedLeg[]
}

/**
 * The route between two currencies over one provider's series: nothing to do, a stored pair in either
 * direction, or two legs through the provider's pivot. `side` picks the series where a pair publishes more than one.
 */
export function findRoute(
  pairs: SeriesByPair,
  pivot: string | undefined,
  from: string,
  to: string,
  side: RateType,
): Route | NoRoute {
  if (from === to) {
    return isKnown(pairs, from) ? { path: [from, to], legs: [], rateType: 'referencia' } : unknown(from)
  }
  const direct = legsBetween(pairs, from, to)
  if (direct.length > 0) return routeOver([from, to], [direct], side)

  const first = pivot === undefined ? [] : legsBetween(pairs, from, pivot)
  const second = pivot === undefined ? [] : legsBetween(pairs, pivot, to)
  if (pivot !== undefined && first.length > 0 && second.length > 0) {
    return routeOver([from, pivot, to], [first, second], side)
  }
  if (!isKnown(pairs, from)) return unknown(from)
  if (!isKnown(pairs, to)) return unknown(to)
  return { missing: `no series leads from ${from} to ${to}, directly${pivot ? ` or through ${pivot}` : ''}` }
}

/**
 * What the amount is worth over the legs and what is stored of each, with the last values on or before the day.
 * Undefined when a leg has none; a hole when one would have to be carried over days that were not synchronized.
 * `amount` must be a canonical decimal; the result is exactly amount x rate.
 */
export function convert(
  amount: string,
  legs: readonly Leg[],
  stored: readonly { column: Column; covered: CoveredDays }[],
  day: IsoDate,
): Conversion | Hole | undefined {
  const numerator: string[] = []
  const denominator: string[] = []
  const valued: ValuedLeg[] = []
  let rateDate = day
  let roundedTo: number | undefined
  for (const [at, leg] of legs.entries()) {
    const { column, covered } = stored[at] ?? {}
    const point = column && covered && knownRateOn(column, covered, day)
    if (!point || 'hole' in point) return point
    if (at === 0 || point.rate_date < rateDate) rateDate = point.rate_date
    roundedTo = smallest(roundedTo, point.rounded_to)
    if (leg.inverse) denominator.push(point.value)
    else numerator.push(point.value)
    valued.push({ ...leg, point })
  }
  const asPublished = numerator.length <= 1 && denominator.length === 0
  const rate = asPublished ? (numerator[0] ?? '1') : ratio(numerator, denominator)
  return { rateDate, rate, result: product(amount, rate), roundedTo, legs: valued }
}

function legsBetween(pairs: SeriesByPair, from: string, to: string): Leg[] {
  const legs: Leg[] = []
  for (const series of pairs.get(`${from}/${to}`) ?? []) legs.push({ series, inverse: false })
  for (const series of pairs.get(`${to}/${from}`) ?? []) legs.push({ series, inverse: true })
  return legs
}

function isKnown(pairs: SeriesByPair, currency: string): boolean {
  return pairs.keys().some((pair) => pair.startsWith(`${currency}/`) || pair.endsWith(`/${currency}`))
}

function unknown(currency: string): NoRoute {
  return { missing: `no rates of ${currency} are stored` }
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
