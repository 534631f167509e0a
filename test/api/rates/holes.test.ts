// Days that were not synchronized and days in the future, in every form of our own answers (decisions#lists).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addDays } from '../../../src/values/dates.ts'
import { startMemoryApp } from '../../support/rates/memory-app.ts'
import { EUR } from '../../support/rates/memory-bank.ts'
import { until } from '../../support/terminal.ts'
import { loseDays, openApp } from '../support.ts'

const TODAY = '2026-03-24'
const HOLE = { from: '2026-02-20', to: '2026-03-04' }
const RANGE = 'from=2026-02-01&to=2026-03-24'
const HISTORIES = ['/api/v1/series/1/history', '/api/v1/history?base=EUR&quote=CRC']

const whole = await openApp()
await whole.sync()
const holed = await openApp()
await holed.sync()
await loseDays(holed, HOLE)
await until(
  async () =>
    (await holed.json<{ count: number }>(`${HISTORIES[0]}?from=${HOLE.from}&to=${HOLE.to}`)).count === 0,
)

const withQuery = (path: string, query: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`
const inForm = (path: string, form: string) => path.replace(/(\?|$)/, `.${form}$1`)

test('histories have their holes: a field in JSON, X-Holes in CSV and NDJSON', async () => {
  for (const path of HISTORIES) {
    const answer = await holed.get(withQuery(path, RANGE))
    assert.equal(answer.headers.get('x-holes'), null)
    assert.deepEqual(((await answer.json()) as { holes: unknown }).holes, [HOLE])
    for (const form of ['csv', 'ndjson']) {
      const table = await holed.get(withQuery(inForm(path, form), RANGE))
      assert.equal(table.headers.get('x-holes'), `${HOLE.from}..${HOLE.to}`)
      assert.doesNotMatch(await table.text(), /holes/)
      const tag = { 'if-none-match': table.headers.get('etag') ?? '' }
      const again = await holed.get(withQuery(inForm(path, form), RANGE), tag)
      assert.deepEqual([again.status, again.headers.get('x-holes')], [304, `${HOLE.from}..${HOLE.to}`])
    }
    const accepted = await holed.get(withQuery(path, RANGE), { accept: 'text/csv' })
    assert.equal(accepted.headers.get('x-holes'), `${HOLE.from}..${HOLE.to}`)
  }
})

test('a hole is cut to the range, and a range beside it has none', async () => {
  for (const path of HISTORIES) {
    const readHoles = async (query: string) =>
      (await holed.json<{ holes?: unknown }>(withQuery(path, query))).holes
    assert.deepEqual(await readHoles('from=2026-02-25&to=2026-03-01'), [
      { from: '2026-02-25', to: '2026-03-01' },
    ])
    assert.equal(await readHoles('from=2026-03-05&to=2026-03-24'), undefined)
    assert.equal(await readHoles('from=2026-02-01&to=2026-02-19'), undefined)
  }
})

test('a hole before the range is in the history of a pair without a point on its first day', async () => {
  const app = await openApp()
  await app.sync()
  const days = { from: '2026-03-05', to: '2026-03-06' } // a Thursday and a Friday
  const path = (form = '') => `/api/v1/history${form}?base=EUR&quote=CRC&from=2026-03-07&to=2026-03-08`
  const answer = () => app.json<{ count: number; holes?: unknown }>(path())
  assert.equal((await answer()).count, 2)
  await loseDays(app, days, ['333'])
  await until(async () => (await answer()).count === 0)
  assert.deepEqual((await answer()).holes, [days])
  assert.equal((await app.get(path('.csv'))).headers.get('x-holes'), `${days.from}..${days.to}`)
  const prices = await app.get(path('.ledger'))
  const message = `the days from ${days.from} to ${days.to} have not been synchronized`
  assert.deepEqual([prices.status, await prices.text()], [503, message])
  // The euro of Monday is its own.
  const monday = '/api/v1/history?base=EUR&quote=CRC&from=2026-03-09'
  assert.equal((await app.json<{ holes?: unknown }>(monday)).holes, undefined)
})

test('X-Holes has at most 20 intervals, then `more`', async () => {
  const many = await openApp()
  await many.sync()
  for (let at = 0; at < 21; at += 1) {
    const day = addDays('2026-01-02', at * 3)
    await loseDays(many, { from: day, to: day })
  }
  const path = '/api/v1/series/2/history'
  await until(
    async () => (await many.json<{ holes?: unknown[] }>(`${path}?from=2026-01-01`)).holes?.length === 21,
  )
  const { headers } = await many.get(`${path}.csv?from=2026-01-01`)
  const intervals = (headers.get('x-holes') ?? '').split(', ')
  assert.deepEqual([intervals.length, intervals[0], intervals[20]], [21, '2026-01-02..2026-01-02', 'more'])
})

test('/rates lists the series left out for a hole in X-Left-Out, in every form', async () => {
  const ids = Array.from({ length: 47 }, (_, at) => at + 1).join(',')
  for (const path of ['/api/v1/rates', '/api/v1/rates.csv', '/api/v1/rates.ndjson']) {
    for (const query of ['on=2026-03-02', 'on=2026-03-02&exact=true']) {
      const { headers } = await holed.get(`${path}?${query}`)
      assert.equal(headers.get('x-left-out'), ids, `${path}?${query}`)
    }
    const { headers } = await holed.get(`${path}?on=2026-03-05&base=USD&quote=CRC`)
    assert.equal(headers.get('x-left-out'), null)
  }
})

test('a day after tomorrow is marked `future`, in tables and /rates by X-Future', async () => {
  const [tomorrow, later] = [addDays(TODAY, 1), addDays(TODAY, 2)]
  const objects = ['/api/v1/rates/latest', '/api/v1/convert?amount=2&from=EUR&to=CRC']
  for (const path of objects) {
    const answer = await whole.json<Record<string, unknown>>(withQuery(path, `on=${tomorrow}`))
    assert.equal(answer.future, undefined)
    const { future, ...rest } = await whole.json<Record<string, unknown>>(withQuery(path, `on=${later}`))
    assert.equal(future, true)
    const far = await whole.json<Record<string, unknown>>(withQuery(path, 'on=2999-12-31'))
    assert.deepEqual(far, { ...rest, future: true })
  }
  for (const path of [
    '/api/v1/rates',
    '/api/v1/rates.csv',
    '/api/v1/rates.ndjson',
    ...['csv', 'ndjson'].map((form) => inForm(objects[1] ?? '', form)),
  ]) {
    for (const [on, expected] of [
      [tomorrow, null],
      [later, 'true'],
      ['2030-01-01', 'true'],
    ] as const) {
      const answer = await whole.get(withQuery(path, `on=${on}`))
      assert.equal(answer.headers.get('x-future'), expected, `${path} ${on}`)
      assert.doesNotMatch(await answer.text(), /future/)
    }
  }
})

test('a batch marks elements `future` as /convert does', async () => {
  const elements = [TODAY, addDays(TODAY, 1), addDays(TODAY, 2), '2030-01-01'].map((on) => ({
    ...{ amount: '2', from: 'EUR', to: 'CRC', on },
  }))
  const response = await postBatch(elements)
  const answers = (await response.json()) as { future?: true }[]
  assert.deepEqual(
    answers.map(({ future }) => future),
    [undefined, undefined, true, true],
  )
})

function postBatch(elements: unknown[]): Promise<Response> {
  return fetch(`${whole.app.url}/api/v1/convert/batch`, {
    method: 'POST',
    headers: { 'x-api-key': whole.key },
    body: JSON.stringify(elements),
  })
}

test('with as_of tomorrow is counted from the day of the instant', async () => {
  const on = TODAY
  const asOf = (await postBatch([])).headers.get('x-cambista-as-of')
  const { future } = await whole.json<{ future?: true }>(`/api/v1/rates/latest?on=${on}&as_of=${asOf}`)
  assert.equal(future, undefined)
})

test('the ETag of an answer about the future changes with the day', async (t) => {
  const app = await openApp()
  await app.sync()
  t.after(() => undefined)
  const readEtag = async () => (await app.get('/api/v1/rates/latest?on=2026-04-30')).headers.get('etag')
  const before = await readEtag()
  app.clock.now = new Date(app.clock.now.getTime() + 24 * 3_600_000)
  assert.notEqual(await readEtag(), before)
})

test('a complete store answers days up to tomorrow without these fields and headers', async () => {
  for (const path of [
    '/api/v1/rates',
    '/api/v1/rates.csv',
    `/api/v1/rates?on=${addDays(TODAY, 1)}`,
    '/api/v1/rates/latest',
    '/api/v1/convert.csv?amount=1&from=EUR&to=CRC',
    '/api/v1/convert?amount=1&from=EUR&to=CRC',
    '/api/v1/series/1/history?from=2026-01-01',
    '/api/v1/series/1/history.csv?from=2026-01-01',
    '/api/v1/history?base=EUR&quote=CRC&from=2026-01-01',
    '/api/v1/history.ndjson?base=EUR&quote=CRC&from=2026-01-01',
  ]) {
    const answer = await whole.get(path)
    for (const name of ['x-holes', 'x-left-out', 'x-future'])
      assert.equal(answer.headers.get(name), null, path)
    assert.doesNotMatch(await answer.text(), /"(holes|future|missing)"/, path)
  }
})

test('`covered_to` separates a server that is behind from a day without a value', async (t) => {
  const app = await startMemoryApp(t, { now: '2026-03-27T12:00:00Z' })
  const until = (last: string, value: string) => (day: string) => (day <= last ? value : undefined)
  Object.assign(app.memory.publish, { 317: until(TODAY, '487.07'), 318: until(TODAY, '492.95') })
  app.memory.publish[EUR] = until('2026-03-27', '1.2')
  await app.sync()
  app.clock.now = new Date('2026-04-10T12:00:00Z')
  const readCoverage = async (query: string) => {
    const answer = await app.json<{ covered_to?: string; legs: { covered_to?: string }[] }>(
      `/api/v1/${query}`,
    )
    return [answer.covered_to, ...(answer.legs ?? []).map((leg) => leg.covered_to)]
  }
  const convert = 'convert?amount=1&from=EUR&to=CRC&details=true'
  assert.deepEqual(await readCoverage(`${convert}&on=2026-03-27`), [undefined, undefined, undefined])
  assert.deepEqual(await readCoverage(`${convert}&on=2026-03-28`), [undefined, '2026-03-27', '2026-03-27'])
  assert.deepEqual(await readCoverage(`${convert}&as_of=2026-04-08T12:00:00Z`), [
    ...[undefined, '2026-03-27', '2026-03-27'],
  ])
  assert.deepEqual(await readCoverage('rates/latest?details=true&on=2026-03-27'), [undefined])
  assert.deepEqual(await readCoverage('rates/latest?details=true'), ['2026-03-27'])
  assert.deepEqual(await readCoverage('rates/latest'), [undefined])
  const { conversion } = await app.json<{ conversion: { legs: { covered_to?: string }[] } }>(
    '/api/v1/convert/statement?amount=1&from=EUR&to=CRC&on=2026-03-30',
  )
  assert.deepEqual(
    conversion.legs.map((leg) => leg.covered_to),
    ['2026-03-27', '2026-03-27'],
  )
})

test('sep, decimal and dialect are for CSV alone, and override the dialect', async () => {
  const path = '/api/v1/history'
  const query = 'base=EUR&quote=CRC&from=2026-03-23&to=2026-03-23'
  for (const sendRequest of [
    () => holed.get(`${path}.csv?${query}&dialect=es-CR&decimal=.&sep=,`),
    () => holed.get(`${path}?${query}&dialecto=es-CR&decimal=.&sep=,`, { accept: 'text/csv' }),
  ]) {
    const [, row = ''] = (await (await sendRequest()).text()).split('\r\n')
    assert.match(row, /^23\/03\/2026,23\/03\/2026,\d+\.\d+,,$/)
  }
  for (const [name, value] of [
    ['dialect', 'es-CR'],
    ['dialecto', 'es-CR'],
    ['sep', ';'],
    ['decimal', ','],
  ] as const) {
    for (const accept of ['application/json', 'application/x-ndjson', '*/*']) {
      const answer = await holed.get(`${path}?${query}&${name}=${encodeURIComponent(value)}`, { accept })
      const { detail } = (await answer.json()) as { detail: { msg: string }[] }
      assert.equal(answer.status, 422, `${name} ${accept}`)
      assert.match(
        detail[0]?.msg ?? '',
        new RegExp(`^there is no parameter ${name}: .*\\(only CSV has ${name}\\)$`),
      )
    }
  }
})

test('websites may read the new headers', async () => {
  const app = await openApp({ listen: { corsOrigins: ['*'] } })
  const exposed = (await app.get('/api/v1/rates')).headers.get('access-control-expose-headers') ?? ''
  for (const name of ['X-Holes', 'X-Left-Out', 'X-Future', 'X-Ends-At'])
    assert.ok(exposed.includes(name), name)
})
