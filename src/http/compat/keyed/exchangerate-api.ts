// ExchangeRate-API: version 6 with the key in the path, its open form with another name of the table, and version 4.
// The base is first in each table.

import * as v from 'valibot'
import { type Cross, listCurrencies } from '../../../domain/rates/crosses.ts'
import { rawNumber } from '../../../formats/json/raw.ts'
import { AppError, type ErrorCode } from '../../../runtime/errors.ts'
import { addDays, type IsoDate } from '../../../values/dates.ts'
import { convertedAmount, positiveAmount } from '../../../values/decimal.ts'
import type { AnyEndpoint } from '../../endpoint/endpoint.ts'
import type { ErrorShape } from '../../endpoint/error-shape.ts'
import type { Path } from '../../routes.ts'
import { currencyName, parseCode } from '../codes.ts'
import { readMissingDays } from '../missing-days.ts'
import {
  type AnswerSource,
  type CompatDeps,
  type CompatRequest,
  compatEndpoint,
  fewestDecimals,
} from '../shape.ts'
import { findDayTable, findQuote, TABLE_HEADERS, type TableRules, tableOut } from './quotes.ts'
import { midnightSeconds, parsePastDay, UNLIMITED } from './values.ts'

const SHAPE = 'exchangerate-api'
const ROOT = `/compat/${SHAPE}` as const
/** Paths of requests with a key in the path (addresses.ts), and of others. */
const ROOTS = [`${ROOT}/v6/keyed`, `${ROOT}/v6`] as const
const AMOUNTS = ['', '/{amount}'] as const

const ERROR_TABLE = {
  'unsupported-code': ['not-found', 'the currency is not known'],
  'malformed-request': ['bad-request', 'the request is not valid'],
  'no-data-available': ['not-found', 'there are no rates for this day'],
} as const satisfies Record<string, readonly [ErrorCode, string]>

type ExchangeRateApiError = keyof typeof ERROR_TABLE

const ERROR_BY_STATUS: Readonly<Record<number, string>> = { 401: 'invalid-key', 429: 'quota-reached' }

const ErrorOut = v.object({ result: v.literal('error'), 'error-type': v.string() })

export const EXCHANGERATE_API_ERRORS: ErrorShape = {
  challenge: 'ApiKey',
  body: (status, _, details) => JSON.stringify({ result: 'error', 'error-type': errorName(status, details) }),
  schema: ErrorOut,
}

const RULES: TableRules = {
  shape: SHAPE,
  listsBase: true,
  noBase: () => createError('unsupported-code'),
  noTarget: () => createError('unsupported-code'),
  noResults: () => createError('no-data-available'),
}

export function exchangerateApi(deps: CompatDeps): AnyEndpoint[] {
  return [
    latestEndpoint(deps, `${ROOT}/v6/keyed`, (crosses, { base, day }, source) => ({
      ...answerHead(day, source),
      base_code: base,
      conversion_rates: ratesOut(crosses, base),
    })),
    latestEndpoint(deps, `${ROOT}/v6`, (crosses, { base, day }, source) => ({
      result: 'success',
      provider: source.name,
      ...answerHead(day, source),
      base_code: base,
      rates: ratesOut(crosses, base),
    })),
    latestEndpoint(deps, `${ROOT}/v4`, (crosses, { base, day }, source) => ({
      provider: source.name,
      base,
      date: day,
      time_last_updated: midnightSeconds(day),
      rates: ratesOut(crosses, base),
    })),
    ...ROOTS.flatMap((root) => [
      ...AMOUNTS.map((amount) => pair(deps, `${root}/pair/{from}/{to}${amount}`)),
      ...AMOUNTS.map((amount) => history(deps, `${root}/history/{base}/{year}/{month}/{date}${amount}`)),
      codes(deps, `${root}/codes`),
      quota(deps, `${root}/quota`),
    ]),
  ]
}

function latestEndpoint(
  deps: CompatDeps,
  root: (typeof ROOTS)[number] | `${typeof ROOT}/v4`,
  out: (
    crosses: readonly Cross[],
    query: { base: string; day: IsoDate },
    source: AnswerSource,
  ) => Record<string, unknown>,
): AnyEndpoint {
  return compatEndpoint(deps, {
    path: `${root}/latest/{base}`,
    parse: ({ params, today, side, provider }) => ({
      ...{ base: parseCode(params.base), symbols: [], day: today, side, provider },
    }),
    find: (snapshot, query) => findDayTable(deps, RULES, snapshot, query),
    encode: ({ crosses }, query, source) => JSON.stringify(out(crosses, query, source)),
    ...TABLE_HEADERS,
  })
}

function pair(deps: CompatDeps, path: Path<'GET'>): AnyEndpoint {
  return compatEndpoint(deps, {
    path,
    parse: ({ params, today, side, provider }) => ({
      from: parseCode(params.from),
      to: parseCode(params.to),
      amount: parsePathAmount(params.amount),
      ...{ day: today, side, provider },
    }),
    find: (snapshot, query) => findQuote(deps, RULES, snapshot, query),
    encode: ({ rate }, { from, to, amount, day }, source) =>
      JSON.stringify({
        ...answerHead(day, source),
        base_code: from,
        target_code: to,
        conversion_rate: rawNumber(rate),
        ...(amount && { conversion_result: rawNumber(convertedAmount(amount, rate)) }),
      }),
    roundedTo: (cross) => fewestDecimals([cross]),
  })
}

function history(deps: CompatDeps, path: Path<'GET'>): AnyEndpoint {
  return compatEndpoint(deps, {
    path,
    parse: ({ params, today, side, provider }) => ({
      base: parseCode(params.base),
      symbols: [],
      amount: parsePathAmount(params.amount),
      day: pathDay(params, today),
      ...{ side, provider },
    }),
    find: (snapshot, query) => findDayTable(deps, RULES, snapshot, query),
    encode: ({ crosses }, { base, day, amount }, source) => {
      const [year, month, date] = day.split('-').map(Number)
      return JSON.stringify({
        ...{ result: 'success', ...sourceTexts(source), year, month, day: date, base_code: base },
        ...(amount
          ? { requested_amount: rawNumber(amount), conversion_amounts: ratesOut(crosses, base, amount) }
          : { conversion_rates: ratesOut(crosses, base) }),
      })
    },
    ...TABLE_HEADERS,
  })
}

function codes(deps: CompatDeps, path: Path<'GET'>): AnyEndpoint {
  return compatEndpoint(deps, {
    path,
    parse: ({ provider }) => ({ provider }),
    find: (snapshot, { provider }) => listCurrencies(snapshot, provider),
    encode: (codes, _, source) =>
      JSON.stringify({
        ...{ result: 'success', ...sourceTexts(source) },
        supported_codes: codes.map((code) => [code, currencyName(code)]),
      }),
  })
}

function quota(deps: CompatDeps, path: Path<'GET'>): AnyEndpoint {
  const quotaFields = { plan_quota: UNLIMITED, requests_remaining: UNLIMITED, refresh_day_of_month: 1 }
  return compatEndpoint(deps, {
    path,
    find: () => undefined,
    encode: (_, __, source) => JSON.stringify({ result: 'success', ...sourceTexts(source), ...quotaFields }),
  })
}

function sourceTexts({ name, notice }: AnswerSource): Record<string, unknown> {
  return { documentation: `Rates as the ${name} publishes them`, terms_of_use: notice }
}

function answerHead(day: IsoDate, source: AnswerSource): Record<string, unknown> {
  const [last, next] = [midnightSeconds(day), midnightSeconds(addDays(day, 1))]
  return {
    result: 'success',
    ...sourceTexts(source),
    time_last_update_unix: last,
    time_last_update_utc: formatUtc(last),
    time_next_update_unix: next,
    time_next_update_utc: formatUtc(next),
  }
}

function formatUtc(seconds: number): string {
  return new Date(seconds * 1000).toUTCString().replace('GMT', '+0000')
}

function ratesOut(crosses: readonly Cross[], base: string, amount = '1'): Record<string, unknown> {
  const worth = crosses.map((cross) => ({ ...cross, rate: convertedAmount(amount, cross.rate) }))
  const [first, others] = [
    worth.filter(({ quote }) => quote === base),
    worth.filter(({ quote }) => quote !== base),
  ]
  return tableOut([...first, ...others])
}

function parsePathAmount(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  return positiveAmount(text) ?? refuse('malformed-request')
}

/** Months and days have no leading zero there, and may have one here. */
function pathDay({ year = '', month = '', date = '' }: CompatRequest['params'], today: IsoDate): IsoDate {
  const day = [year, month.padStart(2, '0'), date.padStart(2, '0')].join('-')
  return parsePastDay(day, today) ?? refuse('malformed-request')
}

function createError(type: ExchangeRateApiError): AppError {
  const [code, message] = ERROR_TABLE[type]
  return new AppError(code, message, { details: type })
}

function refuse(type: ExchangeRateApiError): never {
  throw createError(type)
}

function errorName(status: number, details: unknown): string {
  if (typeof details === 'string' && Object.hasOwn(ERROR_TABLE, details)) return details
  if (readMissingDays(details)) return 'no-data-available'
  return ERROR_BY_STATUS[status] ?? (status >= 500 ? 'internal-error' : 'malformed-request')
}
