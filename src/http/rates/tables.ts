// An endpoint whose answer is a table, too: as CSV or NDJSON for a client that asks so by Accept, or by the end of the path.
// A column has the name of the JSON's field.

import * as v from 'valibot'
import type { IsoDate } from '../../dates.ts'
import type { AnyEndpoint } from '../api/endpoint.ts'
import type { Form } from '../api/forms.ts'
import {
  DecimalSignParam,
  DialectParam,
  DialectSynonymParam,
  SeparatorParam,
  sameSigns,
} from '../api/params.ts'
import { type StoredDeps, type StoredEndpoint, storedEndpoint } from '../api/stored.ts'
import { textParts } from '../api/text-parts.ts'
import { unknownParameters } from '../api/unknown-parameters.ts'
import {
  CSV_TYPE,
  csvLines,
  type Dialect,
  dayCell,
  decimalCell,
  dialectOf,
  NDJSON_TYPE,
  ndjsonLines,
  PLAIN,
  textCell,
} from './csv.ts'

/** How the values of a column are written: `plain` are numbers and booleans, `json` is anything. */
type Kind = 'text' | 'day' | 'decimal' | 'plain' | 'json'

/** By name, in their order. */
export type Columns = Readonly<Record<string, Kind>>

type Row = Readonly<Record<string, unknown>>

/** What an answer is as a table. A value that a row does not have is an empty cell. */
export type Table<T, A> = {
  columns(asked: A): Columns
  rows(found: T, asked: A): Iterable<Row>
  /** What the JSON says beside its rows. */
  headers?(found: T, asked: A): Readonly<Record<string, string>>
}

const DIALECT = {
  dialect: v.optional(DialectParam),
  dialecto: v.optional(DialectSynonymParam),
  decimal: v.optional(DecimalSignParam),
  sep: v.optional(SeparatorParam),
}

type DialectGiven = { [name in keyof typeof DIALECT]?: string | undefined }
type Described<A> = A & { csv?: Dialect }

/** The endpoint, with more forms, and one of the same path with `.csv` at its end, and one with `.ndjson`. */
export function tableEndpoints<E extends v.ObjectEntries, P extends v.GenericSchema, A extends object, T>(
  deps: StoredDeps,
  endpoint: StoredEndpoint<v.ObjectSchema<E, undefined>, P, A, T>,
  table: Table<NoInfer<T>, NoInfer<A>>,
): AnyEndpoint[] {
  const { path, summary, forms, effective } = endpoint
  const own = Object.keys(endpoint.query?.entries ?? {})
  const headers = table.headers && { headers: table.headers }
  const csv: Form<T, Described<A>> = {
    name: 'csv',
    contentType: CSV_TYPE,
    encode: (found, asked) => textParts(csvLines(linesOf(table, found, asked), asked.csv ?? PLAIN)),
    ...headers,
  }
  const ndjson: Form<T, Described<A>> = {
    name: 'ndjson',
    contentType: NDJSON_TYPE,
    encode: (found, asked) => textParts(ndjsonLines(table.rows(found, asked))),
    ...headers,
  }
  const inDialects = {
    ...endpoint,
    query: v.object({ ...endpoint.query?.entries, ...DIALECT }),
    effective(given: object, today: IsoDate, form: string): Described<A> {
      const { dialect, dialecto, decimal, sep, ...rest } = given as DialectGiven
      const name = dialect ?? dialecto
      const hasDialect = name !== undefined || decimal !== undefined || sep !== undefined
      if (hasDialect && form !== 'csv') throw unknownParameters({ dialect, dialecto, decimal, sep }, own)
      const asked = effective(rest as never, today, form)
      if (!hasDialect) return asked
      const csv = dialectOf(name, { decimal, separator: sep })
      if (!csv) throw sameSigns(sep ?? '')
      return { ...asked, csv }
    },
  }
  return [
    storedEndpoint(deps, { ...inDialects, forms: [...forms, csv, ndjson] }),
    storedEndpoint(deps, {
      ...inDialects,
      path: `${path}.csv`,
      summary: `${summary}: CSV`,
      forms: [csv],
    }),
    storedEndpoint(deps, {
      ...endpoint,
      path: `${path}.ndjson`,
      summary: `${summary}: NDJSON, a line of JSON for each row`,
      forms: [ndjson],
    }),
  ]
}

function* linesOf<T, A>(table: Table<T, A>, found: T, asked: Described<A>): Iterable<string[]> {
  const columns = Object.entries(table.columns(asked))
  const dialect = asked.csv ?? PLAIN
  yield columns.map(([name]) => name)
  for (const row of table.rows(found, asked)) {
    yield columns.map(([name, kind]) => cellOf(kind, row[name], dialect))
  }
}

function cellOf(kind: Kind, value: unknown, dialect: Dialect): string {
  if (value === undefined || value === null) return ''
  if (kind === 'json') return textCell(JSON.stringify(value), dialect)
  const text = String(value)
  if (kind === 'day') return dayCell(text, dialect)
  if (kind === 'decimal') return decimalCell(text, dialect)
  return kind === 'text' ? textCell(text, dialect) : text
}
