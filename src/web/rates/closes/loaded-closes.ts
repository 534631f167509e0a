// Loads the figures of the periods of a pair.

import { useMemo } from 'preact/hooks'
import { serverTime } from '../../api/clock.ts'
import type { PeriodsResponse, RateSide } from '../../api/responses.ts'
import { useApi, useLastLoaded } from '../../components/use-api.ts'
import { addDays, FIRST_DAY } from '../../model/days.ts'
import { type KnownHoles, mergeHoles } from '../../model/rates/holes.ts'
import type { PeriodKind, SidePeriods } from '../../model/rates/months.ts'

/** `year` is empty if the periods are years. */
export type ClosesQuery = { pair: string; every: PeriodKind; year: string }
export type LoadedCloses = ClosesQuery & {
  sides: readonly SidePeriods<RateSide>[]
  missing: KnownHoles
  /** Milliseconds, when the server answered. */
  at: number
}

/**
 * Loads both sides of a pair whose route has the colón, else its only side. While they load, `loaded` has the figures
 * that were loaded before.
 */
export function useCloses({ pair, every, year }: ClosesQuery, today: string) {
  const path = (side: 'compra' | 'venta') => closesPath({ pair, every, year }, side, today)
  const sell = useApi<PeriodsResponse>(path('venta'))
  const isBoth = sell.value !== undefined && sell.value.rate_type !== 'referencia'
  const buy = useApi<PeriodsResponse>(isBoth ? path('compra') : undefined)
  const responses = isBoth ? [buy.value, sell.value] : [sell.value]
  const current = useMemo(
    () => joinSides({ pair, every, year }, responses),
    [pair, every, year, isBoth, sell.value, buy.value],
  )
  // A loaded value survives later failures.
  const failure = [sell, buy].find((one) => one.failure && !one.value)?.failure
  return {
    loaded: useLastLoaded(current, failure),
    failure,
    isLoading: !current && !failure,
  }
}

/** Days of the periods; the bank publishes a day early. */
export function closesRange({ year }: ClosesQuery, today: string): { from: string; to: string } {
  if (year !== '') return { from: `${year}-01-01`, to: `${year}-12-31` }
  return { from: FIRST_DAY, to: `${addDays(today, 1).slice(0, 4)}-12-31` }
}

function closesPath(query: ClosesQuery, type: string, today: string): string {
  const [base = '', quote = ''] = query.pair.split('/')
  const params = { base, quote, type, ...closesRange(query, today), every: query.every }
  return `/api/v1/history?${new URLSearchParams({ ...params, stat: 'all', details: 'true' })}`
}

function joinSides(
  query: ClosesQuery,
  responses: readonly (PeriodsResponse | undefined)[],
): LoadedCloses | undefined {
  const loaded = responses.flatMap((one) => one ?? [])
  if (loaded.length < responses.length) return undefined
  return {
    ...query,
    sides: loaded.map(({ rate_type, points }) => ({ name: rate_type, points })),
    missing: mergeHoles(loaded.map(({ holes }) => holes)),
    at: serverTime(),
  }
}
