// Queries of the stored rates: the series that match, the day that answers, and the error without an answer. Returns
// values; each face encodes them in its own way.

import type { RateType } from '../../providers/provider.ts'
import { AppError } from '../../runtime/errors.ts'
import type { ProviderRow } from '../../store/rates/providers.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import { addDays, dayNumber, EARLIEST_DAY, type IsoDate, latest } from '../../values/dates.ts'
import type { Interval } from '../../values/intervals.ts'
import { type Column, type DamagedDay, EMPTY_COLUMN } from './column.ts'
import { findRoute, type Leg, type Route, type StoredLeg } from './convert.ts'
import { findHoles, seriesDays } from './holes.ts'
import type { RateSnapshot, SeriesByPair } from './rate-cache.ts'
import {
  type DayHole,
  knownRateOn,
  type LatestRates,
  latestOfPair,
  pointRange,
  type RatePoint,
  rateOn,
} from './rates.ts'

/** Selects series; an omitted field matches any. Currencies are in capitals. */
export type SeriesFilter = {
  provider?: string | undefined
  base?: string | undefined
  quote?: string | undefined
}

/** Value of a series on a day. */
export type SeriesRate = { provider: string; series: SeriesRow; point: RatePoint }

/** Values of a day, by id, and the ids of series without one because days were not synchronized. */
export type RatesOfDay = { rates: SeriesRate[]; leftOut: number[] }

/** Values of a range: those of a column from index `first` to before `end`. */
export type ColumnHistory = {
  from: IsoDate
  to: IsoDate
  column: Column
  first: number
  end: number
  /** Days of the range that were not synchronized; null: coverage is not recorded. */
  holes: readonly Interval[] | null
}

export type SeriesHistory = ColumnHistory & { provider: string; series: SeriesRow }

const HISTORY_DAYS = 90

/** Lists the providers, by id. */
export function listProviders(snapshot: RateSnapshot, onlyEnabled: boolean): ProviderRow[] {
  return snapshot.providers.filter(({ enabled }) => enabled || !onlyEnabled)
}

/** Lists the series that match, by id; with `onlyEnabled` those that are synchronized. */
export function listSeries(snapshot: RateSnapshot, filter: SeriesFilter, onlyEnabled = false): SeriesRow[] {
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
 * Returns all sides of a pair on the newest settled day, up to `day` (decisions#settled).
 * @throws AppError `not-found`: no such provider, pair or value, or days that were not synchronized
 */
export function latestRates(
  snapshot: RateSnapshot,
  query: {
    provider: string
    base: string
    quote: string
    day: IsoDate
    details?: boolean
    as_of?: string | undefined
  },
): LatestRates | Promise<LatestRates> {
  const { provider, base, quote, day, details } = query
  const { enabled } = requireProvider(snapshot, provider)
  const series = requirePair(snapshot, query)
  return withColumns(snapshot, series, (columns) => {
    const sides = series.map((one, at) => ({
      rateType: one.rate_type,
      enabled: one.enabled && enabled,
      column: columns[at] ?? EMPTY_COLUMN,
      covered: snapshot.coveredDays(one.id),
    }))
    const rates = latestOfPair(sides, day, details)
    if (!rates) throw new AppError('not-found', `No rate of ${base}/${quote} is stored on or before ${day}`)
    if ('hole' in rates) throw dayHoleError(rates)
    return rates
  })
}

/**
 * Returns the values of the matching series, by id. Each is the last on or before the day; with `exact` only that
 * day's counts. A series without a value, or with a hole before the day, has none. /
 */
export function listDayRates(
  snapshot: RateSnapshot,
  { day, exact, ...filter }: SeriesFilter & { day: IsoDate; exact: boolean },
): RatesOfDay | Promise<RatesOfDay> {
  const series = listSeries(snapshot, filter)
  const codes = new Map(snapshot.providers.map(({ id, code }) => [id, code]))
  return withColumns(snapshot, series, (columns) => {
    const rates: SeriesRate[] = []
    const leftOut: number[] = []
    const target = dayNumber(day)
    for (const [at, one] of series.entries()) {
      const column = columns[at] ?? EMPTY_COLUMN
      const point = exact
        ? rateOn(column, day, true)
        : knownRateOn(column, snapshot.coveredDays(one.id), day, target)
      if (point && !('hole' in point)) {
        rates.push({ provider: codes.get(one.provider_id) ?? '', series: one, point })
      } else if (point || findHoles([seriesDays(snapshot, one, column)], { from: day, to: day })?.length) {
        leftOut.push(one.id)
      }
    }
    return { rates, leftOut }
  })
}

/**
 * Finds the route between two currencies of a provider; `advice` names where the existing pairs are listed.
 * @throws AppError `not-found`: no such provider, currency or side, or no route
 */
export function requireRoute(
  snapshot: RateSnapshot,
  { provider, from, to, type }: { provider: string; from: string; to: string; type: RateType },
  advice?: 'series',
): Route {
  requireProvider(snapshot, provider)
  const route = findRoute(snapshot.pairs(provider), snapshot.pivot(provider), from, to, type)
  if (!('missing' in route)) return route
  const more = advice ? { advice: { about: advice } } : {}
  const others = otherRoutes(snapshot, { provider, from, to, type })
  throw new AppError('not-found', `Cannot convert: ${route.missing}${others}`, more)
}

/**
 * Days of a history. Without `to` it ends today, and is empty if it begins later. Without `from` it has 90 days
 * (decisions#history). Undefined: its end is before its begin.
 */
export function historyRange(
  query: { from?: IsoDate | undefined; to?: IsoDate | undefined },
  today: IsoDate,
): { from: IsoDate; to: IsoDate; last: IsoDate } | undefined {
  const last = query.to ?? today
  const from = query.from ?? latest(EARLIEST_DAY, addDays(last, -HISTORY_DAYS))
  if (query.to !== undefined && from > query.to) return undefined
  return { from, to: latest(last, from), last }
}

/** Returns the values of a series in a range. @throws AppError `not-found` for a series that does not exist */
export function seriesHistory(
  snapshot: RateSnapshot,
  { seriesId, from, to, last }: { seriesId: number; from: IsoDate; to: IsoDate; last: IsoDate },
): SeriesHistory | Promise<SeriesHistory> {
  const { row: series, provider } = requireSeries(snapshot, seriesId)
  return withColumns(snapshot, [series], ([column = EMPTY_COLUMN]) => ({
    ...{ provider, series, from, to, column },
    ...pointRange(column, from, last),
    holes: findHoles([seriesDays(snapshot, series, column)], { from, to: last }),
  }))
}

/** Finds a series and the code of its provider. @throws AppError `not-found` for a series that does not exist */
export function requireSeries(
  snapshot: RateSnapshot,
  seriesId: number,
): { row: SeriesRow; provider: string } {
  const row = snapshot.series.find(({ id }) => id === seriesId)
  if (!row) {
    throw new AppError('not-found', 'There is no series with this id', { advice: { about: 'series' } })
  }
  const provider = snapshot.providers.find(({ id }) => id === row.provider_id)?.code ?? ''
  return { row, provider }
}

function requirePair(
  snapshot: RateSnapshot,
  { provider, base, quote, day, as_of: asOf }: Parameters<typeof latestRates>[1],
): readonly SeriesRow[] {
  const pairs = snapshot.pairs(provider)
  const series = pairs.get(`${base}/${quote}`) ?? []
  if (series.length > 0) return series
  const route = findRoute(pairs, snapshot.pivot(provider), base, quote, 'venta')
  const advice = { about: 'conversion', from: base, to: quote, provider, day, asOf } as const
  const others = otherProviders(snapshot, provider, (code) =>
    storedPairs(snapshot, code).has(`${base}/${quote}`),
  )
  const message = `No series of ${provider} gives ${base}/${quote}${others}`
  throw new AppError('not-found', message, 'missing' in route ? {} : { advice })
}

/** Names the other providers with a route between two currencies, for the end of a message; empty: none has it. */
export function otherRoutes(
  snapshot: RateSnapshot,
  { provider, from, to, type }: { provider: string; from: string; to: string; type: RateType },
): string {
  return otherProviders(snapshot, provider, (code) => {
    return !('missing' in findRoute(storedPairs(snapshot, code), snapshot.pivot(code), from, to, type))
  })
}

/** Returns the pairs of which a value is stored: the catalogue also has what a provider never sent. */
function storedPairs(snapshot: RateSnapshot, provider: string): SeriesByPair {
  const pairs = [...snapshot.pairs(provider)]
  return new Map(pairs.filter(([, series]) => series.some(({ first_data_date }) => first_data_date !== null)))
}

/** Names the other providers that have a pair, for the end of a message; empty: none has it. */
function otherProviders(
  { providers }: RateSnapshot,
  provider: string,
  hasPair: (code: string) => boolean,
): string {
  const codes = providers.flatMap(({ code }) => (code !== provider && hasPair(code) ? code : []))
  return codes.length === 0 ? '' : ` (provider=${codes.join(' or provider=')} has it)`
}

/** Finds a provider. @throws AppError `not-found` */
export function requireProvider(snapshot: RateSnapshot, code: string): ProviderRow {
  const provider = snapshot.providers.find((one) => one.code === code)
  if (!provider) {
    throw new AppError('not-found', `There is no provider ${code}`, { advice: { about: 'providers' } })
  }
  return provider
}

/** Error of a value that would be carried over days that were not synchronized (decisions#settled), or is damaged. */
export function dayHoleError({ hole: { from, to }, damage }: DayHole): AppError {
  if (damage) return new AppError('unavailable', damageText(damage))
  return new AppError('not-found', `the days from ${from} to ${to} have not been synchronized`, {
    reason: 'not_synchronized',
  })
}

/** Text of a damaged value. */
export function damageText({ name, day }: DamagedDay): string {
  return `the stored value of ${name} on ${day} is damaged: cambista doctor describes the repair`
}

/** Runs `then` at once if nothing must be read. A turn of the event loop costs more than an answer. */
export function withColumns<T>(
  snapshot: RateSnapshot,
  series: readonly SeriesRow[],
  then: (columns: Column[]) => T,
): T | Promise<T> {
  const columns = snapshot.columns(series)
  return columns instanceof Promise ? columns.then(then) : then(columns)
}

/** Like `withColumns`, for the legs of routes with their values and covered days. */
export function withLegs<T>(
  snapshot: RateSnapshot,
  legs: readonly Leg[],
  then: (legs: StoredLeg[]) => T,
): T | Promise<T> {
  const series = legs.map((leg) => leg.series)
  return withColumns(snapshot, series, (columns) =>
    then(
      legs.map((leg, at) => ({
        ...leg,
        ...seriesDays(snapshot, leg.series, columns[at] ?? EMPTY_COLUMN),
      })),
    ),
  )
}
