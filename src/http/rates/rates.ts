import * as v from 'valibot'
import type { Clock, IsoDate } from '../../dates.ts'
import type { Column } from '../../domain/rates/column.ts'
import type { RateCache, RateSnapshot } from '../../domain/rates/rate-cache.ts'
import { knownRateOn, latestOfPair, rateOn, type Side } from '../../domain/rates/rates.ts'
import { AppError } from '../../errors.ts'
import type { Interval } from '../../intervals.ts'
import type { ProviderRow } from '../../store/providers.ts'
import type { SeriesRow } from '../../store/series.ts'
import { type AnyEndpoint, get } from '../api/endpoint.ts'
import { cachedReply } from '../api/etag.ts'
import { BooleanParam, CurrencyParam, DateParam, ProviderParam, resolveDay } from '../api/params.ts'
import { Day, DecimalText, Pair, RateTypeOut, RoundedTo } from '../api/shapes.ts'

const RateOut = v.object({
  provider: v.string(),
  series_id: v.pipe(v.number(), v.integer()),
  external_code: v.string(),
  pair: Pair,
  base_currency: v.string(),
  quote_currency: v.string(),
  rate_type: RateTypeOut,
  rate_date: Day,
  value: DecimalText,
  rounded_to: RoundedTo,
})

const LatestRatesOut = v.object({
  provider: v.string(),
  pair: Pair,
  rate_date: Day,
  compra: v.nullable(DecimalText),
  venta: v.nullable(DecimalText),
  referencia: v.nullable(DecimalText),
  rounded_to: RoundedTo,
  missing: v.optional(
    v.pipe(
      v.array(RateTypeOut),
      v.metadata({ description: 'Sides that are null because their day has not been synchronized' }),
    ),
  ),
})

export function ratesEndpoints({ cache, clock }: { cache: RateCache; clock: Clock }): AnyEndpoint[] {
  return [
    get({
      path: '/api/v1/rates/latest',
      summary: 'Current rate of one pair',
      query: v.object({
        provider: v.optional(ProviderParam, 'bccr'),
        base: v.optional(CurrencyParam, 'USD'),
        quote: v.optional(CurrencyParam, 'CRC'),
        on: v.optional(DateParam),
      }),
      answer: LatestRatesOut,
      stored: true,
      notFound: 'No data for that pair or date',
      handle({ event, query }) {
        const snapshot = cache.snapshot()
        const { day, today } = resolveDay(query.on, clock)
        const pair = `${query.base}/${query.quote}`
        const provider = checkProvider(snapshot, query.provider)
        const series = snapshot.pairsOf(query.provider).get(pair) ?? []
        if (series.length === 0) {
          const advice = `/api/v1/convert?amount=1&from=${query.base}&to=${query.quote} inverts and chains pairs`
          throw new AppError('not-found', `No series of ${query.provider} gives ${pair}: ${advice}`)
        }
        return whenThere(snapshot.columns(series), (columns) =>
          cachedReply(event, snapshot, today, () => {
            const found = latestOfPair(sidesOf(snapshot, provider, series, columns), day)
            if (found && 'hole' in found) throw notSynchronized(found.hole)
            if (!found) throw new AppError('not-found', `No rate of ${pair} is stored on or before ${day}`)
            return JSON.stringify({ provider: query.provider, pair, ...found })
          }),
        )
      },
    }),

    get({
      path: '/api/v1/rates',
      summary: 'Rates of many series on one date',
      query: v.object({
        on: v.optional(DateParam),
        provider: v.optional(ProviderParam),
        base: v.optional(CurrencyParam),
        quote: v.optional(CurrencyParam),
        exact: v.optional(BooleanParam, 'false'),
      }),
      answer: v.array(RateOut),
      stored: true,
      handle({ event, query }) {
        const snapshot = cache.snapshot()
        const { day, today } = resolveDay(query.on, clock)
        const matching = seriesMatching(snapshot, query)
        return whenThere(snapshot.columns(matching), (columns) =>
          cachedReply(event, snapshot, today, () => ratesText(snapshot, matching, columns, day, query.exact)),
        )
      },
    }),
  ]
}

/** @throws AppError `not-found` for a provider that is not there */
export function checkProvider(snapshot: RateSnapshot, code: string): ProviderRow {
  const provider = snapshot.providers.find((one) => one.code === code)
  if (!provider) throw new AppError('not-found', `There is no provider ${code}; see /api/v1/providers`)
  return provider
}

/** The 404 for a value that would have to be carried over days that nobody asked for (decisions 2.6). */
export function notSynchronized({ from, to }: Interval): AppError {
  return new AppError('not-found', `the days from ${from} to ${to} have not been synchronized`)
}

function sidesOf(
  snapshot: RateSnapshot,
  provider: ProviderRow,
  series: readonly SeriesRow[],
  columns: readonly Column[],
): Side[] {
  return columns.map((column, at) => {
    const { id = 0, rate_type = 'referencia', enabled = false } = series[at] ?? {}
    return {
      rateType: rate_type,
      enabled: enabled && provider.enabled,
      column,
      covered: snapshot.coveredOf(id),
    }
  })
}

/** Goes on at once where nothing has to be waited for: a turn through the event loop costs more than an answer. */
export function whenThere<T, R>(value: T | Promise<T>, then: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(then) : then(value)
}

/** The series that pass the filters that are given. */
export function seriesMatching(
  snapshot: RateSnapshot,
  filter: { provider?: string | undefined; base?: string | undefined; quote?: string | undefined },
): SeriesRow[] {
  const provider = snapshot.providers.find(({ code }) => code === filter.provider)
  if (filter.provider !== undefined && !provider) return []
  return snapshot.series.filter(
    (one) =>
      (!provider || one.provider_id === provider.id) &&
      (filter.base === undefined || one.base_currency === filter.base) &&
      (filter.quote === undefined || one.quote_currency === filter.quote),
  )
}

/** The values on a day as a JSON array; a series without one, or with a hole before the day, is left out. */
function ratesText(
  snapshot: RateSnapshot,
  series: readonly SeriesRow[],
  columns: readonly Column[],
  day: IsoDate,
  exact: boolean,
): string {
  const texts: string[] = []
  for (const [at, one] of series.entries()) {
    const column = columns[at]
    const point =
      column && (exact ? rateOn(column, day, true) : knownRateOn(column, snapshot.coveredOf(one.id), day))
    if (!point || 'hole' in point) continue
    const rounded = point.rounded_to === undefined ? '' : `,"rounded_to":${point.rounded_to}`
    texts.push(
      `${describe(snapshot, one)},"rate_date":"${point.rate_date}","value":"${point.value}"${rounded}}`,
    )
  }
  return `[${texts.join(',')}]`
}

// The same for as long as the snapshot, and four fifths of the work on a day's rates if it is written each time.
const described = new WeakMap<SeriesRow, string>()

/** A JSON object of what is said of a series before its value, still open. */
function describe(snapshot: RateSnapshot, series: SeriesRow): string {
  const known = described.get(series)
  if (known !== undefined) return known
  const text = JSON.stringify({
    provider: snapshot.providers.find(({ id }) => id === series.provider_id)?.code,
    series_id: series.id,
    external_code: series.external_code,
    pair: `${series.base_currency}/${series.quote_currency}`,
    base_currency: series.base_currency,
    quote_currency: series.quote_currency,
    rate_type: series.rate_type,
  }).slice(0, -1)
  described.set(series, text)
  return text
}
