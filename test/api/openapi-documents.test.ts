// What the description says of the documents API, beside live answers of it.

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { startTestApp, type TestApp } from '../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, read } from '../support/directory.ts'

type Operation = {
  parameters: { name: string; description?: string; schema: Record<string, unknown> }[]
  responses: Record<string, { content: { 'application/json': { schema: object } } }>
}
type Described = { paths: Record<string, Record<'get' | 'post', Operation>> }

const LIST = '/api/v1/documents'
const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } })

let app: TestApp
let described: Described
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
  described = (await (await fetch(`${app.app.url}/openapi.json`)).json()) as Described
})

const isAsDescribed = async (path: string, method: 'get' | 'post', response: Response) => {
  const operation = described.paths[path]?.[method]
  const schema = operation?.responses[response.status]?.content['application/json'].schema
  assert.ok(schema, `${response.status} of ${path} is not described`)
  const body = await response.json()
  const check = ajv.compile(schema)
  assert.ok(check(body), `${JSON.stringify(check.errors)} ${JSON.stringify(body)}`)
}

test('says what an upload answers, good or bad', async () => {
  await isAsDescribed(CREATE, 'post', await post(app, CREATE, batch(pdf(), pdf())))
  await isAsDescribed(CREATE, 'post', await post(app, CREATE, batch(pdf(), {})))
  await isAsDescribed(CREATE, 'post', await post(app, CREATE, { ...batch(pdf()), company_id: 9 }))
})

test('says what a page answers, in either order, and which parameters there are', async () => {
  for (const query of ['', '?limit=1', '?after=9', '?order=desc', '?order=desc&before=1']) {
    await isAsDescribed(LIST, 'get', await read(app, LIST + query))
  }
  await isAsDescribed(LIST, 'get', await read(app, `${LIST}?before=1`))
  const { parameters = [] } = described.paths[LIST]?.get ?? {}
  assert.deepEqual(
    parameters.map(({ name, schema }) => [name, schema.enum ?? schema.type, schema.default]),
    [
      ['company_id', 'integer', undefined],
      ['agent_id', 'integer', undefined],
      ['limit', 'integer', 50],
      ['order', ['asc', 'desc'], 'asc'],
      ['after', 'integer', undefined],
      ['before', 'integer', undefined],
    ],
  )
})

test('would notice a page without the place to go on from', async () => {
  const schema = described.paths[LIST]?.get.responses[200]?.content['application/json'].schema as object
  const check = ajv.compile(schema)
  const page = { status: 'success', documents: [], has_more: false }
  assert.ok(check({ ...page, next_after: 0 }) && check({ ...page, next_before: 0 }))
  for (const wrong of [{}, { next_after: null }, { next_before: '1' }])
    assert.ok(!check({ ...page, ...wrong }))
})
