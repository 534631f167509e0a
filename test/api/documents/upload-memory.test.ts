// Limits of the memory of uploads besides their blobs (decisions#document), made small.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { type ClientRequest, request } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, read, TOKENS } from '../../support/directory.ts'
import { until } from '../../support/terminal.ts'

const MIB = 1024 ** 2
const IDS = '"owner_id":1,"company_id":1,"agent_id":1'
const documentJson = (name: string) => JSON.stringify(pdf('hola', name))
/** `count` valid documents with names of 250 characters: 2,500 of them take three quarters of a mebibyte. */
const documentList = (count: number) =>
  Array.from({ length: count }, (_, at) => documentJson(`${at} `.padEnd(250, 'x'))).join()
const whole = (documents: string) => `{${IDS},"documents":[${documents}]}`

async function open(t: TestContext): Promise<TestApp> {
  const app = await startTestApp(t, { limits: { memory: { each: MIB, all: 2 * MIB }, maxUploads: 16 } })
  await fillDirectory(app)
  return app
}

/** Begins an upload and sends no more after `text`. */
function begin(app: TestApp, text: string): { client: ClientRequest; status: Promise<number> } {
  const headers = { authorization: `Bearer ${TOKENS.all}` }
  const client = request(app.app.url + CREATE, { method: 'POST', headers })
  client.on('error', () => {})
  const status = once(client, 'response').then(([response]) => {
    response.resume()
    return response.statusCode as number
  })
  status.catch(() => {})
  client.write(text)
  return { client, status }
}

const temporaryFiles = (app: TestApp) => readdirSync(join(app.dataDir, 'blobs/tmp'))

const largeFiles = (app: TestApp) =>
  temporaryFiles(app).filter((name) => statSync(join(app.dataDir, 'blobs/tmp', name)).size > 500_000).length

test('a request over the memory limit is a 413 that names the limit, and leaves nothing', async (t) => {
  const app = await open(t)
  for (let time = 0; time < 5; time++) {
    const response = await post(app, CREATE, whole(documentList(5000)))
    assert.equal(response.status, 413)
    assert.deepEqual(await response.json(), {
      status: 'error',
      message:
        'What a request holds in memory beside its contents (names, types) is limited to 1 MiB: ' +
        'send fewer documents at once',
    })
    assert.deepEqual(temporaryFiles(app), [])
  }
  assert.equal((await post(app, CREATE, whole(documentList(2000)))).status, 200)
  const refused = app.logLines.filter((line) => line.includes('upload refused'))
  assert.match(refused[0] ?? '', /"reason":"What a request holds in memory .*"count":\d{4}/)
})

test('an earlier fault is the answer, and its upload uses no memory', async (t) => {
  const app = await open(t)
  const response = await post(app, CREATE, whole(`${documentList(500)},{},${documentList(20_000)},{}`))
  assert.equal(response.status, 400)
  const { message, errors, errors_total } = (await response.json()) as Record<string, unknown>
  assert.deepEqual([message, errors_total], ['Invalid documents', 2])
  assert.deepEqual(
    (errors as { index: number }[]).map(({ index }) => index),
    [500, 20_501],
  )
})

test('values nested to the limit are skipped, deeper ones are a 413', async (t) => {
  const app = await open(t)
  const nested = (levels: number) =>
    `{"x":${'['.repeat(levels)}${']'.repeat(levels)},${whole(documentJson('a')).slice(1)}`
  assert.equal((await post(app, CREATE, nested(3_000_000))).status, 200)
  assert.equal((await post(app, CREATE, nested(9_000_000))).status, 413)
})

test('requests that together exceed the memory limit are a 503 with Retry-After', async (t) => {
  const app = await open(t)
  // The last document is visible on the disk: all others are in memory when it is written.
  const last = pdf('x'.repeat(1_000_000))
  const text = `{${IDS},"documents":[${documentList(2500)},${JSON.stringify(last).slice(0, -2)}`
  const uploads = [begin(app, text), begin(app, text)]
  await until(() => largeFiles(app) === 2)
  const refused = await post(app, CREATE, whole(documentList(2500)))
  assert.equal(refused.status, 503)
  assert.equal(refused.headers.get('retry-after'), '5')
  assert.match(((await refused.json()) as { message: string }).message, /\(2 MiB\): try again in a moment$/)
  assert.equal((await post(app, CREATE, batch(pdf()))).status, 200, 'a small one has room')
  uploads[0]?.client.destroy()
  uploads[1]?.client.end('"}]}')
  assert.equal(await uploads[1]?.status, 200)
  await until(() => temporaryFiles(app).length === 0)
  assert.equal((await post(app, CREATE, whole(documentList(2500)))).status, 200)
})

test('a client that disconnects during its answer releases the memory', async (t) => {
  const app = await open(t)
  for (let time = 0; time < 6; time++) {
    const { client, status } = begin(app, whole(documentList(2500)))
    client.end()
    assert.equal(await status, 200)
    client.destroy()
  }
  assert.equal((await post(app, CREATE, whole(documentList(2500)))).status, 200)
})

test('a repeated answer of many documents is identical', async (t) => {
  const app = await open(t)
  const send = () => post(app, CREATE, whole(documentList(1501)), { 'idempotency-key': 'many' })
  const first = await (await send()).text()
  const answer = JSON.parse(first)
  assert.equal(answer.created_documents.length, 1501)
  assert.equal(first, JSON.stringify(answer), 'as one would write it at once')
  assert.equal(await (await send()).text(), first)
  const newest = await (await read(app, '/api/v1/documents?order=desc&limit=1')).json()
  assert.equal(
    (newest as { documents: { id: number }[] }).documents[0]?.id,
    answer.created_documents.at(-1).id,
  )
  assert.deepEqual(temporaryFiles(app), [])
})
