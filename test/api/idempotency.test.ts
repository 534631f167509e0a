import assert from 'node:assert/strict'
import { request } from 'node:http'
import { before, type TestContext, test } from 'node:test'
import { openDatabase } from '../../src/store/database.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, read, TOKENS } from '../support/directory.ts'

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

test('the same request again gets the same answer, and makes nothing', async () => {
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

test('a failed request is not remembered', async () => {
  assert.equal((await send('d', { ...batch(pdf()), company_id: 99 })).status, 404)
  assert.equal((await send('d', batch(pdf()))).status, 200)
})

test('while the first is under way the second is a conflict', async () => {
  const headers = { authorization: `Bearer ${TOKENS.all}`, 'idempotency-key': 'e' }
  const first = request(app.app.url + CREATE, { method: 'POST', headers })
  const answered = new Promise<number>((resolve) => {
    first.on('response', (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
  })
  first.write('{"owner_id":1,"company_id":1,"agent_id":1,')
  await new Promise((resolve) => setTimeout(resolve, 100))
  const second = await send('e', batch(pdf()))
  assert.equal(second.status, 409)
  assert.deepEqual(await second.json(), {
    status: 'error',
    message: 'A request with this Idempotency-Key is in progress',
  })
  first.end(`"documents":[${JSON.stringify(pdf())}]}`)
  assert.equal(await answered, 200)
  assert.equal((await send('e', batch(pdf()))).status, 200)
})

test('a day later the key is free again', async () => {
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
  test(`a key of ${key.length} characters is answered with ${status}`, async () => {
    const response = await send(key, batch(pdf()))
    assert.equal(response.status, status)
  })
}

test('the answer is given again although the agent is inactive by now', async (t) => {
  const first = await (await send('g', batch(pdf()))).text()
  const db = openDatabase(app.dataDir)
  t.after(() => db.destroy())
  const set = (active: number) => db.updateTable('agents').set({ active }).where('id', '=', 1).execute()
  await set(0)
  assert.equal(await (await send('g', batch(pdf()))).text(), first)
  assert.equal((await send('h', batch(pdf()))).status, 404)
  await set(1)
})
