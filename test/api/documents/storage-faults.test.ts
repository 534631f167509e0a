// Faults of the file system and the database during an upload: an error answer, and nothing remains. The next
// upload works. Covers the order of writes of a successful upload too.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { STORE_ID_NAME } from '../../../src/store/blobs/store-id.ts'
import type { WriteDb } from '../../../src/store/tables.ts'
import {
  ofSqlite,
  postgres,
  startTestApp,
  type TestApp,
  type TestAppOptions,
  temporaryDatabase,
  temporaryDirectory,
} from '../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, read, TOKENS } from '../../support/directory.ts'
import { createFaultyFs, type FaultyFs } from '../../support/faulty-fs.ts'
import { until } from '../../support/terminal.ts'

type Failing = { app: TestApp; faulty: FaultyFs; database: WriteDb }

async function openFailing(t: TestContext, options: TestAppOptions = {}): Promise<Failing> {
  const dataDir = temporaryDirectory(t)
  const faulty = createFaultyFs(join(dataDir, 'blobs'))
  const app = await startTestApp(t, { dataDir, blobFs: faulty.fs, ...options })
  await fillDirectory(app)
  return { app, faulty, database: temporaryDatabase(t, dataDir) }
}

async function countRows({ database }: Failing): Promise<number> {
  return (await database.selectFrom('documents').select('id').execute()).length
}

/** Checks that no other files exist. In a cluster the garbage collection removes blobs without rows later. */
function assertFiles(failing: Failing, names: string[], what = ''): void {
  const files = listFiles(failing)
  if (postgres) assert.ok(new Set(names).isSubsetOf(new Set(files)), what)
  else assert.deepEqual(files, names, what)
}

function openSecondConnection(t: TestContext, { app }: Failing): Sqlite.Database {
  const sqlite = new Sqlite(join(app.dataDir, 'cambista.db'))
  t.after(() => sqlite.close())
  return sqlite
}

function listFiles({ app }: Failing): string[] {
  return readdirSync(join(app.dataDir, 'blobs'), { recursive: true, withFileTypes: true, encoding: 'utf8' })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .filter((name) => !name.startsWith(STORE_ID_NAME))
}

const LARGE = { ...pdf('', 'grande.bin'), base64: Buffer.alloc(600_000, 'dos bloques ').toString('base64') }
const UPLOAD = batch(pdf('uno'), LARGE)

/** The calls of one successful upload. */
async function recordCalls(t: TestContext): Promise<string[]> {
  const failing = await openFailing(t)
  failing.faulty.calls.length = 0
  assert.equal((await post(failing.app, CREATE, UPLOAD)).status, 200)
  return failing.faulty.calls.slice()
}

test('an upload flushes bytes, then names, then commits rows, then answers 200', async (t) => {
  const failing = await openFailing(t)
  const { app, faulty } = failing
  faulty.calls.length = 0
  const rows: unknown[] = []
  faulty.faults = async () => {
    rows.push(await countRows(failing))
    return undefined
  }
  const response = await post(app, CREATE, UPLOAD)
  assert.equal(await countRows(failing), 2, 'answered before the rows were committed')
  assert.equal(response.status, 200)
  const last = (pattern: RegExp) => faulty.calls.findLastIndex((call) => pattern.test(call))
  const first = (pattern: RegExp) => faulty.calls.findIndex((call) => pattern.test(call))
  const [written, fileSynced] = [last(/^write/), [first(/^sync \/tmp/), last(/^sync \/tmp/)]]
  const [renamed, folderSynced] = [[first(/^rename/), last(/^rename/)], last(/^sync (?!\/tmp)/)]
  const order = [written, ...fileSynced, ...renamed, first(/^sync (?!\/tmp)/), folderSynced]
  assert.deepEqual(
    order,
    [...order].sort((a, b) => a - b),
    faulty.calls.join('\n'),
  )
  assert.ok(written >= 0)
  assert.ok(
    rows.slice(0, folderSynced + 1).every((count) => count === 0),
    'rows before the names were flushed',
  )
})

test('a failing call of the file system is a 507 or 503, leaves nothing, and the next upload works', async (t) => {
  const recordedCalls = await recordCalls(t)
  const isOfStoreId = (call: string) => call.includes(STORE_ID_NAME) // a node reads it each second too
  const ownCalls = recordedCalls.filter((call) => !isOfStoreId(call))
  assert.ok(ownCalls.length > 12)
  const calls = [...ownCalls, ...new Set(recordedCalls.filter(isOfStoreId))]
  const failing = await openFailing(t)
  const { app, faulty } = failing
  for (const code of ['EIO', 'ENOSPC', 'EMFILE', 'EROFS']) {
    for (const [at, call] of calls.entries()) {
      if (call.startsWith('unlink')) continue // the file was renamed before: a failure has no effect
      const what = `${code} at ${call}`
      const isStoreId = isOfStoreId(call)
      let count = 0
      faulty.faults = (one) => {
        const isHit = isOfStoreId(one) ? one === call : count++ === at
        return isHit ? code : undefined
      }
      const response = await post(app, CREATE, UPLOAD)
      faulty.faults = () => undefined
      assert.equal(response.status, code === 'ENOSPC' && !isStoreId ? 507 : 503, what)
      const { status, message } = (await response.json()) as Record<string, string>
      assert.equal(status, 'error', what)
      const words = isStoreId
        ? /^The folder of documents is not there/
        : /^(Not enough disk space|Documents cannot be stored)/
      assert.match(message ?? '', words, what)
      assert.equal(await countRows(failing), 0, what)
      assertFiles(failing, [], what)
    }
  }
  assert.equal((await post(app, CREATE, UPLOAD)).status, 200)
  assert.deepEqual(
    app.logLines.filter((line) => line.includes('"level":"error"')),
    [],
  )
})

test('a failure leaves a blob that another document references', async (t) => {
  const failing = await openFailing(t)
  const { app, faulty } = failing
  assert.equal((await post(app, CREATE, batch(pdf('uno')))).status, 200)
  const initialFiles = listFiles(failing)
  faulty.faults = (call) => (call === 'sync /' ? 'EIO' : undefined) // every name exists before this call
  assert.equal((await post(app, CREATE, batch(pdf('uno'), pdf('dos')))).status, 503)
  assertFiles(failing, initialFiles)
})

test('an agent that is disabled during the flush of its documents gets none of them', async (t) => {
  const failing = await openFailing(t)
  const { app, faulty, database } = failing
  faulty.faults = async (call) => {
    if (call.startsWith('rename')) await database.updateTable('agents').set({ active: 0 }).execute()
    return undefined
  }
  assert.equal((await post(app, CREATE, UPLOAD)).status, 404)
  assert.equal(await countRows(failing), 0)
  assertFiles(failing, [])
})

test('a database that another program has locked is a 503 with Retry-After', ofSqlite, async (t) => {
  const failing = await openFailing(t, { patienceMs: 500 })
  const { app } = failing
  const database = openSecondConnection(t, failing)
  database.exec('begin immediate')
  const response = await post(app, CREATE, UPLOAD)
  assert.equal(response.status, 503)
  assert.equal(response.headers.get('retry-after'), '5')
  assert.match(((await response.json()) as { message: string }).message, /database is in use/)
  database.exec('rollback')
  assert.equal((await post(app, CREATE, UPLOAD)).status, 200)
  assert.equal(await countRows(failing), 2)
})

test(
  'a write waits for the lock of another program, and other requests are answered',
  ofSqlite,
  async (t) => {
    const failing = await openFailing(t, { patienceMs: 60_000 })
    const { app } = failing
    const database = openSecondConnection(t, failing)
    assert.equal((await post(app, CREATE, batch(pdf('uno')))).status, 200)
    database.exec('begin immediate')
    let waiting = true
    const upload = post(app, CREATE, batch(pdf('dos'))).finally(() => {
      waiting = false
    })
    await until(() => listFiles(failing).length === 2)
    for (const path of ['/healthz', '/readyz', '/api/v1/documents', '/api/v1/documents/1/content']) {
      assert.equal((await read(app, path)).status, 200, path)
    }
    assert.equal((await app.get('/api/v1/series')).status, 200)
    assert.ok(waiting, 'it did not wait')
    database.exec('rollback')
    assert.equal((await upload).status, 200)
    assert.equal(await countRows(failing), 2)
  },
)

test('close() waits for an upload whose client disconnected', async (t) => {
  const failing = await openFailing(t)
  const { app, faulty } = failing
  const gate = Promise.withResolvers<void>()
  faulty.gate = gate.promise
  const headers = { authorization: `Bearer ${TOKENS.all}` }
  const client = request(app.app.url + CREATE, { method: 'POST', headers, agent: false })
  client.on('error', () => {})
  client.end(JSON.stringify(batch(pdf('uno'))))
  await until(() => listFiles(failing).length > 0)
  const disconnect = new Promise((resolve) => client.once('close', resolve))
  client.socket?.resetAndDestroy()
  await disconnect
  let isClosed = false
  const closing = app.app.close().then(() => {
    isClosed = true
  })
  const fails = () =>
    fetch(`${app.app.url}/healthz`).then(
      () => false,
      () => true,
    )
  await until(fails) // the server listens no more
  assert.equal(isClosed, false)
  gate.resolve()
  await closing
  assert.equal(await countRows(failing), 1)
  assert.equal(listFiles(failing).length, 1)
  assert.deepEqual(
    app.logLines.filter((line) => line.includes('"level":"error"')),
    [],
  )
  await until(() => app.logLines.some((line) => /create","status":499,"cut":true/.test(line)))
})

test('a document whose content cannot be removed yet is deleted', ofSqlite, async (t) => {
  const failing = await openFailing(t)
  const { app, faulty } = failing
  assert.equal((await post(app, CREATE, batch(pdf('uno')))).status, 200)
  faulty.faults = (call) => (call.startsWith('unlink') ? 'EIO' : undefined)
  const headers = { authorization: `Bearer ${TOKENS.remove}` }
  const response = await fetch(`${app.app.url}/api/v1/documents/1`, { method: 'DELETE', headers })
  assert.deepEqual(
    [response.status, await response.json()],
    [200, { status: 'success', id: 1, content: 'deleted' }],
  )
  assert.deepEqual([await countRows(failing), listFiles(failing).length], [0, 1])
  await until(() => app.logLines.some((line) => /cannot be removed yet.+EIO/.test(line)))
})
