// Loads the monthly figures of a pair and a year.

import { useMemo, useState } from 'preact/hooks'
import type { PairResponse, RateSide } from '../../api/responses.ts'
import { type ApiState, useApi } from '../../components/use-api.ts'
import { type KnownHoles, mergeHoles } from '../../model/holes.ts'
import type { SideMonths, Stat } from '../../model/months.ts'

export type LoadedMonths = {
  pair: string
  year: string
  sides: readonly SideMonths<RateSide>[]
  missing: KnownHoles
}

type MonthStats = Readonly<Record<Stat, ApiState<PairResponse>>>

/**
 * Loads both sides of a pair whose route has the colón, else its only side. While they load, `loaded` has the figures
 * that were loaded before.
 */
export function useMonths(pair: string, year: string) {
  const sell = useStats(pair, year, 'venta')
  const isBoth = sell.last.value !== undefined && sell.last.value.rate_type !== 'referencia'
  const buy = useStats(pair, year, isBoth ? 'compra' : undefined)
  const failure = firstFailure(sell) ?? firstFailure(buy)
  const current = useMemo(
    () => joinSides(pair, year, isBoth ? [buy, sell] : [sell]),
    [pair, year, isBoth, ...statValues(sell), ...statValues(buy)],
  )
  const [lastLoaded, setLastLoaded] = useState<LoadedMonths | undefined>(undefined)
  if (current && current !== lastLoaded) setLastLoaded(current)
  return {
    loaded: current ?? (failure ? undefined : lastLoaded),
    failure,
    isLoading: !current && !failure,
  }
}

/** @param side undefined: no request */
function useStats(pair: string, year: string, side: 'compra' | 'venta' | undefined): MonthStats {
  const path = (stat: Stat) => (side === undefined ? undefined : historyPath(pair, year, side, stat))
  return {
    last: useApi<PairResponse>(path('last')),
    mean: useApi<PairResponse>(path('mean')),
    low: useApi<PairResponse>(path('low')),
    high: useApi<PairResponse>(path('high')),
  }
}

function historyPath(pair: string, year: string, side: string, stat: Stat): string {
  const [base = '', quote = ''] = pair.split('/')
  const params = { base, quote, type: side, from: `${year}-01-01`, to: `${year}-12-31`, every: 'month', stat }
  return `/api/v1/history?${new URLSearchParams(params)}`
}

function joinSides(pair: string, year: string, sideStats: readonly MonthStats[]): LoadedMonths | undefined {
  const sides: SideMonths<RateSide>[] = []
  for (const { last, mean, low, high } of sideStats) {
    if (!last.value || !mean.value || !low.value || !high.value) return undefined
    const stats = {
      last: last.value.points,
      mean: mean.value.points,
      low: low.value.points,
      high: high.value.points,
    }
    sides.push({ name: last.value.rate_type, stats })
  }
  const missing = mergeHoles(sideStats.flatMap((stats) => statValues(stats).map((value) => value?.holes)))
  return { pair, year, sides, missing }
}

function statValues(stats: MonthStats): (PairResponse | undefined)[] {
  return Object.values(stats).map(({ value }) => value)
}

/** First failure without a value; loaded values survive later failures. */
function firstFailure(stats: MonthStats) {
  return Object.values(stats).find(({ value, failure }) => failure && !value)?.failure
}
