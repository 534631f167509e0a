// Rows of months, quarters and years: close, mean, lowest and highest, as the API returns them. A period without values
// is an empty row, so that the user notices it. No value is computed here.

import { addDays, addMonths } from '../days.ts'
import type { View } from '../fragment.ts'
import type { Hole, KnownHoles } from './holes.ts'

export const STATS = ['last', 'mean', 'low', 'high'] as const

export type Stat = (typeof STATS)[number]
export type PeriodKind = View['every']
/** `day`: of the pair, inside the period. `rate_date`: of the oldest value that was used. */
export type PeriodFigure = { value: string; rate_date: string; day?: string; rounded_to?: number }
/** Figures of a period. `date`: its first day. */
export type PeriodPoint = { date: string; partial?: true } & Readonly<Record<Stat, PeriodFigure>>
export type SidePeriods<Name extends string = string> = { name: Name; points: readonly PeriodPoint[] }
export type PeriodCell<Name extends string = string> = {
  stat: Stat
  side: Name
  figure: PeriodFigure | undefined
}
export type PeriodRow<Name extends string = string> = {
  /** First and last day. */
  first: string
  last: string
  /** Sides of which the period is incomplete. */
  partial: readonly Name[]
  /** The period is not over. */
  isCurrent: boolean
  /** Cells in the order of the columns: figures, and sides within a figure. */
  cells: readonly PeriodCell<Name>[]
}

const MONTHS: Readonly<Record<PeriodKind, number>> = { month: 1, quarter: 3, year: 12 }

/** Year of the last complete month: in January the year before. */
export function lastClosedYear(today: string): string {
  return addMonths(today, -1).slice(0, 4)
}

/** First days of the periods of a year that have begun. */
export function listPeriods(kind: PeriodKind, year: string, today: string): string[] {
  const step = MONTHS[kind]
  const begins = Array.from({ length: 12 / step }, (_, index) => addMonths(`${year}-01-01`, index * step))
  return begins.filter((first) => first <= today)
}

/**
 * Includes a period that has not begun if it has values, since the bank publishes a day early. Years are those from the
 * first with values, newest first.
 */
export function periodRows<Name extends string>(
  kind: PeriodKind,
  year: string,
  today: string,
  sides: readonly SidePeriods<Name>[],
): PeriodRow<Name>[] {
  const pointDays = sides.flatMap(({ points }) => points.map(({ date }) => date))
  const begins = [...new Set([...expectedPeriods(kind, year, today, pointDays), ...pointDays])].sort()
  if (kind === 'year') begins.reverse()
  const points = new Map(
    sides.map(({ name, points }) => [name, new Map(points.map((point) => [point.date, point]))]),
  )
  return begins.map((first) => {
    const last = addDays(addMonths(first, MONTHS[kind]), -1)
    const point = (side: Name) => points.get(side)?.get(first)
    return {
      ...{ first, last, isCurrent: last >= today },
      partial: sides.map(({ name }) => name).filter((side) => point(side)?.partial),
      cells: STATS.flatMap((stat) =>
        sides.map(({ name }) => ({ stat, side: name, figure: point(name)?.[stat] })),
      ),
    }
  })
}

/** Days of a period that were never synchronized. */
export function periodHoles(
  { first, last }: Pick<PeriodRow, 'first' | 'last'>,
  { holes }: KnownHoles,
): Hole[] {
  return holes
    .filter(({ from, to }) => from <= last && to >= first)
    .map(({ from, to }) => ({ from: from < first ? first : from, to: to > last ? last : to }))
}

function expectedPeriods(
  kind: PeriodKind,
  year: string,
  today: string,
  pointDays: readonly string[],
): readonly string[] {
  if (kind !== 'year') return listPeriods(kind, year, today)
  const [begin] = [...pointDays].sort()
  if (begin === undefined) return []
  const count = Number(today.slice(0, 4)) - Number(begin.slice(0, 4)) + 1
  return Array.from({ length: Math.max(count, 0) }, (_, index) => addMonths(begin, 12 * index))
}
