// Frankfurter v2: rows of a date, a base, a quote and a rate. Clients store a rate by its date. So each row is a point of
// the pair's history: the next sync changes only a corrected one.

import * as v from 'valibot'
import { type Cross, computeCrosses, crossesByDay, listCurrencies } from '../../../domain/rates/crosses.ts'
import { findPeriod } from '../../../domain/rates/history/periods.ts'
import type { RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import { AppError } from '../../../runtime/errors.ts'
import { dayNumber, isoDate } from '../../../values/dates.ts'
import { CSV_TYPE, NDJSON_TYPE } from '../../endpoint/answers/csv.ts'
import { JSON_TYPE } from '../../endpoint/answers/forms.ts'
import type { Api } from '../../endpoint/api.ts'
import type { AnyEndpoint } from '../../endpoint/endpoint.ts'
import type { ErrorShape } from '../../endpoint/error-shape.ts'
import { displayCode } from '../codes.ts'
import { completeQuotes, computeSoundCrosses } from '../missing-days.ts'
import { checkRowCount } from '../rows.ts'
import {
  type CompatDeps,
  compatEndpoint,
  fewestDecimals,
  PROVIDER,
  roundedReason,
  servedCrosses,
} from '../shape.ts'
import { filterPublished } from './range.ts'
import { catalogueEndpoints } from './v2-catalogue.ts'
import { encodeJson, encodeNdjson, type QuoteRow, quotesCsv, rowObject } from './v2-forms.ts'
import {
  answeredProvider,
  type Grouping,
  namedProvider,
  type QuoteQuery,
  rateQuery,
  ratesQuery,
} from './v2-query.ts'

const ROOT = '/compat/frankfurter/v2'
const BANK_RATES = '/providers/bccr/rates'
const TYPES = {
  json: JSON_TYPE,
  ndjson: NDJSON_TYPE,
  csv: CSV_TYPE,
}
const ErrorOut = v.object({ status: v.number(), message: v.string() })
const ERRORS: ErrorShape = {
  challenge: 'ApiKey',
  body: (status, message) => JSON.stringify({ status, message }),
  schema: ErrorOut,
}

/** A row with the rounding of its rate. */
type AnswerRow = QuoteRow & Pick<Cross, 'exact' | 'roundedTo'>
/** Rows of a provider, and the codes with days that were not synchronized. */
type RowsAnswer = {
  provider: string
  rows: readonly AnswerRow[]
  leftOut: readonly string[]
  reason?: string
}

const HEADERS = {
  roundedTo: ({ rows }: RowsAnswer) => fewestDecimals(rows),
  leftOut: ({ leftOut }: RowsAnswer) => leftOut,
}

export function frankfurterV2Api(deps: CompatDeps): Api {
  return {
    prefixes: [ROOT],
    errors: ERRORS,
    isForWebsites: true,
    endpoints: [...quotesEndpoints(deps), ...catalogueEndpoints(deps, ROOT)],
  }
}

function quotesEndpoints(deps: CompatDeps): AnyEndpoint[] {
  const rates = (path: '/rates' | '/rates.csv' | typeof BANK_RATES, isCsv: boolean) =>
    compatEndpoint(deps, {
      path: `${ROOT}${path}`,
      namedProvider: (query) => namedProvider(deps, query) ?? (path === BANK_RATES ? PROVIDER : undefined),
      contentType: ({ form }: QuoteQuery) => TYPES[form],
      contentTypes: Object.values(TYPES),
      parse: (request) => ratesQuery(request, isCsv),
      find: (snapshot, query) => find(deps, snapshot, query),
      encode: encodeRows,
      ...HEADERS,
    })
  return [
    rates('/rates', false),
    rates('/rates.csv', true),
    rates(BANK_RATES, false),
    compatEndpoint(deps, {
      path: `${ROOT}/rate/{base}/{quote}`,
      namedProvider: (query) => namedProvider(deps, query),
      parse: rateQuery,
      async find(snapshot, query) {
        const answer = await find(deps, snapshot, query)
        if (answer.rows.length === 0) throw new AppError('not-found', `not found${answer.reason ?? ''}`)
        return answer
      },
      encode: ({ rows: [row] }) => JSON.stringify(row && rowObject(row)),
      ...HEADERS,
    }),
  ]
}

function encodeRows(
  { provider, rows }: RowsAnswer,
  { form, dialect, withProviders, to }: QuoteQuery,
): string {
  const key = withProviders ? provider.toUpperCase() : undefined
  if (form === 'ndjson') return encodeNdjson(rows, key)
  if (form === 'json' || !dialect) return encodeJson(rows, key)
  if (rows.length === 0 && to === undefined) return ''
  return quotesCsv(rows, dialect, key)
}

async function find(deps: CompatDeps, snapshot: RateSnapshot, query: QuoteQuery): Promise<RowsAnswer> {
  const { base, side, from, to, group } = query
  const source = answeredProvider(snapshot, query)
  const provider = source ?? PROVIDER
  const currencies = listCurrencies(snapshot, provider)
  for (const code of [base, ...query.quotes]) {
    if (currencies.includes(code)) continue
    deps.unserved.indicator('frankfurter', code)
    throw new AppError('invalid', `invalid currency: ${displayCode(code)}`)
  }
  if (source === undefined) return { provider, rows: [], leftOut: [] }
  const codes = query.quotes.length > 0 ? query.quotes.toSorted() : currencies
  const selection = { provider, base, side }
  if (to === undefined) {
    const day = { ...selection, quotes: codes, day: from, asPoint: true }
    const { crosses, holes } = await computeSoundCrosses(snapshot, day, query.quotes.length > 0)
    const rows = servedCrosses(deps, crosses).map((cross) => toRow(base, cross))
    return { provider, rows, leftOut: [...holes.keys()], reason: roundedReason(crosses) }
  }
  if (from > to) return { provider, rows: [], leftOut: [] }
  const { quotes, leftOut } = await completeQuotes(deps, 'frankfurter', snapshot, {
    ...{ ...selection, quotes: codes, from, to },
    ...{ areNamed: query.quotes.length > 0, onlyPublished: true },
  })
  const rows: AnswerRow[] = []
  for await (const { day, crosses } of crossesByDay(snapshot, { ...selection, quotes, from, to })) {
    for (const cross of filterPublished(day, crosses)) rows.push(toRow(base, cross))
    checkRowCount(rows.length)
  }
  // Quotes without a row on the first day begin with their last row before it, under its own date.
  const { crosses } = await computeCrosses(snapshot, { ...selection, quotes, day: from, asPoint: true })
  const onFirst = servedCrosses(deps, crosses)
  const before = onFirst.filter(({ newest }) => newest < from).map((cross) => toRow(base, cross))
  const allRows = before.sort((a, b) => compare(a.date, b.date) || compare(a.quote, b.quote)).concat(rows)
  return { provider, rows: group ? groupRows(allRows, group) : allRows, leftOut }
}

function toRow(base: string, { quote, rate, exact, roundedTo, newest: date }: Cross): AnswerRow {
  return { date, base, quote, rate: rate === '1' && base === quote ? '1.0' : rate, exact, roundedTo }
}

/** The last row of each quote in each week or month, under the first day of it. */
function groupRows(rows: readonly AnswerRow[], group: Grouping): AnswerRow[] {
  const last = new Map<string, AnswerRow>()
  for (const row of rows) {
    const date = isoDate(findPeriod(dayNumber(row.date), group).first)
    last.set(`${date} ${row.quote}`, { ...row, date })
  }
  return [...last.values()].sort((a, b) => compare(a.date, b.date) || compare(a.quote, b.quote))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
