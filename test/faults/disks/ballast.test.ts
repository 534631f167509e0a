// The ballast of a data directory on a disk that fills up, in real processes and in one.

import assert from 'node:assert/strict'
import { existsSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, TOKENS } from '../../support/directory.ts'
import { startProgram } from '../../support/program.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'
import { runCommand, until } from '../../support/terminal.ts'

const MIB = 1024 ** 2
const BALLAST = 4 * MIB
const PATH = '/api/v1/documents'

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })

function signIn(testApp: TestApp): Promise<Response> {
  return post(
    testApp,
    '/session',
    { secret: testApp.key },
    { origin: testApp.app.url, 'content-type': 'application/json' },
  )
}

function openApp(t: TestContext, dataDir: string): Promise<TestApp> {
  return startTestApp(t, { dataDir, ballast: true, limits: { minFree: 16 * MIB } })
}

test('a full disk takes the ballast for claims and deletions, and housekeeping makes it again', async (t) => {
  const disk = mountSmallDisk(t, 48 * MIB)
  if ('reason' in disk) return t.skip(disk.reason)
  const dataDir = join(disk.dir, 'data')
  const ballast = join(dataDir, 'ballast')
  const isWhole = () => statSync(ballast, { throwIfNoEntry: false })?.size === BALLAST
  const app = await openApp(t, dataDir)
  await fillDirectory(app)
  await until(isWhole)
  assert.equal(statSync(ballast).mode & 0o777, 0o600)
  assert.equal((await post(app, CREATE, batch(pdf('one'), pdf('two')))).status, 200)

  disk.leaveFree(0)
  for (let tries = 0; existsSync(ballast) && tries < 1000; tries += 1) {
    assert.equal((await signIn(app)).status, 200, 'the request that meets the full disk succeeds too')
  }
  await until(() => app.logLines.some((line) => line.includes('the disk is full: its ballast is given up')))
  const claim = await post(app, `${PATH}/claim`, { agent_id: 1, limit: 1 }, bearer(TOKENS.work))
  assert.equal(claim.status, 200)
  const deletion = await fetch(`${app.app.url}${PATH}/2`, {
    method: 'DELETE',
    headers: bearer(TOKENS.remove),
  })
  assert.equal(deletion.status, 200)
  assert.equal((await post(app, CREATE, batch(pdf('three')))).status, 507, 'uploads leave --min-free')
  await app.app.close()

  disk.makeRoom()
  const second = await openApp(t, dataDir)
  await until(isWhole)
  await second.app.close()
  truncateSync(ballast, 1000) // as a crash leaves it
  await openApp(t, dataDir)
  await until(isWhole)
})

test('a blob that meets a full disk gives up the ballast', async (t) => {
  const disk = mountSmallDisk(t, 48 * MIB)
  if ('reason' in disk) return t.skip(disk.reason)
  const dataDir = join(disk.dir, 'data')
  const app = await startTestApp(t, { dataDir, ballast: true })
  await fillDirectory(app)
  await until(() => existsSync(join(dataDir, 'ballast')))
  disk.leaveFree(MIB)
  const large = { ...pdf(), base64: Buffer.alloc(2 * MIB).toString('base64') }
  const body = new Blob([JSON.stringify(batch(large))]).stream() // without a length, which would be refused
  const headers = { ...bearer(TOKENS.all), 'content-type': 'application/json' }
  const init = { method: 'POST', body, duplex: 'half', headers }
  assert.equal((await fetch(app.app.url + CREATE, init as RequestInit)).status, 507)
  assert.equal(existsSync(join(dataDir, 'ballast')), false)
  assert.equal((await signIn(app)).status, 200)
})

test('`serve` on a full disk starts with the ballast and writes; --no-ballast removes it', async (t) => {
  const disk = mountSmallDisk(t, 48 * MIB)
  if ('reason' in disk) return t.skip(disk.reason)
  const dataDir = join(disk.dir, 'data')
  const ballast = join(dataDir, 'ballast')
  const serve = async (...words: string[]) => {
    const flags = ['--port', '0', '--no-scheduler', '--min-free', '16MiB', '--data-dir', dataDir]
    const server = startProgram(t, ['serve', ...flags, ...words])
    const [, url] = await server.waitForOutput(/listening url=(\S+)/)
    const stop = async () => {
      server.child.kill('SIGTERM')
      assert.equal(await server.waitForExit(), 0, server.printed.err)
    }
    return { url, stop }
  }
  const first = await serve()
  await until(() => existsSync(ballast))
  await first.stop()
  disk.leaveFree(0)
  const second = await serve()
  assert.equal(existsSync(ballast), false)
  assert.deepEqual(await (await fetch(`${second.url}/readyz`)).json(), { status: 'ok' })
  await second.stop()
  disk.makeRoom()
  const third = await serve()
  await until(() => existsSync(ballast))
  const { out } = await runCommand(['doctor', '--data-dir', dataDir])
  assert.doesNotMatch(out, /ballast/)
  await third.stop()
  await (await serve('--no-ballast')).stop()
  assert.equal(existsSync(ballast), false)
})
