// A history with the pair and the days that it was asked for.

import { useMemo, useState } from 'preact/hooks'
import { type Answer, useAnswer } from '../parts/answer.ts'
import { view } from '../parts/view.ts'
import type { History, RateSide, Series } from '../server/answers.ts'
import { pairOf } from '../words/currencies.ts'
import { byDay, type Days } from '../words/history.ts'
import { type MissingDays, mergeHoles } from '../words/holes.ts'

export type Loaded = {
  pair: string
  from: string
  to: string
  data: Days<RateSide>
  lines: readonly Points[]
  missing: MissingDays
}
type Points = { name: RateSide; points: History['points'] }

/** The history of the pair that is looked at, and the one before for as long as it is not there. */
export function useHistory(series: readonly Series[], range: { from: string; to: string }) {
  const { pair } = view.value
  const sides = series.filter((one) => pairOf(one) === pair)
  const path = (one: Series | undefined) =>
    one && `/api/v1/series/${one.id}/history?from=${range.from}&to=${range.to}`
  const first = useAnswer<History>(path(sides[0]))
  const second = useAnswer<History>(path(sides[1]))
  const current = useMemo(
    () => loadedOf(sides, [first, second], pair, range),
    [first.value, second.value, pair, range.from, range.to, series],
  )
  const [shown, show] = useState<Loaded | undefined>(undefined)
  if (current && current !== shown) show(current)
  const failure = first.failure ?? second.failure
  const isUnknown = series.length > 0 && sides.length === 0
  return {
    loaded: current ?? (failure || isUnknown ? undefined : shown),
    failure: failure ?? (isUnknown ? ({ kind: 'not-found', status: 404, detail: '' } as const) : undefined),
    isLoading: !current && !failure,
  }
}

function loadedOf(
  sides: readonly Series[],
  answers: readonly Answer<History>[],
  pair: string,
  { from, to }: { from: string; to: string },
): Loaded | undefined {
  const lines: Points[] = []
  for (const [index, { rate_type }] of sides.entries()) {
    const points = answers[index]?.value?.points
    if (!points) return undefined
    lines.push({ name: rate_type, points })
  }
  if (sides.length === 0) return undefined
  const missing = mergeHoles(sides.map((_, index) => answers[index]?.value?.holes))
  return { pair, from, to, lines, missing, data: byDay(lines) }
}
