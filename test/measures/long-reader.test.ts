// The schema upgrade of a cluster beside a transaction that reads for long. A statement waits for its lock in short
// attempts. The test measures the share of time in which writes wait behind it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { insertApiKey } from '../../src/store/access/api-keys.ts'
import { FIRST_SCHEMA, RELEASED_SCHEMA, SHARED_MIGRATIONS } from '../../src/store/migrations.ts'
import { rawQuery } from '../../src/store/postgres/raw-query.ts'
import { openNode } from '../support/postgres/database.ts'
import { createPostgresSchema } from '../support/postgres/server.ts'

// A schema between two releases opens with its own tables alone.
const RELEASED = SHARED_MIGRATIONS.slice(0, RELEASED_SCHEMA - FIRST_SCHEMA)
const BEHIND_READER = `select 1 from pg_locks
  where relation = 'api_keys'::regclass and mode = 'AccessExclusiveLock' and not granted`

const key = (name: string) => ({ name, hash: name.padEnd(64, '-'), createdAt: '2026-03-24T12:00:00.000Z' })

test('a statement that waits for a long reader lets writes pass for most of the time', async (t) => {
  const url = await createPostgresSchema()
  const { db } = await openNode(t, url, { migrations: RELEASED })
  const reader = await db.startTransaction().execute()
  await rawQuery(reader, 'select 1 from api_keys')
  const added = { sql: 'ALTER TABLE api_keys ADD COLUMN label TEXT;' }
  const upgraded = openNode(t, url, { migrations: [...RELEASED, added] })
  let isReading = true
  let [attempts, isWaiting] = [0, false]
  const [waits, durations]: [number[], number[]] = [[], []]
  const writer = (async () => {
    while (isReading) {
      const [begin, before] = [performance.now(), attempts]
      await insertApiKey(db, key(`beside ${waits.length}`))
      if (before > 0) durations.push(performance.now() - begin)
      waits.push(attempts - before)
    }
  })().finally(() => {
    isReading = false
  })
  const samples = { waiting: 0, all: 0 }
  while (attempts < 4 && isReading) {
    const { rows } = await rawQuery(reader, BEHIND_READER)
    if (rows.length > 0 && !isWaiting) attempts += 1
    isWaiting = rows.length > 0
    if (isWaiting) samples.waiting += 1
    if (attempts > 0) samples.all += 1
    await wait(10)
  }
  isReading = false
  await reader.rollback().execute()
  await writer
  assert.equal(await (await upgraded).isReady(), true)
  const share = samples.waiting / samples.all
  t.diagnostic(`it waits ${Math.round(100 * share)} % of the time; ${durations.length} writes beside it`)
  t.diagnostic(`the longest of them takes ${Math.round(Math.max(...durations))} ms`)
  assert.ok(samples.waiting > 0 && share < 0.5, `${share}`)
  assert.ok(Math.max(...waits) <= 1, 'a write is behind one attempt at most')
})
