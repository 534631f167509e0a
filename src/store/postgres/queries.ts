// Kysely over this folder's driver: the only file of it that needs the library itself, and is loaded with every start.

import { type Driver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import type { CarriesDialect, Dialect } from '../engine.ts'
import type { Db, Tables } from '../tables.ts'

export type QueriesOver = typeof queriesOver

export function queriesOver(createDriver: () => Driver, dialect: Dialect): Db {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new Adapter(dialect),
      createDriver,
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
}

class Adapter extends PostgresAdapter implements CarriesDialect {
  readonly cambista: Dialect

  constructor(dialect: Dialect) {
    super()
    this.cambista = dialect
  }
}
