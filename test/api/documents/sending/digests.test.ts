// Content-Digest and Repr-Digest: the client's hash of its body, in each way to send documents.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { fillDirectory, post } from '../../../support/directory.ts'
import { sampleDocument, UPLOAD_FORM_NAMES, UPLOAD_FORMS } from '../../../support/documents/ways.ts'

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
})

const of = (algorithm: string, body: Buffer) =>
  `sha-${algorithm}=:${createHash(`sha${algorithm}`).update(body).digest('base64')}:`
const other = Buffer.from('another')

const good: ((body: Buffer) => string)[] = [
  (body) => of('256', body),
  (body) => of('512', body),
  (body) => `${of('256', body)}, ${of('512', body)}`,
  (body) => `md5=:AAAA:,\t${of('512', body)}`,
  () => 'unixsum=:AAAA:',
  (body) => `${of('256', other)}, ${of('256', body)}`, // the last value of a repeated algorithm counts
]
const bad: ((body: Buffer) => string)[] = [
  () => of('256', other),
  () => of('512', other),
  (body) => `${of('256', body)}, ${of('512', other)}`,
  (body) => `${of('256', body)}, ${of('256', other)}`,
]
const malformed = [
  '',
  'x',
  'sha-256',
  'sha-256=AAAA',
  'sha-256=:AAAA:',
  'sha-256=:?:',
  'SHA-256=:AAAA:',
  'a=:AAAA:,',
  'sha-512=::',
]

for (const way of UPLOAD_FORM_NAMES) {
  for (const header of ['Content-Digest', 'Repr-Digest']) {
    test(`${header} of a document sent as ${way} is verified`, async () => {
      const { path, headers, body } = UPLOAD_FORMS[way]([sampleDocument('un documento')])
      for (const digest of good) {
        const response = await post(app, path, body, { ...headers, [header]: digest(body) })
        assert.equal(response.status, 200, digest(body))
      }
      for (const digest of bad) {
        const response = await post(app, path, body, { ...headers, [header]: digest(body) })
        const message = `The body is not what ${header} says: it was altered on its way, or is another one`
        assert.deepEqual([response.status, await response.json()], [400, { status: 'error', message }])
      }
      for (const digest of malformed) {
        const response = await post(app, path, body, { ...headers, [header]: digest })
        const message = `${header} must be written as sha-256=:BASE64: or sha-512=:BASE64:`
        assert.deepEqual(
          [response.status, await response.json()],
          [400, { status: 'error', message }],
          digest,
        )
      }
      assert.deepEqual(readdirSync(join(app.dataDir, 'blobs/tmp')), [])
    })
  }
}
