// An unknown parameter is rejected, with the name that was probably meant (decisions#unknown-names).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batch, CREATE, fillDirectory, pdf, post, read } from '../support/directory.ts'
import { errorDetail, openApp, send, validationItems } from './support.ts'

const app = await openApp()
await app.sync()
await fillDirectory(app)
assert.equal((await post(app, CREATE, batch(pdf()))).status, 200)

const LATEST = '/api/v1/rates/latest'
const RATES = '/api/v1/rates'
const HISTORY = '/api/v1/series/1/history'
const CONVERT = '/api/v1/convert?amount=1&from=USD&to=CRC&'
const HEALTH = '/api/v1/health'

const SUGGESTIONS: [path: string, name: string, known: string][] = [
  [LATEST, 'date', 'on'],
  [LATEST, 'day', 'on'],
  [RATES, 'fecha', 'on'],
  [RATES, 'ON', 'on'],
  [RATES, 'Fecha', 'on'],
  [RATES, 'on[]', 'on'],
  [RATES, 'exacto', 'exact'],
  [RATES, 'base_currency', 'base'],
  [CONVERT, 'date', 'on'],
  [CONVERT, 'tipo', 'type'],
  [CONVERT, 'side', 'type'],
  [CONVERT, 'rate_type', 'type'],
  [CONVERT, 'desde', 'from'],
  [CONVERT, 'hasta', 'to'],
  [CONVERT, 'form', 'from'],
  [CONVERT, 'ammount', 'amount'],
  [CONVERT, 'toCurrency', 'to'],
  [HISTORY, 'desde', 'from'],
  [HISTORY, 'since', 'from'],
  [HISTORY, 'hasta', 'to'],
  [HISTORY, 'until', 'to'],
  [HISTORY, 'date_from', 'from'],
  [HISTORY, 'start', 'from'],
  ['/api/v1/history?base=EUR&quote=CRC&', 'step', 'every'],
  ['/api/v1/series', 'enabled', 'only_enabled'],
  ['/api/v1/series', 'Base', 'base'],
  ['/api/v1/providers', 'only-enabled', 'only_enabled'],
  ['/api/v1/sync/runs', 'limits', 'limit'],
]
for (const [path, name, known] of SUGGESTIONS) {
  test(`${name} of ${path.replace(/\?.*/, '')} is a 422 that suggests ${known}`, async () => {
    const [item, ...others] = await validationItems(
      app,
      `${path}${path.endsWith('&') ? '' : '?'}${name}=2020-01-01`,
    )
    const msg = `there is no parameter ${name}: did you mean ${known}?`
    assert.deepEqual(item, { loc: ['query', name], msg, type: 'unknown', input: '2020-01-01' })
    assert.deepEqual(others, [])
  })
}

for (const [path, name] of [
  [`${RATES}.csv`, 'decimals'],
  ['/api/v1/history?base=EUR&quote=CRC&', 'status'],
] as const) {
  test(`${name} is a 422 that suggests no parameter of another meaning`, async () => {
    const [item] = await validationItems(app, `${path}${path.endsWith('&') ? '' : '?'}${name}=2`)
    assert.match(item?.msg ?? '', new RegExp(`^there is no parameter ${name}: this path has `))
  })
}

const far: [path: string, name: string, said: string, sent?: string][] = [
  [LATEST, 'q', 'this path has provider, base, quote, on, as_of, details'],
  [HISTORY, 'date', 'this path has from, to, as_of, dialect, dialecto, decimal, sep'],
  [RATES, 'from', 'this path has on, as_of, provider, base, quote, exact, dialect, dialecto, decimal, sep'],
  [HEALTH, 'on', 'this path has none'],
  ['/api/v1/scheduler', 'verbose', 'this path has none'],
  [LATEST, 'constructor', 'this path has provider, base, quote, on, as_of, details'],
  [LATEST, 'to string', 'this path has provider, base, quote, on, as_of, details', 'to%20string'],
]
for (const [path, name, message, query = name] of far) {
  test(`${name} of ${path} is a 422 that lists the parameters`, async () => {
    const [item, ...others] = await validationItems(app, `${path}?${query}=1`)
    const quotedName = name.includes(' ') ? JSON.stringify(name) : name
    const msg = `there is no parameter ${quotedName}: ${message}`
    assert.deepEqual(item, { loc: ['query', name], msg, type: 'unknown', input: '1' })
    assert.deepEqual(others, [])
  })
}

test('a value without a name is reported, and an endless one is shortened', async () => {
  const [nameless] = await validationItems(app, `${RATES}?=2020-01-01`)
  assert.match(nameless?.msg ?? '', /^there is no parameter without a name: this path has on, /)
  const [endless] = await validationItems(app, `${RATES}?${'x'.repeat(10_000)}=1`)
  assert.match(endless?.msg ?? '', /^there is no parameter x{60}…: this path/)
})

test('a 422 lists unknown parameters beside other faults, each once', async () => {
  const path = `${RATES}?on=never&fecha=2020-01-01&Base=EUR&x=%zz&x=1`
  const listed = (await validationItems(app, path)).map(({ loc, type }) => `${loc[1]} ${type}`)
  assert.deepEqual(listed.sort(), ['Base unknown', 'fecha unknown', 'on date', 'x encoding'])
  const items = await validationItems(app, '/api/v1/convert?amont=1&from=USD&to=CRC')
  assert.deepEqual(
    items.map(({ msg }) => msg),
    ['amount is required', 'there is no parameter amont: did you mean amount?'],
  )
})

test('thousands of unknown parameters are all listed', async () => {
  const names = Array.from({ length: 3000 }, (_, at) => `a${at.toString(36)}`)
  assert.equal((await validationItems(app, `${CONVERT}${names.join('&')}`)).length, 3000)
})

test('an unknown parameter is rejected for a cached answer and for HEAD too', async () => {
  await app.json(LATEST)
  await app.json(LATEST)
  await validationItems(app, `${LATEST}?date=2020-01-01`)
  const headers = { 'X-API-Key': app.key }
  const { status, body } = await send(`${app.app.url}${LATEST}?date=2020-01-01`, { method: 'HEAD', headers })
  assert.deepEqual([status, body], [422, ''])
})

test('names that begin with an underscore are ignored, on every path', async () => {
  const plain = await app.json(LATEST)
  assert.deepEqual(await app.json(`${LATEST}?_=1700000000&_on=never&__proto__=1&_`), plain)
  assert.equal((await app.get(`${HEALTH}?_=1`)).status, 200)
  assert.equal((await read(app, '/api/v1/documents?_=1')).status, 200)
  assert.equal((await validationItems(app, `${LATEST}?_=%zz`))[0]?.type, 'encoding')
})

test('an empty value is malformed, except for an ignored name', async () => {
  assert.equal((await validationItems(app, `${RATES}?on=`))[0]?.type, 'date')
  assert.equal((await validationItems(app, `${RATES}?exact=&_=`))[0]?.type, 'boolean')
})

const documents: [query: string, message: string][] = [
  ['?agent=1', 'there is no parameter agent: did you mean agent_id?'],
  ['?company=1', 'there is no parameter company: did you mean company_id?'],
  ['?agentId=1', 'there is no parameter agentId: did you mean agent_id?'],
  [
    '?page=2',
    'there is no parameter page: this path has company_id, agent_id, state, q, from, to, clave, issuer, kind, issued_from, issued_to, limit, order, after, before, wait',
  ],
  ['/1?download=1', 'there is no parameter download: this path has none'],
  ['/1/content?inline', 'there is no parameter inline: this path has none'],
]
for (const [query, message] of documents) {
  test(`/documents${query} is rejected in the error format of the documents API`, async () => {
    const response = await read(app, `/api/v1/documents${query}`)
    assert.equal(response.status, 422)
    assert.deepEqual(await response.json(), { status: 'error', message })
  })
}

test('the probes, the description and the POSTs ignore unknown parameters', async () => {
  for (const path of ['/healthz', '/readyz', '/openapi.json']) {
    assert.equal((await send(`${app.app.url}${path}?utm_source=x&on=`)).status, 200, path)
  }
  const response = await post(app, `${CREATE}?dry_run=1`, batch(pdf('otra vez')))
  assert.equal(response.status, 200, await response.text())
  const agents = await post(app, '/api/v1/agent/get_by_company?company=1', { company_id: 1, code: 'ACME' })
  assert.equal(agents.status, 200)
})

test('unknown parameters are not reported without a key, nor on an unknown path', async () => {
  assert.equal((await send(`${app.app.url}${LATEST}?date=x`)).status, 401)
  assert.equal(await errorDetail(app, '/api/v1/nothing?date=x', 404), 'Not found')
})
