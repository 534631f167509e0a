// Rules of every way to send documents: repeats, quotas, tokens of one company, log, memory, full disks.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { hashOfSecret } from '../../../../src/domain/access/secrets.ts'
import { startTestApp, type TestApp, type TestAppOptions } from '../../../support/app.ts'
import { AT, fillDirectory, post, read } from '../../../support/directory.ts'
import {
  SEND,
  sampleDocument,
  UPLOAD_FORM_NAMES,
  UPLOAD_FORMS,
  type UploadRequest,
} from '../../../support/documents/ways.ts'
import { mountSmallDisk } from '../../../support/small-disk.ts'
import { until } from '../../../support/terminal.ts'
import { asOtherProcess } from '../../support.ts'

const BOUND = { authorization: 'Bearer cbt_bound' }

/** An app with a token of company 1 that has a quota of 100,000 bytes. */
async function open(t: TestContext, options: TestAppOptions = {}): Promise<TestApp> {
  const app = await startTestApp(t, options)
  await fillDirectory(app)
  const facts = { allow: 'documents:POST documents:GET', company_id: 1, quota: 100_000, created_at: AT }
  await asOtherProcess(app, (db) =>
    db
      .insertInto('tokens')
      .values({ name: 'bound', hash: hashOfSecret('cbt_bound'), ...facts })
      .execute(),
  )
  await until(async () => (await read(app, SEND, BOUND)).status === 200)
  return app
}

const send = (app: TestApp, { path, headers, body }: UploadRequest, more: Record<string, string> = {}) =>
  post(app, path, body, { ...headers, ...more })

const temporaryFiles = (app: TestApp) => readdirSync(join(app.dataDir, 'blobs/tmp'))

async function listRows(app: TestApp): Promise<Record<string, unknown>[]> {
  return ((await (await read(app, `${SEND}?limit=200`)).json()) as { documents: Record<string, unknown>[] })
    .documents
}

test('the same document is the same request under an Idempotency-Key, whichever way it is sent', async (t) => {
  const app = await open(t)
  const key = { 'idempotency-key': 'factura-1' }
  const answers: unknown[] = []
  for (const way of [...UPLOAD_FORM_NAMES, ...UPLOAD_FORM_NAMES]) {
    const response = await send(app, UPLOAD_FORMS[way]([sampleDocument('uno')]), key)
    assert.equal(response.status, 200)
    answers.push(await response.json())
  }
  for (const answer of answers) assert.deepEqual(answer, answers[0])
  assert.equal((await listRows(app)).length, 1)
  const others = [
    sampleDocument('dos'),
    sampleDocument('uno', 'otra.pdf'),
    sampleDocument('uno', 'factura.pdf', 'text/plain'),
  ]
  for (const other of others) {
    for (const way of UPLOAD_FORM_NAMES) {
      const response = await send(app, UPLOAD_FORMS[way]([other]), key)
      const answer = (await response.json()) as { message: string }
      assert.deepEqual([response.status, answer.message], [409, 'Idempotency-Key was used with another body'])
    }
  }
  const { path, headers, body } = UPLOAD_FORMS.form([sampleDocument('uno')])
  const boundary = 'another-boundary'
  const again = await post(app, path, body.toString().replaceAll('XxLimitexX', boundary), {
    ...headers,
    ...key,
    'content-type': `multipart/form-data; boundary=${boundary}`,
  })
  assert.deepEqual(await again.json(), answers[0])
  assert.deepEqual(temporaryFiles(app), [])
})

test('a form that 1.0.0 stored under an Idempotency-Key is replayed', async (t) => {
  const app = await open(t)
  // JSON with the name and the type that 1.0.0 read from these forms.
  const cases: [disposition: string, type: string, name: string][] = [
    ['=?utf-8?B?RmFjdHVyYWNpw7NuLnBkZg==?=', 'application/pdf', 'Facturación.pdf'],
    ['=?iso-8859-1?Q?=F3.xml?=', 'application/octet-stream', 'ó.xml'],
    ['factura.pdf', 'Application/octet-stream', 'factura.pdf'],
    ['ñ.txt', 'text/plain', 'ñ.txt'],
  ]
  for (const [sentName, type, name] of cases) {
    const key = { 'idempotency-key': sentName.replaceAll(/\W/g, '') }
    const earlier = await send(app, UPLOAD_FORMS.JSON([sampleDocument('uno', sentName, type)]), key)
    const form = UPLOAD_FORMS.form([sampleDocument('uno', sentName, type)])
    const repeat = await send(app, form, key)
    assert.equal(repeat.status, 200)
    assert.deepEqual(await repeat.json(), await earlier.json()) // with the stored name
    const fresh = { 'idempotency-key': `${key['idempotency-key']}-2` }
    const [first, second] = [await send(app, form, fresh), await send(app, form, fresh)]
    const answer = (await first.json()) as { created_documents: { name: string }[] }
    assert.equal(answer.created_documents[0]?.name, name)
    assert.deepEqual(await second.json(), answer)
    const other = await send(app, UPLOAD_FORMS.form([sampleDocument('dos', sentName, type)]), fresh)
    assert.equal(other.status, 409)
  }
  assert.equal((await listRows(app)).length, 2 * cases.length)
})

for (const way of UPLOAD_FORM_NAMES) {
  test(`${way}: the row and the log name the token and the document`, async (t) => {
    const app = await open(t)
    assert.equal((await send(app, UPLOAD_FORMS[way]([sampleDocument('hola')]))).status, 200)
    const [row] = await listRows(app)
    const { name, mimetype, size, created_by } = row ?? {}
    assert.deepEqual([name, mimetype, size, created_by], ['factura.pdf', 'application/pdf', 4, 'test-all'])
    const isLogged = (...words: string[]) =>
      until(() => app.logLines.some((line) => words.every((word) => line.includes(word))))
    await isLogged('documents created', 'test-all')
    await send(app, UPLOAD_FORMS[way]([{ ...sampleDocument('hola'), mimetype: 'x' }]))
    await isLogged('upload refused', 'Invalid documents')
  })

  test(`${way}: a token of one company cannot reach others, and its quota counts`, async (t) => {
    const app = await open(t)
    const theirs = { owner_id: 2, company_id: 2, agent_id: 3 }
    const refused = await send(app, UPLOAD_FORMS[way]([sampleDocument()], theirs), BOUND)
    assert.deepEqual(
      [refused.status, await refused.json()],
      [404, { status: 'not found', message: 'Company not found', reason: 'no_company' }],
    )
    const large = await send(app, UPLOAD_FORMS[way]([sampleDocument('x'.repeat(100_001))]), BOUND)
    assert.equal(large.status, 507)
    assert.match(
      ((await large.json()) as { message: string }).message,
      /^The quota of .* of token bound is used up/,
    )
    assert.deepEqual([await listRows(app), temporaryFiles(app)], [[], []])
    assert.equal(
      (await send(app, UPLOAD_FORMS[way]([sampleDocument('x'.repeat(100_000))]), BOUND)).status,
      200,
    )
    assert.equal((await send(app, UPLOAD_FORMS[way]([sampleDocument('y')]), BOUND)).status, 507)
  })

  test(`${way}: a body that outgrows the disk is rejected, and leaves nothing`, async (t) => {
    const disk = mountSmallDisk(t, 24 * 1024 ** 2)
    if ('reason' in disk) return t.skip(disk.reason)
    const app = await open(t, { dataDir: join(disk.dir, 'data'), limits: { minFree: 0 } })
    const large = { ...sampleDocument(), bytes: randomBytes(30_000_000) }
    const { path, headers, body } = UPLOAD_FORMS[way]([large])
    for (const stated of [true, false]) {
      const init = {
        method: 'POST',
        body: stated ? body : new Blob([body as Uint8Array<ArrayBuffer>]).stream(), // chunked
        duplex: 'half',
        headers: { ...headers, authorization: 'Bearer cbt_all' },
      }
      const response = await fetch(app.app.url + path, init as RequestInit)
      assert.equal(response.status, 507, await response.clone().text())
      assert.deepEqual([await listRows(app), temporaryFiles(app)], [[], []])
    }
    assert.equal(
      (await send(app, UPLOAD_FORMS[way]([{ ...sampleDocument(), bytes: randomBytes(1_000_000) }]))).status,
      200,
    )
  })
}

test('a form over the memory limit is a 413, and leaves nothing', async (t) => {
  const app = await open(t, { limits: { memory: { each: 1024 ** 2, all: 2 * 1024 ** 2 } } })
  const many = (count: number) =>
    UPLOAD_FORMS.form(
      Array.from({ length: count }, (_, at) => sampleDocument('hola', `${at} `.padEnd(250, 'x'))),
    )
  for (let time = 0; time < 3; time++) {
    const response = await send(app, many(5000))
    assert.equal(response.status, 413)
    assert.match(((await response.json()) as { message: string }).message, /is limited to 1 MiB/)
    assert.deepEqual(temporaryFiles(app), [])
  }
  assert.equal((await send(app, many(2000))).status, 200)
})
