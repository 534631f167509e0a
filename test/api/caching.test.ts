// Validators: when a cached answer is still valid (decisions#caching).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { raiseRevision } from '../../src/store/meta.ts'
import { updateSeriesEnabled } from '../../src/store/rates/series.ts'
import { until } from '../support/terminal.ts'
import { asOtherProcess, CACHED, ENDPOINTS, openApp, PROBES, storeAsOtherProcess } from './support.ts'

const app = await openApp()
await app.sync()

const readEtag = async (path: string, of = app) => String((await of.get(path)).headers.get('etag'))
const conditionalStatus = async (path: string, etag: string) =>
  (await app.get(path, { 'If-None-Match': etag })).status

// Paths whose answer depends on today's date, then the same paths with the date given.
const FLOATING = [
  '/api/v1/rates/latest',
  '/api/v1/rates',
  '/api/v1/rates?exact=true',
  '/api/v1/series/1/history',
  '/api/v1/series/1/history?from=2026-03-01',
  '/api/v1/convert?amount=1&from=USD&to=CRC',
  '/api/v1/convert?amount=1&from=USD&to=USD',
]
const SETTLED = [
  '/api/v1/providers',
  '/api/v1/series',
  '/api/v1/rates/latest?on=2026-03-24',
  '/api/v1/rates?on=2026-03-24',
  '/api/v1/series/1/history?to=2026-03-24',
  '/api/v1/convert?amount=1&from=USD&to=CRC&on=2026-03-24',
]

for (const path of CACHED) {
  test(`${path} is private, revalidated by the client, and has a stable ETag`, async () => {
    const response = await app.get(path)
    assert.match(String(response.headers.get('etag')), /^"[\x21\x23-\x7e]+"$/)
    assert.equal(response.headers.get('cache-control'), 'private, no-cache')
    assert.match(String(response.headers.get('vary')), /\bAccept-Encoding\b/i)
    assert.equal(await readEtag(path), response.headers.get('etag'), 'the same answer has the same tag')
  })

  test(`${path} is 304 for If-None-Match in every spelling`, async () => {
    const etag = await readEtag(path)
    const validators = [
      etag,
      `W/${etag}`,
      `"other", ${etag}`,
      `"a",W/"b" , W/${etag}`,
      `${etag} , "c"`,
      '*',
      ' * ',
    ]
    for (const validator of validators) {
      const response = await app.get(path, { 'If-None-Match': validator })
      assert.equal(response.status, 304, validator)
      assert.equal(await response.text(), '')
      assert.equal(response.headers.get('etag'), etag)
      assert.equal(response.headers.get('cache-control'), 'private, no-cache')
      assert.match(String(response.headers.get('vary')), /Accept-Encoding/i)
      assert.equal(response.headers.get('content-type'), null)
    }
    for (const other of ['"other"', etag.slice(1, -1), `"${etag.slice(2)}`, 'W/*', '"*"', '""']) {
      assert.equal(await conditionalStatus(path, other), 200, other)
    }
  })
}

test('HEAD is answered with 304 too', async () => {
  const etag = await readEtag('/api/v1/rates')
  const headers = { 'X-API-Key': app.key, 'If-None-Match': etag }
  const response = await fetch(`${app.app.url}/api/v1/rates`, { method: 'HEAD', headers })
  assert.deepEqual([response.status, response.headers.get('etag')], [304, etag])
})

test('each answer has an ETag of its own; today and its date have the same one', async () => {
  const [floating, settled] = [new Set<string>(), new Set<string>()]
  for (const path of FLOATING) floating.add(await readEtag(path))
  for (const path of SETTLED) settled.add(await readEtag(path))
  assert.deepEqual([floating.size, settled.size], [FLOATING.length, SETTLED.length])
  assert.equal(floating.intersection(settled).size, 4)
})

test('the status and errors are not cached', async () => {
  const uncached = ENDPOINTS.filter((path) => !CACHED.includes(path))
  const errors = [
    '/nothing',
    '/api/v1/rates?on=x',
    '/api/v1/rates/latest?base=XXX',
    '/api/v1/rates/latest?on=1900-01-01',
    '/api/v1/series/999/history',
    '/api/v1/convert?amount=1&from=USD&to=CRC&on=1900-01-01',
  ]
  assert.equal(uncached.length, 5)
  for (const path of [...uncached, ...errors, ...PROBES]) {
    // `*` matches any cached answer, and still no 304 is sent.
    const { status, headers } = await app.get(path, { 'If-None-Match': '*' })
    assert.notEqual(status, 304, path)
    assert.equal(headers.get('etag'), null, path)
    assert.equal(headers.get('cache-control'), 'no-store', path)
  }
  const refused = await fetch(`${app.app.url}/api/v1/rates`, { headers: { 'If-None-Match': '*' } })
  assert.deepEqual([refused.status, refused.headers.get('cache-control')], [401, 'no-store'])
})

test('the ETag changes when an old value is corrected, not when a sync finds nothing new', async () => {
  const paths = ['/api/v1/rates', '/api/v1/rates/latest', '/api/v1/series/1/history?to=2026-03-24']
  const before = await Promise.all(paths.map((path) => readEtag(path)))
  await storeAsOtherProcess(app, { series: 1, day: '2026-01-15', value: '444.44' })
  const hasChanged = async () => (await readEtag('/api/v1/rates')) !== before[0]
  await until(hasChanged)
  for (const [at, path] of paths.entries()) {
    assert.notEqual(await readEtag(path), before[at], path)
    assert.equal(await conditionalStatus(path, String(before[at])), 200, path)
  }
  const after = await readEtag('/api/v1/rates')
  await app.sync({ from: '2026-03-20', to: '2026-03-24' })
  assert.equal(await readEtag('/api/v1/rates'), after, 'a run that found nothing new')
})

test('the ETag changes when a series is disabled', async () => {
  const before = await readEtag('/api/v1/series')
  await asOtherProcess(app, async (db) => {
    await updateSeriesEnabled(db, 40, false, app.clock.read().getTime())
    await raiseRevision(db)
  })
  const hasChanged = async () => (await readEtag('/api/v1/series')) !== before
  await until(hasChanged)
})

test('the ETag changes with the epoch, which a restore renews', async () => {
  const before = await readEtag('/api/v1/rates?on=2026-03-24')
  await asOtherProcess(app, (db) => db.updateTable('meta').set({ epoch: 'another' }).execute())
  const hasChanged = async () => (await readEtag('/api/v1/rates?on=2026-03-24')) !== before
  await until(hasChanged)
})

test('the ETag changes on a new day only where the answer depends on today', async () => {
  const own = await openApp({ now: '2026-03-25T05:59:59Z' })
  await own.sync({ from: '2026-03-10', to: '2026-03-24' })
  const tags = (paths: string[]) => Promise.all(paths.map((path) => readEtag(path, own)))
  const floating = await tags(FLOATING)
  const settled = await tags(SETTLED)
  own.clock.now = new Date('2026-03-25T06:00:00Z')
  assert.deepEqual(await tags(SETTLED), settled)
  const unchangedTags = (await tags(FLOATING)).filter((tag) => floating.includes(tag))
  assert.deepEqual(unchangedTags, [])
})

test('a repeated request has the same bytes, and a 401 without a key', async () => {
  const path = '/api/v1/rates/latest?on=2026-03-23'
  const [first, second] = [await app.get(path), await app.get(path)]
  assert.equal(await second.text(), await first.text())
  assert.notEqual(second.headers.get('x-request-id'), first.headers.get('x-request-id'))
  const stranger = await fetch(app.app.url + path)
  assert.equal(stranger.status, 401)
  assert.equal((await fetch(app.app.url + path, { headers: { 'X-API-Key': 'wrong' } })).status, 401)
  const posted = await fetch(app.app.url + path, { method: 'POST', headers: { 'X-API-Key': app.key } })
  assert.equal(posted.status, 405)
})

test('a repeated request has a corrected value', async () => {
  const path = '/api/v1/rates?on=2026-01-16&base=USD&quote=CRC'
  const before = await (await app.get(path)).text()
  await storeAsOtherProcess(app, { series: 1, day: '2026-01-16', value: '555.55' })
  await until(async () => (await (await app.get(path)).text()) !== before)
  assert.match(await (await app.get(path)).text(), /"555\.55"/)
})

// Spellings of the same request share one cached answer. A request that differs in one parameter has another.
const SAME = [
  ['/api/v1/rates/latest', '/api/v1/rates/latest?base=usd&quote=crc&provider=bccr&on=2026-03-24'],
  ['/api/v1/rates?exact=false', '/api/v1/rates?on=2026-03-24&_=1'],
  ['/api/v1/series/1/history', '/api/v1/series/1/history?from=2025-12-24&to=2026-03-24'],
  ['/api/v1/convert?amount=1.50&from=usd&to=crc', '/api/v1/convert?to=CRC&from=USD&amount=15e-1&type=venta'],
] as const

for (const [path, same] of SAME) {
  test(`${path} and ${same} share one cached answer`, async () => {
    assert.equal(await readEtag(path), await readEtag(same))
    assert.equal(await (await app.get(path)).text(), await (await app.get(same)).text())
  })
}

test('the key of the answer cache has every parameter that changes an answer', async () => {
  const convert = '/api/v1/convert?amount=1&from=USD&to=CRC'
  const paths = [
    ...SAME.map(([path]) => path),
    '/api/v1/rates?exact=true',
    '/api/v1/rates?base=USD',
    '/api/v1/rates?quote=USD',
    '/api/v1/rates?provider=bccr',
    '/api/v1/rates?on=2026-03-23',
    '/api/v1/rates/latest?on=2026-03-23',
    '/api/v1/series/2/history',
    '/api/v1/series/1/history?from=2026-03-01',
    '/api/v1/series/1/history?to=2026-03-23',
    '/api/v1/series?base=USD',
    '/api/v1/series?quote=USD',
    '/api/v1/series?only_enabled=true',
    '/api/v1/providers',
    '/api/v1/providers?only_enabled=true',
    ...['&type=compra', '&details=true', '&on=2026-03-23', ''].map((more) => convert + more),
    convert.replace('amount=1', 'amount=2'),
  ]
  const tags = await Promise.all(paths.map((path) => readEtag(path)))
  assert.equal(new Set(tags).size, paths.length, String(tags))
})
