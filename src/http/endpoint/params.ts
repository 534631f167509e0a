// Schemas of parameters, with messages that name valid values. The OpenAPI document is generated from the same schemas.

import * as v from 'valibot'
import { STATS } from '../../domain/rates/history/pair-history.ts'
import { DEFAULT_PROVIDER } from '../../providers/list.ts'
import type { AppError } from '../../runtime/errors.ts'
import { type IsoDate, isIsoDate, utcInstant } from '../../values/dates.ts'
import { positiveAmount, ROUNDING_MODES, type RoundingRule } from '../../values/decimal.ts'
import { withDescription } from './answers/shapes.ts'
import { invalidParameters, type ValidationItem } from './error-shape.ts'

// Keys are the `type` of a 422 item.
const FAULTS = {
  date: 'must be a calendar day written YYYY-MM-DD, years 1900 to 2999',
  instant: 'must be an instant in UTC written like 2026-03-24T12:00:00Z, years 1900 to 2999',
  future: 'must not be in the future',
  after_tomorrow: 'must not be after tomorrow',
  revision_kind: 'must be correction, refined or discarded',
  currency: 'must be a currency code of three letters, such as USD',
  boolean: 'must be true or false (or 1, 0, yes, no, on, off)',
  integer: 'must be an integer',
  limit: 'must be an integer from 1 to 200',
  cursor: `must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}, such as the answer of the page before has it`,
  wait: 'must be an integer from 0 to 50, in seconds',
  provider: `must be a provider code, such as ${DEFAULT_PROVIDER.code}`,
  decimal:
    'must be a decimal number greater than 0, at most 30 digits before the point and 20 after (a + in a URL is %2B)',
  rate_type: 'must be compra, venta or referencia',
  statement_side: 'must be compra, venta or both',
  sha256: 'must be a SHA-256: 64 hexadecimal digits',
  every: 'must be day, week, month, quarter or year',
  stat: 'must be last, mean, low, high or all',
  single_stat: 'must be last, mean, low or high',
  encoding: 'must be valid percent-encoded UTF-8',
  order: 'must not be after to',
  dialect: 'must be es-CR',
  decimals: 'must be an integer from 0 to 20',
  rounding: 'must be half-up, half-even or down',
  rounding_alone: 'rounds to a number of decimals: give decimals too',
  decimal_sign: 'must be . or ,',
  separator: 'must be a comma, ; or a tab, and another sign than decimal',
  same_signs: 'and decimal are both a comma: send sep=; or decimal=.',
  indicator: 'must be the code of an indicator, 1 to 10 digits, or its key, such as tbp',
  indicator_kind: 'must be interest, exchange, amount, index, counter or other',
  entity: 'must be 1 to 100 characters of the name of an entity',
  missing: 'is required',
} as const

const NO_ID = 2 ** 53 // the first unsafe integer: engines reject queries with much greater numbers
const TRUE = new Set(['true', '1', 'yes', 'on'])
const FALSE = new Set(['false', '0', 'no', 'off'])

export const OnParam = dateParam('The day asked for; without it today, in Costa Rica')

export const IndicatorParam = v.pipe(
  v.string(),
  v.metadata({
    description: 'An indicator, by its code or its key in /api/v1/indicators',
    examples: ['423'],
  }),
  v.check((text) => /^([1-9]\d{0,9}|[a-z][a-z-]{0,39})$/i.test(text), FAULTS.indicator),
)

export const IndicatorKindParam = withDescription(
  v.picklist(['interest', 'exchange', 'amount', 'index', 'counter', 'other'], FAULTS.indicator_kind),
  'Only those of this kind',
)

export const EntityParam = v.pipe(
  v.string(),
  v.metadata({ description: 'Only of entities with this text in their name, without accents' }),
  v.check((text) => text.trim() !== '' && text.length <= 100, FAULTS.entity),
)

export const AsOfParam = v.pipe(
  v.string(),
  v.metadata({
    description: 'What this server would have answered at this instant; its day stands for today',
    format: 'date-time', // without an example: /docs would send it with each request that is tried
  }),
  v.transform((text) => utcInstant(text) ?? ''),
  v.check((text) => text !== '', FAULTS.instant),
)

export const RevisionKindParam = withDescription(
  v.picklist(['correction', 'refined', 'discarded'], FAULTS.revision_kind),
  'correction: the source changed a value; refined: a rounded value got the digits it stood for; discarded: an ' +
    'operator removed a value of a day that was yet to come',
)

export const CurrencyParam = currencyParam('Currency code, three letters in any case')

export const ProviderParam = providerParam('Provider code, as GET /api/v1/providers lists it')

export const AmountParam = amountParam({ description: 'Decimal number greater than 0' })

const RATE_TYPES = ['compra', 'venta', 'referencia'] as const

export const RateTypeParam = v.pipe(
  v.string(),
  v.metadata({
    description: 'Which side of a pair that has two, in any case; a pair with one rate is taken as it is',
    enum: RATE_TYPES,
  }),
  v.toLowerCase(),
  v.picklist(RATE_TYPES, FAULTS.rate_type),
)

export const StatementSideParam = v.pipe(
  v.string(),
  v.metadata({
    description: 'Which side of a pair that has two, in any case; a pair with one rate is taken as it is',
    enum: ['compra', 'venta', 'both'],
  }),
  v.toLowerCase(),
  v.picklist(['compra', 'venta', 'both'], FAULTS.statement_side),
)

export const DigestParam = v.pipe(
  v.string(),
  v.metadata({ description: 'The digest of a statement, to be compared' }),
  v.toLowerCase(),
  v.regex(/^[\da-f]{64}$/, FAULTS.sha256),
)

export const EveryParam = withDescription(
  v.picklist(['day', 'week', 'month', 'quarter', 'year'], FAULTS.every),
  'One point for each of these; weeks begin on Monday',
)

export const StatParam = withDescription(
  v.picklist([...STATS, 'all'], FAULTS.stat),
  'What of the points of its days a longer period has',
)

/** For prices of a day. */
export const PriceEveryParam = withDescription(
  v.picklist(['day'], 'must be day: a longer period has no price'),
  'One price for each day with a point',
)

/** The same without `all`, for tools of agents. */
export const SingleStatParam = withDescription(
  v.picklist(STATS, FAULTS.single_stat),
  'What of the points of its days a longer period has',
)

export const DialectParam = v.pipe(
  v.string(),
  v.metadata({
    description:
      'How CSV is written: es-CR is with semicolons, decimal commas and dd/mm/yyyy, for spreadsheets',
    examples: ['es-CR'],
  }),
  v.check((text) => text.toLowerCase() === 'es-cr', FAULTS.dialect),
)

/** Synonym of a parameter: accepted, but not in OpenAPI. */
export const DialectSynonymParam = v.pipe(DialectParam, v.metadata({ synonym: true }))

export const DecimalSignParam = withDescription(
  v.picklist(['.', ','], FAULTS.decimal_sign),
  'The decimal sign of CSV, without a dialect',
)

export const SeparatorParam = withDescription(
  v.picklist([',', ';', '\t'], FAULTS.separator),
  'What separates the cells of CSV, without a dialect',
)

export const LimitParam = v.pipe(
  v.string(),
  v.metadata({ description: 'How many at most', type: 'integer', minimum: 1, maximum: 200 }),
  v.check((text) => /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 200, FAULTS.limit),
  v.transform(Number),
)

export const DecimalsParam = v.pipe(
  v.string(),
  v.metadata({
    description: 'Rounds the result, once, to exactly so many decimals; without it the result is exact',
    ...{ type: 'integer', minimum: 0, maximum: 20 },
  }),
  v.check((text) => /^\d{1,2}$/.test(text) && Number(text) <= 20, FAULTS.decimals),
  v.transform(Number),
)

export const RoundingParam = withDescription(
  v.picklist(ROUNDING_MODES, FAULTS.rounding),
  'How the result is rounded to `decimals`; half-up without it',
)

const NAME_OF_FAULT = new Map<string, string>(Object.entries(FAULTS).map(([name, text]) => [text, name]))

/** Currency code; the output is in capitals. */
export function currencyParam(description: string) {
  return v.pipe(
    v.string(),
    v.metadata({ description, examples: ['USD'] }),
    v.regex(/^[A-Za-z]{3}$/, FAULTS.currency),
    v.transform((code) => code.toUpperCase()),
  )
}

export function providerParam(description: string) {
  return v.pipe(
    v.string(),
    v.metadata({ description, examples: [DEFAULT_PROVIDER.code] }),
    v.check((text) => text.length > 0 && text.length <= 64 && !text.includes('\0'), FAULTS.provider),
  )
}

/** Amount; the output is in canonical form. */
export function amountParam(about: { description: string; type?: string[] }) {
  return v.pipe(
    v.string(),
    v.metadata({ ...about, examples: ['1500.50', '1e3'] }),
    v.transform((text) => positiveAmount(text) ?? ''),
    v.check((amount) => amount !== '', FAULTS.decimal),
  )
}

export function dateParam(description: string) {
  return v.pipe(
    v.string(),
    v.metadata({ description, format: 'date', examples: ['2026-03-24'] }),
    v.check(isIsoDate, FAULTS.date),
  )
}

export function booleanParam(description: string, ways = ': true/false, 1/0, yes/no, on/off') {
  return v.pipe(
    v.string(),
    v.metadata({ description: `${description}${ways}`, type: 'boolean' }),
    v.transform((text) => text.toLowerCase()),
    v.check((text) => TRUE.has(text) || FALSE.has(text), FAULTS.boolean),
    v.transform((text) => TRUE.has(text)),
  )
}

/** An id. Numbers beyond the safe integers are limited to 2^53, which no row has. */
export function idParam(description: string) {
  return v.pipe(
    v.string(),
    v.metadata({ description, type: 'integer' }),
    v.check((text) => /^-?\d+$/.test(text), FAULTS.integer),
    v.transform((text) => Math.max(-NO_ID, Math.min(Number(text), NO_ID))),
  )
}

/**
 * Cursor of a list: an id from an answer, or 0. An id out of range is rejected: it would silently skip all rows, or
 * list them again.
 */
export function cursorParam(description: string) {
  return v.pipe(
    v.string(),
    v.metadata({ description, type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    v.check((text) => /^\d+$/.test(text) && Number(text) <= Number.MAX_SAFE_INTEGER, FAULTS.cursor),
    v.transform(Number),
  )
}

/** Seconds; common proxies time out after 60. */
export function waitParam(description: string) {
  return v.pipe(
    v.string(),
    v.metadata({ description, type: 'integer', minimum: 0, maximum: 50 }),
    v.check((text) => /^\d{1,2}$/.test(text) && Number(text) <= 50, FAULTS.wait),
    v.transform(Number),
  )
}

/** Returns the rounding of two parameters. @throws AppError `invalid` for `rounding` without `decimals` */
export function roundingRule(
  decimals: number | undefined,
  rounding: RoundingRule['mode'] | undefined,
): RoundingRule | undefined {
  if (decimals !== undefined) return { decimals, mode: rounding ?? 'half-up' }
  if (rounding === undefined) return undefined
  throw invalidParameters([roundingAlone(rounding)])
}

/** 422 item for `rounding` without `decimals`. */
export function roundingAlone(rounding: string): ValidationItem {
  return faulty('query', 'rounding', FAULTS.rounding_alone, rounding)
}

/** Parses values by a schema. Adds at most one item a parameter to `faults`. */
export function validate<S extends v.GenericSchema>(
  schema: S,
  source: 'query' | 'path',
  values: Readonly<Record<string, unknown>>,
  faults: ValidationItem[],
): v.InferOutput<S> {
  const result = v.safeParse(schema, values)
  if (result.success) return result.output
  for (const issue of result.issues) {
    const name = String(issue.path?.[0]?.key ?? '')
    const input = Object.hasOwn(values, name) ? values[name] : undefined
    addFault(faults, input === undefined ? missing(source, name) : faulty(source, name, issue.message, input))
  }
  return result.output as v.InferOutput<S> // never used: a request with faults is rejected
}

/** 422 for a range that ends before it begins. */
export function reversedRange(from: string): AppError {
  return invalidParameters([faulty('query', 'from', FAULTS.order, from)])
}

/** 422 for an instant in the future. */
export function futureInstant(asOf: string): AppError {
  return invalidParameters([faulty('query', 'as_of', FAULTS.future, asOf)])
}

/** 422 for a day after tomorrow. */
export function laterDay(day: IsoDate): AppError {
  return invalidParameters([faulty('query', 'on', FAULTS.after_tomorrow, day)])
}

/** 422 for CSV with a comma for decimals and between cells, by parameter, dialect or default. */
export function sameSigns(separator: string): AppError {
  return invalidParameters([faulty('query', 'sep', FAULTS.same_signs, separator)])
}

/**
 * Parses a query string. The last value of a repeated parameter counts (decisions#unknown-names). Malformed
 * percent-encoding is added to `faults` (decisions#paths).
 */
export function parseQuery(search: string, faults: ValidationItem[]): Record<string, string> {
  const values: Record<string, string> = Object.create(null)
  if (search.length <= 1) return values
  for (const part of search.slice(1).split('&')) {
    if (part === '' || part === '=') continue
    const at = part.indexOf('=')
    const rawName = at < 0 ? part : part.slice(0, at)
    const rawValue = at < 0 ? '' : part.slice(at + 1)
    const name = percentDecode(rawName)
    const value = percentDecode(rawValue)
    if (name === undefined || value === undefined) {
      addFault(faults, faulty('query', name ?? rawName, FAULTS.encoding, rawValue))
    } else values[name] = value
  }
  return values
}

/** Decodes percent-encoding; undefined when it is malformed. */
export function percentDecode(text: string): string | undefined {
  if (!/[%+]/.test(text)) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

function addFault(faults: ValidationItem[], fault: ValidationItem): void {
  const [source, name] = fault.loc
  if (!faults.some(({ loc }) => loc[1] === name && loc[0] === source)) faults.push(fault)
}

function missing(source: string, name: string): ValidationItem {
  return { loc: [source, name], msg: `${name} ${FAULTS.missing}`, type: 'missing', input: null }
}

function faulty(source: string, name: string, fault: string, input: unknown): ValidationItem {
  return { loc: [source, name], msg: `${name} ${fault}`, type: NAME_OF_FAULT.get(fault) ?? 'value', input }
}
