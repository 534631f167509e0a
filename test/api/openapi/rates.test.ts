// The description of the rates API: its form, the contract, and live answers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VERSION } from '../../../src/runtime/assets.ts'
import { asOtherProcess, ENDPOINTS, openApp, send } from '../support.ts'
import { type Document, type Parameter, readDescription } from './description.ts'

const app = await openApp()
await app.sync()
await asOtherProcess(app, async (db) => {
  const dates = { date_from: null, date_to: null, finished_at: null, message: 'in progress' }
  const run = { provider_id: 1, trigger: 'retry', status: 'error', started_at: '2026-03-24T13:00:00.000Z' }
  await db
    .insertInto('sync_runs')
    .values({ ...dates, ...run } as never)
    .execute()
})
const description = readDescription(JSON.parse((await send(`${app.app.url}/openapi.json`)).body) as Document)
const { document, compileSchema: compiled, resolveSchema: resolved, answerSchema: schemaOf } = description

const DEFAULTS = { provider: 'bccr', base: 'USD', quote: 'CRC', type: 'venta', limit: 20 }

/** An addition to the contract, for stored values. */
const AS_OF = 'as_of date-time'

/** Parameters of every CSV answer. */
const DIALECT = ['dialect string', 'decimal .|,', 'sep ,|;|\t']

// The contract's tables: name, place, whether required, type, default.
const PARAMETERS: Record<string, string[]> = {
  '/api/v1/health': [],
  '/api/v1/providers': ['only_enabled boolean =false', 'details boolean =false'],
  '/api/v1/series': [
    ...['provider string', 'base string', 'quote string'],
    ...['only_enabled boolean =false', 'details boolean =false'],
  ],
  '/api/v1/rates/latest': [
    `provider string =${DEFAULTS.provider}`,
    `base string =${DEFAULTS.base}`,
    `quote string =${DEFAULTS.quote}`,
    'on date',
    AS_OF,
    'details boolean =false',
  ],
  '/api/v1/rates': [
    'on date',
    AS_OF,
    'provider string',
    'base string',
    'quote string',
    'exact boolean =false',
    ...DIALECT,
  ],
  '/api/v1/series/{series_id}/history': [
    'series_id integer in path required',
    'from date',
    'to date',
    AS_OF,
    ...DIALECT,
  ],
  '/api/v1/convert': [
    'amount string required',
    'from string required',
    'to string required',
    `provider string =${DEFAULTS.provider}`,
    `type compra|venta|referencia =${DEFAULTS.type}`,
    'on date',
    'decimals integer 0..20',
    'rounding half-up|half-even|down',
    AS_OF,
    'details boolean =false',
    ...DIALECT,
  ],
  '/api/v1/history': [
    'base string required',
    'quote string required',
    `provider string =${DEFAULTS.provider}`,
    `type compra|venta|referencia =${DEFAULTS.type}`,
    'from date',
    'to date',
    'every day|week|month|quarter|year =day',
    'stat last|mean|low|high|all =last',
    AS_OF,
    'details boolean =false',
    ...DIALECT,
  ],
  '/api/v1/sync/runs': ['provider string', `limit integer 1..200 =${DEFAULTS.limit}`],
  '/api/v1/scheduler': [],
}

const FIELDS: Record<string, string> = {
  '/api/v1/health': 'status database scheduler providers series rates last_sync exact? detail?',
  '/api/v1/providers': 'id code name country website? enabled attribution? terms? invented?',
  '/api/v1/series':
    'id provider_id external_code name base_currency quote_currency rate_type unit? periodicity? ' +
    'first_data_date? last_data_date? enabled',
  '/api/v1/rates/latest':
    'provider pair rate_date compra? venta? referencia? rounded_to? missing? covered_to? future? as_of?',
  '/api/v1/rates':
    'provider series_id external_code pair base_currency quote_currency rate_type rate_date value rounded_to?',
  '/api/v1/series/{series_id}/history':
    'provider series_id external_code pair rate_type date_from date_to count as_of? holes? points',
  '/api/v1/convert':
    'provider rate_date rate_type from_currency to_currency amount rate result path? via_pivot? rounded_to? legs? future? as_of?',
  '/api/v1/history': 'provider base quote rate_type date_from date_to every stat count as_of? holes? points',
  '/api/v1/sync/runs':
    'id provider_id trigger status date_from? date_to? inserted updated unchanged message? started_at ' +
    'finished_at?',
}
// Statuses of the contract, 304, and the error of an instant before the record. Statuses of any request are
// in all.
const ANY_REQUEST = '400 408 431 500 503'
const STATUSES: Record<string, string> = {
  '/api/v1/health': '200 401 422',
  '/api/v1/providers': '200 304 401 422',
  '/api/v1/series': '200 304 401 422',
  '/api/v1/rates/latest': '200 304 401 404 422',
  '/api/v1/rates': '200 304 401 404 422',
  '/api/v1/series/{series_id}/history': '200 304 401 404 422',
  '/api/v1/convert': '200 304 401 404 422',
  '/api/v1/history': '200 304 401 404 422',
  '/api/v1/sync/runs': '200 401 422',
  '/api/v1/scheduler': '200 401 422',
}

test('the description is valid OpenAPI 3.1', () => {
  assert.match(document.openapi, /^3\.1\.\d$/)
  assert.equal(document.info.version, VERSION)
  assert.ok(document.info.title.length > 0)
  assert.deepEqual(document.components.securitySchemes.apiKey, {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
  })
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, ...operation })),
  )
  assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length)
  for (const { path, method, operationId, parameters, responses } of operations) {
    assert.match(method, /^(get|post|put|delete)$/)
    assert.match(operationId, /^\w+$/)
    const places = parameters.filter((one) => one.in === 'path').map(({ name }) => `{${name}}`)
    assert.deepEqual(path.match(/\{\w+\}/g) ?? [], places)
    for (const { name, schema } of parameters) {
      const check = compiled(schema)
      for (const example of [schema.default, ...((schema.examples as unknown[]) ?? [])]) {
        assert.ok(example === undefined || check(example), `${path} ${name}: ${JSON.stringify(example)}`)
      }
    }
    for (const [status, { description, content = {} }] of Object.entries(responses)) {
      assert.match(status, /^[2-5]\d\d$/)
      assert.ok(description.length > 0)
      for (const { schema } of Object.values(content)) compiled(schema ?? {})
    }
  }
})

test('the description has the nine endpoints and the probes, all of them read-only', () => {
  for (const path of [...Object.keys(PARAMETERS), '/healthz', '/readyz']) {
    assert.deepEqual(Object.keys(document.paths[path] ?? {}), ['get'], path)
  }
})

for (const [path, parameters] of Object.entries(PARAMETERS)) {
  test(`the parameters of ${path} are those of the contract`, () => {
    const own = description.operation(path).parameters.filter((one) => one.in !== 'header')
    assert.deepEqual(own.map(summarize), parameters)
  })

  test(`the security and the statuses of ${path} are those of the contract`, () => {
    const { security, responses } = description.operation(path)
    assert.deepEqual(security, [{ apiKey: [] }])
    const statuses = new Set(`${STATUSES[path]} ${ANY_REQUEST}`.split(' '))
    assert.deepEqual(Object.keys(responses), [...statuses].sort())
  })
}

for (const [path, fields] of Object.entries(FIELDS)) {
  test(`every field of ${path} that the contract requires is required`, () => {
    const answer = resolved(schemaOf(path, 200))
    const object = resolved(answer.items ?? answer)
    const names = fields.split(' ').map((field) => field.replace('?', ''))
    const required = fields.split(' ').filter((field) => !field.endsWith('?'))
    assert.deepEqual(Object.keys(object.properties ?? {}).sort(), names.sort())
    for (const name of required) assert.ok(object.required?.includes(name), name)
  })
}

const live: [status: number, path: string][] = [
  ...ENDPOINTS.map((path): [number, string] => [200, path]),
  [200, '/api/v1/rates/latest?base=EUR&quote=USD'],
  [200, '/api/v1/rates?exact=true&on=2026-03-22'],
  [200, '/api/v1/series/47/history?from=2026-03-21&to=2026-03-22'],
  [200, '/api/v1/convert?amount=1&from=JPY&to=CRC'],
  [200, '/api/v1/history?base=EUR&quote=CRC&every=month&stat=all&details=true'],
  [200, '/api/v1/series?details=true'],
  [200, '/api/v1/providers?details=true'],
  [200, '/healthz'],
  [200, '/readyz'],
  [404, '/api/v1/rates/latest?base=XXX'],
  [404, '/api/v1/series/999/history'],
  [404, '/api/v1/convert?amount=1&from=XXX&to=CRC'],
  [422, '/api/v1/providers?only_enabled=2'],
  [422, '/api/v1/series?base=1&quote='],
  [422, '/api/v1/rates/latest?on=never'],
  [422, '/api/v1/rates?exact=2&%zz'],
  [422, '/api/v1/series/abc/history?from=1'],
  [422, '/api/v1/convert'],
  [422, '/api/v1/sync/runs?limit=201'],
  [422, '/api/v1/health?verbose=1'],
  [422, '/api/v1/scheduler?x'],
]
for (const [status, path] of live) {
  test(`the ${status} of ${path} matches the description`, async () => {
    await isAsDescribed(path, status, { 'X-API-Key': app.key })
  })
}

for (const path of ENDPOINTS) {
  test(`the 401 of ${path} matches the description`, () => isAsDescribed(path, 401, {}))
}

test('the check rejects a wrong answer', () => {
  const check = compiled(schemaOf('/api/v1/rates/latest', 200))
  const right = { provider: 'a', pair: 'USD/CRC', rate_date: '2026-03-24' }
  const sides = { compra: '1.5', venta: null, referencia: null }
  assert.ok(check({ ...right, ...sides }))
  for (const wrong of [{ compra: 1.5 }, { compra: '1.50' }, { compra: '1e3' }, { rate_date: '24/03/2026' }]) {
    assert.ok(!check({ ...right, ...sides, ...wrong }), JSON.stringify(wrong))
  }
})

async function isAsDescribed(path: string, status: number, headers: Record<string, string>) {
  const answer = await send(app.app.url + path, { headers })
  assert.equal(answer.status, status, answer.body)
  const template = path.replace(/\?.*/, '').replace(/series\/\w+\/history/, 'series/{series_id}/history')
  const type = String(answer.headers['content-type'])
  description.checkAnswer(template, 'get', { status, type, body: answer.body })
}

function summarize({ name, in: place, required, schema }: Parameter): string {
  const range = schema.minimum === undefined ? '' : ` ${schema.minimum}..${schema.maximum}`
  const type = Array.isArray(schema.enum) ? schema.enum.join('|') : (schema.format ?? schema.type)
  const fallback = schema.default === undefined ? '' : ` =${schema.default}`
  return `${name} ${type}${range}${place === 'path' ? ' in path' : ''}${required ? ' required' : ''}${fallback}`
}
