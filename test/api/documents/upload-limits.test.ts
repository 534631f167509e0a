import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { UploadLimits } from '../../../src/http/documents/uploads/receive.ts'
import { startTestApp, type TestApp, type TestAppOptions } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, read, TOKENS } from '../../support/directory.ts'
import {
  sampleDocument,
  UPLOAD_FORM_NAMES,
  UPLOAD_FORMS,
  type UploadRequest,
} from '../../support/documents/ways.ts'
import { until } from '../../support/terminal.ts'

async function open(
  t: TestContext,
  limits: Partial<UploadLimits>,
  listen: TestAppOptions['listen'] = {},
): Promise<TestApp> {
  const app = await startTestApp(t, { limits, listen })
  await fillDirectory(app)
  return app
}

/** Begins an upload and sends `text`, without its end. */
function begin(
  app: TestApp,
  headers: Record<string, string | number> = {},
  { path, headers: own }: Pick<UploadRequest, 'path' | 'headers'> = { path: CREATE, headers: {} },
) {
  const url = new URL(app.app.url + path)
  const client = request(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKENS.all}`, ...own, ...headers },
  })
  client.on('error', () => {})
  const answered = once(client, 'response').then(async ([response]) => {
    let body = ''
    for await (const piece of response) body += piece
    return { status: response.statusCode as number, headers: response.headers, body: JSON.parse(body) }
  })
  answered.catch(() => {}) // a client that disconnects does not await the answer
  return { client, answered }
}

const temporaryFiles = (app: TestApp) => readdirSync(join(app.dataDir, 'blobs/tmp'))

/** A body of this way whose one document has `bytes`. */
const bodyOfSize = (way: (typeof UPLOAD_FORM_NAMES)[number], bytes: number) =>
  UPLOAD_FORMS[way]([sampleDocument('x'.repeat(bytes))])

for (const way of UPLOAD_FORM_NAMES) {
  const small = UPLOAD_FORMS[way]([sampleDocument()])
  const large = bodyOfSize(way, 2_000_000)
  const sendSmall = (app: TestApp) => post(app, small.path, small.body, small.headers)

  test(`${way}: a body whose stated length is over the limit is rejected before it is sent`, async (t) => {
    const app = await open(t, { maxBody: 1000 })
    const { client, answered } = begin(app, { 'content-length': 1001, expect: '100-continue' }, small)
    let isContinued = false
    client.on('continue', () => {
      isContinued = true
    })
    client.flushHeaders()
    const { status, body } = await answered
    assert.equal(status, 413)
    assert.deepEqual(body, { status: 'error', message: 'The request body must be at most 1000 bytes' })
    assert.equal(isContinued, false)
    client.destroy()
  })

  test(`${way}: 100 Continue is sent after admission only`, async (t) => {
    const app = await open(t, {})
    const headers = { 'content-length': small.body.length, expect: '100-continue' }
    const { client, answered } = begin(app, headers, small)
    client.flushHeaders()
    await once(client, 'continue')
    client.end(small.body)
    assert.equal((await answered).status, 200)
  })

  test(`${way}: a body of unstated length over the limit is rejected, and leaves nothing`, async (t) => {
    const app = await open(t, { maxBody: 100_000 })
    const { client, answered } = begin(app, { 'transfer-encoding': 'chunked' }, large)
    client.write(large.body.subarray(0, 200_000))
    const { status } = await answered
    assert.equal(status, 413)
    client.end()
    assert.deepEqual(temporaryFiles(app), [])
    assert.equal((await sendSmall(app)).status, 200)
  })

  test(`${way}: a client that stops sending is a 408, and its bytes are removed`, async (t) => {
    const app = await open(t, { idleMs: 200 })
    const { client, answered } = begin(app, {}, large)
    client.write(large.body.subarray(0, 1_500_000))
    const { status, body } = await answered
    assert.equal(status, 408)
    assert.match(body.message, /stopped for 0.2 seconds/)
    assert.deepEqual(temporaryFiles(app), [])
    client.destroy()
  })

  test(`${way}: a client that sends too slowly is a 408, and its slot is released`, async (t) => {
    const app = await open(t, { idleMs: 300, maxUploads: 1 })
    const { client, answered } = begin(app, {}, large)
    client.write(large.body.subarray(0, 20))
    let at = 20
    const drip = setInterval(() => client.write(large.body.subarray(at, ++at)), 50)
    t.after(() => clearInterval(drip))
    assert.equal((await answered).status, 408)
    client.destroy()
    assert.equal((await sendSmall(app)).status, 200)
  })

  test(`${way}: a client that disconnects leaves nothing, and the server continues`, async (t) => {
    const app = await open(t, {})
    const framings: Record<string, number>[] = [{}, { 'content-length': large.body.length }]
    for (const headers of framings) {
      const { client } = begin(app, headers, large)
      client.write(large.body.subarray(0, 1_500_000))
      await until(() => temporaryFiles(app).length > 0)
      client.destroy()
      await until(() => temporaryFiles(app).length === 0)
    }
    assert.equal((await read(app, '/api/v1/documents').then((one) => one.text())).includes('"id"'), false)
    assert.equal((await sendSmall(app)).status, 200)
  })

  test(`${way}: a body whose stated length is false is rejected`, async (t) => {
    const app = await open(t, {})
    const { client, answered } = begin(app, { 'content-length': small.body.length + 5 }, small)
    client.on('socket', (socket) => {
      client.write(small.body, () => socket.end())
    })
    const { status, body } = await answered
    assert.deepEqual([status, body.message], [400, 'Malformed HTTP request'])
    await until(() => temporaryFiles(app).length === 0) // answered below the upload, which ends later
  })

  test(`${way}: a nearly full disk rejects uploads, and downloads continue`, async (t) => {
    const app = await open(t, { minFree: Number.MAX_SAFE_INTEGER })
    const response = await sendSmall(app)
    assert.equal(response.status, 507)
    assert.deepEqual(await response.json(), { status: 'error', message: 'Not enough free disk space' })
    assert.equal((await app.get('/api/v1/series')).status, 200)
  })
}

test('a JSON body that is longer than its stated length is rejected', async (t) => {
  const app = await open(t, {})
  const text = JSON.stringify(batch(pdf()))
  const { client, answered } = begin(app, { 'content-length': text.length - 5 })
  client.write(text.slice(0, -5))
  client.end()
  assert.equal((await answered).status, 400)
})

test('the limit of concurrent uploads is shared by all ways', async (t) => {
  const app = await open(t, { maxUploads: 1, waitMs: 300 })
  for (const way of UPLOAD_FORM_NAMES) {
    const { body, ...target } = bodyOfSize(way, 300_000)
    const { client, answered } = begin(app, {}, target)
    client.write(body.subarray(0, 200_000))
    await until(() => temporaryFiles(app).length === 1)
    for (const other of UPLOAD_FORM_NAMES) {
      const { path, headers, body } = UPLOAD_FORMS[other]([sampleDocument()])
      const refused = await post(app, path, body, headers)
      assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '5'])
    }
    client.end(body.subarray(200_000))
    assert.equal((await answered).status, 200)
  }
})

/** Begins an upload and pauses in the middle of a document; `rest` is the other half. */
async function beginHalf(app: TestApp) {
  const text = JSON.stringify(batch(pdf('x'.repeat(300_000))))
  const upload = begin(app)
  upload.client.write(text.slice(0, 200_000))
  await until(() => temporaryFiles(app).length === 1)
  return { ...upload, rest: text.slice(200_000) }
}

test('uploads beyond the limit are a 503 with Retry-After', async (t) => {
  const app = await open(t, { maxUploads: 1, waitMs: 300 })
  const first = await beginHalf(app)
  const refused = await post(app, CREATE, batch(pdf()))
  assert.equal(refused.status, 503)
  assert.equal(refused.headers.get('retry-after'), '5')
  assert.equal(((await refused.json()) as { status: string }).status, 'error')
  first.client.end(first.rest)
  assert.equal((await first.answered).status, 200)
})

test('uploads beyond the limit wait for a slot', async (t) => {
  const app = await open(t, { maxUploads: 1 }, { metrics: 'local' })
  const first = await beginHalf(app)
  const waiting = post(app, CREATE, batch(pdf()))
  await until(async () => {
    const metrics = await (await fetch(`${app.app.url}/metrics`)).text()
    return metrics.includes('\ncambista_uploads_waiting 1\n')
  })
  first.client.end(first.rest)
  assert.equal((await first.answered).status, 200)
  assert.equal((await waiting).status, 200)
})

test('a client that sends everything before it reads gets the reason of the rejection', async (t) => {
  const app = await open(t, { maxBody: 100 * 1024 ** 2 })
  for (const start of ['nonsense', '{"owner_id":1,']) {
    const { client, answered } = begin(app)
    client.write(start)
    client.end('x'.repeat(30_000_000))
    await once(client, 'finish')
    assert.equal((await answered).status, 400)
  }
})

test('a connection serves another request after a rejection', async (t) => {
  const app = await open(t, {})
  for (let time = 0; time < 5; time += 1) {
    const refused = await post(app, CREATE, `{"a":[${'1,'.repeat(200_000)}x]}`)
    assert.equal(refused.status, 400)
    await refused.text()
    assert.equal((await post(app, CREATE, batch(pdf()))).status, 200)
  }
})
