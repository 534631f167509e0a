// What can be asked of the stored rates: which series are meant, which day answers, and why there is no answer. Values
// come back; how they are written is the business of the face that asked.

import { addDays, EARLIEST_DAY, type IsoDate, latest } from '../../dates.ts'
import { AppError } from '../../errors.ts'
import type { Interval } from '../../intervals.ts'
import type { RateType } from '../../providers/provider.ts'
import type { ProviderRow } from '../../store/rates/providers.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import { type Column, makeColumn } from './column.ts'
import { findRoute, type Route } from './convert.ts'
import { holesOf, seriesDays } from './holes.ts'
import type { RateSnapshot } from './rate-cache.ts'
import {
  knownRateOn,
  type LatestRates,
  latestOfPair,
  pointsBetween,
  type RatePoint,
  rateOn,
} from './rates.ts'

/** Which series are meant; what is not given is any. Currencies are in capitals. */
export type SeriesFilter = {
  provider?: string | undefined
  base?: string | undefined
  quote?: string | undefined
}

/** The value of one series on a day. */
export type SeriesRate = { provider: string; series: SeriesRow; point: RatePoint }

/** The values of a day, by id, and the ids of the series without one because days were not synchronized. */
export type RatesOfDay = { rates: SeriesRate[]; leftOut: number[] }

/** The values of a series: in its column from index `first` to before `end`. */
export type SeriesHistory = {
  provider: string
  series: SeriesRow
  from: IsoDate
  to: IsoDate
  column: Column
  first: number
  end: number
  /** The days of it that were not synchronized; null: that is not in the record. */
  holes: readonly Interval[] | null
}

const HISTORY_DAYS = 90
const EMPTY = makeColumn(new Int32Array(), [])

/** The providers, by id. */
export function providersIn(snapshot: RateSnapshot, onlyEnabled: boolean): ProviderRow[] {
  return snapshot.providers.filter(({ enabled }) => enabled || !onlyEnabled)
}

/** The series that pass the filter, by id; with `onlyEnabled` those that are synchronized. */
export function seriesIn(snapshot: RateSnapshot, filter: SeriesFilter, onlyEnabled = false): SeriesRow[] {
  const provider = snapshot.providers.find(({ code }) => code === filter.provider)
  if (filter.provider !== undefined && !provider) return []
  const synced = new Set(snapshot.providers.filter(({ enabled }) => enabled).map(({ id }) => id))
  return snapshot.series.filter(
    (one) =>
      (!provider || one.provider_id === provider.id) &&
      (filter.base === undefined || one.base_currency === filter.base) &&
      (filter.quote === undefined || one.quote_currency === filter.quote) &&
      (!onlyEnabled || (one.enabled && synced.has(one.provider_id))),
  )
}

/**
 * All sides of a pair on the newest day, up to the one given, for which they are settled (decisions 2.6).
 * @throws AppError `not-found`: no such provider, pair or value, or days that were not synchronized
 */
export function latestRates(
  snapshot: RateSnapshot,
  { provider, base, quote, day }: { provider: string; base: string; quote: string; day: IsoDate },
): LatestRates | Promise<LatestRates> {
  const { enabled } = needProvider(snapshot, provider)
  const pair = `${base}/${quote}`
  const series = needPair(snapshot, { provider, base, quote })
  return withColumns(snapshot, series, (columns) => {
    const sides = series.map((one, at) => ({
      rateType: one.rate_type,
      enabled: one.enabled && enabled,
      column: columns[at] ?? EMPTY,
      covered: snapshot.coveredOf(one.id),
    }))
    const found = latestOfPair(sides, day)
    if (!found) throw new AppError('not-found', `No rate of ${pair} is stored on or before ${day}`)
    if ('hole' in found) throw notSynchronized(found.hole)
    return found
  })
}

/**
 * The values on a day of the series that pass the filter, by id: the last on or before it, or with `exact` only that
 * very day's. A series without one, or with a hole before the day, has none.
 */
export function ratesOn(
  snapshot: RateSnapshot,
  { day, exact, ...filter }: SeriesFilter & { day: IsoDate; exact: boolean },
): RatesOfDay | Promise<RatesOfDay> {
  const series = seriesIn(snapshot, filter)
  const codes = new Map(snapshot.providers.map(({ id, code }) => [id, code]))
  return withColumns(snapshot, series, (columns) => {
    const rates: SeriesRate[] = []
    const leftOut: number[] = []
    for (const [at, one] of series.entries()) {
      const column = columns[at] ?? EMPTY
      const point = exact ? rateOn(column, day, true) : knownRateOn(column, snapshot.coveredOf(one.id), day)
      if (point && !('hole' in point)) {
        rates.push({ provider: codes.get(one.provider_id) ?? '', series: one, point })
      } else if (point || holesOf([seriesDays(snapshot, one, column)], { from: day, to: day })?.length) {
        leftOut.push(one.id)
      }
    }
    return { rates, leftOut }
  })
}

/**
 * The way from a currency of a provider to another; `advice` is where the pairs are to be seen that there are.
 * @throws AppError `not-found`: no such provider, currency or side, or no way
 */
export function routeBetween(
  snapshot: RateSnapshot,
  { provider, from, to, type }: { provider: string; from: string; to: string; type: RateType },
  advice?: 'series',
): Route {
  needProvider(snapshot, provider)
  const route = findRoute(snapshot.pairsOf(provider), snapshot.pivotOf(provider), from, to, type)
  if (!('missing' in route)) return route
  const more = advice ? { advice: { about: advice } } : {}
  throw new AppError('not-found', `Cannot convert: ${route.missing}`, more)
}

/**
 * The days of a history: without `to` up to today, also where it begins later, so that it is empty then; without `from`
 * of 90 days (decisions 2.8). Undefined: it would end before it begins.
 */
export function historyRange(
  asked: { from?: IsoDate | undefined; to?: IsoDate | undefined },
  today: IsoDate,
): { from: IsoDate; to: IsoDate; last: IsoDate } | undefined {
  const last = asked.to ?? today
  const from = asked.from ?? latest(EARLIEST_DAY, addDays(last, -HISTORY_DAYS))
  if (asked.to !== undefined && from > asked.to) return undefined
  return { from, to: latest(last, from), last }
}

/** The values of one series from one day to another. @throws AppError `not-found` for a series that is not there */
export function historyOf(
  snapshot: RateSnapshot,
  { seriesId, from, to, last }: { seriesId: number; from: IsoDate; to: IsoDate; last: IsoDate },
): SeriesHistory | Promise<SeriesHistory> {
  const { row: series, provider } = seriesOf(snapshot, seriesId)
  return withColumns(snapshot, [series], ([column = EMPTY]) => ({
    ...{ provider, series, from, to, column },
    ...pointsBetween(column, from, last),
    holes: holesOf([seriesDays(snapshot, series, column)], { from, to: last }),
  }))
}

/** A series and the code of its provider. @throws AppError `not-found` for a series that is not there */
export function seriesOf(snapshot: RateSnapshot, seriesId: number): { row: SeriesRow; provider: string } {
  const row = snapshot.series.find(({ id }) => id === seriesId)
  if (!row) {
    throw new AppError('not-found', 'There is no series with this id', { advice: { about: 'series' } })
  }
  const provider = snapshot.providers.find(({ id }) => id === row.provider_id)?.code ?? ''
  return { row, provider }
}

function needPair(
  snapshot: RateSnapshot,
  { provider, base, quote }: { provider: string; base: string; quote: string },
): readonly SeriesRow[] {
  const pair = `${base}/${quote}`
  const series = snapshot.pairsOf(provider).get(pair) ?? []
  if (series.length > 0) return series
  throw new AppError('not-found', `No series of ${provider} gives ${pair}`, {
    advice: { about: 'conversion', from: base, to: quote },
  })
}

function needProvider(snapshot: RateSnapshot, code: string): ProviderRow {
  const provider = snapshot.providers.find((one) => one.code === code)
  if (!provider) {
    throw new AppError('not-found', `There is no provider ${code}`, { advice: { about: 'providers' } })
  }
  return provider
}

/** The refusal of a value that would have to be carried over days that were not asked for (decisions 2.6). */
export function notSynchronized({ from, to }: Interval): AppError {
  return new AppError('not-found', `the days from ${from} to ${to} have not been synchronized`)
}

/** Goes on at once where nothing has to be waited for: a turn through the event loop costs more than an answer. */
export function withColumns<T>(
  snapshot: RateSnapshot,
  series: readonly SeriesRow[],
  then: (columns: Column[]) => T,
): T | Promise<T> {
  const columns = snapshot.columns(series)
  return columns instanceof Promise ? columns.then(then) : then(columns)
}
