// Endpoints with a table as their answer: CSV or NDJSON too, by Accept or by the end of the path. Columns have the
// names of the JSON fields.

import * as v from 'valibot'
import {
  type ColumnKinds,
  CSV_TYPE,
  csvLines,
  DIALECT_PARAMETERS,
  type Dialect,
  type DialectParameters,
  formatCells,
  NDJSON_TYPE,
  ndjsonLines,
  PLAIN,
  readDialect,
  type TableRow,
} from '../endpoint/answers/csv.ts'
import type { Form } from '../endpoint/answers/forms.ts'
import { textParts } from '../endpoint/answers/text-parts.ts'
import type { AnyEndpoint } from '../endpoint/endpoint.ts'
import {
  type Effective,
  type LocalDay,
  type StoredDeps,
  type StoredEndpoint,
  type StoredSnapshot,
  storedEndpoint,
} from '../endpoint/stored.ts'
import { unknownParameters } from '../endpoint/unknown-parameters.ts'
import type { Path } from '../routes.ts'

/** Table of an answer. A missing value of a row is an empty cell. */
export type TableForm<T, A> = {
  columns(query: A): ColumnKinds
  rows(value: T, query: A): Iterable<TableRow>
  /** Cells of a row by column, where they are not its fields. */
  cells?(row: TableRow): TableRow
  /** Headers with the data that JSON has beside its rows. */
  headers?(value: T, query: A): Readonly<Record<string, string>>
}

type WithDialect<A> = A & { csv?: Dialect }

type TablePath = Path<'GET'> extends infer P ? (P extends `${infer Table}.ndjson` ? Table : never) : never

/** Creates the endpoint with further forms, and its `.csv` and `.ndjson` paths. */
export function tableEndpoints<
  E extends v.ObjectEntries,
  P extends v.GenericSchema,
  A extends object,
  T,
  S extends StoredSnapshot,
>(
  deps: StoredDeps<S>,
  endpoint: StoredEndpoint<v.ObjectSchema<E, undefined>, P, A, T, S> & { path: TablePath },
  table: TableForm<NoInfer<T>, NoInfer<A>>,
): AnyEndpoint[] {
  const { path, forms, effective } = endpoint
  const parameterNames = Object.keys(endpoint.query?.entries ?? {})
  const headers = table.headers && { headers: table.headers }
  const csv: Form<T, WithDialect<A>> = {
    name: 'csv',
    contentType: CSV_TYPE,
    encode: (value, query) => textParts(csvLines(tableLines(table, value, query), query.csv ?? PLAIN)),
    ...headers,
  }
  const ndjson: Form<T, WithDialect<A>> = {
    name: 'ndjson',
    contentType: NDJSON_TYPE,
    encode: (value, query) => textParts(ndjsonLines(table.rows(value, query))),
    ...headers,
  }
  const dialectEndpoint = {
    ...endpoint,
    query: v.object({ ...endpoint.query?.entries, ...DIALECT_PARAMETERS }),
    effective(parameters: object, localDay: LocalDay, form: string): WithDialect<A> & Effective {
      const { dialect, dialecto, decimal, sep, ...rest } = parameters as DialectParameters
      const signs = { dialect, dialecto, decimal, sep }
      if (form !== 'csv' && Object.values(signs).some((value) => value !== undefined))
        throw unknownParameters(signs, parameterNames)
      const query = effective(rest as never, localDay, form)
      const csv = readDialect(signs)
      if (!csv) return query
      return { ...query, csv }
    },
  }
  return [
    storedEndpoint(deps, { ...dialectEndpoint, forms: [...forms, csv, ndjson] }),
    storedEndpoint(deps, {
      ...dialectEndpoint,
      path: `${path}.csv`,
      forms: [csv],
    }),
    storedEndpoint(deps, {
      ...endpoint,
      path: `${path}.ndjson`,
      forms: [ndjson],
    }),
  ]
}

function* tableLines<T, A>(table: TableForm<T, A>, value: T, query: WithDialect<A>): Iterable<string[]> {
  const columns = table.columns(query)
  const dialect = query.csv ?? PLAIN
  yield Object.keys(columns)
  for (const row of table.rows(value, query))
    yield formatCells(columns, table.cells ? table.cells(row) : row, dialect)
}
