// What currencylayer, exchangerate.host and Fixer have in common, which are one company's: errors with HTTP 200, a number
// and a name; three names for the currency to count from; conversions.

import * as v from 'valibot'
import type { IsoDate } from '../../../dates.ts'
import { positiveAmount, worthOf } from '../../../decimal.ts'
import { currenciesOf } from '../../../domain/rates/crosses.ts'
import { AppError } from '../../../errors.ts'
import { rawNumber } from '../../../json/raw.ts'
import type { AnyEndpoint } from '../../api/endpoint.ts'
import type { ErrorShape } from '../../api/errors.ts'
import { JSON_TYPE } from '../../api/forms.ts'
import { NO_KEY_SENT } from '../admission.ts'
import { codesIn, nameOfCurrency } from '../codes.ts'
import { missingDaysOf } from '../missing-days.ts'
import { type Asked, fewestDecimals, PROVIDER, type ShapeDeps, shapeEndpoint } from '../shape.ts'
import { type Pair, quoteOn, type Table, type Words } from './quotes.ts'
import { dayIn, endOf, noonOf } from './values.ts'

const FAULTS = {
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

/** An endpoint that both have: `head` is what its answers begin with. */
type Face = { shape: string; path: string; head: Readonly<Record<string, unknown>> }

type Fault = keyof typeof FAULTS

const OF_STATUS: Readonly<Record<number, Fault>> = {
  401: 'invalid_access_key',
  404: 'invalid_api_function',
  405: 'invalid_api_function',
  429: 'usage_limit_reached',
  500: 'internal_error',
}
/** Statuses that a client understands without a body; what was wrong with a request goes with a 200. */
const TOLD_AS_THEY_ARE = new Set([405, 429, 500, 503, 507])

const ErrorOut = v.object({
  success: v.literal(false),
  error: v.object({ code: v.number(), type: v.string(), info: v.string() }),
})

export const APILAYER_ERRORS: ErrorShape = {
  challenge: 'ApiKey',
  status: (of, details) => (TOLD_AS_THEY_ARE.has(of) && !missingDaysOf(details) ? of : 200),
  body(status, message, details) {
    const type = faultOf(status, details)
    const [code, info] = FAULTS[type]
    const isOwn = isFault(details) || details === NO_KEY_SENT || type === 'invalid_api_function'
    return JSON.stringify({ success: false, error: { code, type, info: isOwn ? info : message } })
  },
  schema: ErrorOut,
  invalid: ErrorOut,
}

/** Refuses a request. @throws AppError, by its name */
export function refuse(type: Fault): never {
  throw fault(type)
}

/** The words of a shape of theirs; `noBase` is what it calls a source that is not known. */
export function wordsOf(shape: string, listsBase: boolean, noBase: Fault): Words {
  return {
    shape,
    listsBase,
    noBase: () => fault(noBase),
    noSymbols: () => fault('invalid_currency_codes'),
    noTarget: () => fault('invalid_to_currency'),
    noResults: () => fault('no_rates_available'),
  }
}

/** The base and the currencies of a request, under any name that one of these services has for them. */
export function tableIn({ query, side }: Asked, base: string): Table {
  const sent = query.get('source') || query.get('base') || query.get('base_currency') || base
  return { base: codeOf(sent), symbols: symbolsIn(query.get('currencies') || query.get('symbols')), side }
}

/** The day in `date`. */
export function dateIn({ query, today }: Asked): IsoDate {
  const date = query.get('date')
  if (!date) return refuse('no_date_supplied')
  return dayIn(date, today) ?? refuse('invalid_date')
}

/** The days in `start_date` and `end_date`. */
export function periodIn({ query, today }: Asked): { from: IsoDate; to: IsoDate } {
  const [start, end] = [query.get('start_date'), query.get('end_date')]
  if (!start && !end) refuse('no_time_frame_supplied')
  const from = dayIn(start ?? '', today) ?? refuse('invalid_start_date')
  const to = dayIn(end ?? '', today) ?? refuse('invalid_end_date')
  if (from > to) refuse('invalid_time_frame')
  return { from, to }
}

/** `/convert`: what an amount is worth, today or on a day. */
export function convertEndpoint(deps: ShapeDeps, { shape, path, head }: Face): AnyEndpoint {
  const words = wordsOf(shape, true, 'invalid_from_currency')
  return shapeEndpoint(deps, {
    path,
    summary: `${shape}: what an amount of a currency is worth in another`,
    contentType: JSON_TYPE,
    ask: (asked): Pair & { amount: string; day: IsoDate; isDated: boolean } => ({
      from: codeOf(asked.query.get('from') ?? ''),
      to: codeOf(asked.query.get('to') ?? ''),
      amount: positiveAmount(asked.query.get('amount') || '1') ?? refuse('invalid_conversion_amount'),
      side: asked.side,
      ...(asked.query.get('date')
        ? { day: dateIn(asked), isDated: true }
        : { day: asked.today, isDated: false }),
    }),
    find: (snapshot, pair) => quoteOn(deps, words, snapshot, pair),
    encode({ rate }, { from, to, amount, day, isDated }) {
      const quote = rawNumber(rate)
      return JSON.stringify({
        ...head,
        query: { from, to, amount: rawNumber(amount) },
        info: { timestamp: isDated ? endOf(day) : noonOf(day), quote, rate: quote },
        ...(isDated && { historical: true, date: day }),
        result: rawNumber(worthOf(amount, rate)),
      })
    },
    roundedTo: (found) => fewestDecimals([found]),
  })
}

/** The codes and names of the currencies, as the value of `field`. */
export function namesEndpoint(
  deps: ShapeDeps,
  { shape, path, head, field }: Face & { field: string },
): AnyEndpoint {
  return shapeEndpoint(deps, {
    path,
    summary: `${shape}: codes and names`,
    contentType: JSON_TYPE,
    ask: () => ({}),
    find: (snapshot) => currenciesOf(snapshot, PROVIDER),
    encode: (codes) =>
      JSON.stringify({
        ...head,
        [field]: Object.fromEntries(codes.map((code) => [code, nameOfCurrency(code)])),
      }),
  })
}

function codeOf(text: string): string {
  return text.trim().toUpperCase()
}

function symbolsIn(list: string | null): string[] {
  try {
    return codesIn(list)
  } catch {
    refuse('invalid_currency_codes')
  }
}

function fault(type: Fault): AppError {
  return new AppError('invalid', FAULTS[type][1], { details: type })
}

function isFault(details: unknown): details is Fault {
  return typeof details === 'string' && Object.hasOwn(FAULTS, details)
}

function faultOf(status: number, details: unknown): Fault {
  if (isFault(details)) return details
  if (details === NO_KEY_SENT) return 'missing_access_key'
  if (missingDaysOf(details)) return 'no_rates_available'
  return OF_STATUS[status] ?? (status >= 500 ? 'internal_error' : 'bad_request')
}
