// A statement as PostgreSQL reads it. What this folder runs of Kysely it is given: modules that are loaded late may not reach
// that library, or the bundle would hold the whole of it apart, for every start.

import type { CompiledQuery, QueryResult } from 'kysely'
import type { Db } from '../tables.ts'

/** Values go for `$1`, `$2` and so on. */
export function ask<Row>(db: Db, text: string, values: readonly unknown[] = []): Promise<QueryResult<Row>> {
  const query: CompiledQuery<Row> = {
    sql: text,
    parameters: values,
    query: { kind: 'RawNode', sqlFragments: [text], parameters: [] },
    queryId: { queryId: '' },
  }
  return db.executeQuery(query)
}
