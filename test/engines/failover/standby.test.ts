// The standbys and the switch that tests of failovers use: the data that a promotion loses, and a strict primary.

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import pg from 'pg'
import { type PostgresServer, queryOnce, startPostgres } from '../../support/postgres/server.ts'
import {
  pauseReplication,
  promote,
  readTimeline,
  resumeReplication,
  setSynchronous,
  startStandby,
  waitUntilReplayed,
} from '../../support/postgres/standby.ts'
import { startSwitch } from '../../support/postgres/switch.ts'
import { until } from '../../support/terminal.ts'

let primary: PostgresServer
let standby: PostgresServer
before(async (t) => {
  primary = await startPostgres()
  ;(t as TestContext).after(() => primary.close())
  await queryOnce(primary.url, 'create table marks (mark int)')
  standby = await startStandby(primary)
  ;(t as TestContext).after(() => standby.close())
})

const marks = async ({ url }: { url: string }) =>
  (await queryOnce(url, 'select mark from marks order by mark')).map(({ mark }) => mark)
const mark = ({ url }: { url: string }, number: number) =>
  queryOnce(url, `insert into marks values (${number})`)

test('a switch cuts, refuses and silences connections, and leads to another server', async (t) => {
  const entry = await startSwitch(t, primary)
  const open = async () => {
    const client = new pg.Client(entry.url)
    client.on('error', () => {})
    await client.connect()
    return client
  }
  const isStandby = 'select pg_is_in_recovery() as it'
  const first = await open()
  entry.cut()
  await assert.rejects(first.query(isStandby))
  const second = await open()
  entry.refuse()
  await assert.rejects(second.query(isStandby))
  await assert.rejects(open())
  entry.lead(primary)
  const third = await open()
  assert.equal((await third.query(isStandby)).rows[0].it, false)
  entry.silence()
  let isAnswered = false
  void third.query(isStandby).then(
    () => {
      isAnswered = true
    },
    () => {},
  )
  await assert.rejects(new pg.Client({ connectionString: entry.url, connectionTimeoutMillis: 500 }).connect())
  assert.equal(isAnswered, false)
  entry.lead(standby)
  assert.equal((await queryOnce(entry.url, isStandby))[0]?.it, true)
})

test('commits wait after `setSynchronous` while the replication is paused, and continue with it', async () => {
  await setSynchronous(primary, true)
  await mark(primary, 1)
  await pauseReplication(standby)
  const commit = mark(primary, 2)
  const waits = `select from pg_stat_activity where wait_event = 'SyncRep'`
  await until(async () => (await queryOnce(primary.url, waits)).length === 1)
  assert.deepEqual(await marks(primary), [1])
  await resumeReplication(standby, primary)
  await commit
  assert.deepEqual(await marks(primary), [1, 2])
  await setSynchronous(primary, false)
  await queryOnce(primary.url, 'truncate marks')
})

test('`promote` loses the commits since `pauseReplication`, raises the timeline, and a new standby follows', async (t) => {
  const entry = await startSwitch(t, primary)
  await mark(entry, 1)
  await waitUntilReplayed(primary, standby)
  await pauseReplication(standby)
  await mark(entry, 2)
  await resumeReplication(standby, primary)
  await waitUntilReplayed(primary, standby)
  assert.deepEqual(await marks(standby), [1, 2])
  await pauseReplication(standby)
  await mark(entry, 3)
  const waiting = new pg.Client(entry.url)
  waiting.on('error', () => {})
  await waiting.connect()
  assert.deepEqual([await readTimeline(primary), await readTimeline(standby)], [1, 1])
  await primary.crash()
  const start = performance.now()
  await promote(standby)
  t.diagnostic(`promoted after ${Math.round(performance.now() - start)} ms`)
  entry.lead(standby)
  await assert.rejects(waiting.query('select 1'))
  assert.deepEqual(await marks(entry), [1, 2])
  await mark(entry, 4)
  assert.equal(await readTimeline(standby), 2)
  await follower(t, standby)
  await primary.start() // a deposed primary that resumes, on its own timeline and with its own data
  assert.deepEqual(await marks(primary), [1, 2, 3])
  assert.equal(await readTimeline(primary), 1)
})

async function follower(t: TestContext, primary: PostgresServer): Promise<void> {
  const standby = await startStandby(primary)
  t.after(() => standby.close())
  await mark(primary, 5)
  await waitUntilReplayed(primary, standby)
  assert.deepEqual(await marks(standby), [1, 2, 4, 5])
}
