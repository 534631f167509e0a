// Loads a history together with its pair and days.

import { signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { HistoryPoint, HistoryResponse, RateSide } from '../../api/responses.ts'
import { type ApiState, useApi, useLastLoaded } from '../../components/use-api.ts'
import { view } from '../../components/view.ts'
import { hasTwoSides } from '../../model/rates/currencies.ts'
import { type DayTable, mergeLines } from '../../model/rates/history.ts'
import { type KnownHoles, mergeHoles } from '../../model/rates/holes.ts'

export type LoadedHistory = {
  pair: string
  from: string
  to: string
  data: DayTable<RateSide>
  lines: readonly HistoryLine[]
  missing: KnownHoles
}
type HistoryLine = { name: RateSide; points: readonly HistoryPoint[] }
type HistoryDays = { from: string; to: string }

/** History of the chart, from which other parts of the screen draw without a request. */
export const shownHistory = signal<LoadedHistory | undefined>(undefined)

/**
 * Loads the history of the selected pair. Returns the previous one until then.
 * @param range undefined: the days were refused, and nothing is requested
 */
export function useHistory(range: HistoryDays | undefined) {
  const { pair } = view.value
  const sides = hasTwoSides(pair) ? ['venta', 'compra'] : ['venta']
  const path = (side: string | undefined) => range && side && dayHistoryPath(pair, side, range)
  const sell = useApi<HistoryResponse>(path(sides[0]))
  const buy = useApi<HistoryResponse>(path(sides[1]))
  const current = useMemo(
    () => range && joinSides(sides[1] ? [buy, sell] : [sell], pair, range),
    [sell.value, buy.value, pair, range?.from, range?.to],
  )
  useEffect(() => {
    shownHistory.value = current
  }, [current])
  const failure = sell.failure ?? buy.failure
  return {
    loaded: useLastLoaded(current, failure),
    failure,
    isLoading: !current && !failure,
  }
}

export function dayHistoryPath(pair: string, type: string, { from, to }: HistoryDays): string {
  const [base = '', quote = ''] = pair.split('/')
  return `/api/v1/history?${new URLSearchParams({ base, quote, type, from, to })}`
}

function joinSides(
  responses: readonly ApiState<HistoryResponse>[],
  pair: string,
  { from, to }: HistoryDays,
): LoadedHistory | undefined {
  const lines: HistoryLine[] = []
  for (const { value } of responses) {
    if (!value) return undefined
    lines.push({ name: value.rate_type, points: value.points })
  }
  const missing = mergeHoles(responses.map(({ value }) => value?.holes))
  return { pair, from, to, lines, missing, data: mergeLines(lines) }
}
