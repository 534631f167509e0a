import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openRateCache } from '../../../../src/domain/rates/rate-cache.ts'
import { ensureCatalogue } from '../../../../src/sync/catalogue.ts'
import { createMemoryBank } from '../../../support/rates/memory-bank.ts'
import { fixedClock, ofSqlite, temporaryDatabase } from '../../../support/temporary.ts'

// On PostgreSQL all are read with the snapshot.
test('others have turns while the columns of many series are read', ofSqlite, async (t) => {
  const db = temporaryDatabase(t)
  await ensureCatalogue(db, [createMemoryBank(fixedClock()).provider], fixedClock().read)
  const snapshot = (await openRateCache(db, [])).snapshot()
  assert.ok(snapshot.series.length > 3)
  let turns = 0
  let reading = true
  const count = () => {
    turns += 1
    if (reading) setImmediate(count)
  }
  setImmediate(count)
  await snapshot.columns(snapshot.series)
  reading = false
  assert.ok(turns >= snapshot.series.length - 1, `${turns} turns`)
})
