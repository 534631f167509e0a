// The description of the documents API, compared with live answers.

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { INVOICE_KINDS } from '../../../src/http/listings/invoice-params.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, read } from '../../support/directory.ts'
import { type Description, type Document, readDescription } from './description.ts'

const LIST = '/api/v1/documents'

let app: TestApp
let description: Description
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
  description = readDescription((await (await fetch(`${app.app.url}/openapi.json`)).json()) as Document)
})

const isAsDescribed = async (path: string, method: 'get' | 'post', response: Response) => {
  const { status, headers } = response
  const type = String(headers.get('content-type'))
  description.checkAnswer(path, method, { status, type, body: await response.text() })
}

test('answers of uploads match the description, good or bad', async () => {
  await isAsDescribed(CREATE, 'post', await post(app, CREATE, batch(pdf(), pdf())))
  await isAsDescribed(CREATE, 'post', await post(app, CREATE, batch(pdf(), {})))
  await isAsDescribed(CREATE, 'post', await post(app, CREATE, { ...batch(pdf()), company_id: 9 }))
})

test('pages match the description in either order, and so do the parameters', async () => {
  for (const query of [
    '',
    '?limit=1',
    '?after=9',
    '?order=desc',
    '?order=desc&before=1',
    '?after=9&wait=1',
  ]) {
    await isAsDescribed(LIST, 'get', await read(app, LIST + query))
  }
  await isAsDescribed(LIST, 'get', await read(app, `${LIST}?before=1`))
  const { parameters } = description.operation(LIST)
  assert.deepEqual(
    parameters.map(({ name, schema }) => [name, schema.enum ?? schema.type, schema.default]),
    [
      ['company_id', 'integer', undefined],
      ['agent_id', 'integer', undefined],
      ['state', 'string', undefined],
      ['q', 'string', undefined],
      ['from', 'string', undefined],
      ['to', 'string', undefined],
      ['clave', 'string', undefined],
      ['issuer', 'string', undefined],
      ['kind', INVOICE_KINDS, undefined],
      ['issued_from', 'string', undefined],
      ['issued_to', 'string', undefined],
      ['limit', 'integer', 50],
      ['order', ['asc', 'desc'], 'asc'],
      ['after', 'integer', undefined],
      ['before', 'integer', undefined],
      ['wait', 'integer', undefined],
    ],
  )
})

test('the check rejects a page without its cursor', async () => {
  const check = description.compileSchema(description.answerSchema(LIST, 200))
  const page = { status: 'success', documents: [], has_more: false }
  assert.ok(check({ ...page, next_after: 0 }) && check({ ...page, next_before: 0 }))
  for (const wrong of [{}, { next_after: null }, { next_before: '1' }])
    assert.ok(!check({ ...page, ...wrong }))
})
