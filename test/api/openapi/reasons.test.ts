// Reasons of errors: the codes by which the page, agents and programs decide (decisions#errors).

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { ERROR_REASONS } from '../../../src/runtime/errors.ts'
import { batch, CREATE, fillDirectory, post, read, TOKENS } from '../../support/directory.ts'
import { until } from '../../support/terminal.ts'
import { call, connect, ERAS, type Era, type Json } from '../mcp/support.ts'
import { loseDays, openApp, send } from '../support.ts'

const HOLE = { from: '2026-02-20', to: '2026-03-04' }
const CONVERSION = { amount: '1', from: 'USD', to: 'CRC', on: '2026-03-02' }
const LATEST = '/api/v1/rates/latest?on=2026-03-02'
const FILE = { name: 'a', mimetype: 'text/plain', base64: 'YQ==' }
const manualPages = ['api.md', 'es/api.md']

const app = await openApp()
const body = async (path: string) => (await (await app.get(path)).json()) as Json
before(async () => {
  await app.sync()
  await fillDirectory(app)
  await loseDays(app, HOLE)
  await until(async () => (await app.get(LATEST)).status === 404)
})

test('a day that was not synchronized is `not_synchronized`, and other errors of rates have no reason', async () => {
  const answer = await body(LATEST)
  assert.deepEqual(Object.keys(answer), ['detail', 'reason'])
  assert.equal(answer.reason, 'not_synchronized')
  for (const path of ['/api/v1/rates/latest?provider=none', '/api/v1/rates/latest?on=1983-01-01', '/none'])
    assert.deepEqual(Object.keys(await body(path)), ['detail'], path)
  assert.equal((await body('/api/v1/indicators/423/latest')).reason, 'no_indicator')
})

test('a failed element of a batch has its reason', async () => {
  const elements = JSON.stringify([
    CONVERSION,
    { ...CONVERSION, on: '1983-01-01' },
    { ...CONVERSION, on: '2026-03-24' },
  ])
  const headers = { 'x-api-key': app.key, 'content-type': 'application/json' }
  const response = await fetch(`${app.app.url}/api/v1/convert/batch`, {
    method: 'POST',
    headers,
    body: elements,
  })
  const answers = (await response.json()) as Json[]
  assert.deepEqual(
    answers.map(({ status, reason }) => [status, reason]),
    [
      [404, 'not_synchronized'],
      [404, undefined],
      [undefined, undefined],
    ],
  )
})

test('errors of the documents name the missing document, company, agent or owner', async () => {
  const create = async (ids: Json) => post(app, CREATE, { ...batch(FILE), ...ids })
  const cases: [Response, string][] = [
    [await read(app, '/api/v1/documents/999'), 'no_document'],
    [await create({ company_id: 9 }), 'no_company'],
    [await create({ agent_id: 3 }), 'no_agent'],
    [await create({ owner_id: 2 }), 'no_owner'],
  ]
  for (const [response, reason] of cases) {
    assert.equal(response.status, 404)
    const answer = (await response.json()) as Json
    assert.deepEqual(Object.keys(answer), ['status', 'message', 'reason'])
    assert.equal(answer.reason, reason)
  }
  const faulty = (await (await create({ documents: [{ name: 'a' }] })).json()) as Json
  assert.equal(faulty.reason, undefined)
})

test('the shapes of other services have no reason', async () => {
  const headers = { 'x-api-key': app.key }
  for (const path of ['/compat/hacienda/indicadores/tc/dolar', '/compat/valor/USD?on=2026-03-02'])
    assert.doesNotMatch((await send(app.app.url + path, { headers })).body, /reason|not_synchronized/, path)
})

test('signing in over plain HTTP from another machine is `https_required`', async () => {
  const headers = { 'x-forwarded-for': '192.0.2.7', 'x-forwarded-proto': 'http' } // a proxy on this machine
  const answer = await send(`${app.app.url}/session`, { headers })
  assert.deepEqual([answer.status, JSON.parse(answer.body).reason], [403, 'https_required'])
})

for (const era of Object.keys(ERAS) as Era[]) {
  const open = (t: TestContext, secret: string) =>
    connect(t, era, { app, headers: { 'x-api-key': app.key, authorization: `Bearer ${secret}` } })

  test(`${era}: failed tools, items and resources of MCP have their reason`, async (t) => {
    const client = await open(t, TOKENS.read)
    const tools: [string, Json, string | undefined][] = [
      ['get_rate', { on: CONVERSION.on }, 'not_synchronized'],
      ['get_rate', { on: '1983-01-01' }, undefined],
      ['rate_statistics', { base: 'USD', quote: 'CRC', ...HOLE }, 'not_synchronized'],
      ['read_document', { id: 999 }, 'no_document'],
      ['list_documents', { company_id: 'x' }, undefined],
    ]
    for (const [name, input, reason] of tools) {
      const answer = (await call(client, name, input)) as Json
      assert.deepEqual(
        [answer.isError, answer._meta?.reason],
        [true, reason],
        `${name} ${answer.content[0].text}`,
      )
    }
    const items = (await call(client, 'convert', { items: [CONVERSION] })) as Json
    assert.equal(items.structuredContent.results[0].reason, 'not_synchronized')
    await assert.rejects(client.readResource({ uri: 'cambista://documents/999' }), (error: Json) => {
      assert.deepEqual(error.data, { reason: 'no_document' })
      return true
    })
  })
}

test('/openapi.json and both manuals name each reason', async () => {
  const { components } = await app.json<Json>('/openapi.json')
  for (const name of ['HTTPError', 'DocumentsError', 'ConversionError'])
    assert.deepEqual(components.schemas[name].properties.reason.enum, ERROR_REASONS, name)
  for (const page of manualPages) {
    const text = readFileSync(join(import.meta.dirname, '../../../src/manual', page), 'utf8')
    for (const reason of ERROR_REASONS) assert.ok(text.includes(`\`${reason}\``), `${page}: ${reason}`)
  }
})
