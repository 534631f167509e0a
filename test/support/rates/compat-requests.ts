// Every way of asking for a rate in the shape of another service, and how its answer is read: numbers in the digits that
// were sent, or that days are missing.

import type { IsoDate } from '../../../src/dates.ts'

export type Pair = { base: string; quote: string; side: 'compra' | 'venta' }
export type Days = { from: IsoDate; to: IsoDate }

/** A row: what one unit of the base is worth in a currency on a day. */
export type Row = { day: IsoDate; quote: string; rate: string }
export type Sent = { status: number; headers: Headers; body: string }

/** `rows`: those of an answer; undefined: it is an error. */
export type RangeWay = {
  name: string
  /** `filled`: a row on each day with a rate; else on days on which a leg was published; `carried`: one before, too. */
  rows: 'filled' | 'published' | 'carried'
  /** Whether no row is an error, in which nothing could be said to be left out. */
  needsRows?: true
  /** Without quotes all currencies. */
  path(pair: Omit<Pair, 'quote'>, quotes: readonly string[], days: Days): string
  read(sent: Sent, base: string): Row[] | undefined
}

export type DayWay = {
  name: string
  path(pair: Pair, day: IsoDate): string
  read(sent: Sent, pair: Pair): string | undefined
}

/** JSON of which each number is its own text. */
// biome-ignore lint/suspicious/noExplicitAny: what a service answers is looked into freely
export function exactJson(text: string): any {
  const asText = (_: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? plain(context?.source ?? String(value)) : value
  return JSON.parse(text, asText as (key: string, value: unknown) => unknown)
}

/** Without zeros at the end. */
export function plain(digits: string): string {
  return digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits
}

const list = (name: string, codes: readonly string[]) =>
  codes.length > 0 ? `&${name}=${codes.join(',')}` : ''

function tableRows(days: Record<string, Record<string, string>>, cut = ''): Row[] {
  return Object.entries(days).flatMap(([day, rates]) =>
    Object.entries(rates).map(([code, rate]) => ({ day, quote: code.slice(cut.length), rate })),
  )
}

function apilayer(sent: Sent) {
  const answer = exactJson(sent.body)
  return sent.status === 200 && answer.success === true ? answer : undefined
}

export const RANGE_WAYS: readonly RangeWay[] = [
  {
    name: 'Frankfurter v1',
    rows: 'published',
    needsRows: true,
    path: ({ base, side }, quotes, { from, to }) =>
      `/v1/${from}..${to}?base=${base}&tipo=${side}${list('symbols', quotes)}`,
    // No row at all is its 404.
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
        return at === 0 || line === '' ? [] : [{ day, quote, rate: plain(rate) }]
      })
    },
  },
  {
    name: 'currencylayer',
    rows: 'filled',
    path: ({ base, side }, quotes, { from, to }) =>
      `/timeframe?start_date=${from}&end_date=${to}&source=${base}&tipo=${side}${list('currencies', quotes)}`,
    read(sent, base) {
      const answer = apilayer(sent)
      return answer && tableRows(answer.quotes, base)
    },
  },
  {
    name: 'Fixer',
    rows: 'filled',
    path: ({ base, side }, quotes, { from, to }) =>
      `/api/timeseries?start_date=${from}&end_date=${to}&base=${base}&tipo=${side}${list('symbols', quotes)}`,
    read(sent) {
      const answer = apilayer(sent)
      return answer && tableRows(answer.rates)
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

const keyed = (
  table: (pair: Pair, day: IsoDate) => string,
  field: string,
  hasBase = false,
): Omit<DayWay, 'name'> => ({
  path: table,
  read({ status, body }, { base, quote }) {
    const answer = exactJson(body)
    return status === 200 ? answer[field]?.[hasBase ? base + quote : quote] : undefined
  },
})

export const DAY_WAYS: readonly DayWay[] = [
  {
    name: 'valor',
    path: ({ base, quote, side }, day) => `/compat/valor?de=${base}&a=${quote}&fecha=${day}&tipo=${side}`,
    read: ({ status, body }) => (status === 200 ? body : undefined),
  },
  {
    name: 'Frankfurter v1',
    ...keyed(
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
    ...keyed(
      ({ base, quote, side }, day) =>
        `/historical?date=${day}&source=${base}&currencies=${quote}&tipo=${side}`,
      'quotes',
      true,
    ),
  },
  {
    name: 'Fixer',
    ...keyed(
      ({ base, quote, side }, day) => `/api/${day}?base=${base}&symbols=${quote}&tipo=${side}`,
      'rates',
    ),
  },
  {
    name: 'Open Exchange Rates',
    ...keyed(
      ({ base, quote, side }, day) =>
        `/api/historical/${day}.json?base=${base}&symbols=${quote}&tipo=${side}`,
      'rates',
    ),
  },
  {
    name: 'ExchangeRate-API',
    ...keyed(
      ({ base, side }, day) => `/v6/history/${base}/${day.split('-').map(Number).join('/')}?tipo=${side}`,
      'conversion_rates',
    ),
  },
]
