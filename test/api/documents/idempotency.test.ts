import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { removeDocuments } from '../../../src/domain/documents/removal.ts'
import { selectDocuments } from '../../../src/store/documents/documents.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { ANA, openTestBlobs } from '../../support/company.ts'
import { batch, CREATE, fillDirectory, pdf, post, read, TOKENS } from '../../support/directory.ts'
import { openTestDatabase } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
})

const send = (key: string, body: unknown, token: string = TOKENS.all) =>
  post(app, CREATE, body, { 'idempotency-key': key, authorization: `Bearer ${token}` })

async function countDocuments(): Promise<number> {
  const { documents } = (await (await read(app, '/api/v1/documents?limit=200')).json()) as {
    documents: unknown[]
  }
  return documents.length
}

test('a repeated request gets the same answer, and makes nothing', async () => {
  const first = await (await send('a', batch(pdf('uno'), pdf('dos')))).text()
  const count = await countDocuments()
  const again = await send('a', batch(pdf('uno'), pdf('dos')))
  assert.equal(again.status, 200)
  assert.equal(await again.text(), first)
  assert.equal(await countDocuments(), count)
})

test('the same key with another body is a conflict', async () => {
  await send('b', batch(pdf('uno')))
  const others = [
    batch(pdf('dos')),
    batch(pdf('uno', 'otro.pdf')),
    batch(pdf('uno'), pdf('uno')),
    { ...batch(pdf('uno')), owner_id: 3 },
    batch({ ...pdf('uno'), mimetype: 'text/plain' }),
  ]
  for (const other of others) {
    const response = await send('b', other)
    assert.equal(response.status, 409)
    assert.deepEqual(await response.json(), {
      status: 'error',
      message: 'Idempotency-Key was used with another body',
    })
  }
})

test('the key of another token is another key', async () => {
  const first = (await (await send('c', batch(pdf('uno')))).json()) as { created_documents: { id: number }[] }
  const other = await send('c', batch(pdf('dos')), TOKENS.upload)
  assert.equal(other.status, 200)
  const { created_documents } = (await other.json()) as typeof first
  assert.notEqual(created_documents[0]?.id, first.created_documents[0]?.id)
})

test('a failed request is not recorded', async () => {
  assert.equal((await send('d', { ...batch(pdf()), company_id: 99 })).status, 404)
  assert.equal((await send('d', batch(pdf()))).status, 200)
})

test('a repeated request is a conflict while the first is running', async () => {
  const headers = { authorization: `Bearer ${TOKENS.all}`, 'idempotency-key': 'e' }
  const first = request(app.app.url + CREATE, { method: 'POST', headers })
  const answered = new Promise<number>((resolve) => {
    first.on('response', (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
  })
  const { name, mimetype, base64 } = pdf('x'.repeat(300_000))
  const half = base64.length / 2
  first.write(`{"owner_id":1,"company_id":1,"agent_id":1,"documents":[`)
  first.write(`{"name":"${name}","mimetype":"${mimetype}","base64":"${base64.slice(0, half)}`)
  await until(() => readdirSync(join(app.dataDir, 'blobs/tmp')).length > 0)
  const second = await send('e', batch(pdf('x'.repeat(300_000))))
  assert.equal(second.status, 409)
  assert.deepEqual(await second.json(), {
    status: 'error',
    message: 'A request with this Idempotency-Key is in progress',
  })
  first.end(`${base64.slice(half)}"}]}`)
  assert.equal(await answered, 200)
  assert.equal((await send('e', batch(pdf('x'.repeat(300_000))))).status, 200)
})

test('a key is free again after a day', async () => {
  const first = await (await send('f', batch(pdf()))).text()
  const then = app.clock.now
  app.clock.now = new Date(then.getTime() + 24 * 3_600_000 - 1000)
  assert.equal(await (await send('f', batch(pdf()))).text(), first)
  app.clock.now = new Date(then.getTime() + 24 * 3_600_000 + 1000)
  assert.notEqual(await (await send('f', batch(pdf()))).text(), first)
  app.clock.now = then
})

for (const [key, status] of [
  ['x'.repeat(255), 200],
  ['x'.repeat(256), 400],
] as const) {
  test(`a key of ${key.length} characters is a ${status}`, async () => {
    const response = await send(key, batch(pdf()))
    assert.equal(response.status, status)
  })
}

test('the answer is repeated although the agent has become inactive', async (t) => {
  const first = await (await send('g', batch(pdf()))).text()
  const db = openTestDatabase(app.dataDir)
  t.after(() => db.destroy())
  const set = (active: number) => db.updateTable('agents').set({ active }).where('id', '=', 1).execute()
  await set(0)
  assert.equal(await (await send('g', batch(pdf()))).text(), first)
  assert.equal((await send('h', batch(pdf()))).status, 404)
  await set(1)
})

test('a replay lists which of its documents were deleted since', async (t) => {
  const body = batch(pdf('uno'), pdf('dos'), pdf('tres'))
  const first = await (await send('i', body)).json()
  const ids = (first as { created_documents: { id: number }[] }).created_documents.map(({ id }) => id)
  const db = openTestDatabase(app.dataDir)
  t.after(() => db.destroy())
  const blobs = await openTestBlobs(app.dataDir)
  const remove = async (goneIds: number[]) => {
    const documents = await selectDocuments(db, { limit: 1000 })
    const rowsToDelete = documents.filter(({ id }) => goneIds.includes(id))
    await removeDocuments(db, blobs, rowsToDelete, ANA, () => {})
  }
  await remove(ids.slice(1, 2))
  const again = await send('i', body)
  assert.equal(again.status, 200)
  assert.deepEqual(await again.json(), { ...(first as object), deleted: ids.slice(1, 2) })
  await remove(ids)
  assert.deepEqual(await (await send('i', body)).json(), { ...(first as object), deleted: ids })
})

test('a replay of many documents lists the deleted ones too', async (t) => {
  const body = batch(...Array.from({ length: 1203 }, (_, at) => pdf('same', `${at}.pdf`)))
  const first = await (await send('k', body)).json()
  const ids = (first as { created_documents: { id: number }[] }).created_documents.map(({ id }) => id)
  assert.deepEqual(await (await send('k', body)).json(), first)
  const db = openTestDatabase(app.dataDir)
  t.after(() => db.destroy())
  const blobs = await openTestBlobs(app.dataDir)
  const deletedIds = ids.filter((id) => id % 7 === 0 || id === ids.at(-1))
  const documents = (await selectDocuments(db, { limit: 9999 })).filter(({ id }) => deletedIds.includes(id))
  await removeDocuments(db, blobs, documents, ANA, () => {})
  assert.deepEqual(await (await send('k', body)).json(), { ...(first as object), deleted: deletedIds })
  await removeDocuments(db, blobs, await selectDocuments(db, { after: 0, limit: 9999 }), ANA, () => {})
  assert.deepEqual(await (await send('k', body)).json(), { ...(first as object), deleted: ids })
})

test('an answer that an earlier version stored as a whole is repeated', async (t) => {
  const first = await (await send('j', batch(pdf()))).text()
  const db = openTestDatabase(app.dataDir)
  t.after(() => db.destroy())
  const row = await db.selectFrom('idempotency').select('answer').where('key', '=', 'j').executeTakeFirst()
  const { id, attachment_id } = JSON.parse(first).created_documents[0]
  assert.equal(row?.answer, `[[${id},${attachment_id},1]]`)
  await db.updateTable('idempotency').set({ answer: first }).where('key', '=', 'j').execute()
  assert.equal(await (await send('j', batch(pdf()))).text(), first)
  const [document] = (await selectDocuments(db, { limit: 9999 })).filter((row) => row.id === id)
  assert.ok(document)
  await removeDocuments(db, await openTestBlobs(app.dataDir), [document], ANA, () => {})
  const again = await (await send('j', batch(pdf()))).json()
  assert.deepEqual(again, { ...JSON.parse(first), deleted: [id] })
})
