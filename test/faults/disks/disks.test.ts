// Disks that corrupt data: altered blobs, altered database pages. Answers from them are either right or an error, and
// the doctor names the damage.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { blobPath } from '../../../src/store/blobs/commit.ts'
import { startTestApp, type TestApp, temporaryDirectory } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, read } from '../../support/directory.ts'
import { sendText, UPLOAD_FORM_NAMES } from '../../support/documents/ways.ts'
import { startProgram } from '../../support/program.ts'
import { createRandom } from '../../support/rates/random-bank.ts'
import { SEED } from '../../support/seed.ts'
import { figure, PROGRAM, scaled } from '../scale.ts'

const SMALL = randomBytes(3000)
const LARGE = randomBytes(1_000_000)
const DAMAGES = scaled({ short: 4, long: 150 })
const PAGE = 4096
const UNREADABLE = 'The database cannot be read or written at the moment'

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** Changes one bit of a file. */
function flip(path: string, at: number): void {
  const file = openSync(path, 'r+')
  const byte = Buffer.alloc(1)
  readSync(file, byte, 0, 1, at)
  byte[0] = (byte[0] ?? 0) ^ 0x10
  writeSync(file, byte, 0, 1, at)
  closeSync(file)
}

async function uploadContents(app: TestApp, ...contents: Buffer[]): Promise<void> {
  const documents = contents.map((bytes) => ({ ...pdf(), base64: bytes.toString('base64') }))
  assert.equal((await post(app, CREATE, batch(...documents))).status, 200)
}

test('an altered blob is never sent whole, and the doctor names it', async (t) => {
  const app = await startTestApp(t)
  await fillDirectory(app)
  await uploadContents(app, SMALL, LARGE)
  const contentPath = (bytes: Buffer) => blobPath(join(app.dataDir, 'blobs'), sha256(bytes))
  flip(contentPath(SMALL), 2999)
  flip(contentPath(LARGE), 10)

  const small = await read(app, '/api/v1/documents/1/content')
  assert.equal(small.status, 500)
  assert.deepEqual(await small.json(), { status: 'error', message: 'Internal server error' })
  for (const range of [undefined, 'bytes=0-', `bytes=0-${LARGE.length - 1}`]) {
    const headers: Record<string, string> = range ? { range } : {}
    const large = await read(app, '/api/v1/documents/2/content', headers)
    await assert.rejects(large.bytes(), 'it came to its end')
  }
  const errors = app.logLines.filter((line) => line.includes('"level":"error"'))
  assert.equal(errors.length, 4)
  for (const line of errors) assert.match(line, /the content [0-9a-f]{64} was altered on the disk/)

  flip(contentPath(LARGE), 10)
  const reread = await read(app, '/api/v1/documents/2/content')
  assert.equal(sha256(await reread.bytes()), sha256(LARGE))
  await app.app.close()
  const doctor = await runDoctor(t, app.dataDir)
  assert.equal(doctor.code, 1)
  assert.match(doctor.out, new RegExp(`content ${sha256(SMALL)} is altered .*: document 1`))
})

test('rates of a damaged database page are right or a 503', async (t) => {
  const random = createRandom(SEED)
  figure(t, 'seed', SEED)
  const sourceApp = await startTestApp(t, { backfillFrom: '2026-01-01' })
  await fillDirectory(sourceApp)
  await uploadContents(sourceApp, SMALL)
  await sourceApp.sync()
  const paths = ['/api/v1/rates?on=2026-02-02', '/api/v1/series/1/history?from=2026-01-02&to=2026-03-20']
  const correctBodies = await Promise.all(
    paths.map(async (path) => JSON.stringify(await sourceApp.json(path))),
  )
  await sourceApp.app.close()
  const source = join(sourceApp.dataDir, 'cambista.db')
  const pages = statSync(source).size / PAGE
  const outcomes = { refused: 0, unavailable: 0, right: 0 }
  for (let damage = 0; damage < DAMAGES; damage += 1) {
    const dataDir = temporaryDirectory(t)
    const target = join(dataDir, 'cambista.db')
    copyFileSync(source, target)
    // The head of a page locates its cells. An altered digit would be undetectable.
    const page = random.int(1, pages - 1)
    for (let at = 0; at < 8; at += 1) flip(target, page * PAGE + at)
    const words = ['serve', '--no-scheduler', '--port', '0', '--data-dir', dataDir]
    const server = startProgram(t, words, {}, PROGRAM)
    const url = await server.waitForOutput(/url=(\S+)/).then(
      ([, url]) => url,
      () => undefined,
    )
    if (url === undefined) {
      assert.equal(await server.waitForExit(), 1, `page ${page}`)
      assert.match(server.printed.err, /^cambista: .*malformed/m, `page ${page}`)
      outcomes.refused += 1
      continue
    }
    for (const [at, path] of paths.entries()) {
      const response = await fetch(url + path, { headers: { 'x-api-key': sourceApp.key } })
      const text = await response.text()
      if (response.status === 200) assert.equal(text, correctBodies[at], `page ${page}: ${path}`)
      else {
        assert.equal(response.status, 503, `page ${page}: ${text}`)
        assert.equal(text, JSON.stringify({ detail: UNREADABLE }))
      }
      outcomes[response.status === 200 ? 'right' : 'unavailable'] += 1
    }
    server.child.kill('SIGTERM')
    assert.equal(await server.waitForExit(), 0, `page ${page}: ${server.printed.err}`)
    if (damage < 3) {
      const { code, out } = await runDoctor(t, dataDir)
      assert.equal(code, 1, `page ${page}`)
      assert.match(out, /database/, `page ${page}`)
    }
  }
  figure(
    t,
    'over damaged pages: starts refused, answers 503, answers right',
    Object.values(outcomes).join(', '),
  )
})

test('a database that is damaged under a server is reported as 503, and the server survives', async (t) => {
  const app = await startTestApp(t)
  await fillDirectory(app)
  await app.sync()
  const path = join(app.dataDir, 'cambista.db')
  const otherConnection = new Sqlite(path)
  t.after(() => otherConnection.close())
  otherConnection.pragma('wal_checkpoint(truncate)')
  otherConnection.exec('begin immediate; update companies set name = upper(name)')
  for (let page = 1; page < statSync(path).size / PAGE; page += 1) flip(path, page * PAGE)
  otherConnection.exec('commit') // outdates the pages that the server has cached
  // Not of the dollar, which is read ahead after a start.
  const series = await app.get('/api/v1/series/3/history?from=2026-01-02&to=2026-03-20')
  assert.equal(series.status, 503)
  assert.deepEqual(await series.json(), { detail: UNREADABLE })
  const documents = await read(app, '/api/v1/documents')
  assert.equal(documents.status, 503)
  assert.deepEqual(await documents.json(), { status: 'error', message: UNREADABLE })
  assert.equal((await app.get('/healthz')).status, 200)
  assert.ok(app.logLines.some((line) => /request refused.*malformed/.test(line)))
})

test('uploads get 503 while the data directory is missing, and succeed once it is back', async (t) => {
  const app = await startTestApp(t, { dataDir: join(temporaryDirectory(t), 'data') })
  await fillDirectory(app)
  await uploadContents(app, SMALL)
  renameSync(app.dataDir, `${app.dataDir}-gone`)
  for (const way of UPLOAD_FORM_NAMES) {
    const rejection = await sendText(app, way, 'dos')
    assert.equal(rejection.status, 503, way)
    assert.match(await rejection.text(), /Documents cannot be stored at the moment/)
  }
  assert.equal((await read(app, '/api/v1/documents/1/content')).status, 500)
  assert.equal((await app.get('/api/v1/series')).status, 200)
  assert.equal(existsSync(app.dataDir), false, 'it was created again')
  renameSync(`${app.dataDir}-gone`, app.dataDir)
  await uploadContents(app, LARGE)
  assert.equal((await read(app, '/api/v1/documents/1/content')).status, 200)
})

async function runDoctor(t: TestContext, dataDir: string): Promise<{ code: number | string; out: string }> {
  const doctor = startProgram(t, ['doctor', '--data-dir', dataDir], {}, PROGRAM)
  const code = await doctor.waitForExit()
  return { code, out: doctor.printed.out + doctor.printed.err }
}
