// Rows of the months of a year: close, mean, lowest and highest, as the API returns them. A month without values is an
// empty row, so that the user notices it. No value is computed here.

import { addMonths } from './days.ts'

export const STATS = ['last', 'mean', 'low', 'high'] as const

export type Stat = (typeof STATS)[number]
/** Figure of a month. `date`: first day of the month; `rate_date`: day of the value. */
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
  /** Sides of which the month is incomplete. */
  partial: readonly Name[]
  /** Cells in the order of the columns: figures, and sides within a figure. */
  cells: readonly MonthCell<Name>[]
}

/** Year of the last complete month: in January the year before. */
export function lastClosedYear(today: string): string {
  return addMonths(today, -1).slice(0, 4)
}

/** Months of a year up to today, as YYYY-MM. */
export function listMonths(year: string, today: string): string[] {
  const months = Array.from({ length: 12 }, (_, index) => `${year}-${String(index + 1).padStart(2, '0')}`)
  return months.filter((month) => month <= today.slice(0, 7))
}

/** Includes a month that has not begun if it has values, since the bank publishes a day early. */
export function monthRows<Name extends string>(
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
  const months = new Set([...listMonths(year, today), ...columns.flatMap(({ points }) => [...points.keys()])])
  return [...months].sort().map((month) => {
    const cells = columns.map(({ stat, side, points }) => ({ stat, side, point: points.get(month) }))
    const isPartial = (name: Name) => cells.some(({ side, point }) => side === name && point?.partial)
    return { month, cells, partial: sides.map(({ name }) => name).filter(isPartial) }
  })
}
