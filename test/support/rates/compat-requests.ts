// Requests to each compat API for rates of a range or of a day, and parsers of its answers. A number is read as its text.

import type { IsoDate } from '../../../src/values/dates.ts'

export type Pair = { base: string; quote: string; side: 'compra' | 'venta' }
export type Days = { from: IsoDate; to: IsoDate }

/** A row: value of one unit of the base in a currency on a day. */
export type Row = { day: IsoDate; quote: string; rate: string }
export type HttpAnswer = { status: number; headers: Headers; body: string }

/** A request for the rates of a range. `read` parses the rows of its answer; undefined: the answer is an error. */
export type RangeRequest = {
  name: string
  /**
   * `filled`: a row on each day with a rate. Else on days with a publication of a leg. `carried`: also one before.
   * `begun`: also one before, unless the colón is among the currencies; days between that are missing are an error.
   */
  rows: 'filled' | 'published' | 'carried' | 'begun'
  /** True if an empty answer is an error, which cannot list omitted days. */
  needsRows?: true
  /** Without quotes all currencies. */
  path(pair: Omit<Pair, 'quote'>, quotes: readonly string[], days: Days): string
  read(answer: HttpAnswer, base: string): Row[] | undefined
}

/** A request for the rate of a day. `read` parses the rate of its answer; undefined: the answer is an error. */
export type DayRequest = {
  name: string
  path(pair: Pair, day: IsoDate): string
  read(answer: HttpAnswer, pair: Pair): string | undefined
}

/** Parses JSON with each number as its own text. */
// biome-ignore lint/suspicious/noExplicitAny: the answer of a service has no type
export function exactJson(text: string): any {
  const asText = (_: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? trimZeros(context?.source ?? String(value)) : value
  return JSON.parse(text, asText as (key: string, value: unknown) => unknown)
}

/** Removes zeros at the end of the decimals. */
export function trimZeros(digits: string): string {
  return digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits
}

const list = (name: string, codes: readonly string[]) =>
  codes.length > 0 ? `&${name}=${codes.join(',')}` : ''

/** Rows of a table of days and currencies. `prefix`: text before each currency. */
function tableRows(days: Record<string, Record<string, string>>, prefix = ''): Row[] {
  return Object.entries(days).flatMap(([day, rates]) =>
    Object.entries(rates).map(([code, rate]) => ({ day, quote: code.slice(prefix.length), rate })),
  )
}

/** The body of a successful answer in the form of apilayer.com. */
function apilayerBody(answer: HttpAnswer) {
  const body = exactJson(answer.body)
  return answer.status === 200 && body.success === true ? body : undefined
}

export const RANGE_REQUESTS: readonly RangeRequest[] = [
  {
    name: 'Frankfurter v1',
    rows: 'begun',
    needsRows: true,
    path: ({ base, side }, quotes, { from, to }) =>
      `/v1/${from}..${to}?base=${base}&tipo=${side}${list('symbols', quotes)}`,
    // This service answers an empty result with a 404.
    read: ({ status, body }) =>
      status === 404 ? [] : status === 200 ? tableRows(exactJson(body).rates) : undefined,
  },
  {
    name: 'Frankfurter v2',
    rows: 'carried',
    path: ({ base, side }, quotes, { from, to }) =>
      `/v2/rates?base=${base}&tipo=${side}&from=${from}&to=${to}${list('quotes', quotes)}`,
    read: ({ status, body }) =>
      status === 200
        ? exactJson(body).map((row: Record<string, string>) => ({ ...row, day: row.date }))
        : undefined,
  },
  {
    name: 'Frankfurter v2 as CSV',
    rows: 'carried',
    path: ({ base, side }, quotes, { from, to }) =>
      `/v2/rates.csv?base=${base}&tipo=${side}&from=${from}&to=${to}${list('quotes', quotes)}`,
    read({ status, body }) {
      if (status !== 200) return undefined
      return body.split('\n').flatMap((line, at) => {
        const [day = '', , quote = '', rate = ''] = line.split(',')
        return at === 0 || line === '' ? [] : [{ day, quote, rate: trimZeros(rate) }]
      })
    },
  },
  {
    name: 'currencylayer',
    rows: 'filled',
    path: ({ base, side }, quotes, { from, to }) =>
      `/timeframe?start_date=${from}&end_date=${to}&source=${base}&tipo=${side}${list('currencies', quotes)}`,
    read(answer, base) {
      const body = apilayerBody(answer)
      return body && tableRows(body.quotes, base)
    },
  },
  {
    name: 'Fixer',
    rows: 'filled',
    path: ({ base, side }, quotes, { from, to }) =>
      `/api/timeseries?start_date=${from}&end_date=${to}&base=${base}&tipo=${side}${list('symbols', quotes)}`,
    read(answer) {
      const body = apilayerBody(answer)
      return body && tableRows(body.rates)
    },
  },
  {
    name: 'Open Exchange Rates',
    rows: 'filled',
    path: ({ base, side }, quotes, { from, to }) =>
      `/api/time-series.json?start=${from}&end=${to}&base=${base}&tipo=${side}${list('symbols', quotes)}`,
    read: ({ status, body }) => (status === 200 ? tableRows(exactJson(body).rates) : undefined),
  },
]

/** A request whose answer has the rates by currency, or with `hasBase` by pair, under a field. */
const ratesByCode = (
  path: (pair: Pair, day: IsoDate) => string,
  field: string,
  hasBase = false,
): Omit<DayRequest, 'name'> => ({
  path,
  read({ status, body }, { base, quote }) {
    const answer = exactJson(body)
    return status === 200 ? answer[field]?.[hasBase ? base + quote : quote] : undefined
  },
})

export const DAY_REQUESTS: readonly DayRequest[] = [
  {
    name: 'valor',
    path: ({ base, quote, side }, day) => `/compat/valor?de=${base}&a=${quote}&fecha=${day}&tipo=${side}`,
    read: ({ status, body }) => (status === 200 ? body : undefined),
  },
  {
    name: 'Frankfurter v1',
    ...ratesByCode(
      ({ base, quote, side }, day) => `/v1/${day}?base=${base}&symbols=${quote}&tipo=${side}`,
      'rates',
    ),
  },
  {
    name: 'Frankfurter v2',
    path: ({ base, quote, side }, day) => `/v2/rate/${base}/${quote}?date=${day}&tipo=${side}`,
    read: ({ status, body }) => (status === 200 ? exactJson(body).rate : undefined),
  },
  {
    name: 'currencylayer',
    ...ratesByCode(
      ({ base, quote, side }, day) =>
        `/historical?date=${day}&source=${base}&currencies=${quote}&tipo=${side}`,
      'quotes',
      true,
    ),
  },
  {
    name: 'Fixer',
    ...ratesByCode(
      ({ base, quote, side }, day) => `/api/${day}?base=${base}&symbols=${quote}&tipo=${side}`,
      'rates',
    ),
  },
  {
    name: 'Open Exchange Rates',
    ...ratesByCode(
      ({ base, quote, side }, day) =>
        `/api/historical/${day}.json?base=${base}&symbols=${quote}&tipo=${side}`,
      'rates',
    ),
  },
  {
    name: 'ExchangeRate-API',
    ...ratesByCode(
      ({ base, side }, day) => `/v6/history/${base}/${day.split('-').map(Number).join('/')}?tipo=${side}`,
      'conversion_rates',
    ),
  },
]
