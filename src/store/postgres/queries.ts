// Kysely over this folder's driver.

import {
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type PrimitiveValueListNode,
} from 'kysely'
import { type EngineSql, withEngineSql } from '../engine.ts'
import type { Tables, WriteDb } from '../tables.ts'

export function createKysely(createDriver: () => Driver, dialect: EngineSql): WriteDb {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => withEngineSql(new PostgresAdapter(), dialect),
      createDriver,
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new QueryCompiler(),
    },
  })
}

// `in ()` is valid in SQLite and matches nothing. PostgreSQL rejects it; `in (null)` matches nothing in both.
class QueryCompiler extends PostgresQueryCompiler {
  protected override visitPrimitiveValueList(node: PrimitiveValueListNode): void {
    if (node.values.length === 0) this.append('(null)')
    else super.visitPrimitiveValueList(node)
  }
}
