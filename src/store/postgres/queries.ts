// Kysely over this folder's driver.

import {
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type PrimitiveValueListNode,
} from 'kysely'
import type { CarriesDialect, Dialect } from '../engine.ts'
import type { Db, Tables } from '../tables.ts'

export function queriesOver(createDriver: () => Driver, dialect: Dialect): Db {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new Adapter(dialect),
      createDriver,
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new QueryCompiler(),
    },
  })
}

// What is in a list without members SQLite answers, with none; here it is no statement, and nothing equals null.
class QueryCompiler extends PostgresQueryCompiler {
  protected override visitPrimitiveValueList(node: PrimitiveValueListNode): void {
    if (node.values.length === 0) this.append('(null)')
    else super.visitPrimitiveValueList(node)
  }
}

class Adapter extends PostgresAdapter implements CarriesDialect {
  readonly cambista: Dialect

  constructor(dialect: Dialect) {
    super()
    this.cambista = dialect
  }
}
