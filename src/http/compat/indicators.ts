// The bank's series by its own codes, for its two mirrors: rates, and indicators that were enabled
// (decisions#indicators).

import { type IndicatorHistory, indicatorHistory } from '../../domain/indicators/indicator-queries.ts'
import type { IndicatorReader, IndicatorSnapshot } from '../../domain/indicators/reader.ts'
import {
  type Column,
  columnDecimals,
  columnValue,
  type DamagedDay,
  findDamage,
} from '../../domain/rates/column.ts'
import { listSeries, seriesHistory } from '../../domain/rates/queries.ts'
import type { RateSnapshot } from '../../domain/rates/rate-cache.ts'
import { smallest } from '../../domain/rates/rates.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import { type IsoDate, isoDate } from '../../values/dates.ts'
import { addInterval, type Interval } from '../../values/intervals.ts'
import type { MissingDays } from './missing-days.ts'
import { type CompatDeps, PROVIDER } from './shape.ts'

/** `roundedTo`: decimals of a rounded parity. */
export type IndicatorValue = { day: IsoDate; value: string; roundedTo?: number | undefined }

/** Facts of a series of the bank. `isRate`: its values are rates. */
export type MirroredSeries = {
  code: string
  name: string
  unit: string | null
  periodicity: string
  isRate: boolean
}

/**
 * The values of an indicator, ascending; `roundedTo` decimals where a parity among them is rounded. `unserved`:
 * days whose stored value is not returned, with the days after them up to the next exact value.
 */
export type IndicatorValues = {
  series: MirroredSeries
  values: readonly IndicatorValue[]
  roundedTo: number | undefined
  unserved: readonly Interval[]
  holes: readonly Interval[]
  /** The first damaged day of the first hole. */
  damage: DamagedDay | undefined
}

const DECIMALS = 8 // the bank writes them in every value

/** The series of the bank, by id. */
export function listIndicators(snapshot: RateSnapshot): SeriesRow[] {
  return listSeries(snapshot, { provider: PROVIDER })
}

export function findIndicator(snapshot: RateSnapshot, code: string): SeriesRow | undefined {
  return listIndicators(snapshot).find((one) => one.external_code === code)
}

/** Returns whether the operator has enabled an indicator, now or once: its stored values are served. */
export function isStoredIndicator({ cache }: Pick<IndicatorReader, 'cache'>, code: string): Promise<boolean> {
  return cache.read(({ indicators }) => indicators.some((one) => one.code === code))
}

/** Returns the values of a range of days that may be served. */
export function findIndicatorValues(
  deps: Pick<CompatDeps, 'serveRounded' | 'unserved'>,
  snapshot: RateSnapshot,
  series: SeriesRow,
  { from, to }: { from: IsoDate; to: IsoDate },
): IndicatorValues | Promise<IndicatorValues> {
  const history = seriesHistory(snapshot, { seriesId: series.id, from, to, last: to })
  return history instanceof Promise
    ? history.then((values) => servedValues(deps, values))
    : servedValues(deps, history)
}

/** Returns the values of an indicator in a range of days. @throws AppError `not-found` if it was never enabled */
export async function findStoredValues(
  snapshot: IndicatorSnapshot,
  { code, from, to }: { code: string; from: IsoDate; to: IsoDate },
): Promise<IndicatorValues> {
  const { indicator, column, first, end, holes }: IndicatorHistory = await indicatorHistory(snapshot, {
    ...{ code, from, to },
    last: to,
  })
  const { name, unit, periodicity } = indicator
  return {
    series: { code, name: name ?? '', unit, periodicity: periodicity ?? '', isRate: false },
    values: columnValues(column, first, end),
    ...{ roundedTo: undefined, unserved: [], holes: holes ?? [], damage: firstDamage(column, holes) },
  }
}

/**
 * Returns the days of a range that an answer lacks; undefined: none. Clients take what is absent for days without data:
 * rounded values that are not returned count, too.
 */
export function lackedDays({ holes, unserved, damage }: IndicatorValues): MissingDays | undefined {
  if (holes.length > 0) return { days: holes, damage }
  return unserved.length > 0 ? { days: unserved, isRounded: true } : undefined
}

/** Formats a value as the bank does: with 8 decimals, or more where it has more. `decimals`: of a rounded value. */
export function padDecimals(value: string, decimals = DECIMALS): string {
  const [whole, fraction = ''] = value.split('.')
  return decimals === 0 ? value : `${whole}.${fraction.padEnd(decimals, '0')}`
}

function firstDamage(column: Column, holes: readonly Interval[] | null): DamagedDay | undefined {
  return holes?.[0] && findDamage([{ column }], holes[0])
}

type History = Awaited<ReturnType<typeof seriesHistory>>

/**
 * Filters rounded parities. The dollar has two decimals at the bank, so only a rounded parity differs from the
 * bank's value.
 */
function servedValues(
  { serveRounded, unserved: log }: Pick<CompatDeps, 'serveRounded' | 'unserved'>,
  { series, column, first, end, to, holes }: History,
): IndicatorValues {
  const isParity = series.rate_type === 'referencia'
  const values: IndicatorValue[] = []
  let unserved: Interval[] = []
  let leastDecimals: number | undefined
  for (let at = first; at < end; at++) {
    const decimals = isParity ? columnDecimals(column, at) : undefined
    const day = isoDate(column.days[at] ?? 0)
    if (decimals !== undefined && !serveRounded) {
      const next = column.days[at + 1]
      const days = { from: day, to: at + 1 < end && next !== undefined ? isoDate(next - 1) : to }
      unserved = addInterval(unserved, days)
      continue
    }
    leastDecimals = smallest(leastDecimals, decimals)
    values.push({ day, value: columnValue(column, at), roundedTo: decimals })
  }
  if (values.length < end - first) log.rounded(end - first - values.length)
  const { external_code: code, name, unit, periodicity } = series
  return {
    series: { code, name, unit, periodicity: periodicity ?? '', isRate: true },
    ...{ values, roundedTo: leastDecimals, unserved, holes: holes ?? [], damage: firstDamage(column, holes) },
  }
}

function columnValues(column: Column, first: number, end: number): IndicatorValue[] {
  const values: IndicatorValue[] = []
  for (let at = first; at < end; at += 1) {
    values.push({ day: isoDate(column.days[at] ?? 0), value: columnValue(column, at) })
  }
  return values
}
