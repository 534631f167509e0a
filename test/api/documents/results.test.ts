// Results of workers: JSON to the letter, beside the outcome of a document (decisions#claims).

import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { before, type TestContext, test } from 'node:test'
import { removeDocuments } from '../../../src/domain/documents/removal.ts'
import { selectDocuments } from '../../../src/store/documents/documents.ts'
import { selectWrongSums } from '../../../src/store/documents/usage.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { ANA, openTestBlobs, runJson } from '../../support/company.ts'
import { batch, CREATE, fillDirectory, pdf, post, read, TOKENS } from '../../support/directory.ts'
import { startReceiver } from '../../support/hooks/receiver.ts'
import { until } from '../../support/terminal.ts'
import { asOtherProcess } from '../support.ts'

type Claim = { id: number; claim_id: string }
type Body = { message?: string; document?: Record<string, unknown> }

const RESULT = '{"total": 12345678901234567890.10, "moneda":"₡", "líneas": [1.0, 1e2, -0]}'
const WORKER = { authorization: `Bearer ${TOKENS.work}` }

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext, { maxAttempts: 2 })
  await fillDirectory(app)
})

async function claimNew(): Promise<Claim> {
  const response = await post(app, CREATE, batch(pdf(`text ${randomUUID()}`)))
  const { created_documents } = (await response.json()) as { created_documents: { id: number }[] }
  const [document] = created_documents
  assert.ok(document)
  return claimAgain(document.id)
}

async function claimAgain(id: number): Promise<Claim> {
  const response = await post(app, '/api/v1/documents/claim', { agent_id: 1, limit: 50 }, WORKER)
  const { documents } = (await response.json()) as { documents: Claim[] }
  const claim = documents.find((one) => one.id === id)
  assert.ok(claim)
  return claim
}

/** Finishes a document. `result`: JSON text; undefined: the field is absent. */
async function finish({ id, claim_id }: Claim, result?: string, outcome = 'done') {
  const member = result === undefined ? '' : `,"result":${result}`
  const body = `{"claim_id":"${claim_id}"${member},"outcome":"${outcome}"}`
  const url = `${app.app.url}/api/v1/documents/${id}/finish`
  const response = await fetch(url, { method: 'POST', headers: WORKER, body })
  return { status: response.status, body: (await response.json()) as Body }
}

const show = async (id: number) => (await read(app, `/api/v1/documents/${id}`)).text()
const readUsed = () =>
  asOtherProcess(app, (db) =>
    db.selectFrom('companies').select('used').where('id', '=', 1).executeTakeFirstOrThrow(),
  ).then((row) => row.used)
const wrongSums = () => asOtherProcess(app, selectWrongSums)

test('a result is shown to the letter, and in no list', async () => {
  const claim = await claimNew()
  const before = await readUsed()
  const { status, body } = await finish(claim, RESULT)
  assert.equal(status, 200)
  assert.equal(body.document?.state, 'done')
  const text = await show(claim.id)
  assert.ok(text.endsWith(`,"result":${RESULT}}`), text)
  const alone = await read(app, `/api/v1/documents/${claim.id}/result`)
  assert.deepEqual([alone.status, await alone.text()], [200, RESULT])
  assert.match(alone.headers.get('content-type') ?? '', /^application\/json/)
  const list = await (await read(app, `/api/v1/documents?after=${claim.id - 1}`)).text()
  assert.ok(!list.includes('moneda'))
  const size = Buffer.byteLength(RESULT)
  assert.equal((await readUsed()) - before, size)
  assert.deepEqual(await wrongSums(), [])
  const { events } = (await (await read(app, `/api/v1/documents/${claim.id}/events`)).json()) as {
    events: { event: string; result?: unknown }[]
  }
  const sha256 = createHash('sha256').update(RESULT).digest('hex')
  assert.deepEqual(
    events.map(({ event, result }) => [event, result]),
    [
      ['created', undefined],
      ['claimed', undefined],
      ['done', { size, sha256 }],
    ],
  )
})

test('the same result sent again is answered alike, another one or none is a conflict', async () => {
  const claim = await claimNew()
  const once = await finish(claim, RESULT)
  assert.deepEqual(await finish(claim, RESULT), once)
  for (const other of ['{}', RESULT.replace('.10', '.1'), undefined]) {
    const { status, body } = await finish(claim, other)
    assert.deepEqual([status, body.message], [409, 'This claim has ended: its result is another one'])
  }
  assert.equal((await finish(claim, RESULT, 'failed')).status, 409)
  const plain = await claimNew()
  assert.equal((await finish(plain)).status, 200)
  assert.equal((await finish(plain, 'null')).status, 200)
  assert.equal((await finish(plain, '0')).status, 409)
  assert.ok(!(await show(plain.id)).includes('result'))
  const none = await read(app, `/api/v1/documents/${plain.id}/result`)
  assert.deepEqual(
    [none.status, (await none.json()) as object],
    [404, { status: 'not found', message: 'This document has no result' }],
  )
})

test('a result stays after a retry, until the next outcome replaces or drops it', async () => {
  const claim = await claimNew()
  await finish(claim, RESULT, 'failed')
  const before = await readUsed()
  for (const [next, expected] of [
    ['"otro"', '"otro"'],
    [undefined, undefined],
  ] as const) {
    await runJson(app.dataDir, 'document', 'retry', String(claim.id))
    assert.match(await show(claim.id), /"state":"new".*"result":/)
    const again = await claimAgain(claim.id)
    assert.match(await show(claim.id), /"state":"claimed".*"result":/)
    await finish(again, next)
    assert.equal((await show(claim.id)).endsWith(`,"result":${expected}}`), expected !== undefined)
    assert.deepEqual(await wrongSums(), [])
  }
  assert.equal((await readUsed()) - before, -Buffer.byteLength(RESULT))
})

test('a result of more than 64 KiB is a 400, and the claim stays', async () => {
  const claim = await claimNew()
  const text = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2))
  const { status, body } = await finish(claim, text(65_537))
  assert.deepEqual([status, body.message], [400, 'result must be JSON of at most 65536 bytes'])
  assert.equal((await finish(claim, text(200_000))).status, 413)
  assert.equal((await finish(claim, '{"a":')).status, 400)
  assert.match(await show(claim.id), /"state":"claimed"/)
  assert.equal((await finish(claim, text(65_536))).status, 200)
})

test('a result that exceeds the quota is a 507, and the claim stays', async () => {
  const claim = await claimNew()
  const quota = (await readUsed()) + 10
  const setQuota = (value: number | null) =>
    asOtherProcess(app, (db) =>
      db.updateTable('companies').set({ quota: value }).where('id', '=', 1).execute(),
    )
  await setQuota(quota)
  const { status, body } = await finish(claim, RESULT)
  assert.equal(status, 507)
  assert.match(
    body.message ?? '',
    /^The quota of .+ of company 1 is used up: the result does not fit in the 10 bytes left, the document is still claimed$/,
  )
  assert.equal(await readUsed(), quota - 10)
  assert.equal((await finish(claim, '1234567890')).status, 200)
  await setQuota(null)
  assert.equal(await readUsed(), quota)
})

test('a result goes with its document', async () => {
  const claim = await claimNew()
  const before = await readUsed()
  await finish(claim, RESULT)
  await asOtherProcess(app, async (db) => {
    const documents = await selectDocuments(db, { id: claim.id, limit: 1 })
    await removeDocuments(db, await openTestBlobs(app.dataDir), documents, ANA, () => {})
    assert.deepEqual(
      await db.selectFrom('document_results').selectAll().where('document_id', '=', claim.id).execute(),
      [],
    )
  })
  assert.ok((await readUsed()) < before)
  assert.deepEqual(await wrongSums(), [])
})

test('`document show` has the result', async () => {
  const claim = await claimNew()
  await finish(claim, RESULT)
  assert.equal(
    (await runJson<{ result: string }>(app.dataDir, 'document', 'show', String(claim.id))).result,
    RESULT,
  )
})

test('hooks report outcomes, and whether there is a result', async (t) => {
  const receiver = await startReceiver(t)
  const events = ['--event', 'document.finished,document.failed']
  await runJson(app.dataDir, 'hook', 'create', '--url', receiver.url, ...events)
  await runJson(app.dataDir, 'hook', 'create', '--url', `${receiver.url}/other`, '--company', '2', ...events)
  const [one, two, three] = [await claimNew(), await claimNew(), await claimNew()]
  await finish(one, RESULT)
  await finish(one, RESULT)
  await finish(two, undefined, 'failed')
  await post(app, `/api/v1/documents/${three.id}/release`, { claim_id: three.claim_id }, WORKER)
  const again = await claimAgain(three.id)
  await post(app, `/api/v1/documents/${three.id}/release`, { claim_id: again.claim_id }, WORKER)
  await until(() => receiver.received.length >= 3)
  const of = (id: number, more = {}) => ({ company_id: 1, agent_id: 1, document_ids: [id], ...more })
  // Hooks have no order: several messages are sent at once.
  const messages = receiver.received.toSorted(
    (left, right) => Number(left.body.data.document_ids) - Number(right.body.data.document_ids),
  )
  assert.deepEqual(
    messages.map(({ path, body }) => [path, body.type, body.data]),
    [
      ['/hook', 'document.finished', of(one.id, { has_result: true })],
      ['/hook', 'document.failed', of(two.id)],
      ['/hook', 'document.failed', of(three.id)],
    ],
  )
})
