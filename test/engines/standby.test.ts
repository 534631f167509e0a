// A synchronous standby that does not answer: each commit waits for it. Nothing is acknowledged that only the primary
// has.

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { type PostgresServer, queryOnce, SERVER_VARIABLE, startPostgres } from '../support/postgres/server.ts'

process.env.CAMBISTA_TEST_ENGINE = 'postgres' // before the modules that look at it are loaded
const { startTestApp } = await import('../support/app.ts')
const { batch, CREATE, fillDirectory, pdf, post } = await import('../support/directory.ts')
const { until } = await import('../support/terminal.ts')

type TestApp = Awaited<ReturnType<typeof startTestApp>>

let server: PostgresServer
let node: TestApp
before(async (t) => {
  const context = t as TestContext
  server = await startPostgres()
  context.after(() => server.close())
  process.env[SERVER_VARIABLE] = server.url
  node = await startTestApp(context, { listen: { metrics: 'local' } })
  await fillDirectory(node)
})

test('a repeated Idempotency-Key waits for the standby like its first upload', async (t) => {
  t.after(() => requireStandby(''))
  assert.equal((await upload('before')).status, 200)
  await requireStandby('nobody')
  assert.equal((await upload('first')).status, 503)
  // The row is visible, as after a restart of the primary, and no standby has it.
  await cancelWaits()
  assert.equal((await queryOnce(server.url, `select 1 from ${await schema()}.idempotency`)).length, 2)
  assert.equal((await upload('first')).status, 503, 'repeated')
  assert.equal((await upload('before')).status, 503, 'older than the outage, but not known to be')
  await requireStandby('')
  const answer = await upload('first')
  assert.equal(answer.status, 200, await answer.clone().text())
  assert.equal((await queryOnce(server.url, `select 1 from ${await schema()}.documents`)).length, 2)
})

test('commits that wait for a standby are named in the log, by /readyz and in the metrics', async (t) => {
  t.after(() => requireStandby(''))
  const readyz = async (query: string) => (await node.get(`/readyz${query}`)).json()
  assert.deepEqual(await readyz('?verbose'), { status: 'ok' })
  await requireStandby('nobody')
  const answer = upload('waits')
  const isNamed = async () => JSON.stringify(await readyz('?verbose')).includes(WAITING)
  await until(isNamed)
  assert.deepEqual(await readyz(''), { status: 'ok' })
  assert.match(await (await node.get('/metrics')).text(), /^cambista_commits_waiting [1-9]/m)
  assert.equal((await answer).status, 503)
  await requireStandby('')
  await until(async () => !(await isNamed()))
  await until(() => node.logLines.join('').includes('no commit waits for a standby any more'))
  const lines = node.logLines.join('').split('\n')
  assert.equal(lines.filter((line) => line.includes(`"event":"${WAITING}"`)).length, 1)
})

function upload(key: string): Promise<Response> {
  return post(node, CREATE, batch(pdf(key)), { 'idempotency-key': key })
}

/** Makes commits wait for a standby of this name; empty: for none. Returns when it is in effect. */
async function requireStandby(name: string): Promise<void> {
  await queryOnce(server.url, `alter system set synchronous_standby_names = '${name}'`)
  await queryOnce(server.url, 'select pg_reload_conf()')
  const { url } = server
  await until(async () => {
    // The checkpointer puts the setting into effect, and releases the waits when it is empty.
    const isWaiting = (await queryOnce(url, WAITS)).length > 0
    if (name === '') return !isWaiting
    void queryOnce(url, 'create table if not exists probe (); drop table probe').catch(() => {})
    return isWaiting
  })
}

const WAITING = 'commits wait for a synchronous standby'
const WAITS = `select pid from pg_stat_activity where wait_event = 'SyncRep'`

/** Ends the waits: the commits are visible without a standby. */
async function cancelWaits(): Promise<void> {
  await until(async () => {
    await queryOnce(server.url, `select pg_cancel_backend(pid) from (${WAITS}) as waiting`)
    return (await queryOnce(server.url, WAITS)).length === 0
  })
}

async function schema(): Promise<string> {
  const [row] = await queryOnce(
    server.url,
    `select nspname from pg_namespace where nspname like 't________%'`,
  )
  return String(row?.nspname)
}
