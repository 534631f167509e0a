// Priorities of documents: from the header of an upload or the query of a raw body, and by command. Claims take the
// highest first, then the oldest (decisions#claims).

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, type TestContext, test } from 'node:test'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { runJson } from '../../support/company.ts'
import { batch, CREATE, fillDirectory, pdf, post, read, TOKENS } from '../../support/directory.ts'
import { createRandom } from '../../support/rates/random-bank.ts'

type Row = { id: number; priority?: number }
type Reply = { status: string; message?: string; created_documents?: Row[] }

const RAW = '/api/v1/documents?company_id=1&agent_id=1&owner_id=1&name=a'
const HEADER = 'x-cambista-priority'
const SENDER = { authorization: `Bearer ${TOKENS.all}` }
const WORKER = { authorization: `Bearer ${TOKENS.work}` }

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
})

async function send(path: string, body: string | FormData, headers: Record<string, string> = {}) {
  const response = await fetch(app.app.url + path, {
    method: 'POST',
    headers: { ...SENDER, ...headers },
    body,
  })
  return { status: response.status, body: (await response.json()) as Reply }
}

const text = { 'content-type': 'text/plain' }
const sendRaw = (priority: number | undefined, headers: Record<string, string> = {}) =>
  send(RAW + (priority === undefined ? '' : `&priority=${priority}`), `text ${randomUUID()}`, {
    ...text,
    ...headers,
  })
const sendJson = (headers: Record<string, string>, more = {}) =>
  send(CREATE, JSON.stringify({ ...batch(pdf(`text ${randomUUID()}`)), ...more }), headers)
const newId = ({ body }: { body: Reply }) => body.created_documents?.[0]?.id ?? 0
const showPriority = async (id: number) =>
  ((await (await read(app, `/api/v1/documents/${id}`)).json()) as Row).priority

async function claim(limit: number): Promise<number[]> {
  const response = await post(app, '/api/v1/documents/claim', { agent_id: 1, limit }, WORKER)
  return ((await response.json()) as { documents: Row[] }).documents.map(({ id }) => id)
}

function form(): FormData {
  const data = new FormData()
  for (const name of ['company_id', 'agent_id', 'owner_id']) data.set(name, '1')
  data.set('priority', '7')
  data.set('file', new Blob([`text ${randomUUID()}`], { type: 'text/plain' }), 'a.txt')
  return data
}

test('the header of each way and the query of a raw body set the priority; no field does', async () => {
  const ids = [
    newId(await sendJson({ [HEADER]: '9' })),
    newId(await send('/api/v1/documents', form(), { [HEADER]: '5' })),
    newId(await sendRaw(undefined, { [HEADER]: '4' })),
    newId(await sendRaw(3)),
    newId(await sendRaw(2, { [HEADER]: '2' })),
    newId(await sendJson({}, { priority: 8 })),
    newId(await send('/api/v1/documents', form())),
    newId(await sendRaw(0)),
  ]
  const none = undefined
  assert.deepEqual(await Promise.all(ids.map(showPriority)), [9, 5, 4, 3, 2, none, none, none])
  assert.deepEqual(await claim(50), ids, 'in this order')
})

test('a wrong priority is refused, and stores nothing', async () => {
  for (const value of ['10', '-1', 'a', '', '1.0', '1, 2']) {
    const { status, body } = await sendJson({ [HEADER]: value })
    assert.deepEqual([status, body.message], [400, 'X-Cambista-Priority must be a digit from 0 to 9'], value)
    const raw = await send(`${RAW}&priority=${encodeURIComponent(value)}`, 'text', text)
    assert.equal(raw.status, 422, value)
  }
  const both = await sendRaw(2, { [HEADER]: '3' })
  assert.equal(both.status, 400)
  assert.match(both.body.message ?? '', /^X-Cambista-Priority differs from priority in the address/)
  const inForm = await send('/api/v1/documents?priority=3', form())
  assert.equal(inForm.status, 422)
  assert.match(
    JSON.stringify(inForm.body),
    /send priority in the header X-Cambista-Priority: a form has no such parameter/,
  )
  assert.deepEqual(await claim(50), [])
})

test('a priority belongs to the request of an Idempotency-Key, and 0 is none', async () => {
  const documents = batch(pdf('the same'))
  const again = (key: string, headers: Record<string, string>) =>
    send(CREATE, JSON.stringify(documents), { 'idempotency-key': key, ...headers })
  const first = await again('a', {})
  assert.deepEqual(await again('a', { [HEADER]: '0' }), first)
  assert.equal((await again('a', { [HEADER]: '1' })).status, 409)
  const second = await again('b', { [HEADER]: '1' })
  assert.deepEqual(await again('b', { [HEADER]: '1' }), second)
  assert.equal((await again('b', {})).status, 409)
  assert.deepEqual(await claim(50), [newId(second), newId(first)])
})

test('claims take the highest priority, then the oldest, of random documents', async () => {
  const random = createRandom(5)
  const documents: { id: number; priority: number }[] = []
  for (let count = 0; count < 40; count += 1) {
    const priority = random.int(0, 4)
    documents.push({ id: newId(await sendRaw(priority)), priority })
  }
  for (const document of documents.slice(0, 5)) {
    document.priority = 9
    await runJson(app.dataDir, 'document', 'set', String(document.id), '--priority', '9')
  }
  const expected = documents
    .toSorted((one, other) => other.priority - one.priority || one.id - other.id)
    .map(({ id }) => id)
  const ids: number[] = []
  while (ids.length < expected.length) ids.push(...(await claim(random.int(1, 7))))
  assert.deepEqual(ids, expected)
})

test('`document set` changes the priority of an existing document alone', async () => {
  const id = newId(await sendRaw(undefined))
  const row = await runJson<Row>(app.dataDir, 'document', 'set', String(id), '--priority', '6')
  assert.deepEqual([row.id, row.priority, await showPriority(id)], [id, 6, 6])
  await runJson(app.dataDir, 'document', 'set', String(id), '--priority', '0')
  assert.equal(await showPriority(id), undefined)
  await assert.rejects(
    runJson(app.dataDir, 'document', 'set', '999999', '--priority', '1'),
    /there is no document 999999/,
  )
  await assert.rejects(
    runJson(app.dataDir, 'document', 'set', String(id), '--priority', '10'),
    /--priority must be/,
  )
})
