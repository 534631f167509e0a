// Shared parts of currencylayer, exchangerate.host and Fixer, which belong to one company. Errors have HTTP 200, a
// number and a name; the base currency has three names.

import * as v from 'valibot'
import { listCurrencies } from '../../../domain/rates/crosses.ts'
import { rawNumber } from '../../../formats/json/raw.ts'
import { AppError } from '../../../runtime/errors.ts'
import type { IsoDate } from '../../../values/dates.ts'
import { convertedAmount, positiveAmount } from '../../../values/decimal.ts'
import type { AnyEndpoint } from '../../endpoint/endpoint.ts'
import type { ErrorShape } from '../../endpoint/error-shape.ts'
import type { Path } from '../../routes.ts'
import { NO_KEY_SENT } from '../admission.ts'
import { currencyName, parseCode, parseCodes } from '../codes.ts'
import { readMissingDays } from '../missing-days.ts'
import {
  type AnswerSource,
  type CompatDeps,
  type CompatRequest,
  compatEndpoint,
  fewestDecimals,
} from '../shape.ts'
import { findQuote, type QuotesQuery, type RequestedPair, type TableRules } from './quotes.ts'
import { lastSecond, noonSeconds, parsePastDay } from './values.ts'

const ERROR_TABLE = {
  missing_access_key: [101, 'no API access key was sent: access_key=YOUR_ACCESS_KEY'],
  invalid_access_key: [101, 'the API access key is not valid'],
  invalid_api_function: [103, 'this API function does not exist'],
  usage_limit_reached: [104, 'too many requests'],
  no_rates_available: [106, 'the request did not return any results'],
  invalid_source_currency: [201, 'the source currency is not known: source=USD'],
  invalid_base_currency: [201, 'the base currency is not known: base=EUR'],
  invalid_currency_codes: [202, 'none of the currency codes is known, or they are more than 200'],
  no_date_supplied: [301, 'a date is required: date=YYYY-MM-DD'],
  invalid_date: [302, 'the date is not valid: date=YYYY-MM-DD'],
  bad_request: [400, 'the request is not valid'],
  invalid_from_currency: [401, 'the currency to convert from is not known: from=USD'],
  invalid_to_currency: [402, 'the currency to convert to is not known: to=CRC'],
  invalid_conversion_amount: [403, 'the amount must be a number greater than 0: amount=10'],
  internal_error: [500, 'the request failed'],
  no_time_frame_supplied: [501, 'a period is required: start_date=YYYY-MM-DD&end_date=YYYY-MM-DD'],
  invalid_start_date: [502, 'the first day is not valid: start_date=YYYY-MM-DD'],
  invalid_end_date: [503, 'the last day is not valid: end_date=YYYY-MM-DD'],
  invalid_time_frame: [504, 'the period ends before it begins'],
} as const satisfies Record<string, readonly [number, string]>

/** Endpoint of several services; `head` makes the beginning of its answers. */
type SharedEndpoint = { path: Path<'GET'>; head: (source: AnswerSource) => Readonly<Record<string, unknown>> }

type ApilayerError = keyof typeof ERROR_TABLE

const ERROR_BY_STATUS: Readonly<Record<number, ApilayerError>> = {
  401: 'invalid_access_key',
  404: 'invalid_api_function',
  405: 'invalid_api_function',
  429: 'usage_limit_reached',
  500: 'internal_error',
}
/** Statuses without a 200: a client understands them without a body. */
const UNCHANGED_STATUSES = new Set([405, 429, 500, 503, 507])

const ErrorOut = v.object({
  success: v.literal(false),
  error: v.object({ code: v.number(), type: v.string(), info: v.string() }),
})

export const APILAYER_ERRORS: ErrorShape = {
  challenge: 'ApiKey',
  status: (status, details) => (UNCHANGED_STATUSES.has(status) && !readMissingDays(details) ? status : 200),
  body(status, message, details) {
    const type = errorName(status, details)
    const [code, info] = ERROR_TABLE[type]
    const hasOwnText = isErrorName(details) || details === NO_KEY_SENT || type === 'invalid_api_function'
    return JSON.stringify({ success: false, error: { code, type, info: hasOwnText ? info : message } })
  },
  schema: ErrorOut,
}

/** Rejects a request. @throws AppError, by its name */
export function refuseRequest(type: ApilayerError): never {
  throw createError(type)
}

/** Creates the rules of a table; `noBase` names the error of an unknown source. */
export function tableRules(shape: string, listsBase: boolean, noBase: ApilayerError): TableRules {
  return {
    shape,
    listsBase,
    noBase: () => createError(noBase),
    noSymbols: () => createError('invalid_currency_codes'),
    noTarget: () => createError('invalid_to_currency'),
    noResults: () => createError('no_rates_available'),
  }
}

/** Parses base and currencies, by any name of these services. */
export function parseTable({ query, side, provider }: CompatRequest, base: string): QuotesQuery {
  const source = query.get('source') || query.get('base') || query.get('base_currency') || base
  return {
    base: parseCode(source),
    symbols: parseSymbols(query.get('currencies') || query.get('symbols')),
    ...{ side, provider },
  }
}

/** The day in `date`. */
export function requiredDate({ query, today }: CompatRequest): IsoDate {
  const date = query.get('date')
  if (!date) return refuseRequest('no_date_supplied')
  return parsePastDay(date, today) ?? refuseRequest('invalid_date')
}

/** The days in `start_date` and `end_date`. */
export function parsePeriod({ query, today }: CompatRequest): { from: IsoDate; to: IsoDate } {
  const [start, end] = [query.get('start_date'), query.get('end_date')]
  if (!start && !end) refuseRequest('no_time_frame_supplied')
  const from = parsePastDay(start ?? '', today) ?? refuseRequest('invalid_start_date')
  const to = parsePastDay(end ?? '', today) ?? refuseRequest('invalid_end_date')
  if (from > to) refuseRequest('invalid_time_frame')
  return { from, to }
}

/** `/convert`: what an amount is worth, today or on a day. */
export function convertEndpoint(
  deps: CompatDeps,
  { shape, path, head }: SharedEndpoint & { shape: string },
): AnyEndpoint {
  const rules = tableRules(shape, true, 'invalid_from_currency')
  return compatEndpoint(deps, {
    path,
    parse: (request): RequestedPair & { amount: string; day: IsoDate; isDated: boolean } => ({
      from: parseCode(request.query.get('from') ?? ''),
      to: parseCode(request.query.get('to') ?? ''),
      amount:
        positiveAmount(request.query.get('amount') || '1') ?? refuseRequest('invalid_conversion_amount'),
      ...{ side: request.side, provider: request.provider },
      ...(request.query.get('date')
        ? { day: requiredDate(request), isDated: true }
        : { day: request.today, isDated: false }),
    }),
    find: (snapshot, pair) => findQuote(deps, rules, snapshot, pair),
    encode({ rate }, { from, to, amount, day, isDated }, source) {
      const quote = rawNumber(rate)
      return JSON.stringify({
        ...head(source),
        query: { from, to, amount: rawNumber(amount) },
        info: { timestamp: isDated ? lastSecond(day) : noonSeconds(day), quote, rate: quote },
        ...(isDated && { historical: true, date: day }),
        result: rawNumber(convertedAmount(amount, rate)),
      })
    },
    roundedTo: (cross) => fewestDecimals([cross]),
  })
}

/** Answers with codes and names of the currencies, in `field`. */
export function namesEndpoint(
  deps: CompatDeps,
  { path, head, field }: SharedEndpoint & { field: string },
): AnyEndpoint {
  return compatEndpoint(deps, {
    path,
    parse: ({ provider }) => ({ provider }),
    find: (snapshot, { provider }) => listCurrencies(snapshot, provider),
    encode: (codes, _, source) =>
      JSON.stringify({
        ...head(source),
        [field]: Object.fromEntries(codes.map((code) => [code, currencyName(code)])),
      }),
  })
}

function parseSymbols(list: string | null): string[] {
  try {
    return parseCodes(list)
  } catch {
    // Its own code, without our words.
    refuseRequest('invalid_currency_codes')
  }
}

function createError(type: ApilayerError): AppError {
  return new AppError('invalid', ERROR_TABLE[type][1], { details: type })
}

function isErrorName(details: unknown): details is ApilayerError {
  return typeof details === 'string' && Object.hasOwn(ERROR_TABLE, details)
}

function errorName(status: number, details: unknown): ApilayerError {
  if (isErrorName(details)) return details
  if (details === NO_KEY_SENT) return 'missing_access_key'
  if (readMissingDays(details)) return 'no_rates_available'
  return ERROR_BY_STATUS[status] ?? (status >= 500 ? 'internal_error' : 'bad_request')
}
