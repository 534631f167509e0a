// What is PostgreSQL's own: nodes that start at once, leases, the clock, counters, and what is said when it is away.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { AppError, codeOf } from '../../src/errors.ts'
import { storageError } from '../../src/storage-error.ts'
import { insertApiKey } from '../../src/store/api-keys.ts'
import { atomically, dialectOf, type Engine, snapshot } from '../../src/store/engine.ts'
import { selectMeta } from '../../src/store/meta.ts'
import { ask as askWithin } from '../../src/store/postgres/ask.ts'
import { selectSequences } from '../../src/store/postgres/maintenance/sequences.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { openNode } from '../support/postgres/database.ts'
import { ask, inSchema, postgresSchemaFor, startPostgres } from '../support/postgres/server.ts'

const CREATED = { createdAt: '2026-03-24T12:00:00.000Z' }
const key = (name: string) => ({ name, hash: name.padEnd(64, '-'), ...CREATED })
const company = (code: string) => ({ name: code, code, created_at: CREATED.createdAt })

test('twenty nodes that start at once on an empty database all find its schema', async (t) => {
  const url = await postgresSchemaFor(t)
  const nodes = await Promise.all(Array.from({ length: 20 }, () => openNode(t, url)))
  assert.deepEqual(await Promise.all(nodes.map((node) => node.isReady())), Array(20).fill(true))
  const epochs = await Promise.all(nodes.map(async ({ db }) => (await selectMeta(db)).epoch))
  assert.equal(new Set(epochs).size, 1)
})

test('a database that was half made is finished by the next start', async (t) => {
  const url = await postgresSchemaFor(t)
  await (await openNode(t, url)).close()
  await ask(url, 'drop table hook_days; drop table hook_messages; delete from meta')
  const node = await openNode(t, url)
  assert.equal(await node.isReady(), true)
  assert.equal(await dialectOf(node.db).hasTable(node.db, 'hook_days'), true)
})

test('a database that was made before a column of the nodes came is given it, and keeps what it has', async (t) => {
  const url = await postgresSchemaFor(t)
  const before = await openNode(t, url)
  const { epoch } = await selectMeta(before.db)
  await before.close()
  await ask(url, 'alter table meta drop column contents_mark')
  await assert.rejects(openNode(t, url, { migrate: false }), /cambista database migrate/)
  const node = await openNode(t, url)
  assert.equal((await selectMeta(node.db)).epoch, epoch)
  assert.deepEqual(await ask(url, 'select contents_mark from meta'), [{ contents_mark: null }])
})

test('a database of another program, or of another schema, is left as it is', async (t) => {
  const foreign = await postgresSchemaFor(t)
  await ask(foreign, 'create table customers (id int)')
  await assert.rejects(openNode(t, foreign), /tables of another program \(customers\)/)
  const url = await postgresSchemaFor(t)
  await (await openNode(t, url)).close()
  await ask(url, 'update meta set schema_version = 99, oldest_program = 99')
  await assert.rejects(openNode(t, url), /schema 99, which is newer/)
  await ask(url, 'update meta set oldest_program = 1')
  assert.equal(await (await openNode(t, url)).isReady(), true, 'an upgrade that older programs understand')
  await ask(url, 'update meta set schema_version = 1')
  await assert.rejects(openNode(t, url), /schema 1, which is older/)
})

test("of twenty that want a lease one has it, and who let it go stands in nobody's way", async (t) => {
  const url = await postgresSchemaFor(t)
  const [one, other] = [await openNode(t, url), await openNode(t, url)]
  const tried = Array.from({ length: 20 }, (_, at) => (at % 2 ? one : other).takeLock('sync'))
  const [lock, ...more] = (await Promise.all(tried)).filter((found) => found !== undefined)
  assert.ok(lock)
  assert.deepEqual(more, [])
  assert.match(String(await other.holderOf('sync')), /^on host .+, pid \d+, since \d{4}-.+Z$/)
  assert.ok(await other.takeLock('janitor'), 'another task is another lease')
  await one.db.transaction().execute((trx) => lock.check(trx))
  await lock.release()
  assert.equal(await one.holderOf('sync'), undefined)
  assert.ok(await other.takeLock('sync'))
})

test('a lease is kept while all that write wait for the database', async (t) => {
  const url = await postgresSchemaFor(t)
  const short = { leaseTimes: { ttlMs: 900, renewMs: 300 } }
  const [one, other] = [await openNode(t, url, short), await openNode(t, url, short)]
  const lock = await one.takeLock('sync')
  assert.ok(lock)
  const crowd = Promise.all(Array.from({ length: 20 }, () => askWithin(one.db, 'select pg_sleep(0.5)')))
  await wait(1500)
  assert.equal(await other.takeLock('sync'), undefined)
  assert.equal(lock.lost.aborted, false)
  await crowd
  await lock.release()
})

test('who slept past a lease writes nothing any more, and is told', async (t) => {
  const url = await postgresSchemaFor(t)
  const leaseTimes = { ttlMs: 600, renewMs: 200 }
  const [one, other] = [await openNode(t, url, { leaseTimes }), await openNode(t, url, { leaseTimes })]
  const old = await one.takeLock('sync')
  assert.ok(old)
  await wait(1000)
  assert.equal(await other.takeLock('sync'), undefined, 'it is renewed')
  // As if the process had been stopped: nothing renews, and its own clock knows of nothing.
  await ask(url, `update leases set expires_at = clock_timestamp() - interval '1 s'`)
  const next = await other.takeLock('sync')
  assert.ok(next)
  await assert.rejects(
    one.db.transaction().execute((trx) => old.check(trx)),
    (error) => error instanceof AppError && error.code === 'busy',
  )
  while (!old.lost.aborted) await wait(20)
  await old.release()
  await other.db.transaction().execute((trx) => next.check(trx))
})

test('a commit of one node is seen by the other, and says of what kind it was', async (t) => {
  const url = await postgresSchemaFor(t)
  const [one, other] = [await openNode(t, url), await openNode(t, url)]
  const changes = async (work: () => Promise<unknown>) => {
    const before = await other.look()
    await work()
    const after = await other.look()
    return (['data', 'access', 'documents'] as const).filter((of) => before[of] !== after[of])
  }
  const { db } = one
  assert.deepEqual(await changes(() => insertApiKey(db, key('one'))), ['access'])
  assert.deepEqual(await changes(() => atomically(db, (trx) => insertApiKey(trx, key('two')))), ['access'])
  assert.deepEqual(await changes(() => db.insertInto('companies').values(company('a')).execute()), ['access'])
  const used = db.updateTable('api_keys').set({ last_used_at: 'x' }).where('name', '=', 'one')
  assert.deepEqual(await changes(() => used.execute()), [], 'which nobody keeps')
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

test('a revision that went back gets another epoch', async (t) => {
  const url = await postgresSchemaFor(t)
  let times = 0
  const node = await openNode(t, url, { wentBack: () => times++ })
  await ask(url, 'update meta set data_revision = 9')
  const before = await node.look()
  await ask(url, 'update meta set data_revision = 8')
  const after = await node.look()
  assert.notEqual(before.data.split(' ')[0], after.data.split(' ')[0])
  assert.equal((await node.look()).data, after.data)
  assert.equal(times, 1)
})

test("the time is the database's, and a clock that is far off is not ready", async (t) => {
  const url = await postgresSchemaFor(t)
  const hour = 3_600_000
  const node = await openNode(t, url, { machine: () => Date.now() - hour })
  assert.ok(Math.abs(node.clock().getTime() - Date.now()) < 60_000)
  assert.equal(await node.isReady(), false)
})

test('many that ask whether a node is ready are told so by one look', async (t) => {
  const node = await openNode(t, await postgresSchemaFor(t))
  const asked = Array.from({ length: 3000 }, () => node.isReady())
  await wait(50)
  await node.look()
  assert.deepEqual([...new Set(await Promise.all(asked))], [true])
})

test('numbers are numbers, and one that is no whole number below 2^53 is an error', async (t) => {
  const { db } = await openNode(t, await postgresSchemaFor(t))
  const one = async (text: string) => (await askWithin<{ n: unknown }>(db, `select ${text} as n`)).rows[0]?.n
  assert.equal(await one('9007199254740991::bigint'), Number.MAX_SAFE_INTEGER)
  assert.equal(await one('(select sum(a) from (values (1::bigint), (2)) as v (a))'), 3)
  await assert.rejects(one('9007199254740992::bigint'), /below 2\^53/)
  await assert.rejects(one('1.5::numeric'), /below 2\^53/)
  assert.equal(await one('1'), 1, 'and the connection goes on')
})

test('what runs at the same time is tried again until it goes through', async (t) => {
  const url = `${await postgresSchemaFor(t)}%20-c%20default_transaction_isolation%3Dserializable`
  const nodes = [await openNode(t, url), await openNode(t, url)]
  const [{ db }] = nodes as [Engine]
  await db.insertInto('companies').values(company('a')).execute()
  await Promise.all(
    Array.from({ length: 100 }, (_, at) =>
      atomically(nodes[at % 2]?.db ?? db, async (trx) => {
        const { used } = await trx.selectFrom('companies').select('used').executeTakeFirstOrThrow()
        await trx
          .updateTable('companies')
          .set({ used: used + 1 })
          .execute()
      }),
    ),
  )
  assert.equal((await db.selectFrom('companies').select('used').executeTakeFirstOrThrow()).used, 100)
})

test('a database whose transactions are repeatable read is refused', async (t) => {
  const url = `${await postgresSchemaFor(t)}%20-c%20default_transaction_isolation%3Drepeatable%5C%20read`
  await assert.rejects(openPostgres(url), (error: Error) => {
    assert.match(
      error.message,
      /are repeatable read: .* alter role … set default_transaction_isolation = 'read committed'$/,
    )
    return true
  })
})

test('a row that another node made meanwhile is found by a second run', async (t) => {
  const url = await postgresSchemaFor(t)
  const [one, other] = [await openNode(t, url), await openNode(t, url)]
  let runs = 0
  const found = await atomically(one.db, async (trx) => {
    runs += 1
    const known = await trx.selectFrom('companies').select('id').where('code', '=', 'a').executeTakeFirst()
    if (known) return 'known'
    await other.db
      .insertInto('companies')
      .values(company('a'))
      .onConflict((on) => on.doNothing())
      .execute()
    await trx.insertInto('companies').values(company('a')).execute()
    return 'made'
  })
  assert.deepEqual([found, runs], ['known', 2])
})

test('ids rise, and go on behind one that was chosen', async (t) => {
  const { db } = await openNode(t, await postgresSchemaFor(t))
  const { newIds, moveIds } = dialectOf(db)
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
  assert.deepEqual(sequence, { table: 'companies', given: 1, highest: 1 })
  await insert(900).execute()
  await moveIds(db, 'companies', 900)
  assert.equal((await insert().executeTakeFirstOrThrow()).id, 901)
  await insert(5).execute()
  await moveIds(db, 'companies', 5)
  await db.deleteFrom('companies').where('id', '=', 901).execute()
  assert.equal((await insert().executeTakeFirstOrThrow()).id, 902, 'neither back, nor one twice')
})

test('a snapshot sees one state', async (t) => {
  const url = await postgresSchemaFor(t)
  const [one, other] = [await openNode(t, url), await openNode(t, url)]
  await snapshot(one.reads, async (trx) => {
    const before = await selectMeta(trx)
    await other.db.updateTable('meta').set({ data_revision: 7 }).execute()
    assert.deepEqual(await selectMeta(trx), before)
  })
  const write = snapshot(one.reads, (trx) => trx.updateTable('meta').set({ data_revision: 8 }).execute())
  await assert.rejects(write, /read-only transaction/)
  assert.equal((await selectMeta(one.db)).revision, 7)
})

test('a connection that breaks is an error of its query alone', async (t) => {
  const server = await startPostgres()
  t.after(() => server.close())
  await ask(server.url, 'create schema s')
  const node = await openNode(t, inSchema(server.url, 's'))
  const kill = 'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()'
  const failure = atomically(node.db, async (trx) => {
    await trx.insertInto('companies').values(company('a')).execute()
    await ask(server.url, `${kill} and application_name = 'cambista'`)
    await trx.insertInto('companies').values(company('b')).execute()
  })
  await assert.rejects(failure, (error) => isUnavailable(error))
  assert.deepEqual(await node.db.selectFrom('companies').selectAll().execute(), [])
  await server.stop()
  await assert.rejects(node.look(), (error) => isUnavailable(error))
  await assert.rejects(node.isReady(), (error) => isUnavailable(error))
  await assert.rejects(insertApiKey(node.db, key('one')), (error) => isUnavailable(error))
  await assert.rejects(openNode(t, inSchema(server.url, 's')), /cannot open the database the socket of/)
  await server.start()
  assert.equal(await node.isReady(), true)
  await insertApiKey(node.db, key('one'))
  const leaving = await openNode(t, inSchema(server.url, 's'))
  const thaw = server.freeze()
  const from = performance.now()
  await assert.rejects(node.look(), (error) => isUnavailable(error))
  t.diagnostic(`a look at a frozen server ended after ${Math.round(performance.now() - from)} ms`)
  const closing = performance.now()
  await leaving.close()
  t.diagnostic(`a node left a frozen server after ${Math.round(performance.now() - closing)} ms`)
  thaw()
  assert.equal(await node.isReady(), true)
})

function isUnavailable(error: unknown): boolean {
  const known = storageError(error)
  assert.ok(known instanceof AppError && known.code === 'unavailable', `${codeOf(error)} ${error}`)
  return true
}
