// Open Exchange Rates: tables of rates with the base among them, and errors with their own status, which clients read.
// Programs take the day from `timestamp`.

import * as v from 'valibot'
import { listCurrencies } from '../../../domain/rates/crosses.ts'
import { rawNumber } from '../../../formats/json/raw.ts'
import { AppError, type ErrorCode } from '../../../runtime/errors.ts'
import { addDays, dayNumber, type IsoDate } from '../../../values/dates.ts'
import { convertedAmount, positiveAmount } from '../../../values/decimal.ts'
import type { AnyEndpoint } from '../../endpoint/endpoint.ts'
import type { ErrorShape } from '../../endpoint/error-shape.ts'
import { NO_KEY_SENT } from '../admission.ts'
import { currencyName, parseCodes } from '../codes.ts'
import { readMissingDays } from '../missing-days.ts'
import { type AnswerSource, type CompatDeps, type CompatRequest, fewestDecimals, PROVIDER } from '../shape.ts'
import { formsEndpoint } from './oxr-forms.ts'
import {
  appendJson,
  findDayTable,
  findPeriodTables,
  findQuote,
  type QuotesQuery,
  type RequestedPair,
  TABLE_HEADERS,
  type TableRules,
  tableOut,
} from './quotes.ts'
import { noonSeconds, parsePastDay, UNLIMITED } from './values.ts'

const ROOT = '/compat/oxr/api'
const BASE = 'USD'

const ERROR_TABLE = {
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

type OxrError = keyof typeof ERROR_TABLE

const ERROR_BY_STATUS: Readonly<Record<number, string>> = {
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
    JSON.stringify({ error: true, status, message: errorName(status, details), description }),
  schema: ErrorOut,
}

const RULES: TableRules = {
  shape: 'oxr',
  listsBase: true,
  noBase: () => createError('invalid_base'),
  noTarget: () => createError('invalid_currency'),
  noResults: () => createError('not_available'),
}

export function oxr(deps: CompatDeps): AnyEndpoint[] {
  return [
    tableAnswer(deps, 'latest.json', ({ today }) => today),
    tableAnswer(deps, 'historical/{file}', fileDay),
    timeSeries(deps),
    conversion(deps),
    currencies(deps),
    usage(deps),
  ]
}

function tableAnswer(
  deps: CompatDeps,
  path: 'latest.json' | 'historical/{file}',
  requestDay: (request: CompatRequest) => IsoDate,
): AnyEndpoint {
  return formsEndpoint(deps, badCallback, {
    path: `${ROOT}/${path}`,
    parse: (request): QuotesQuery & { day: IsoDate } => ({
      ...parseQuotesQuery(request),
      day: requestDay(request),
    }),
    find: (snapshot, query) => findDayTable(deps, RULES, snapshot, query),
    encode: ({ crosses }, { base, day }, source) =>
      JSON.stringify({ ...answerHead(source), timestamp: noonSeconds(day), base, rates: tableOut(crosses) }),
    ...TABLE_HEADERS,
  })
}

function timeSeries(deps: CompatDeps): AnyEndpoint {
  return formsEndpoint(deps, badCallback, {
    path: `${ROOT}/time-series.json`,
    parse: (request) => ({ ...parseQuotesQuery(request), ...parseTimeSeries(request) }),
    find: (snapshot, query) => findPeriodTables(deps, RULES, snapshot, query),
    encode: ({ text }, { base, from, to }, source) =>
      appendJson({ ...answerHead(source), start_date: from, end_date: to, base }, 'rates', text),
    ...TABLE_HEADERS,
  })
}

function conversion(deps: CompatDeps): AnyEndpoint {
  const rules = { ...RULES, noBase: () => createError('invalid_currency') }
  return formsEndpoint(deps, badCallback, {
    path: `${ROOT}/convert/{value}/{from}/{to}`,
    parse: ({ params, today, side, provider }): RequestedPair & { amount: string; day: IsoDate } => ({
      amount: positiveAmount(params.value ?? '') ?? refuse('invalid_value'),
      from: (params.from ?? '').toUpperCase(),
      to: (params.to ?? '').toUpperCase(),
      ...{ day: today, side, provider },
    }),
    find: (snapshot, query) => findQuote(deps, rules, snapshot, query),
    encode: ({ rate }, { amount, from, to, day }, source) =>
      JSON.stringify({
        ...answerHead(source),
        request: { query: `/convert/${amount}/${from}/${to}`, amount: rawNumber(amount), from, to },
        meta: { timestamp: noonSeconds(day), rate: rawNumber(rate) },
        response: rawNumber(convertedAmount(amount, rate)),
      }),
    roundedTo: (cross) => fewestDecimals([cross]),
  })
}

/** Lists the currencies of the bank: no key is checked on this path. */
function currencies(deps: CompatDeps): AnyEndpoint {
  return formsEndpoint(deps, badCallback, {
    path: `${ROOT}/currencies.json`,
    find: (snapshot) => listCurrencies(snapshot, PROVIDER),
    encode: (codes) => JSON.stringify(Object.fromEntries(codes.map((code) => [code, currencyName(code)]))),
  })
}

/**
 * Answers without the key, which Open Exchange Rates includes, and without its `status`, which some programs read
 * as an error.
 */
function usage(deps: CompatDeps): AnyEndpoint {
  return formsEndpoint(deps, badCallback, {
    path: `${ROOT}/usage.json`,
    parse: ({ today }) => ({ today }),
    find: () => undefined,
    encode(_, { today }) {
      const elapsed = Number(today.slice(8)) - 1
      const nextMonth = `${addDays(`${today.slice(0, 8)}01`, 31).slice(0, 8)}01`
      const features = { base: true, symbols: true, experimental: false, 'time-series': true, convert: true }
      const quota = `${UNLIMITED} requests / month`
      const plan = { name: 'cambista', quota, update_frequency: '86400s', features }
      const requestCounts = { requests: 0, requests_quota: UNLIMITED, requests_remaining: UNLIMITED }
      const days = {
        days_elapsed: elapsed,
        days_remaining: dayNumber(nextMonth) - dayNumber(today),
        daily_average: 0,
      }
      return JSON.stringify({ data: { status: 'active', plan, usage: { ...requestCounts, ...days } } })
    },
  })
}

function answerHead({ name, notice }: AnswerSource): Record<string, unknown> {
  return { disclaimer: `Rates as the ${name} publishes them, without warranty`, license: notice }
}

function parseQuotesQuery({ query, side, provider }: CompatRequest): QuotesQuery {
  const base = (query.get('base') || BASE).trim().toUpperCase()
  return { base, symbols: parseSymbols(query.get('symbols')), side, provider }
}

function parseSymbols(list: string | null): string[] {
  try {
    return parseCodes(list)
  } catch {
    return refuse('invalid_symbols') // its own code, without our words
  }
}

function fileDay({ params: { file = '' }, today }: CompatRequest): IsoDate {
  const [, day] = /^(\d{4}-\d\d-\d\d)\.json$/.exec(file) ?? []
  if (day === undefined) return refuse('not_found')
  return parsePastDay(day, today) ?? refuse('invalid_date')
}

function parseTimeSeries({ query, today }: CompatRequest): { from: IsoDate; to: IsoDate } {
  const from = parsePastDay(query.get('start') ?? '', today) ?? refuse('invalid_date_range')
  const to = parsePastDay(query.get('end') ?? '', today) ?? refuse('invalid_date_range')
  return from > to ? refuse('invalid_date_range') : { from, to }
}

function badCallback(): never {
  return refuse('invalid_callback')
}

function createError(name: OxrError): AppError {
  const [code, description] = ERROR_TABLE[name]
  return new AppError(code, description, { details: name })
}

function refuse(name: OxrError): never {
  throw createError(name)
}

function errorName(status: number, details: unknown): string {
  if (typeof details === 'string' && Object.hasOwn(ERROR_TABLE, details)) return details
  if (details === NO_KEY_SENT) return 'missing_app_id'
  if (readMissingDays(details)) return 'not_available'
  return ERROR_BY_STATUS[status] ?? (status >= 500 ? 'internal_error' : 'bad_request')
}
