// Whether the dollar is fresh: each side for itself, because one that is missing is not made up for by the other
// (decisions 2.11).

import { dayOf, type IsoDate } from '../../dates.ts'
import type { RateType } from '../../providers/provider.ts'
import type { SeriesRow } from '../../store/series.ts'

/** A side that is older is stale. */
export const STALE_DAYS = 2

/** A side of the dollar in colones that is synchronized. `ageDays` is -1 for tomorrow's value. */
export type DollarSide = { rateType: RateType; newest: IsoDate | undefined; ageDays: number | undefined }

export function dollarSide(rateType: RateType, newest: IsoDate | undefined, today: IsoDate): DollarSide {
  return { rateType, newest, ageDays: newest === undefined ? undefined : dayOf(today) - dayOf(newest) }
}

export function isDollar({ base_currency, quote_currency }: SeriesRow): boolean {
  return base_currency === 'USD' && quote_currency === 'CRC'
}

/** What is wrong with a side, in words; undefined: it is fresh. */
export function staleness({ rateType, newest, ageDays }: DollarSide): string | undefined {
  if (ageDays === undefined) return `the dollar has no value of ${rateType}`
  if (ageDays <= STALE_DAYS) return undefined
  return `the newest ${rateType} of the dollar is of ${newest}, ${ageDays} days ago`
}
