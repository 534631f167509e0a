// A file system and a database that fail during an upload: the client is told so, nothing stays, and the next
// upload works. And in which order the disk sees an upload that succeeds.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { MARK } from '../../../src/store/blobs/mark.ts'
import type { Db } from '../../../src/store/tables.ts'
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

type Failing = { app: TestApp; faulty: FaultyFs; database: Db }

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

/** Nothing but these; where nodes share a database what got no rows is removed later (`removesLater`). */
function assertFiles(failing: Failing, names: string[], what = ''): void {
  const found = filesIn(failing)
  if (postgres) assert.ok(new Set(names).isSubsetOf(new Set(found)), what)
  else assert.deepEqual(found, names, what)
}

function openBeside(t: TestContext, { app }: Failing): Sqlite.Database {
  const sqlite = new Sqlite(join(app.dataDir, 'cambista.db'))
  t.after(() => sqlite.close())
  return sqlite
}

function filesIn({ app }: Failing): string[] {
  return readdirSync(join(app.dataDir, 'blobs'), { recursive: true, withFileTypes: true, encoding: 'utf8' })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .filter((name) => name !== MARK)
}

const LARGE = { ...pdf('', 'grande.bin'), base64: Buffer.alloc(600_000, 'dos bloques ').toString('base64') }
const UPLOAD = batch(pdf('uno'), LARGE)

/** The calls of one upload that succeeds. */
async function callsOf(t: TestContext): Promise<string[]> {
  const failing = await openFailing(t)
  failing.faulty.calls.length = 0
  assert.equal((await post(failing.app, CREATE, UPLOAD)).status, 200)
  return failing.faulty.calls.slice()
}

test('bytes are flushed, then their names, then the rows are there, then comes the 200', async (t) => {
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
  const last = (wanted: RegExp) => faulty.calls.findLastIndex((call) => wanted.test(call))
  const first = (wanted: RegExp) => faulty.calls.findIndex((call) => wanted.test(call))
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

test('any one failing call is told in words, leaves nothing, and is over with the next upload', async (t) => {
  const calls = await callsOf(t)
  assert.ok(calls.length > 15)
  const failing = await openFailing(t)
  const { app, faulty } = failing
  for (const code of ['EIO', 'ENOSPC', 'EMFILE', 'EROFS']) {
    for (const [at, call] of calls.entries()) {
      if (call.startsWith('unlink')) continue // of what was renamed: whether it fails makes no difference
      const what = `${code} at ${call}`
      faulty.calls.length = 0
      faulty.faults = (_, index) => (index === at ? code : undefined)
      const response = await post(app, CREATE, UPLOAD)
      faulty.faults = () => undefined
      const isOfMark = call.endsWith(MARK)
      assert.equal(response.status, code === 'ENOSPC' && !isOfMark ? 507 : 503, what)
      const { status, message } = (await response.json()) as Record<string, string>
      assert.equal(status, 'error', what)
      const words = isOfMark
        ? /^The folder of documents is not there/
        : /^(Not enough disk space|Documents cannot be stored)/
      assert.match(message ?? '', words, what)
      assert.equal(await countRows(failing), 0, what)
      assertFiles(failing, [], what)
    }
  }
  assert.equal((await post(app, CREATE, UPLOAD)).status, 200)
  assert.deepEqual(
    app.logged.filter((line) => line.includes('"level":"error"')),
    [],
  )
})

test('a failure leaves the content that another document has', async (t) => {
  const failing = await openFailing(t)
  const { app, faulty } = failing
  assert.equal((await post(app, CREATE, batch(pdf('uno')))).status, 200)
  const kept = filesIn(failing)
  faulty.faults = (call) => (call === 'sync /' ? 'EIO' : undefined) // all names are in place by then
  assert.equal((await post(app, CREATE, batch(pdf('uno'), pdf('dos')))).status, 503)
  assertFiles(failing, kept)
})

test('an agent that is put to sleep while its documents are flushed gets none of them', async (t) => {
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

test(
  'a database that another program holds is 503, and the client is told when to come back',
  ofSqlite,
  async (t) => {
    const failing = await openFailing(t, { patienceMs: 500 })
    const { app } = failing
    const database = openBeside(t, failing)
    database.exec('begin immediate')
    const response = await post(app, CREATE, UPLOAD)
    assert.equal(response.status, 503)
    assert.equal(response.headers.get('retry-after'), '5')
    assert.match(((await response.json()) as { message: string }).message, /database is in use/)
    database.exec('rollback')
    assert.equal((await post(app, CREATE, UPLOAD)).status, 200)
    assert.equal(await countRows(failing), 2)
  },
)

test(
  'while a write waits for another program, everything else is answered, and it goes on by itself',
  ofSqlite,
  async (t) => {
    const failing = await openFailing(t, { patienceMs: 60_000 })
    const { app } = failing
    const database = openBeside(t, failing)
    assert.equal((await post(app, CREATE, batch(pdf('uno')))).status, 200)
    database.exec('begin immediate')
    let waiting = true
    const upload = post(app, CREATE, batch(pdf('dos'))).finally(() => {
      waiting = false
    })
    await until(() => filesIn(failing).length === 2)
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

test('the end waits for an upload whose client went away', async (t) => {
  const failing = await openFailing(t)
  const { app, faulty } = failing
  const gate = Promise.withResolvers<void>()
  faulty.gate = gate.promise
  const headers = { authorization: `Bearer ${TOKENS.all}` }
  const client = request(app.app.url + CREATE, { method: 'POST', headers, agent: false })
  client.on('error', () => {})
  client.end(JSON.stringify(batch(pdf('uno'))))
  await until(() => filesIn(failing).length > 0)
  const gone = new Promise((resolve) => client.once('close', resolve))
  client.socket?.resetAndDestroy()
  await gone
  const closing = app.app.close()
  setTimeout(gate.resolve, 200)
  await closing
  assert.equal(await countRows(failing), 1)
  assert.equal(filesIn(failing).length, 1)
  assert.deepEqual(
    app.logged.filter((line) => line.includes('"level":"error"')),
    [],
  )
  await until(() => app.logged.some((line) => /create","status":499,"cut":true/.test(line)))
})
