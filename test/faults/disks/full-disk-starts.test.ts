// A start on a full disk, after a stop and after a kill. The server answers what is stored and only reads. Room makes it
// write, without another start.

import assert from 'node:assert/strict'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { startProgram } from '../../support/program.ts'
import { openRatesDisk } from '../../support/rates-disk.ts'
import { until } from '../../support/terminal.ts'

const READS_ONLY = 'the disk is full: the server only reads until there is room'

/** A small disk with rates, and a server for it. */
async function openDisk(t: TestContext) {
  const disk = await openRatesDisk(t)
  if ('reason' in disk) return disk
  const { dataDir, key } = disk
  const serve = async (...words: string[]) => {
    const server = startProgram(t, [
      'serve',
      '--port',
      '0',
      '--no-scheduler',
      '--data-dir',
      dataDir,
      ...words,
    ])
    const [, url = ''] = await server.waitForOutput(/listening url=(\S+)/)
    const get = (path: string) => fetch(url + path, { headers: { 'x-api-key': key } })
    const signIn = () =>
      fetch(`${url}/session`, {
        method: 'POST',
        body: JSON.stringify({ secret: key }),
        headers: { origin: url, 'content-type': 'application/json' },
      })
    const latest = async () => {
      const answer = await get('/api/v1/rates/latest')
      return [answer.status, await answer.text()]
    }
    return { server, get, signIn, latest }
  }
  return { disk, dataDir, serve }
}

for (const end of ['SIGTERM', 'SIGKILL'] as const) {
  test(`\`serve\` on a full disk after ${end} only reads, and writes once there is room`, async (t) => {
    const setup = await openDisk(t)
    if ('reason' in setup) return t.skip(setup.reason)
    const { disk, dataDir, serve } = setup
    const first = await serve()
    const before = await first.latest()
    assert.equal((await first.signIn()).status, 200)
    first.server.child.kill(end)
    await first.server.waitForExit()
    if (end === 'SIGKILL') {
      assert.ok(readdirSync(dataDir).includes('cambista.db-wal'), 'the commits are in the log alone')
      rmSync(join(dataDir, 'cambista.db-shm'))
    }
    disk.leaveFree(0)

    const { server, get, signIn, latest } = await serve()
    assert.match(server.printed.err, new RegExp(`error +${READS_ONLY} .*dir=\\S+/data`))
    assert.deepEqual(await latest(), before)
    const refusal = await signIn()
    assert.equal(refusal.status, 507)
    assert.deepEqual(await refusal.json(), {
      detail: 'The disk is full: this server only reads until there is room',
    })
    const ready = await get('/readyz')
    assert.deepEqual([ready.status, await ready.json()], [200, { status: 'ok', detail: [READS_ONLY] }])
    const health = (await (await get('/api/v1/health')).json()) as {
      status: string
      detail: { reasons: string[] }
    }
    assert.equal(health.status, 'degraded')
    assert.ok(health.detail.reasons.includes(READS_ONLY), String(health.detail.reasons))

    disk.makeRoom()
    await server.waitForOutput(/warn +there is room on the disk again: the server writes/)
    await until(async () => (await signIn().catch(() => undefined))?.status === 200)
    assert.deepEqual(await latest(), before)
    assert.deepEqual(await (await get('/readyz')).json(), { status: 'ok' })
    server.child.kill('SIGTERM')
    assert.equal(await server.waitForExit(), 0, server.printed.err)
  })
}

test('`serve` stops while it waits for room', async (t) => {
  const setup = await openDisk(t)
  if ('reason' in setup) return t.skip(setup.reason)
  setup.disk.leaveFree(0)
  const { server } = await setup.serve()
  server.child.kill('SIGTERM')
  assert.equal(await server.waitForExit(), 0, server.printed.err)
})

test('`serve` on a full disk names it and exits when a migration is pending', async (t) => {
  const setup = await openDisk(t)
  if ('reason' in setup) return t.skip(setup.reason)
  const { disk, dataDir } = setup
  const sqlite = new Sqlite(join(dataDir, 'cambista.db'))
  const version = Number(sqlite.pragma('user_version', { simple: true }))
  sqlite.pragma(`user_version = ${version - 1}`)
  sqlite.close()
  disk.leaveFree(0)
  const server = startProgram(t, ['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir])
  assert.equal(await server.waitForExit(), 1)
  assert.match(server.printed.err, /the disk of \S+ is full: make room on it/)
})
