// Published sides of a pair by day, for answers that show compra and venta together.

import type { RateType } from '../../providers/provider.ts'
import { AppError } from '../../runtime/errors.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import { dayNumber, type IsoDate, isoDate } from '../../values/dates.ts'
import type { Interval } from '../../values/intervals.ts'
import { type Column, columnValue, EMPTY_COLUMN } from './column.ts'
import { findHoles, seriesDays } from './holes.ts'
import { dayHoleError, withColumns } from './queries.ts'
import type { RateSnapshot } from './rate-cache.ts'
import { knownRateOn, pointRange, type RatePoint } from './rates.ts'

/** Values published for a day; an unpublished side is absent. */
export type DaySides = { day: IsoDate } & { [side in RateType]?: string }

/** Days in order, and days of the range that were not synchronized in a side; null: coverage is not recorded. */
export type Sides = { days: DaySides[]; holes: readonly Interval[] | null }

/** Lists the days of a range with at least one published side. */
export function listSides(
  snapshot: RateSnapshot,
  query: { provider: string; base: string; quote: string; from: IsoDate; to: IsoDate },
): Sides | Promise<Sides> {
  const { provider, base, quote, from, to } = query
  const series = snapshot.pairs(provider).get(`${base}/${quote}`) ?? []
  return withColumns(snapshot, series, (columns) => {
    const byDay = new Map<number, DaySides>()
    for (const [at, column] of columns.entries()) {
      const { first, end } = pointRange(column, from, to)
      for (let index = first; index < end; index += 1) {
        const number = column.days[index] ?? 0
        const day = byDay.getOrInsertComputed(number, () => ({ day: isoDate(number) }))
        day[series[at]?.rate_type ?? 'referencia'] = columnValue(column, index)
      }
    }
    const days = [...byDay.values()].sort((a, b) => dayNumber(a.day) - dayNumber(b.day))
    const seriesData = series.map((one, at) => seriesDays(snapshot, one, columns[at] ?? EMPTY_COLUMN))
    const isStored = series.length > 0 || from > to // before the first sync there is no series
    return { days, holes: isStored ? findHoles(seriesData, { from, to }) : [{ from, to }] }
  })
}

/** The last value of a side, and the data of its series. */
export type LastRate = { series: SeriesRow; column: Column; point: RatePoint }

/**
 * Returns the last value of one side of a pair, on or before a day.
 * @throws AppError `not-found`: no value is stored, or days before the day were not synchronized
 */
export function requireLastRate(
  snapshot: RateSnapshot,
  query: { provider: string; base: string; quote: string; side: RateType; day: IsoDate },
): LastRate | Promise<LastRate> {
  const { provider, base, quote, side, day } = query
  const none = () => new AppError('not-found', `no ${side} of ${base}/${quote} is held on or before ${day}`)
  const series = snapshot
    .pairs(provider)
    .get(`${base}/${quote}`)
    ?.find(({ rate_type }) => rate_type === side)
  if (!series) throw none()
  return withColumns(snapshot, [series], ([column = EMPTY_COLUMN]) => {
    const point = knownRateOn(column, snapshot.coveredDays(series.id), day)
    if (!point) throw none()
    if ('hole' in point) throw dayHoleError(point)
    return { series, column, point }
  })
}
