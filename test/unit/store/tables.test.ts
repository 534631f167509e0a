// A connection that only reads is none that writes: for the compiler, and for the database.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atomically, snapshot } from '../../../src/store/engine.ts'
import { deleteHook } from '../../../src/store/hooks/hooks.ts'
import { selectMeta } from '../../../src/store/meta.ts'
import { openDatabase, openReads } from '../../../src/store/sqlite/database.ts'
import type { ReadDb, WriteDb } from '../../../src/store/tables.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

test('a write over a connection for reads does not compile, and SQLite refuses it', async (t) => {
  const dataDir = temporaryDirectory(t)
  const db: WriteDb = openDatabase(dataDir)
  const reads = openReads(dataDir)
  t.after(async () => {
    await reads.destroy()
    await db.destroy()
  })
  // @ts-expect-error: a query that writes is given a connection for reads
  await assert.rejects(deleteHook(reads, 1), /readonly database/)
  // @ts-expect-error: a transaction writes
  await assert.rejects(() => atomically(reads, (trx) => deleteHook(trx, 1)), /readonly database/)
  // @ts-expect-error: the transaction of a snapshot only reads
  await snapshot(db, (trx) => deleteHook(trx, 1)).catch(() => undefined)
  // @ts-expect-error: a connection for reads is assigned where one that writes is required
  const writes: WriteDb = reads satisfies ReadDb
  assert.equal(writes, reads)
})

test('a connection that writes may be given to a query that reads', async (t) => {
  const db = openDatabase(temporaryDirectory(t))
  t.after(() => db.destroy())
  assert.match((await selectMeta(db)).epoch, /./)
})

/** Queries of a connection for reads; compiled, and never run. */
export function misuse(reads: ReadDb): void {
  // @ts-expect-error
  reads.insertInto('hooks')
  // @ts-expect-error
  reads.updateTable('hooks')
  // @ts-expect-error
  reads.deleteFrom('hooks')
  // @ts-expect-error
  reads.replaceInto('hooks')
  // @ts-expect-error
  reads.mergeInto('hooks')
  // @ts-expect-error
  reads.schema
  // @ts-expect-error
  reads.transaction()
}
