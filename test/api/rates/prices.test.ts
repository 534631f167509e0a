// Price directives of a pair's history: their bytes, their parameters, and days that were not synchronized.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApp } from '../../support/app.ts'
import { until } from '../../support/terminal.ts'
import { addKey, URL_KEY } from '../compat/asmx.ts'
import { loseDays, openApp, send, validationItems } from '../support.ts'

const app = await openApp({ listen: { compat: { open: undefined, serveRounded: false } } })
await app.sync()
await addKey(app, { secret: URL_KEY, kind: 'url' })
const RANGE = 'from=2026-03-20&to=2026-03-24'
type Point = { date: string; value: string }

for (const [base, quote, type, side] of [
  ['USD', 'CRC', 'venta', 'venta'],
  ['USD', 'CRC', 'compra', 'compra'],
  ['EUR', 'CRC', 'venta', 'venta'],
  ['JPY', 'CRC', 'compra', 'compra'],
  ['CRC', 'USD', 'venta', 'venta'],
  ['EUR', 'USD', 'venta', 'referencia'],
] as const) {
  test(`/history.ledger and .beancount have the ${type} of ${base}/${quote} by day`, async () => {
    const query = `base=${base}&quote=${quote}&type=${type}&${RANGE}`
    const { points } = await app.json<{ points: Point[] }>(`/api/v1/history?${query}`)
    assert.ok(points.length > 2)
    const title = `; ${base}/${quote} ${side}, Banco Central de Costa Rica\n`
    const ledger = points.map(({ date, value }) => `P ${date} ${base} ${value} ${quote}\n`)
    const beancount = points.map(({ date, value }) => `${date} price ${base} ${value} ${quote}\n`)
    for (const [form, lines] of [
      ['ledger', ledger],
      ['beancount', beancount],
    ] as const) {
      const response = await app.get(`/api/v1/history.${form}?${query}&every=day`)
      assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
      assert.equal(await response.text(), title + lines.join(''))
    }
  })
}

test('/history.ledger without points is the comment alone', async () => {
  const response = await app.get('/api/v1/history.ledger?base=USD&quote=CRC&from=2026-04-01')
  const text = '; USD/CRC venta, Banco Central de Costa Rica\n'
  assert.deepEqual([response.status, await response.text()], [200, text])
  const same = await app.get(`/api/v1/history.beancount?base=EUR&quote=EUR&${RANGE}`)
  assert.equal(await same.text(), '; EUR/EUR referencia, Banco Central de Costa Rica\n')
})

test('/history.ledger is revalidated, and has no body for HEAD', async () => {
  const path = `/api/v1/history.ledger?base=USD&quote=CRC&${RANGE}`
  const { headers } = await app.get(path)
  const etag = headers.get('etag') ?? ''
  assert.equal((await app.get(path, { 'if-none-match': etag })).status, 304)
  const head = await send(app.app.url + path, { method: 'HEAD', headers: { 'x-api-key': app.key } })
  assert.deepEqual([head.status, head.body, head.headers.etag], [200, '', etag])
})

test('/history.ledger refuses longer periods, statistics and unknown parameters', async () => {
  for (const [parameter, name, words] of [
    ['every=week', 'every', /must be day/],
    ['stat=mean', 'stat', /there is no parameter stat/],
    ['details=true', 'details', /there is no parameter details/],
    ['dialect=es-CR', 'dialect', /there is no parameter dialect/],
    ['desde=2026-01-01', 'desde', /did you mean from/],
  ] as const) {
    for (const form of ['ledger', 'beancount']) {
      const [item] = await validationItems(app, `/api/v1/history.${form}?base=USD&quote=CRC&${parameter}`)
      assert.equal(item?.loc.at(-1), name)
      assert.match(item?.msg ?? '', words)
    }
  }
  const missing = await app.get('/api/v1/history.ledger?base=USD')
  assert.equal(missing.status, 422)
  assert.equal((await app.get('/api/v1/history.ledger?base=USD&quote=XXX')).status, 404)
})

test('/history.ledger accepts a key in the path and in the query', async () => {
  const path = `/api/v1/history.ledger?base=USD&quote=CRC&${RANGE}`
  assert.equal((await send(app.app.url + path)).status, 401)
  for (const withKey of [`/k/${URL_KEY}${path}`, `${path}&key=${URL_KEY}`])
    assert.equal((await send(app.app.url + withKey)).status, 200, withKey)
  assert.ok(!app.logLines.join('').includes(URL_KEY))
})

test('a range with days that were not synchronized is a 503 in plain text', async (t) => {
  const other = await startTestApp(t, {})
  await other.sync()
  await loseDays(other, { from: '2026-02-20', to: '2026-03-04' }, ['318'])
  const read = (query: string, form = 'ledger') =>
    other.get(`/api/v1/history.${form}?base=USD&quote=CRC&${query}`)
  const hasHole = async () => (await read('from=2026-02-01')).status === 503
  await until(hasHole)
  for (const form of ['ledger', 'beancount']) {
    const response = await read('from=2026-02-01', form)
    assert.equal(await response.text(), 'the days from 2026-02-20 to 2026-03-04 have not been synchronized')
    const { headers } = response
    assert.deepEqual(
      ['content-type', 'retry-after', 'x-holes', 'cache-control', 'etag'].map((name) => headers.get(name)),
      ['text/plain; charset=utf-8', '3600', '2026-02-20..2026-03-04', 'no-store', null],
    )
  }
  assert.equal((await read('from=2026-02-01&type=compra')).status, 200)
  assert.equal((await read('from=2026-03-05')).status, 200)
  assert.equal((await read('from=2026-02-01&to=2026-02-19')).status, 200)
  const lines = other.logLines.filter((line) => line.includes('asked for days that were not synchronized'))
  assert.equal(lines.length, 2, 'one line a day for each form')
})

test('a rounded price has its decimals in a comment', async (t) => {
  const rounding = await startTestApp(t, { token: null })
  await rounding.sync()
  const text = await (await rounding.get(`/api/v1/history.ledger?base=EUR&quote=USD&${RANGE}`)).text()
  const { points } = await rounding.json<{ points: (Point & { rounded_to: number })[] }>(
    `/api/v1/history?base=EUR&quote=USD&${RANGE}`,
  )
  const [first] = points
  assert.ok(first && first.rounded_to > 1)
  assert.equal(
    text.split('\n')[1],
    `P ${first.date} EUR ${first.value} USD ; rounded to ${first.rounded_to} decimals`,
  )
})
