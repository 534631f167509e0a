// Loads a history together with its pair and days.

import { signal } from '@preact/signals'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { RateSide, Series, SeriesResponse } from '../../api/responses.ts'
import { type ApiState, useApi } from '../../components/use-api.ts'
import { view } from '../../components/view.ts'
import { pairCode } from '../../model/currencies.ts'
import { type DayTable, mergeLines } from '../../model/history.ts'
import { type KnownHoles, mergeHoles } from '../../model/holes.ts'

export type LoadedHistory = {
  pair: string
  from: string
  to: string
  data: DayTable<RateSide>
  lines: readonly Points[]
  missing: KnownHoles
}
type Points = { name: RateSide; points: SeriesResponse['points'] }

/** History of the chart, from which other parts of the screen draw without a request. */
export const shownHistory = signal<LoadedHistory | undefined>(undefined)

/**
 * Loads the history of the selected pair. Returns the previous one until then.
 * @param isRefused the days were refused, and nothing is requested
 */
export function useHistory(
  series: readonly Series[],
  range: { from: string; to: string },
  isRefused: boolean,
) {
  const { pair } = view.value
  const sides = isRefused ? [] : series.filter((one) => pairCode(one) === pair)
  const path = (one: Series | undefined) =>
    one && `/api/v1/series/${one.id}/history?from=${range.from}&to=${range.to}`
  const first = useApi<SeriesResponse>(path(sides[0]))
  const second = useApi<SeriesResponse>(path(sides[1]))
  const current = useMemo(
    () => joinSides(sides, [first, second], pair, range),
    [first.value, second.value, pair, range.from, range.to, series, isRefused],
  )
  const [lastLoaded, setLastLoaded] = useState<LoadedHistory | undefined>(undefined)
  if (current && current !== lastLoaded) setLastLoaded(current)
  useEffect(() => {
    shownHistory.value = current
  }, [current])
  const failure = first.failure ?? second.failure
  const isUnknown = !isRefused && series.length > 0 && sides.length === 0
  return {
    loaded: current ?? (failure || isUnknown ? undefined : lastLoaded),
    failure: failure ?? (isUnknown ? ({ kind: 'not-found', status: 404, detail: '' } as const) : undefined),
    isLoading: !current && !failure,
  }
}

function joinSides(
  sides: readonly Series[],
  responses: readonly ApiState<SeriesResponse>[],
  pair: string,
  { from, to }: { from: string; to: string },
): LoadedHistory | undefined {
  const lines: Points[] = []
  for (const [index, { rate_type }] of sides.entries()) {
    const points = responses[index]?.value?.points
    if (!points) return undefined
    lines.push({ name: rate_type, points })
  }
  if (sides.length === 0) return undefined
  const missing = mergeHoles(sides.map((_, index) => responses[index]?.value?.holes))
  return { pair, from, to, lines, missing, data: mergeLines(lines) }
}
