// Loaded before tests (`node --import ./test/contract/twice.ts --test …`), this has the work of each transaction done twice:
// rolled back, and done again, as by an engine that had to give it up because of others. What touches more than the
// database in it then counts twice.

import { sqliteDialect } from '../../src/store/sqlite/dialect.ts'

const GIVEN_UP = Symbol('given up')

sqliteDialect.atomically = async (db, work) => {
  await db
    .transaction()
    .execute(async (trx) => {
      await work(trx)
      throw GIVEN_UP
    })
    .catch((reason: unknown) => {
      if (reason !== GIVEN_UP) throw reason
    })
  return db.transaction().execute(work)
}
