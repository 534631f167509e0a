// Runs a statement in PostgreSQL's dialect, without an import of Kysely. This module is loaded lazily. An import would
// move the library into a separate part of the bundle, which every start reads.

import type { CompiledQuery, Expression, QueryResult, RawNode } from 'kysely'
import type { ReadDb } from '../tables.ts'

/** Runs a statement; `values` replace `$1`, `$2` and so on. */
export function rawQuery<Row>(
  db: ReadDb,
  text: string,
  values: readonly unknown[] = [],
): Promise<QueryResult<Row>> {
  const query: CompiledQuery<Row> = {
    sql: text,
    parameters: values,
    query: { kind: 'RawNode', sqlFragments: [text], parameters: [] },
    queryId: { queryId: '' },
  }
  return db.executeQuery(query)
}

/** Returns an SQL text as a part of a Kysely query. */
export function raw<T>(text: string): Expression<T> {
  const node: RawNode = { kind: 'RawNode', sqlFragments: [text], parameters: [] }
  return { expressionType: undefined, toOperationNode: () => node }
}
