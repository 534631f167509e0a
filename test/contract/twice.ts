// Runs the work of each transaction twice: rolled back, then again, like an engine after a serialization
// failure. Effects outside the database then happen twice. Load it before tests: `node --import
// ./test/contract/twice.ts --test …`.

import { sqliteSql } from '../../src/store/sqlite/engine-sql.ts'

const ROLLBACK = Symbol('given up')

sqliteSql.atomically = async (db, work) => {
  await db
    .transaction()
    .execute(async (trx) => {
      await work(trx)
      throw ROLLBACK
    })
    .catch((reason: unknown) => {
      if (reason !== ROLLBACK) throw reason
    })
  return db.transaction().execute(work)
}
