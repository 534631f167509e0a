// Frankfurter v2: rows of a date, a base, a quote and a rate, each with the date that its rate is of.

import * as v from 'valibot'
import { dayOf, type IsoDate, isoOf } from '../../../dates.ts'
import { type Cross, crossesByDay, crossesOn, currenciesOf } from '../../../domain/rates/crosses.ts'
import { periodOf } from '../../../domain/rates/periods.ts'
import type { RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import { AppError } from '../../../errors.ts'
import type { Api } from '../../api/api.ts'
import type { AnyEndpoint } from '../../api/endpoint.ts'
import type { ErrorShape } from '../../api/errors.ts'
import { JSON_TYPE } from '../../api/forms.ts'
import { CSV_TYPE, NDJSON_TYPE } from '../../rates/csv.ts'
import { shownCode } from '../codes.ts'
import { wholeQuotes } from '../missing-days.ts'
import { checkRows } from '../rows.ts'
import { fewestDecimals, heldOf, PROVIDER, type ShapeDeps, shapeEndpoint } from '../shape.ts'
import { publishedOn } from './range.ts'
import { catalogueEndpoints } from './v2-catalogue.ts'
import { encodeCsv, encodeJson, encodeNdjson, objectOf, type Row } from './v2-forms.ts'
import { type Group, type Query, rateQuery, ratesQuery } from './v2-query.ts'

const ROOT = '/compat/frankfurter/v2'
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
  invalid: ErrorOut,
}

/** A row with what says whether it is exact. */
type FoundRow = Row & Pick<Cross, 'exact' | 'roundedTo'>
/** Rows, and the codes of what is left out over days that were not synchronized. */
type Found = { rows: readonly FoundRow[]; leftOut: readonly string[] }

const HEADERS = {
  roundedTo: ({ rows }: Found) => fewestDecimals(rows),
  leftOut: ({ leftOut }: Found) => leftOut,
}

export function frankfurterV2Api(deps: ShapeDeps): Api {
  return {
    prefixes: [ROOT],
    errors: ERRORS,
    isForWebsites: true,
    endpoints: [...ratesEndpoints(deps), ...catalogueEndpoints(deps, ROOT)],
  }
}

function ratesEndpoints(deps: ShapeDeps): AnyEndpoint[] {
  const rates = (path: string, isCsv: boolean) =>
    shapeEndpoint(deps, {
      path: `${ROOT}${path}`,
      summary: 'Frankfurter v2: rates',
      contentType: ({ form }: Query) => TYPES[form],
      contentTypes: Object.values(TYPES),
      ask: (asked) => ratesQuery(asked, isCsv),
      find: (snapshot, query) => find(deps, snapshot, query),
      encode: encodeRows,
      ...HEADERS,
    })
  return [
    rates('/rates', false),
    rates('/rates.csv', true),
    rates('/providers/bccr/rates', false),
    shapeEndpoint(deps, {
      path: `${ROOT}/rate/{base}/{quote}`,
      summary: 'Frankfurter v2: one rate',
      contentType: TYPES.json,
      ask: rateQuery,
      async find(snapshot, query) {
        const found = await find(deps, snapshot, query)
        if (found.rows.length === 0) throw new AppError('not-found', 'not found')
        return found
      },
      encode: ({ rows: [row] }) => JSON.stringify(row && objectOf(row, false)),
      ...HEADERS,
    }),
  ]
}

function encodeRows({ rows }: Found, { form, dialect, withProviders, to }: Query): string {
  if (form === 'ndjson') return encodeNdjson(rows, withProviders)
  if (form === 'json' || !dialect) return encodeJson(rows, withProviders)
  if (rows.length === 0 && to === undefined) return ''
  return encodeCsv(rows, dialect, withProviders)
}

async function find(deps: ShapeDeps, snapshot: RateSnapshot, query: Query): Promise<Found> {
  const { base, side, from, to, group } = query
  const known = currenciesOf(snapshot, PROVIDER)
  for (const code of [base, ...query.quotes]) {
    if (known.includes(code)) continue
    deps.missed.indicator('frankfurter', code)
    throw new AppError('invalid', `invalid currency: ${shownCode(code)}`)
  }
  if (!query.isOurs) return { rows: [], leftOut: [] }
  const wanted = query.quotes.length > 0 ? query.quotes.toSorted() : known
  const asked = { provider: PROVIDER, base, side }
  if (to === undefined) {
    const { crosses, holes } = await crossesOn(snapshot, { ...asked, quotes: wanted, day: from })
    const rows = heldOf(deps, crosses).map((cross) => rowOf(base, cross, cross.date))
    return { rows, leftOut: [...holes.keys()] }
  }
  if (from > to) return { rows: [], leftOut: [] }
  const { quotes, leftOut } = await wholeQuotes(deps, 'frankfurter', snapshot, {
    ...{ ...asked, quotes: wanted, from, to },
    ...{ areNamed: query.quotes.length > 0, onlyPublished: true },
  })
  const rows: FoundRow[] = []
  for await (const { day, crosses } of crossesByDay(snapshot, { ...asked, quotes, from, to })) {
    for (const cross of heldOf(deps, publishedOn(day, crosses))) rows.push(rowOf(base, cross, day))
    checkRows(rows.length)
  }
  // A range whose first day has no row of a quote begins with the last one before it, under its own date.
  const onFirst = heldOf(deps, (await crossesOn(snapshot, { ...asked, quotes, day: from })).crosses)
  const before = onFirst.filter(({ newest }) => newest < from).map((cross) => rowOf(base, cross, cross.date))
  const sorted = before.sort((a, b) => compare(a.date, b.date) || compare(a.quote, b.quote)).concat(rows)
  return { rows: group ? grouped(sorted, group) : sorted, leftOut }
}

function rowOf(base: string, { quote, rate, exact, roundedTo }: Cross, date: IsoDate): FoundRow {
  return { date, base, quote, rate: rate === '1' && base === quote ? '1.0' : rate, exact, roundedTo }
}

/** The last row of each quote in each week or month, under the first day of it. */
function grouped(rows: readonly FoundRow[], group: Group): FoundRow[] {
  const last = new Map<string, FoundRow>()
  for (const row of rows) {
    const date = isoOf(periodOf(dayOf(row.date), group).first)
    last.set(`${date} ${row.quote}`, { ...row, date })
  }
  return [...last.values()].sort((a, b) => compare(a.date, b.date) || compare(a.quote, b.quote))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
