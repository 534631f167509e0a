// Parses requests to Frankfurter v2. Unknown parameters are rejected.

import type { RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import { AppError } from '../../../runtime/errors.ts'
import type { Side } from '../../../store/tables.ts'
import { earliest, type IsoDate, isIsoDate } from '../../../values/dates.ts'
import type { Dialect } from '../../endpoint/answers/csv.ts'
import { KEY_NAMES } from '../../endpoint/url-key.ts'
import { parseCodes } from '../codes.ts'
import { type CompatDeps, type CompatRequest, PROVIDER } from '../shape.ts'
import { parseDialect } from './v2-forms.ts'

export type Grouping = 'week' | 'month'

/** `codes`: the list in `providers`, in capitals; empty: the answer is of `provider`, that of the key. */
export type ProvidersQuery = { provider: string; codes: string[] }

/** `quotes` empty: all. `to` is set for a range. */
export type QuoteQuery = ProvidersQuery & {
  base: string
  quotes: string[]
  side: Side
  from: IsoDate
  to?: IsoDate
  group?: Grouping
  withProviders: boolean
  form: 'json' | 'csv' | 'ndjson'
  dialect?: Dialect
}

const OWN_PARAMETERS = ['tipo', 'dialect', 'dialecto', 'decimal', 'sep', ...KEY_NAMES]
const NAME = /^[A-Za-z_-]{1,30}$/
const RATES_PARAMETERS = ['base', 'quotes', 'providers', 'date', 'from', 'to', 'group', 'expand']

/** @throws AppError `invalid` in the words of the shape */
export function ratesQuery(request: CompatRequest, isCsv: boolean): QuoteQuery {
  const { query, headers, today, side } = request
  checkNames(query, RATES_PARAMETERS)
  const common = {
    base: (query.get('base') ?? 'EUR').trim().toUpperCase(),
    quotes: parseCodes(query.get('quotes')),
    side,
    ...parseDays(query, today),
    ...parseProviders(request),
    withProviders: isExpanded(query),
  }
  if (isCsv) return { ...common, form: 'csv', dialect: parseDialect(query) }
  const form = /application\/x-ndjson/i.test(headers.get('accept') ?? '') ? 'ndjson' : 'json'
  return { ...common, form }
}

export function rateQuery(request: CompatRequest): QuoteQuery {
  const { query, params, today, side } = request
  checkNames(query, ['date', 'providers'])
  const [base = '', quote = ''] = [params.base?.toUpperCase(), params.quote?.toUpperCase()]
  const from = parseDate(query.get('date'), today) ?? today
  const common = { base, quotes: [quote], side, from, ...parseProviders(request) }
  return { ...common, withProviders: false, form: 'json' }
}

export function parseProviders({
  query,
  provider,
}: Pick<CompatRequest, 'query' | 'provider'>): ProvidersQuery {
  return { provider, codes: parseCodes(query.get('providers')) }
}

/** Returns the provider that answers a list of codes; undefined: the list is empty. @throws AppError `invalid` */
export function namedProvider(
  { cache }: Pick<CompatDeps, 'cache'>,
  query: URLSearchParams,
): string | undefined {
  const codes = parseCodes(query.get('providers'))
  if (codes.length === 0) return undefined
  return answeredProvider(cache.snapshot(), { provider: PROVIDER, codes }) ?? PROVIDER
}

/**
 * Returns the provider of an answer; undefined: none is requested that this server has. A server of the bank alone
 * ignores other codes.
 * @throws AppError `invalid` for several providers
 */
export function answeredProvider(
  { providers }: RateSnapshot,
  { provider, codes }: ProvidersQuery,
): string | undefined {
  if (codes.length === 0) return provider
  const isBankAlone = providers.every(({ code }) => code === PROVIDER)
  if (isBankAlone) return codes.includes(PROVIDER.toUpperCase()) ? PROVIDER : undefined
  if (codes.length > 1) throw new AppError('invalid', 'one provider at a time')
  return providers.find(({ code }) => code.toUpperCase() === codes[0])?.code
}

/**
 * Rejects unknown parameters. The error repeats only plain words, since other names may be a part of a key
 * with an & in it. @throws AppError `invalid`
 */
export function checkNames(query: URLSearchParams, names: readonly string[]): void {
  for (const name of query.keys()) {
    if (!names.includes(name) && !OWN_PARAMETERS.includes(name))
      throw new AppError('invalid', `unknown parameter${NAME.test(name) ? `: ${name}` : ''}`)
  }
}

function parseDays(
  query: URLSearchParams,
  today: IsoDate,
): { from: IsoDate; to?: IsoDate; group?: Grouping } {
  const [date, from, to] = ['date', 'from', 'to'].map((name) => parseDate(query.get(name), today))
  const group = query.get('group')
  if (group !== null && group !== 'week' && group !== 'month') throw new AppError('invalid', 'invalid group')
  if (date !== undefined && (from !== undefined || to !== undefined))
    throw new AppError('invalid', 'conflicting params')
  if (from === undefined) {
    if (to !== undefined) throw new AppError('invalid', 'conflicting params')
    return { from: date ?? today }
  }
  return { from, to: to ?? today, ...(group ? { group } : {}) }
}

/** A date; one in the future is today. */
function parseDate(text: string | null, today: IsoDate): IsoDate | undefined {
  if (text === null) return undefined
  if (!isIsoDate(text)) throw new AppError('invalid', 'invalid date')
  return earliest(text, today)
}

function isExpanded(query: URLSearchParams): boolean {
  const expand = query.get('expand')
  if (expand !== null && expand !== 'providers') throw new AppError('invalid', 'invalid expand')
  return expand !== null
}
