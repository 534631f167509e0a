// ExchangeRate-API: its version 6 with the key in the path, the same without one, whose table has another name, and
// version 4. The base is the first of each table.

import * as v from 'valibot'
import { addDays, type IsoDate } from '../../../dates.ts'
import { positiveAmount, worthOf } from '../../../decimal.ts'
import { type Cross, currenciesOf } from '../../../domain/rates/crosses.ts'
import { AppError, type ErrorCode } from '../../../errors.ts'
import { rawNumber } from '../../../json/raw.ts'
import type { AnyEndpoint } from '../../api/endpoint.ts'
import type { ErrorShape } from '../../api/errors.ts'
import { JSON_TYPE } from '../../api/forms.ts'
import { nameOfCurrency } from '../codes.ts'
import {
  type Asked,
  fewestDecimals,
  PROVIDER,
  type ShapeDeps,
  type ShapeEndpoint,
  shapeEndpoint,
} from '../shape.ts'
import { OF_A_DAY, quoteOn, quotesOn, tableOut, type Words } from './quotes.ts'
import { dayIn, midnightOf, WITHOUT_END } from './values.ts'

const SHAPE = 'exchangerate-api'
const ROOT = `/compat/${SHAPE}`
/** Where a key that stood in the path was (addresses.ts), and without one: it may have come in another way. */
const ROOTS = [`${ROOT}/v6/keyed`, `${ROOT}/v6`]
const PROVIDER_NAME = 'Banco Central de Costa Rica'
const DOCS = {
  documentation: 'Rates as the Banco Central de Costa Rica publishes them',
  terms_of_use: 'The bank is to be named as the source',
}

const FAULTS = {
  'unsupported-code': ['not-found', 'the currency is not known'],
  'malformed-request': ['bad-request', 'the request is not valid'],
  'no-data-available': ['not-found', 'there are no rates for this day'],
} as const satisfies Record<string, readonly [ErrorCode, string]>

type Fault = keyof typeof FAULTS

const OF_STATUS: Readonly<Record<number, string>> = { 401: 'invalid-key', 429: 'quota-reached' }

const ErrorOut = v.object({ result: v.literal('error'), 'error-type': v.string() })

export const EXCHANGERATE_API_ERRORS: ErrorShape = {
  challenge: 'ApiKey',
  body: (status, _, details) => JSON.stringify({ result: 'error', 'error-type': typeOf(status, details) }),
  schema: ErrorOut,
  invalid: ErrorOut,
}

const WORDS: Words = {
  shape: SHAPE,
  listsBase: true,
  noBase: () => fault('unsupported-code'),
  noTarget: () => fault('unsupported-code'),
  noResults: () => fault('no-data-available'),
}

export function exchangerateApi(deps: ShapeDeps): AnyEndpoint[] {
  return [
    latest(deps, `${ROOT}/v6/keyed`, (found, { base, day }) => ({
      ...headOf(day),
      base_code: base,
      conversion_rates: ratesOf(found, base),
    })),
    latest(deps, `${ROOT}/v6`, (found, { base, day }) => ({
      result: 'success',
      provider: PROVIDER_NAME,
      ...headOf(day),
      base_code: base,
      rates: ratesOf(found, base),
    })),
    latest(deps, `${ROOT}/v4`, (found, { base, day }) => ({
      provider: PROVIDER_NAME,
      base,
      date: day,
      time_last_updated: midnightOf(day),
      rates: ratesOf(found, base),
    })),
    ...ROOTS.flatMap((root) => [
      ...['', '/{amount}'].map((amount) => pair(deps, `${root}/pair/{from}/{to}${amount}`)),
      ...['', '/{amount}'].map((amount) =>
        history(deps, `${root}/history/{base}/{year}/{month}/{date}${amount}`),
      ),
      codes(deps, `${root}/codes`),
      quota(deps, `${root}/quota`),
    ]),
  ]
}

function latest(
  deps: ShapeDeps,
  root: string,
  out: (found: readonly Cross[], asked: { base: string; day: IsoDate }) => Record<string, unknown>,
): AnyEndpoint {
  return endpointOf(deps, {
    path: `${root}/latest/{base}`,
    ask: ({ params, today, side }) => ({ base: codeOf(params.base), symbols: [], day: today, side }),
    find: (snapshot, asked) => quotesOn(deps, WORDS, snapshot, asked),
    encode: ({ crosses }, asked) => JSON.stringify(out(crosses, asked)),
    ...OF_A_DAY,
  })
}

function pair(deps: ShapeDeps, path: string): AnyEndpoint {
  return endpointOf(deps, {
    path,
    ask: ({ params, today, side }) => ({
      from: codeOf(params.from),
      to: codeOf(params.to),
      amount: amountOf(params.amount),
      ...{ day: today, side },
    }),
    find: (snapshot, asked) => quoteOn(deps, WORDS, snapshot, asked),
    encode: ({ rate }, { from, to, amount, day }) =>
      JSON.stringify({
        ...headOf(day),
        base_code: from,
        target_code: to,
        conversion_rate: rawNumber(rate),
        ...(amount && { conversion_result: rawNumber(worthOf(amount, rate)) }),
      }),
    roundedTo: (found) => fewestDecimals([found]),
  })
}

function history(deps: ShapeDeps, path: string): AnyEndpoint {
  return endpointOf(deps, {
    path,
    ask: ({ params, today, side }) => ({
      base: codeOf(params.base),
      symbols: [],
      amount: amountOf(params.amount),
      day: dayOfPath(params, today),
      side,
    }),
    find: (snapshot, asked) => quotesOn(deps, WORDS, snapshot, asked),
    encode: ({ crosses }, { base, day, amount }) => {
      const [year, month, date] = day.split('-').map(Number)
      return JSON.stringify({
        ...{ result: 'success', ...DOCS, year, month, day: date, base_code: base },
        ...(amount
          ? { requested_amount: rawNumber(amount), conversion_amounts: ratesOf(crosses, base, amount) }
          : { conversion_rates: ratesOf(crosses, base) }),
      })
    },
    ...OF_A_DAY,
  })
}

function codes(deps: ShapeDeps, path: string): AnyEndpoint {
  return endpointOf(deps, {
    path,
    ask: () => ({}),
    find: (snapshot) => currenciesOf(snapshot, PROVIDER),
    encode: (found) =>
      JSON.stringify({
        ...{ result: 'success', ...DOCS },
        supported_codes: found.map((code) => [code, nameOfCurrency(code)]),
      }),
  })
}

function quota(deps: ShapeDeps, path: string): AnyEndpoint {
  const left = { plan_quota: WITHOUT_END, requests_remaining: WITHOUT_END, refresh_day_of_month: 1 }
  return endpointOf(deps, {
    path,
    ask: () => ({}),
    find: () => undefined,
    encode: () => JSON.stringify({ result: 'success', ...DOCS, ...left }),
  })
}

function endpointOf<A, T>(
  deps: ShapeDeps,
  endpoint: Omit<ShapeEndpoint<A, T>, 'summary' | 'contentType'>,
): AnyEndpoint {
  const summary = 'ExchangeRate-API: rates, codes and conversions'
  return shapeEndpoint<A, T>(deps, { ...endpoint, summary, contentType: JSON_TYPE })
}

function headOf(day: IsoDate): Record<string, unknown> {
  const [last, next] = [midnightOf(day), midnightOf(addDays(day, 1))]
  return {
    result: 'success',
    ...DOCS,
    time_last_update_unix: last,
    time_last_update_utc: utcOf(last),
    time_next_update_unix: next,
    time_next_update_utc: utcOf(next),
  }
}

function utcOf(seconds: number): string {
  return new Date(seconds * 1000).toUTCString().replace('GMT', '+0000')
}

function ratesOf(found: readonly Cross[], base: string, amount = '1'): Record<string, unknown> {
  const worth = found.map((one) => ({ ...one, rate: worthOf(amount, one.rate) }))
  const [first, others] = [
    worth.filter(({ quote }) => quote === base),
    worth.filter(({ quote }) => quote !== base),
  ]
  return tableOut([...first, ...others])
}

function codeOf(text = ''): string {
  return text.trim().toUpperCase()
}

function amountOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  return positiveAmount(text) ?? refuse('malformed-request')
}

/** Months and days have no leading zero there, and may have one here. */
function dayOfPath({ year = '', month = '', date = '' }: Asked['params'], today: IsoDate): IsoDate {
  const day = [year, month.padStart(2, '0'), date.padStart(2, '0')].join('-')
  return dayIn(day, today) ?? refuse('malformed-request')
}

function fault(type: Fault): AppError {
  const [code, message] = FAULTS[type]
  return new AppError(code, message, { details: type })
}

function refuse(type: Fault): never {
  throw fault(type)
}

function typeOf(status: number, details: unknown): string {
  if (typeof details === 'string' && Object.hasOwn(FAULTS, details)) return details
  return OF_STATUS[status] ?? (status >= 500 ? 'internal-error' : 'malformed-request')
}
