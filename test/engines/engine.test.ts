// The PostgreSQL engine: nodes that start together, leases, the clock, change counters, and errors while the database
// is unreachable.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { AppError, errorCode } from '../../src/runtime/errors.ts'
import { storageError } from '../../src/runtime/storage-error.ts'
import { insertApiKey } from '../../src/store/access/api-keys.ts'
import { atomically, type Engine, engineSql, snapshot } from '../../src/store/engine.ts'
import { selectMeta } from '../../src/store/meta.ts'
import { selectSequences } from '../../src/store/postgres/maintenance/sequences.ts'
import { openPostgres } from '../../src/store/postgres/open-postgres.ts'
import { rawQuery as askWithin } from '../../src/store/postgres/raw-query.ts'
import type { WriteDb } from '../../src/store/tables.ts'
import { openNode } from '../support/postgres/database.ts'
import { createPostgresSchema, queryOnce, schemaAddress, startPostgres } from '../support/postgres/server.ts'
import { retryWhenStalled } from '../support/stalls.ts'
import { until } from '../support/terminal.ts'

const CREATED = { createdAt: '2026-03-24T12:00:00.000Z' }
const key = (name: string) => ({ name, hash: name.padEnd(64, '-'), ...CREATED })
// No stall of the machine lasts as long as such a lease.
const RENEWED_OFTEN = { leaseTimes: { ttlMs: 120_000, renewMs: 100 } }
const company = (code: string) => ({ name: code, code, created_at: CREATED.createdAt })

test('twenty nodes that start at once on an empty database all find its schema', async (t) => {
  const url = await createPostgresSchema()
  const nodes = await Promise.all(Array.from({ length: 20 }, () => openNode(t, url)))
  assert.deepEqual(await Promise.all(nodes.map((node) => node.isReady())), Array(20).fill(true))
  const epochs = await Promise.all(nodes.map(async ({ db }) => (await selectMeta(db)).epoch))
  assert.equal(new Set(epochs).size, 1)
})

test('a database that was half made is finished by the next start', async (t) => {
  const url = await createPostgresSchema()
  await (await openNode(t, url)).close()
  await queryOnce(url, 'drop table hook_days; drop table hook_messages; delete from meta')
  const node = await openNode(t, url)
  assert.equal(await node.isReady(), true)
  assert.deepEqual(await queryOnce(url, 'select * from hook_days'), [])
})

test('a database of another program, or of another schema, is left as it is', async (t) => {
  const foreign = await createPostgresSchema()
  await queryOnce(foreign, 'create table customers (id int)')
  await assert.rejects(openNode(t, foreign), /tables of another program \(customers\)/)
  const url = await createPostgresSchema()
  await (await openNode(t, url)).close()
  await queryOnce(url, 'alter table meta drop column if exists schema_hash') // as of a release
  await queryOnce(url, 'update meta set schema_version = 99, oldest_program = 99')
  await assert.rejects(openNode(t, url), /schema 99, which is newer/)
  await queryOnce(url, 'update meta set oldest_program = 1')
  assert.equal(await (await openNode(t, url)).isReady(), true, 'an upgrade that older programs understand')
  await queryOnce(url, 'update meta set schema_version = 1')
  await assert.rejects(
    openNode(t, url),
    /schema 1, this program knows 12 to \d+: upgrade it with cambista 0\.2\.0 /,
  )
})

test('only one of twenty `takeLock` calls gets the lease, and its release frees it', async (t) => {
  const url = await createPostgresSchema()
  const [one, other] = [await openNode(t, url), await openNode(t, url)]
  const attempts = Array.from({ length: 20 }, (_, at) => (at % 2 ? one : other).takeLock('sync'))
  const [lock, ...more] = (await Promise.all(attempts)).filter((found) => found !== undefined)
  assert.ok(lock)
  assert.deepEqual(more, [])
  assert.match(String(await other.findHolder('sync')), /^on host .+, pid \d+, since \d{4}-.+Z$/)
  assert.ok(await other.takeLock('janitor'), 'another task is another lease')
  await one.db.transaction().execute((trx) => lock.check(trx))
  await lock.release()
  assert.equal(await one.findHolder('sync'), undefined)
  assert.ok(await other.takeLock('sync'))
})

test('a lease is renewed while all writers wait for the database', async (t) => {
  const url = await createPostgresSchema()
  const [one, other] = [await openNode(t, url, RENEWED_OFTEN), await openNode(t, url)]
  const lock = await one.takeLock('sync')
  assert.ok(lock)
  let [begun, isOver] = [0, false]
  using _stop = {
    [Symbol.dispose]() {
      isOver = true // also when something was wrong
    },
  }
  // Each transaction has its connection until the end, and those behind it wait for one.
  const crowd = Promise.allSettled(
    Array.from({ length: 20 }, () =>
      one.db.transaction().execute(async (trx) => {
        begun += 1
        while (!isOver) await askWithin(trx, 'select pg_sleep(0.1)')
      }),
    ),
  )
  await until(() => begun === 5)
  await waitForRenewal(url)
  assert.equal(begun, 5, 'all connections for writes are in use')
  assert.equal(await other.takeLock('sync'), undefined)
  assert.equal(lock.lost.aborted, false)
  isOver = true
  await crowd
  await lock.release()
})

test('the holder of an expired lease is busy, and its lock is lost', async (t) => {
  const url = await createPostgresSchema()
  const [one, other] = [await openNode(t, url, RENEWED_OFTEN), await openNode(t, url, RENEWED_OFTEN)]
  const old = await one.takeLock('sync')
  assert.ok(old)
  await waitForRenewal(url)
  assert.equal(await other.takeLock('sync'), undefined, 'it is renewed')
  // Simulates a stopped process. A renewal in between is repeated away.
  const takeExpired = async () => {
    await queryOnce(url, `update leases set expires_at = clock_timestamp() - interval '1 s'`)
    return other.takeLock('sync')
  }
  let next = await takeExpired()
  while (!next) next = await takeExpired()
  await assert.rejects(
    one.db.transaction().execute((trx) => old.check(trx)),
    (error) => error instanceof AppError && error.code === 'busy',
  )
  await until(() => old.lost.aborted)
  await old.release()
  await other.db.transaction().execute((trx) => next.check(trx))
})

test('`poll` of one node shows the kind of commits of another', async (t) => {
  const url = await createPostgresSchema()
  const [one, other] = [await openNode(t, url), await openNode(t, url)]
  const changes = async (work: () => Promise<unknown>) => {
    const before = await other.poll()
    await work()
    const after = await other.poll()
    return (['data', 'access', 'documents'] as const).filter((of) => before[of] !== after[of])
  }
  const { db } = one
  assert.deepEqual(await changes(() => insertApiKey(db, key('one'))), ['access'])
  assert.deepEqual(await changes(() => atomically(db, (trx) => insertApiKey(trx, key('two')))), ['access'])
  assert.deepEqual(await changes(() => db.insertInto('companies').values(company('a')).execute()), ['access'])
  const lastUse = db.updateTable('api_keys').set({ last_used_at: 'x' }).where('name', '=', 'one')
  assert.deepEqual(await changes(() => lastUse.execute()), [], 'which nobody keeps')
  const sum = db.updateTable('companies').set((of) => ({ used: of('used', '+', 1) }))
  assert.deepEqual(await changes(() => sum.where('code', '=', 'a').execute()), [])
  const state = db.updateTable('documents').set({ state: 'done' }).where('id', '=', 1)
  assert.deepEqual(await changes(() => state.execute()), ['documents'])
  assert.deepEqual(await changes(() => db.selectFrom('documents').selectAll().execute()), [])
  const failing = async (trx: typeof db) => {
    await insertApiKey(trx, key('three'))
    throw new Error('no')
  }
  assert.deepEqual(await changes(() => atomically(db, failing).catch(() => {})), [])
  assert.deepEqual(await changes(() => db.updateTable('meta').set({ data_revision: 9 }).execute()), ['data'])
})

test('a poll counts its answer, though the process was busy for longer than its timeout', async (t) => {
  // The connection of a poll has three seconds.
  await retryWhenStalled(2900, async () => {
    const node = await openNode(t, await createPostgresSchema())
    const poll = node.poll()
    await new Promise(setImmediate) // sends it
    const began = performance.now()
    while (performance.now() - began < 2500);
    assert.ok(await poll)
    assert.equal(await node.isReady(), true)
  })
})

test("the time is the database's, and a clock that is far off is not ready", async (t) => {
  const url = await createPostgresSchema()
  const hour = 3_600_000
  const node = await openNode(t, url, { machine: () => Date.now() - hour })
  assert.ok(Math.abs(node.clock().getTime() - Date.now()) < 60_000)
  assert.equal(await node.isReady(), false)
})

test('many readiness checks share one query', async (t) => {
  const node = await openNode(t, await createPostgresSchema())
  const checks = Array.from({ length: 3000 }, () => node.isReady())
  await wait(50)
  await node.poll()
  assert.deepEqual([...new Set(await Promise.all(checks))], [true])
})

test('numbers are numbers, and one that is no whole number below 2^53 is an error', async (t) => {
  const { db } = await openNode(t, await createPostgresSchema())
  const one = async (text: string) => (await askWithin<{ n: unknown }>(db, `select ${text} as n`)).rows[0]?.n
  assert.equal(await one('9007199254740991::bigint'), Number.MAX_SAFE_INTEGER)
  assert.equal(await one('(select sum(a) from (values (1::bigint), (2)) as v (a))'), 3)
  await assert.rejects(one('9007199254740992::bigint'), /below 2\^53/)
  await assert.rejects(one('1.5::numeric'), /below 2\^53/)
  assert.equal(await one('1'), 1, 'and the connection goes on')
})

/** Returns true for `busy`. @throws any other error */
function isBusy(error: unknown): boolean {
  if (error instanceof AppError && error.code === 'busy') return true
  throw error
}

test('concurrent transactions are retried until they commit', async (t) => {
  const url = `${await createPostgresSchema()}%20-c%20default_transaction_isolation%3Dserializable`
  const nodes = [await openNode(t, url), await openNode(t, url)]
  const [{ db }] = nodes as [Engine]
  await db.insertInto('companies').values(company('a')).execute()
  await Promise.all(
    Array.from({ length: 100 }, async (_, at) => {
      const add = () =>
        atomically(nodes[at % 2]?.db ?? db, async (trx) => {
          const { used } = await trx.selectFrom('companies').select('used').executeTakeFirstOrThrow()
          await trx
            .updateTable('companies')
            .set({ used: used + 1 })
            .execute()
        })
      // On a slow machine the retries of five seconds may not be enough for all of them.
      while (await add().then(() => false, isBusy));
    }),
  )
  assert.equal((await db.selectFrom('companies').select('used').executeTakeFirstOrThrow()).used, 100)
})

test('a database whose transactions are repeatable read is refused', async () => {
  const url = `${await createPostgresSchema()}%20-c%20default_transaction_isolation%3Drepeatable%5C%20read`
  await assert.rejects(openPostgres(url), (error: Error) => {
    assert.match(
      error.message,
      /are repeatable read: .* alter role … set default_transaction_isolation = 'read committed'$/,
    )
    return true
  })
})

test('a row that another node made meanwhile is found by a second run', async (t) => {
  const url = await createPostgresSchema()
  const [one, other] = [await openNode(t, url), await openNode(t, url)]
  let runs = 0
  const result = await atomically(one.db, async (trx) => {
    runs += 1
    const row = await trx.selectFrom('companies').select('id').where('code', '=', 'a').executeTakeFirst()
    if (row) return 'known'
    await other.db
      .insertInto('companies')
      .values(company('a'))
      .onConflict((on) => on.doNothing())
      .execute()
    await trx.insertInto('companies').values(company('a')).execute()
    return 'made'
  })
  assert.deepEqual([result, runs], ['known', 2])
})

test('ids rise, and go on behind one that was chosen', async (t) => {
  const { db } = await openNode(t, await createPostgresSchema())
  const { allocateIds: newIds, raiseIdSequence: moveIds } = engineSql(db)
  assert.deepEqual(await newIds(db, 3), [1, 2, 3])
  assert.deepEqual(await newIds(db, 2), [4, 5])
  const insert = (id?: number) =>
    db
      .insertInto('companies')
      .values({ ...company(`c${id}`), ...(id && { id }) })
      .returning('id')
  await insert(1).execute()
  await moveIds(db, 'companies', 1)
  const sequence = (await selectSequences(db)).find(({ table }) => table === 'companies')
  assert.deepEqual(sequence, { table: 'companies', lastId: 1, highest: 1 })
  await insert(900).execute()
  await moveIds(db, 'companies', 900)
  assert.equal((await insert().executeTakeFirstOrThrow()).id, 901)
  await insert(5).execute()
  await moveIds(db, 'companies', 5)
  await db.deleteFrom('companies').where('id', '=', 901).execute()
  assert.equal((await insert().executeTakeFirstOrThrow()).id, 902, 'neither back, nor one twice')
})

test('a snapshot sees one state', async (t) => {
  const url = await createPostgresSchema()
  const [one, other] = [await openNode(t, url), await openNode(t, url)]
  await snapshot(one.reads, async (trx) => {
    const before = await selectMeta(trx)
    await other.db.updateTable('meta').set({ data_revision: 7 }).execute()
    assert.deepEqual(await selectMeta(trx), before)
  })
  const write = snapshot(one.reads, (trx) =>
    (trx as WriteDb).updateTable('meta').set({ data_revision: 8 }).execute(),
  )
  await assert.rejects(write, /read-only transaction/)
  assert.equal((await selectMeta(one.db)).revision, 7)
})

test('a connection that breaks is an error of its query alone', async (t) => {
  const server = await startPostgres()
  t.after(() => server.close())
  await queryOnce(server.url, 'create schema s')
  const node = await openNode(t, schemaAddress(server.url, 's'))
  const kill = 'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()'
  const failure = atomically(node.db, async (trx) => {
    await trx.insertInto('companies').values(company('a')).execute()
    await queryOnce(server.url, `${kill} and application_name = 'cambista'`)
    await trx.insertInto('companies').values(company('b')).execute()
  })
  await assert.rejects(failure, (error) => isUnavailable(error))
  assert.deepEqual(await node.db.selectFrom('companies').selectAll().execute(), [])
  await server.stop()
  await assert.rejects(node.poll(), (error) => isUnavailable(error))
  await assert.rejects(node.isReady(), (error) => isUnavailable(error))
  await assert.rejects(insertApiKey(node.db, key('one')), (error) => isUnavailable(error))
  await assert.rejects(openNode(t, schemaAddress(server.url, 's')), /cannot open the database the socket of/)
  await server.start()
  await untilReady(node)
  await insertApiKey(node.db, key('one'))
  const leaving = await openNode(t, schemaAddress(server.url, 's'))
  const thaw = server.freeze()
  const from = performance.now()
  await assert.rejects(node.poll(), (error) => isUnavailable(error))
  t.diagnostic(`a look at a frozen server ended after ${Math.round(performance.now() - from)} ms`)
  const closing = performance.now()
  await leaving.close()
  t.diagnostic(`a node left a frozen server after ${Math.round(performance.now() - closing)} ms`)
  thaw()
  await untilReady(node)
})

/** A server that has just started or resumed may need more than the second of a poll. */
async function untilReady(node: Engine): Promise<void> {
  await until(() => node.isReady().catch((error: unknown) => !isUnavailable(error)))
}

/** Waits until the lease of syncs is renewed once more. */
async function waitForRenewal(url: string): Promise<void> {
  const readEnd = async () => {
    const [row] = await queryOnce(url, `select expires_at from leases where name = 'sync'`)
    return Number(row?.expires_at)
  }
  const before = await readEnd()
  await until(async () => (await readEnd()) > before)
}

function isUnavailable(error: unknown): boolean {
  const appError = storageError(error)
  assert.ok(appError instanceof AppError && appError.code === 'unavailable', `${errorCode(error)} ${error}`)
  return true
}
