// Indicators as the card shows them: the lines of a chart, and the counter rates of each entity.

import { decimalSign, subtract } from './decimal.ts'
import type { LineName } from './rates/history.ts'

/** Indicator of the list, with the fields that the page reads. */
export type PageIndicator = {
  code: string
  name: string | null
  kind: string
  unit: string | null
  periodicity: string | null
  entity?: string
  side?: 'compra' | 'venta'
  first_date: string | null
  newest_date: string | null
  newest_value?: string | null
}

/** Rates of an entity with their days. */
export type CounterEntity = {
  entity: string
  kind: string
  compra: string | null
  compra_date: string | null
  venta: string | null
  venta_date: string | null
}

/** Sell rate minus buy rate; undefined: one of them is missing. */
export type CounterEntry = CounterEntity & { code: string; spread: string | undefined }

/** Lines of a chart: one indicator, or both sides of an entity. */
export type ChartSubject = {
  /** Code of the first line. */
  code: string
  name: string
  unit: string | null
  kind: string
  lines: readonly { name: LineName; code: string }[]
  /** First and newest day with a value; undefined: there is no value. */
  first: string | undefined
  newest: string | undefined
  /** Days without values that a line bridges. */
  maxGapDays: number
}

export type CounterSortKey = 'entity' | 'compra' | 'venta' | 'spread'

const COUNTER = 'counter'
const GAP_DAYS: Readonly<Record<string, number>> = {
  diaria: 10,
  semanal: 21,
  'nueva semanal': 21,
  mensual: 75,
}
const OTHER_GAP_DAYS = 400

export function isCounter({ kind, entity }: PageIndicator): boolean {
  return kind === COUNTER && entity !== undefined
}

/** Returns the lines of the indicator with a code, or of the first one. Undefined: there is no indicator. */
export function chartSubject(all: readonly PageIndicator[], code: string): ChartSubject | undefined {
  const one = all.find((other) => other.code === code) ?? all.find((other) => !isCounter(other)) ?? all[0]
  if (!one) return undefined
  const parts = isCounter(one) ? all.filter(({ entity }) => entity === one.entity).sort(bySide) : [one]
  const dates = (field: 'first_date' | 'newest_date') => parts.flatMap((part) => part[field] ?? []).sort()
  return {
    code: parts[0]?.code ?? one.code,
    name: one.entity ?? one.name ?? one.code,
    ...{ unit: one.unit, kind: one.kind },
    lines: parts.map((part) => ({ name: part.side ?? 'referencia', code: part.code })),
    ...{ first: dates('first_date')[0], newest: dates('newest_date').at(-1) },
    maxGapDays: GAP_DAYS[one.periodicity ?? ''] ?? OTHER_GAP_DAYS,
  }
}

/** Adds the spread of each entity, and the code by which its chart is chosen. */
export function counterEntries(
  counters: readonly CounterEntity[],
  all: readonly PageIndicator[],
): CounterEntry[] {
  return counters.map((one) => ({
    ...one,
    code: chartSubject(all, all.find(({ entity }) => entity === one.entity)?.code ?? '')?.code ?? '',
    spread: one.compra === null || one.venta === null ? undefined : subtract(one.venta, one.compra),
  }))
}

/** Sorts entities. Rows without a value are last in both directions, and equal ones stay in their order. */
export function sortCounters(
  entries: readonly CounterEntry[],
  { key, isDescending }: { key: CounterSortKey; isDescending: boolean },
): CounterEntry[] {
  const compare = (a: string, b: string) =>
    key === 'entity' ? a.localeCompare(b) : decimalSign(subtract(a, b))
  return entries.toSorted((a, b) => {
    const [left, right] = [a[key] ?? undefined, b[key] ?? undefined]
    if (left === undefined || right === undefined)
      return Number(left === undefined) - Number(right === undefined)
    return isDescending ? compare(right, left) : compare(left, right)
  })
}

function bySide(a: PageIndicator, b: PageIndicator): number {
  return (a.side ?? '') < (b.side ?? '') ? -1 : 1
}
