// Open Exchange Rates: tables of rates with the base among them, and errors with their own status, which clients read.
// Programs take the day from `timestamp`.

import * as v from 'valibot'
import { addDays, dayOf, type IsoDate } from '../../../dates.ts'
import { positiveAmount, worthOf } from '../../../decimal.ts'
import { currenciesOf } from '../../../domain/rates/crosses.ts'
import { AppError, type ErrorCode } from '../../../errors.ts'
import { rawNumber } from '../../../json/raw.ts'
import type { AnyEndpoint } from '../../api/endpoint.ts'
import type { ErrorShape } from '../../api/errors.ts'
import { NO_KEY_SENT } from '../admission.ts'
import { codesIn, nameOfCurrency } from '../codes.ts'
import { missingDaysOf } from '../missing-days.ts'
import { type Asked, fewestDecimals, PROVIDER, type ShapeDeps } from '../shape.ts'
import { inForms } from './oxr-forms.ts'
import {
  OF_A_DAY,
  OF_A_PERIOD,
  type Pair,
  quoteOn,
  quotesBetween,
  quotesOn,
  type Table,
  tableOut,
  type Words,
  withText,
} from './quotes.ts'
import { dayIn, noonOf, WITHOUT_END } from './values.ts'

const ROOT = '/compat/oxr/api'
const BASE = 'USD'
const HEAD = {
  disclaimer: 'Rates as the Banco Central de Costa Rica publishes them, without warranty',
  license: 'The bank is to be named as the source',
}

const FAULTS = {
  invalid_base: ['bad-request', 'the base currency is not known: base=USD'],
  invalid_symbols: ['bad-request', 'a list has at most 200 symbols'],
  invalid_currency: ['bad-request', 'the currency to convert is not known'],
  invalid_value: ['bad-request', 'the value to convert must be a number greater than 0'],
  invalid_date: ['bad-request', 'the date is not valid: YYYY-MM-DD'],
  invalid_date_range: ['bad-request', 'start and end must be days, and end not before start: YYYY-MM-DD'],
  invalid_callback: ['bad-request', 'the callback must be the name of a function'],
  not_available: ['bad-request', 'there are no rates for this date'],
  not_found: ['not-found', 'there is nothing at this path'],
} as const satisfies Record<string, readonly [ErrorCode, string]>

type Fault = keyof typeof FAULTS

const OF_STATUS: Readonly<Record<number, string>> = {
  401: 'invalid_app_id',
  404: 'not_found',
  405: 'not_found',
  429: 'not_allowed',
  500: 'internal_error',
}

const ErrorOut = v.object({
  error: v.literal(true),
  status: v.number(),
  message: v.string(),
  description: v.string(),
})

export const OXR_ERRORS: ErrorShape = {
  challenge: 'ApiKey',
  body: (status, description, details) =>
    JSON.stringify({ error: true, status, message: messageOf(status, details), description }),
  schema: ErrorOut,
  invalid: ErrorOut,
}

const WORDS: Words = {
  shape: 'oxr',
  listsBase: true,
  noBase: () => fault('invalid_base'),
  noTarget: () => fault('invalid_currency'),
  noResults: () => fault('not_available'),
}

export function oxr(deps: ShapeDeps): AnyEndpoint[] {
  return [
    table(deps, 'latest.json', ({ today }) => today),
    table(deps, 'historical/{file}', dayOfFile),
    timeSeries(deps),
    conversion(deps),
    currencies(deps),
    usage(deps),
  ]
}

function table(deps: ShapeDeps, path: string, dayOf: (asked: Asked) => IsoDate): AnyEndpoint {
  return inForms(deps, badCallback, {
    path: `${ROOT}/${path}`,
    summary: 'Open Exchange Rates: a table of rates, with its base',
    ask: (asked): Table & { day: IsoDate } => ({ ...tableIn(asked), day: dayOf(asked) }),
    find: (snapshot, asked) => quotesOn(deps, WORDS, snapshot, asked),
    encode: ({ crosses }, { base, day }) =>
      JSON.stringify({ ...HEAD, timestamp: noonOf(day), base, rates: tableOut(crosses) }),
    ...OF_A_DAY,
  })
}

function timeSeries(deps: ShapeDeps): AnyEndpoint {
  return inForms(deps, badCallback, {
    path: `${ROOT}/time-series.json`,
    summary: 'Open Exchange Rates: a table of rates for each day of a period',
    ask: (asked) => ({ ...tableIn(asked), ...periodIn(asked) }),
    find: (snapshot, asked) => quotesBetween(deps, WORDS, snapshot, asked),
    encode: ({ text }, { base, from, to }) =>
      withText({ ...HEAD, start_date: from, end_date: to, base }, 'rates', text),
    ...OF_A_PERIOD,
  })
}

function conversion(deps: ShapeDeps): AnyEndpoint {
  const words = { ...WORDS, noBase: () => fault('invalid_currency') }
  return inForms(deps, badCallback, {
    path: `${ROOT}/convert/{value}/{from}/{to}`,
    summary: 'Open Exchange Rates: what an amount of a currency is worth in another',
    ask: ({ params, today, side }): Pair & { amount: string; day: IsoDate } => ({
      amount: positiveAmount(params.value ?? '') ?? refuse('invalid_value'),
      from: (params.from ?? '').toUpperCase(),
      to: (params.to ?? '').toUpperCase(),
      ...{ day: today, side },
    }),
    find: (snapshot, asked) => quoteOn(deps, words, snapshot, asked),
    encode: ({ rate }, { amount, from, to, day }) =>
      JSON.stringify({
        ...HEAD,
        request: { query: `/convert/${amount}/${from}/${to}`, amount: rawNumber(amount), from, to },
        meta: { timestamp: noonOf(day), rate: rawNumber(rate) },
        response: rawNumber(worthOf(amount, rate)),
      }),
    roundedTo: (found) => fewestDecimals([found]),
  })
}

/** The one path that needs no key. */
function currencies(deps: ShapeDeps): AnyEndpoint {
  return inForms(deps, badCallback, {
    path: `${ROOT}/currencies.json`,
    summary: 'Open Exchange Rates: codes and names',
    open: true,
    ask: () => ({}),
    find: (snapshot) => currenciesOf(snapshot, PROVIDER),
    encode: (codes) => JSON.stringify(Object.fromEntries(codes.map((code) => [code, nameOfCurrency(code)]))),
  })
}

/** Without the key, which stands in it at Open Exchange Rates, and without its `status`: some programs take that for an error. */
function usage(deps: ShapeDeps): AnyEndpoint {
  return inForms(deps, badCallback, {
    path: `${ROOT}/usage.json`,
    summary: 'Open Exchange Rates: what was used of a quota that there is not',
    ask: ({ today }) => ({ today }),
    find: () => undefined,
    encode(_, { today }) {
      const elapsed = Number(today.slice(8)) - 1
      const nextMonth = `${addDays(`${today.slice(0, 8)}01`, 31).slice(0, 8)}01`
      const features = { base: true, symbols: true, experimental: false, 'time-series': true, convert: true }
      const quota = `${WITHOUT_END} requests / month`
      const plan = { name: 'cambista', quota, update_frequency: '86400s', features }
      const used = { requests: 0, requests_quota: WITHOUT_END, requests_remaining: WITHOUT_END }
      const days = {
        days_elapsed: elapsed,
        days_remaining: dayOf(nextMonth) - dayOf(today),
        daily_average: 0,
      }
      return JSON.stringify({ data: { status: 'active', plan, usage: { ...used, ...days } } })
    },
  })
}

function tableIn({ query, side }: Asked): Table {
  const base = (query.get('base') || BASE).trim().toUpperCase()
  return { base, symbols: symbolsIn(query.get('symbols')), side }
}

function symbolsIn(list: string | null): string[] {
  try {
    return codesIn(list)
  } catch {
    return refuse('invalid_symbols')
  }
}

function dayOfFile({ params: { file = '' }, today }: Asked): IsoDate {
  const [, day] = /^(\d{4}-\d\d-\d\d)\.json$/.exec(file) ?? []
  if (day === undefined) return refuse('not_found')
  return dayIn(day, today) ?? refuse('invalid_date')
}

function periodIn({ query, today }: Asked): { from: IsoDate; to: IsoDate } {
  const from = dayIn(query.get('start') ?? '', today) ?? refuse('invalid_date_range')
  const to = dayIn(query.get('end') ?? '', today) ?? refuse('invalid_date_range')
  return from > to ? refuse('invalid_date_range') : { from, to }
}

function badCallback(): never {
  return refuse('invalid_callback')
}

function fault(name: Fault): AppError {
  const [code, description] = FAULTS[name]
  return new AppError(code, description, { details: name })
}

function refuse(name: Fault): never {
  throw fault(name)
}

function messageOf(status: number, details: unknown): string {
  if (typeof details === 'string' && Object.hasOwn(FAULTS, details)) return details
  if (details === NO_KEY_SENT) return 'missing_app_id'
  if (missingDaysOf(details)) return 'not_available'
  return OF_STATUS[status] ?? (status >= 500 ? 'internal_error' : 'bad_request')
}
