// Connections to another server than that of the poll. A pooler passes the connections of its clients to a later server.
// A former primary does not close those of its clients. No id is allocated on either.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { AppError, errorReason } from '../../../src/runtime/errors.ts'
import { atomically, type Engine, engineSql } from '../../../src/store/engine.ts'
import { raiseRevision, selectMetaRow } from '../../../src/store/meta.ts'
import { findLineageSql } from '../../../src/store/postgres/lineage.ts'
import { recordServer, renewAbove, renewLineage } from '../../../src/store/postgres/maintenance/failover.ts'
import { openPostgres } from '../../../src/store/postgres/open-postgres.ts'
import { rawQuery } from '../../../src/store/postgres/raw-query.ts'
import { openNode } from '../../support/postgres/database.ts'
import { startPgbouncer } from '../../support/postgres/pgbouncer.ts'
import {
  createPostgresSchema,
  type PostgresServer,
  queryOnce,
  startPostgres,
} from '../../support/postgres/server.ts'
import {
  makeBaseBackup,
  pauseReplication,
  promote,
  startStandby,
  waitUntilReplayed,
} from '../../support/postgres/standby.ts'
import { type Switch, startSwitch } from '../../support/postgres/switch.ts'

const MILLION = 1_000_000
const END_POLLS = `select pg_terminate_backend(pid) from pg_stat_activity where query like '%oldest_program%'
  and pid <> pg_backend_pid()`

test('behind a pooler, no id is allocated on a later server or on its twin before the poll', async (t) => {
  const { primary, standbys, entry } = await startServers(t, 2)
  const [first, second] = standbys as [PostgresServer, PostgresServer]
  const pooled = await startPgbouncer(t, entry.url, 'transaction', { default_pool_size: '3' })
  const node = await openNode(t, pooled)
  const other = await openNode(t, entry.url)
  await allocate(node)
  for (const one of standbys) await waitUntilReplayed(primary, one)
  for (const one of standbys) await pauseReplication(one)
  const lostId = await allocate(node)
  await primary.crash()
  for (const one of standbys) await promote(one) // each begins timeline 2

  entry.lead(first)
  await waitForRefusal(node)
  await pollTwice(node)
  const later = await allocate(node)
  assert.ok(later > MILLION && lostId < MILLION, `${later} after ${lostId}`)

  entry.lead(second)
  await pollTwice(other) // renews the twin: as many renewals, another epoch
  await waitForRefusal(node)
  await pollTwice(node)
  assert.ok((await allocate(node)) > 2 * MILLION)
})

test('after a renewal by another node, no connection to the former primary is used', async (t) => {
  const { primary, standbys, entry } = await startServers(t, 1)
  const [standby] = standbys as [PostgresServer]
  const ownEntry = await startSwitch(t, primary)
  const [node, other] = [await openNode(t, ownEntry.url), await openNode(t, entry.url)]
  await allocate(node)
  await waitUntilReplayed(primary, standby)
  await promote(standby) // the primary goes on
  entry.lead(standby)
  await pollTwice(other)
  const began = Promise.withResolvers<void>()
  const polled = Promise.withResolvers<void>()
  const running = atomically(node.db, async (trx) => {
    began.resolve()
    await polled.promise
    return engineSql(trx).allocateIds(trx, 1)
  })
  running.catch(() => {}) // asserted below
  await began.promise
  ownEntry.leadNew(standby)
  await queryOnce(primary.url, END_POLLS)
  await pollTwice(node)
  polled.resolve()
  await assert.rejects(running, 'a transaction on the former primary')
  assert.ok((await allocate(node)) > MILLION)
})

test('after a base backup is put back, nothing that a node committed since its last poll is given again', async (t) => {
  const { primary, entry } = await startServers(t, 0)
  for (const { name, write } of WRITES) {
    const node = await openNode(t, entry.url)
    await pollTwice(node)
    const putBack = await makeBaseBackup(primary)
    const lostValue = await write(node)
    await putBack()
    entry.lead(primary)
    const again = await writeUntilRefused(node, write)
    assert.deepEqual(again, [], `${name}: accepted before the poll`)
    await pollTwice(node)
    const later = await write(node)
    assert.ok(later > lostValue + MILLION / 2, `${name}: ${later} after ${lostValue}`)
  }
})

const WRITES: { name: string; write: (node: Engine) => Promise<number> }[] = [
  { name: 'ids of documents', write: allocate },
  { name: 'the data revision', write: ({ db }) => atomically(db, (trx) => raiseRevision(trx)) },
  {
    name: 'the counter of documents',
    async write({ db }) {
      await atomically(db, (trx) => trx.updateTable('documents').set({ name: 'a' }).execute())
      const { rows } = await rawQuery<{ count: number }>(db, 'select documents_revision as count from meta')
      return rows[0]?.count ?? assert.fail('no counter')
    },
  },
]

test('a renewal changes nothing on another server than that of the poll', async (t) => {
  const { db, poll, lineage } = await openNode(t, await createPostgresSchema())
  await poll()
  const current = lineage?.current() ?? assert.fail()
  const before = await selectMetaRow(db)
  const sql = await findLineageSql(db)
  const polled = { ...current, known: UNKNOWN, server: { timeline: 9, serverId: undefined }, counters: [] }
  await assert.rejects(renewLineage(db, sql, 'timeline', polled, undefined), isUnavailable)
  await assert.rejects(renewAbove(db, sql, 5, polled), isUnavailable)
  await recordServer(db, sql, polled)
  assert.deepEqual(await selectMetaRow(db), before)
})

const UNKNOWN = { timeline: undefined, serverId: undefined }

function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'unavailable'
}

/** Polls again after a failed poll: a connection may be new, and may take longer than a second. */
async function pollTwice(node: Engine): Promise<void> {
  await node.poll().catch(() => node.poll())
}

async function allocate({ db }: Engine): Promise<number> {
  const [id] = (await atomically(db, (trx) => engineSql(trx).allocateIds(trx, 1))) ?? []
  return id ?? assert.fail('no id')
}

/** Writes until the server is refused. Returns what was accepted. */
async function writeUntilRefused(node: Engine, write: (node: Engine) => Promise<number>): Promise<number[]> {
  const accepted: number[] = []
  while (accepted.length < 2) {
    try {
      accepted.push(await write(node))
    } catch (error) {
      if (errorReason(error).includes('has failed over')) break
      await wait(20)
    }
  }
  return accepted
}

/** Tries until the server of the connections is refused. Connections that the failover cut off fail before. */
async function waitForRefusal(node: Engine): Promise<void> {
  const reasons: string[] = []
  while (!reasons.at(-1)?.includes('has failed over')) {
    const id = await allocate(node).catch((error: unknown) => void reasons.push(errorReason(error)))
    assert.equal(id, undefined, `allocated after ${reasons.join(', ') || 'no error'}`)
    assert.ok(reasons.length < 50, `refused only with: ${[...new Set(reasons)].join(', ')}`)
    await wait(20)
  }
}

type Servers = { primary: PostgresServer; standbys: PostgresServer[]; entry: Switch }

/** A primary whose database has the schema, and standbys of it. */
async function startServers(t: TestContext, count: number): Promise<Servers> {
  const primary = await startPostgres()
  t.after(() => primary.close())
  const entry = await startSwitch(t, primary)
  await (await openPostgres(entry.url)).close()
  const standbys: PostgresServer[] = []
  while (standbys.length < count) {
    const standby = await startStandby(primary)
    t.after(() => standby.close())
    standbys.push(standby)
  }
  return { primary, standbys, entry }
}
