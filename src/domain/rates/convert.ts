// Finds the route between two currencies and converts over it, to the last digit. Rejects guesses: no inverse of a
// side, no second pivot, no unpublished rate (decisions#conversion).

import type { RateType } from '../../providers/provider.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import { earliest, type IsoDate } from '../../values/dates.ts'
import { product, ratio } from '../../values/decimal.ts'
import { newestCoveredDay } from './covered-days.ts'
import type { SeriesDays } from './holes.ts'
import type { SeriesByPair } from './rate-cache.ts'
import { type DayHole, knownRateOn, type RatePoint, smallest } from './rates.ts'

/** A step of a route: a stored series, read in its own direction or inversely. */
export type Leg = { series: SeriesRow; inverse: boolean }

/** A leg with the values and covered days of its series. */
export type StoredLeg = Leg & SeriesDays

export type Route = { path: readonly string[]; legs: readonly Leg[]; rateType: RateType }

/** Reason for a missing route: a currency without stored rates, or a side that is not published. */
export type NoRoute = { missing: string }

/** A leg and the value used for it. `lastCoveredDay`: the newest covered day, if it is before the requested day. */
export type ValuedLeg = Leg & { point: RatePoint; lastCoveredDay: IsoDate | undefined }

export type Conversion = {
  rateDate: IsoDate
  rate: string
  result: string
  /** Fewest decimals to which a leg's value is rounded; undefined: all are exact. */
  roundedTo: number | undefined
  legs: readonly ValuedLeg[]
}

/**
 * Finds the route between two currencies in the series of a provider. A route is empty, a stored pair in either
 * direction, or two legs through the provider's pivot. `side` selects among the series of a pair. /
 */
export function findRoute(
  pairs: SeriesByPair,
  pivot: string | undefined,
  from: string,
  to: string,
  side: RateType,
): Route | NoRoute {
  if (from === to) {
    return isKnown(pairs, from)
      ? { path: [from, to], legs: [], rateType: 'referencia' }
      : unknownCurrency(from)
  }
  const direct = findLegs(pairs, from, to)
  if (direct.length > 0) return chooseRoute([from, to], [direct], side)

  const first = pivot === undefined ? [] : findLegs(pairs, from, pivot)
  const second = pivot === undefined ? [] : findLegs(pairs, pivot, to)
  if (pivot !== undefined && first.length > 0 && second.length > 0) {
    return chooseRoute([from, pivot, to], [first, second], side)
  }
  if (!isKnown(pairs, from)) return unknownCurrency(from)
  if (!isKnown(pairs, to)) return unknownCurrency(to)
  return { missing: `no series leads from ${from} to ${to}, directly${pivot ? ` or through ${pivot}` : ''}` }
}

/**
 * Converts an amount over the legs with their last values on or before the day. Undefined when a leg has none; a hole
 * when a value would be carried over days that were not synchronized. `amount` must be a canonical decimal; the
 * result is exactly amount x rate.
 */
export function convert(
  amount: string,
  legs: readonly StoredLeg[],
  day: IsoDate,
): Conversion | DayHole | undefined {
  const numerator: string[] = []
  const denominator: string[] = []
  const valued: ValuedLeg[] = []
  let rateDate = day
  let decimals: number | undefined
  for (const { series, inverse, column, covered } of legs) {
    const point = knownRateOn(column, covered, day)
    if (!point || 'hole' in point) return point
    rateDate = earliest(rateDate, point.rate_date)
    decimals = smallest(decimals, point.rounded_to)
    if (inverse) denominator.push(point.value)
    else numerator.push(point.value)
    valued.push({ series, inverse, point, lastCoveredDay: newestCoveredDay(covered, point.rate_date, day) })
  }
  const asPublished = numerator.length <= 1 && denominator.length === 0
  const rate = asPublished ? (numerator[0] ?? '1') : ratio(numerator, denominator)
  return { rateDate, rate, result: product(amount, rate), roundedTo: decimals, legs: valued }
}

function findLegs(pairs: SeriesByPair, from: string, to: string): Leg[] {
  const legs: Leg[] = []
  for (const series of pairs.get(`${from}/${to}`) ?? []) legs.push({ series, inverse: false })
  for (const series of pairs.get(`${to}/${from}`) ?? []) legs.push({ series, inverse: true })
  return legs
}

function isKnown(pairs: SeriesByPair, currency: string): boolean {
  return pairs.keys().some((pair) => pair.startsWith(`${currency}/`) || pair.endsWith(`/${currency}`))
}

function unknownCurrency(currency: string): NoRoute {
  return { missing: `no rates of ${currency} are stored` }
}

function chooseRoute(path: string[], choices: Leg[][], side: RateType): Route | NoRoute {
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
