// The figures of the months of a year, with the pair and the year that they were asked for.

import { useMemo, useState } from 'preact/hooks'
import { type Answer, useAnswer } from '../parts/answer.ts'
import type { PairHistory, RateSide } from '../server/answers.ts'
import { type MissingDays, mergeHoles } from '../words/holes.ts'
import type { SideMonths, Stat } from '../words/months.ts'

export type LoadedMonths = {
  pair: string
  year: string
  sides: readonly SideMonths<RateSide>[]
  missing: MissingDays
}

type Answers = Readonly<Record<Stat, Answer<PairHistory>>>

/** Both sides of a pair whose way goes over the colón, else the one that there is; the year before while they are not there. */
export function useMonths(pair: string, year: string) {
  const sell = useStats(pair, year, 'venta')
  const isBoth = sell.last.value !== undefined && sell.last.value.rate_type !== 'referencia'
  const buy = useStats(pair, year, isBoth ? 'compra' : undefined)
  const failure = failureIn(sell) ?? failureIn(buy)
  const current = useMemo(
    () => loadedOf(pair, year, isBoth ? [buy, sell] : [sell]),
    [pair, year, isBoth, ...valuesIn(sell), ...valuesIn(buy)],
  )
  const [shown, show] = useState<LoadedMonths | undefined>(undefined)
  if (current && current !== shown) show(current)
  return {
    loaded: current ?? (failure ? undefined : shown),
    failure,
    isLoading: !current && !failure,
  }
}

/** @param side undefined: nothing is asked */
function useStats(pair: string, year: string, side: 'compra' | 'venta' | undefined): Answers {
  const path = (stat: Stat) => (side === undefined ? undefined : pathOf(pair, year, side, stat))
  return {
    last: useAnswer<PairHistory>(path('last')),
    mean: useAnswer<PairHistory>(path('mean')),
    low: useAnswer<PairHistory>(path('low')),
    high: useAnswer<PairHistory>(path('high')),
  }
}

function pathOf(pair: string, year: string, side: string, stat: Stat): string {
  const [base = '', quote = ''] = pair.split('/')
  const words = { base, quote, type: side, from: `${year}-01-01`, to: `${year}-12-31`, every: 'month', stat }
  return `/api/v1/history?${new URLSearchParams(words)}`
}

function loadedOf(pair: string, year: string, answers: readonly Answers[]): LoadedMonths | undefined {
  const sides: SideMonths<RateSide>[] = []
  for (const { last, mean, low, high } of answers) {
    if (!last.value || !mean.value || !low.value || !high.value) return undefined
    const stats = {
      last: last.value.points,
      mean: mean.value.points,
      low: low.value.points,
      high: high.value.points,
    }
    sides.push({ name: last.value.rate_type, stats })
  }
  const missing = mergeHoles(answers.flatMap((stats) => valuesIn(stats).map((value) => value?.holes)))
  return { pair, year, sides, missing }
}

function valuesIn(answers: Answers): (PairHistory | undefined)[] {
  return Object.values(answers).map(({ value }) => value)
}

/** Of what is known a later failure says nothing: it stays, as everywhere on the page. */
function failureIn(answers: Answers) {
  return Object.values(answers).find(({ value, failure }) => failure && !value)?.failure
}
