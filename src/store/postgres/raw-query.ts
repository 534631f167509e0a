// Runs a statement in PostgreSQL's dialect, without an import of Kysely. This module is loaded lazily. An import would
// move the library into a separate part of the bundle, which every start reads.

import type { CompiledQuery, Expression, QueryResult, RawNode } from 'kysely'
import type { ReadDb, Tables } from '../tables.ts'

/** Without `writes` it may change any table, unless its first word changes no rows (change-counters.ts). */
export type RawStatement = RawNode & { readonly writes?: TableName | undefined }

export type TableName = keyof Tables | 'document_order' | 'leases' | 'scheduler'

/** Runs a statement; `values` replace `$1`, `$2` and so on. `writes`: the one table whose rows it changes. */
export function rawQuery<Row>(
  db: ReadDb,
  text: string,
  values: readonly unknown[] = [],
  writes?: TableName,
): Promise<QueryResult<Row>> {
  const statement: RawStatement = { kind: 'RawNode', sqlFragments: [text], parameters: [], writes }
  const query: CompiledQuery<Row> = {
    sql: text,
    parameters: values,
    query: statement,
    queryId: { queryId: '' },
  }
  return db.executeQuery(query)
}

/** Returns an SQL text as a part of a Kysely query. */
export function raw<T>(text: string): Expression<T> {
  const node: RawNode = { kind: 'RawNode', sqlFragments: [text], parameters: [] }
  return { expressionType: undefined, toOperationNode: () => node }
}
