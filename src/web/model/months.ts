// The months of a year as rows: of each its close, mean, lowest and highest, as the API has them. A month without a value
// is an empty row, so that it is not overlooked; none is made up.

import { addMonths } from './days.ts'

export const STATS = ['last', 'mean', 'low', 'high'] as const

export type Stat = (typeof STATS)[number]
/** One figure of a month. `date`: its first day; `rate_date`: the day that the figure is of. */
export type MonthPoint = {
  date: string
  rate_date: string
  value: string
  partial?: true
  rounded_to?: number
}
export type SideMonths<Name extends string = string> = {
  name: Name
  stats: Readonly<Record<Stat, readonly MonthPoint[]>>
}
export type MonthCell<Name extends string = string> = {
  stat: Stat
  side: Name
  point: MonthPoint | undefined
}
export type MonthRow<Name extends string = string> = {
  /** YYYY-MM */
  month: string
  /** The sides of which the month is not whole. */
  partial: readonly Name[]
  /** In the order of the columns: of each figure all sides. */
  cells: readonly MonthCell<Name>[]
}

/** In January that is the year before. */
export function lastClosedYear(today: string): string {
  return addMonths(today, -1).slice(0, 4)
}

/** The months of a year that have begun, as YYYY-MM. */
export function monthsOf(year: string, today: string): string[] {
  const all = Array.from({ length: 12 }, (_, index) => `${year}-${String(index + 1).padStart(2, '0')}`)
  return all.filter((month) => month <= today.slice(0, 7))
}

/** What is published a day early may be of a month that has not begun. */
export function rowsOf<Name extends string>(
  year: string,
  today: string,
  sides: readonly SideMonths<Name>[],
): MonthRow<Name>[] {
  const columns = STATS.flatMap((stat) =>
    sides.map(({ name, stats }) => ({
      stat,
      side: name,
      points: new Map(stats[stat].map((point) => [point.date.slice(0, 7), point])),
    })),
  )
  const months = new Set([...monthsOf(year, today), ...columns.flatMap(({ points }) => [...points.keys()])])
  return [...months].sort().map((month) => {
    const cells = columns.map(({ stat, side, points }) => ({ stat, side, point: points.get(month) }))
    const isPartial = (name: Name) => cells.some(({ side, point }) => side === name && point?.partial)
    return { month, cells, partial: sides.map(({ name }) => name).filter(isPartial) }
  })
}
