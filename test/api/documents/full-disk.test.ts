// A data directory on a file system that fills up. Uploads are rejected with a message, nothing incomplete
// remains, and stored documents stay readable. Uploads work again once there is room.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, read, TOKENS } from '../../support/directory.ts'
import {
  sampleDocument,
  UPLOAD_FORM_NAMES,
  UPLOAD_FORMS,
  type UploadDocument,
} from '../../support/documents/ways.ts'
import { mountSmallDisk, PAGE, type SmallDisk } from '../../support/small-disk.ts'

/** An app whose data directory has room for `bytes`, or the reason why that is impossible here. */
async function openOnSmallDisk(
  t: TestContext,
  bytes: number,
): Promise<{ app: TestApp; disk: SmallDisk } | { reason: string }> {
  const disk = mountSmallDisk(t, bytes)
  if ('reason' in disk) return disk
  const app = await startTestApp(t, { dataDir: join(disk.dir, 'data'), limits: { minFree: 0 } })
  await fillDirectory(app)
  return { app, disk }
}

function blobFiles(app: TestApp): string[] {
  return readdirSync(join(app.dataDir, 'blobs'), { recursive: true, withFileTypes: true, encoding: 'utf8' })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
}

const PATH = '/api/v1/documents'
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })

const random = (bytes: number) => ({ ...pdf(), base64: randomBytes(bytes).toString('base64') })

async function listRows(app: TestApp): Promise<{ id: number; sha256: string }[]> {
  const response = await read(app, '/api/v1/documents?limit=200')
  assert.equal(response.status, 200)
  return ((await response.json()) as { documents: { id: number; sha256: string }[] }).documents
}

/** Checks that each row has its blob, each blob a row, and no temporary file remains. */
async function checkConsistency(app: TestApp): Promise<void> {
  const digests = new Set((await listRows(app)).map(({ sha256 }) => sha256))
  assert.deepEqual(blobFiles(app).sort(), [...digests].sort())
}

async function isFull(response: Response): Promise<void> {
  assert.equal(response.status, 507)
  const { status, message } = (await response.json()) as Record<string, string>
  assert.equal(status, 'error')
  assert.match(message ?? '', /^Not enough .*disk space/)
}

test('a body that outgrows the disk is rejected, and leaves nothing', async (t) => {
  const setup = await openOnSmallDisk(t, 24 * 1024 ** 2)
  if ('reason' in setup) return t.skip(setup.reason)
  const { app } = setup
  assert.equal((await post(app, CREATE, batch(random(1_000_000)))).status, 200)
  const [kept] = await listRows(app)
  for (const stated of [true, false]) {
    const text = JSON.stringify(batch(random(1000), random(30_000_000)))
    const body = stated ? text : new Blob([text]).stream() // chunked, so that its length is unknown
    const init = { method: 'POST', body, duplex: 'half', headers: { authorization: 'Bearer cbt_all' } }
    await isFull(await fetch(app.app.url + CREATE, init as RequestInit))
    await checkConsistency(app)
    assert.equal((await read(app, `/api/v1/documents/${kept?.id}/content`)).status, 200)
  }
  assert.equal((await post(app, CREATE, batch(random(1_000_000)))).status, 200)
})

for (const way of UPLOAD_FORM_NAMES) {
  test(`a disk that fills up during an upload as ${way} stores all of it or nothing`, async (t) => {
    const setup = await openOnSmallDisk(t, 24 * 1024 ** 2)
    if ('reason' in setup) return t.skip(setup.reason)
    const { app, disk } = setup
    const send = (...documents: UploadDocument[]) => {
      const { path, headers, body } = UPLOAD_FORMS[way](documents)
      return post(app, path, body, headers)
    }
    const some = (bytes: number, name?: string) => ({
      ...sampleDocument('', name),
      bytes: randomBytes(bytes),
    })
    const two = () => [some(3000), some(3000, 'x'.repeat(255))]
    const documents = way === 'body' ? 1 : 2
    const statuses = new Set<number>()
    for (let pages = 0; pages <= 24; pages += 1) {
      disk.leaveFree(pages * PAGE)
      const before = (await listRows(app)).length
      const response = await send(...two().slice(-documents))
      statuses.add(response.status)
      if (response.status !== 200) await isFull(response)
      const newRows = (await listRows(app)).length - before
      assert.equal(newRows, response.status === 200 ? documents : 0, `${pages} pages`)
      await checkConsistency(app)
    }
    assert.deepEqual([...statuses].sort(), [200, 507])
    const reasons = app.logLines.filter((line) => line.includes('database or disk is full'))
    assert.ok(reasons.length > 0, 'the database never met the full disk')
    disk.makeRoom()
    assert.equal((await send(some(1_000_000))).status, 200)
    await checkConsistency(app)
    assert.deepEqual(
      app.logLines.filter((line) => line.includes('"level":"error"')),
      [],
    )
  })
}

test('a 507 names the operation of the request or of the tool', async (t) => {
  const setup = await openOnSmallDisk(t, 24 * 1024 ** 2)
  if ('reason' in setup) return t.skip(setup.reason)
  const { app, disk } = setup
  assert.equal((await post(app, CREATE, batch(pdf('one'), pdf('two')))).status, 200)
  const work = bearer(TOKENS.work)
  const claim = { agent_id: 1, limit: 1 }
  const claimAnswer = await post(app, `${PATH}/claim`, claim, work)
  const [{ id, claim_id }] = ((await claimAnswer.json()) as { documents: [{ id: number; claim_id: string }] })
    .documents
  const origin = { origin: app.app.url, 'content-type': 'application/json' }
  const signIn = () => post(app, '/session', { secret: app.key }, origin)
  disk.leaveFree(0)
  for (let tries = 0; (await signIn()).status === 200 && tries < 1000; tries += 1); // fills the log of SQLite
  const operations: Record<string, () => Promise<Response>> = {
    'sign in': signIn,
    'claim documents': () => post(app, `${PATH}/claim`, claim, work),
    'extend a claim': () => post(app, `${PATH}/${id}/extend`, { claim_id }, work),
    'release a claim': () => post(app, `${PATH}/${id}/release`, { claim_id }, work),
    'finish a document': () => post(app, `${PATH}/${id}/finish`, { claim_id, outcome: 'done' }, work),
    'delete a document': () =>
      fetch(`${app.app.url}${PATH}/2`, { method: 'DELETE', headers: bearer(TOKENS.remove) }),
  }
  for (const [operation, send] of Object.entries(operations)) {
    const answer = await send()
    const { detail, message = detail } = (await answer.json()) as Record<string, string>
    assert.deepEqual([answer.status, message], [507, `Not enough disk space to ${operation}`])
  }
  const tool = await post(
    app,
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'claim_documents', arguments: claim } },
    {
      ...work,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
    },
  )
  assert.match(await tool.text(), /Not enough disk space to claim documents\. Tell your operator/)
  disk.makeRoom()
  assert.equal((await signIn()).status, 200)
})
