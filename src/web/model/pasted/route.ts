// Writes the published values that a rate was computed from, such as
// `EUR/USD 1,17632 (06/11) × USD/CRC venta 488,91 (07/11)`.

import { dayDifference } from '../days.ts'
import type { Formats } from '../formats.ts'
import { type ConversionLeg, legName, legOperator, type SupportTexts } from '../rates/support.ts'

export type RoutePart = { sign: string; name: string; value: string; day: string }

const MAX_AGE_DAYS = 5

/** @param day day of the conversion; a leg of another year has its year */
export function routeParts(
  legs: readonly ConversionLeg[],
  day: string,
  { exact, shortDay, day: longDay }: Formats,
  sides: SupportTexts['sides'],
): RoutePart[] {
  return legs.map((leg, index) => ({
    sign: legOperator(leg, index),
    name: legName(leg, sides),
    value: exact(leg.value),
    day: leg.rate_date.slice(0, 4) === day.slice(0, 4) ? shortDay(leg.rate_date) : longDay(leg.rate_date),
  }))
}

export function routeText(parts: readonly RoutePart[]): string {
  return parts
    .map(({ sign, name, value, day }) => `${sign}${name} ${value} (${day})`)
    .join(' ')
    .replace(/\s/g, ' ')
}

/** Age in days of the oldest leg, if it is more than 5 days older than the conversion. */
export function oldLegAge(legs: readonly ConversionLeg[], day: string): number | undefined {
  const age = Math.max(0, ...legs.map(({ rate_date }) => dayDifference(rate_date, day)))
  return age > MAX_AGE_DAYS ? age : undefined
}

/** Writes a rate: a published value as it is, a cross or an inverse rounded. */
export function rateText(rate: string, legs: readonly ConversionLeg[], { exact, cross }: Formats): string {
  const [leg] = legs
  return legs.length === 1 && leg && !leg.inverse ? exact(rate) : cross(rate)
}
