// Loads the values of the chosen indicator, or of both sides of an entity.

import { useMemo } from 'preact/hooks'
import { type ApiState, useApi, useLastLoaded } from '../../components/use-api.ts'
import type { ChartSubject } from '../../model/indicators.ts'
import type { LineName } from '../../model/rates/history.ts'
import { type DayTable, mergeLines } from '../../model/rates/history.ts'
import { type KnownHoles, mergeHoles, type ResponseHoles } from '../../model/rates/holes.ts'
import type { Point } from '../../model/rates/statistics.ts'

type IndicatorResponse = { points: readonly Point[]; holes?: ResponseHoles }
type IndicatorDays = { from: string; to: string }

export type LoadedIndicator = {
  subject: ChartSubject
  data: DayTable<LineName>
  lines: readonly { name: LineName; points: readonly Point[] }[]
  missing: KnownHoles
}

/** Returns the previous values until the others are loaded. @param range undefined: nothing is requested */
export function useIndicatorValues(subject: ChartSubject, range: IndicatorDays | undefined) {
  const [first, second] = subject.lines
  const path = (code: string | undefined) =>
    range && code !== undefined
      ? `/api/v1/indicators/${code}/history?${new URLSearchParams(range)}`
      : undefined
  const one = useApi<IndicatorResponse>(path(first?.code))
  const other = useApi<IndicatorResponse>(path(second?.code))
  const current = useMemo(
    () => range && joinLines(subject, second ? [one, other] : [one]),
    [one.value, other.value, subject, range?.from, range?.to],
  )
  const failure = one.failure ?? other.failure
  return {
    loaded: useLastLoaded(current, failure),
    failure,
    isLoading: range !== undefined && !current && !failure,
  }
}

function joinLines(
  subject: ChartSubject,
  responses: readonly ApiState<IndicatorResponse>[],
): LoadedIndicator | undefined {
  const lines: LoadedIndicator['lines'][number][] = []
  for (const [at, { name }] of subject.lines.entries()) {
    const points = responses[at]?.value?.points
    if (!points) return undefined
    lines.push({ name, points })
  }
  const missing = mergeHoles(responses.map(({ value }) => value?.holes))
  return { subject, lines, missing, data: mergeLines(lines) }
}
