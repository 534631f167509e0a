// Finished answers: the framework sees no repeated request. The bytes are as before, and nothing on which they depend
// has changed.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { hashOfSecret, makeSecret } from '../../../src/domain/access/secrets.ts'
import { insertApiKey, revokeApiKey } from '../../../src/store/access/api-keys.ts'
import { exchangeRaw } from '../../support/raw-requests.ts'
import { until } from '../../support/terminal.ts'
import { asOtherProcess, CACHED, openApp, storeAsOtherProcess } from '../support.ts'

const also = [{ scheme: 'http', host: '127.0.0.1', port: 0 }] as const
const compat = { open: undefined, serveRounded: false }
const options = { metrics: { host: '127.0.0.1', port: 0 }, also, compat } as const
const NOW = '2026-03-24T16:00:00Z'
const app = await openApp({ now: NOW, listen: options })
await app.sync()
const main = app.app.url
const [shapes = ''] = app.app.alsoUrls
const LATEST = '/api/v1/rates/latest'
const SHAPES = ['/v1/latest?base=USD&symbols=CRC', '/indicadores/tc']

const FORMS: Record<string, string>[] = [{}, { Accept: 'text/csv' }, { 'Accept-Encoding': 'gzip' }]

type KeyFacts = Partial<Parameters<typeof insertApiKey>[1]>

async function newKey(facts: KeyFacts = {}): Promise<{ secret: string; id: number }> {
  const secret = makeSecret('cbk_')
  const key = { name: secret.slice(-8), hash: hashOfSecret(secret), createdAt: NOW, ...facts }
  const id = await asOtherProcess(app, (db) => insertApiKey(db, key))
  assert.equal((await app.get(LATEST, { 'x-api-key': secret })).status, 200) // loads it
  return { secret, id }
}

/** Finished answers that were used so far. */
async function countHits(): Promise<number> {
  const text = await (await fetch(app.app.metricsUrl ?? '')).text()
  return Number(/^cambista_cache_hits_total\{cache="finished"\} (\d+)$/m.exec(text)?.[1])
}

/** Requests in one packet. Returns each answer without the lines of its id and its time. */
async function sendAll(url: string, requests: readonly string[]): Promise<string[]> {
  const answers = await exchangeRaw(Number(new URL(url).port), requests.join(''))
  assert.equal(answers.length, requests.length)
  return answers.map(
    ({ head, body }) =>
      `${head.replace(/^(x-request-id|date): .*\r\n/gim, '')}\n\n${body.toString('latin1')}`,
  )
}

function request(path: string, headers: Record<string, string> = {}, method = 'GET'): string {
  const all = Object.entries({ Host: 'localhost', 'X-API-Key': app.key, ...headers })
  return `${method} ${path} HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
}

/** Sends a request twice, and five times again. Returns the number of finished answers among the five. */
async function countAgain(one: string, url = main): Promise<number> {
  const [first] = await sendAll(url, [one, one])
  const before = await countHits()
  const answers = await sendAll(
    url,
    Array.from({ length: 5 }, () => one),
  )
  for (const answer of answers) assert.equal(answer, first)
  return (await countHits()) - before
}

for (const path of [...CACHED, ...SHAPES]) {
  test(`${path} is finished by the third time, with each form and coding`, async () => {
    for (const headers of FORMS) {
      const [first = ''] = await sendAll(main, [request(path, { ...headers, Expect: 'nothing' })])
      assert.match(first, /^HTTP\/1.1 200 /)
      assert.equal(await countAgain(request(path, headers)), 5)
      const [etag = ''] = /(?<=^etag: ).*$/m.exec(first.replaceAll('\r', '')) ?? []
      const revalidation = request(path, { ...headers, 'If-None-Match': etag })
      assert.equal(await countAgain(revalidation), 5)
      const [again = ''] = await sendAll(main, [revalidation])
      assert.match(again, /^HTTP\/1.1 304 /)
      assert.deepEqual(await sendAll(main, [request(path, headers)]), [first])
    }
  })
}

const others: [title: string, text: string][] = [
  ['without a key', request(LATEST, { 'X-API-Key': '' })],
  ['with a wrong key', request(LATEST, { 'X-API-Key': makeSecret('cbk_') })],
  ['with an origin', request(LATEST, { Origin: 'https://erp.example.com' })],
  ['with a body', request(LATEST, { 'Content-Length': '0' })],
  ['with an expectation', request(LATEST, { Expect: 'nothing' })],
  ['with a name of a key in its query', request(`${LATEST}?key=1`)],
  ['with an escape', request('/api/v1/rates/latest?base=%55SD')],
  ['with a key in its path', request(`/k/${app.key}/v1/latest?base=USD`)],
  ['of more than 200 characters', request(`${LATEST}?on=2026-03-24&base=USD${'&quote=CRC'.repeat(20)}`)],
  ['for an unknown path', request('/api/v1/rates/newest')],
  ['with an invalid day', request(`${LATEST}?on=2026-02-30`)],
  ['for health', request('/api/v1/health')],
  ['for a value in a cell', request('/compat/valor?de=USD&a=CRC')],
]
for (const [title, text] of others) {
  test(`a request ${title} is never finished`, async () => {
    assert.equal(await countAgain(text), 0)
  })
}

test('an error with a 200 is never finished', async () => {
  const text = request('/compat/currencylayer/live?source=XXX')
  const [error] = await sendAll(main, [text])
  assert.match(error ?? '', /^HTTP\/1.1 200 .*"success":false/s)
  assert.equal(await countAgain(text), 0)
})

test('only a GET on a connection that stays open is finished', async () => {
  await countAgain(request(LATEST))
  const before = await countHits()
  for (let at = 0; at < 3; at += 1) {
    await sendAll(main, [request(LATEST, { Connection: 'close' })])
    await sendAll(main, [request(LATEST, {}, 'OPTIONS')])
  }
  assert.equal((await countHits()) - before, 0)
})

test('a key for URLs gets no finished answer of one for headers', async () => {
  const { secret: forUrls } = await newKey({ kind: 'url' })
  assert.ok((await countAgain(request('/api/v1/series'))) === 5)
  const [refused] = await sendAll(main, [request('/api/v1/series', { 'X-API-Key': forUrls })])
  assert.match(refused ?? '', /^HTTP\/1.1 401 /)
})

const ownAnswers: [path: string, facts: KeyFacts][] = [
  ['/v1/latest?base=USD', { side: 'compra' }],
  ['/v1/currencies', { provider: 'ecb' }],
]
for (const [path, facts] of ownAnswers) {
  test(`a key with ${Object.keys(facts)} of its own has its own answers`, async () => {
    assert.equal(await countAgain(request(path)), 5)
    const [usual] = await sendAll(main, [request(path)])
    const headers = { 'X-API-Key': (await newKey(facts)).secret }
    const reference = request(path, { ...headers, Expect: 'nothing' })
    const [own, again, other] = await sendAll(main, [
      request(path, headers),
      request(path, headers),
      reference,
    ])
    assert.notEqual(own, usual)
    assert.deepEqual([own, again], [other, other])
  })
}

test('a key with a network or with websites gets no finished answer', async () => {
  const limits: KeyFacts[] = [{ network: '127.0.0.0/8' }, { origins: 'https://erp.example.com' }]
  for (const facts of limits) {
    assert.equal(await countAgain(request(LATEST, { 'X-API-Key': (await newKey(facts)).secret })), 0)
  }
})

test('keys with other facts have finished answers at the same time', async () => {
  const headers = { 'X-API-Key': (await newKey({ side: 'compra' })).secret }
  const both = [request(LATEST), request(LATEST, headers)]
  await sendAll(main, [...both, ...both])
  const before = await countHits()
  await sendAll(main, [...both, ...both])
  assert.equal((await countHits()) - before, 4)
})

test('a revoked key gets a 401 for a finished answer, on an open connection too', async (t) => {
  const { secret, id } = await newKey()
  const connection = connect({ host: '127.0.0.1', port: Number(new URL(main).port) })
  t.after(() => connection.destroy())
  const status = async () => {
    connection.write(request(LATEST, { 'X-API-Key': secret }))
    const [bytes] = await once(connection, 'data')
    return Number(String(bytes).slice(9, 12))
  }
  const hits = await countHits()
  for (let at = 0; at < 5; at += 1) assert.equal(await status(), 200)
  assert.ok((await countHits()) - hits >= 3)
  await asOtherProcess(app, (db) => revokeApiKey(db, id, NOW))
  await until(async () => (await status()) === 401)
  assert.equal(await countAgain(request(LATEST, { 'X-API-Key': secret })), 0)
})

test('an expired key gets a 401 for a finished answer', async () => {
  const { secret } = await newKey({ expiresAt: '2026-03-24' })
  assert.equal(await countAgain(request(LATEST, { 'X-API-Key': secret })), 5)
  app.clock.now = new Date('2026-03-25T16:00:00Z')
  assert.equal(await countAgain(request(LATEST)), 5)
  const [refused] = await sendAll(main, [request(LATEST, { 'X-API-Key': secret })])
  assert.match(refused ?? '', /^HTTP\/1.1 401 /)
  app.clock.now = new Date(NOW)
})

test('a listener has finished answers of its own, and that of metrics none', async () => {
  const path = '/v1/latest?symbols=CRC&base=USD'
  assert.equal(await countAgain(request(path)), 5)
  assert.equal(await countAgain(request(path), shapes), 5)
  const [refused] = await sendAll(shapes, [request(LATEST)])
  assert.match(refused ?? '', /^HTTP\/1.1 404 /)
  const [none] = await sendAll(app.app.metricsUrl ?? '', [request(LATEST)])
  assert.match(none ?? '', /^HTTP\/1.1 404 /)
})

test('a new value and a new day end the finished answers', async () => {
  assert.equal(await countAgain(request(LATEST)), 5)
  await storeAsOtherProcess(app, { series: 1, day: '2026-03-24', value: '499.99' })
  await until(async () => (await sendAll(main, [request(LATEST)]))[0]?.includes('499.99') ?? false)
  assert.equal(await countAgain(request(LATEST)), 5)
  app.clock.now = new Date('2026-03-25T16:00:00Z')
  const [tomorrow, reference] = await sendAll(main, [request(LATEST), request(LATEST, { Expect: 'nothing' })])
  assert.equal(tomorrow, reference)
  app.clock.now = new Date('2026-03-24T16:00:00Z')
})

test('a finished answer is logged and counted with its own key and id', async () => {
  const { secret } = await newKey()
  await sendAll(main, [request(LATEST)])
  const before = app.logLines.length
  const headers = { 'X-API-Key': secret, 'X-Request-Id': 'of-the-erp' }
  const hits = await countHits()
  const [{ head } = { head: '' }] = await exchangeRaw(Number(new URL(main).port), request(LATEST, headers))
  assert.equal((await countHits()) - hits, 1)
  assert.match(head, /^x-request-id: of-the-erp$/m)
  await until(() => app.logLines.slice(before).some((line) => line.includes('of-the-erp')))
  const line = app.logLines.slice(before).find((one) => one.includes('of-the-erp')) ?? ''
  const { time: _, ms: __, ...fields } = JSON.parse(line)
  assert.deepEqual(fields, {
    ...{ level: 'info', event: 'request', id: 'of-the-erp', client: '127.0.0.1', key: secret.slice(-8) },
    ...{ method: 'GET', route: LATEST, status: 200 },
  })
})
