// Random requests against a server with finished answers. Each goes out twice: as it is, and with an `Expect`, for which
// no answer is finished. Both answers are the same bytes, while keys, values and days change.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashOfSecret, makeSecret } from '../../src/domain/access/secrets.ts'
import { insertApiKey, revokeApiKey } from '../../src/store/access/api-keys.ts'
import { insertToken } from '../../src/store/access/tokens.ts'
import { addDays } from '../../src/values/dates.ts'
import { asOtherProcess, openApp, send, storeAsOtherProcess } from '../api/support.ts'
import { createRandom } from '../support/rates/random-bank.ts'
import { exchangeRaw } from '../support/raw-requests.ts'
import { SEED } from '../support/seed.ts'
import { until } from '../support/terminal.ts'
import { figure, scaled } from './scale.ts'

type Listener = 'main' | 'shapes' | 'metrics'
type Sent = { listener: Listener; text: string; reference: string }

const NOW = '2026-03-24T16:00:00Z'
const DAYS = ['2026-03-24', '2026-03-20', '2026-02-01', '2026-02-30', '2027-01-01', '1990-01-01']
/** A wrong key; the number of wrong keys decides which error. */
const REFUSED = /^HTTP\/1.1 (401|429) |"invalid_access_key"/
const BATCH = 8 // pairs in one packet of a connection
const REQUESTS = scaled({ short: 3000, long: 20_000 })
const CHANGE_EVERY = 250

const random = createRandom(SEED)
const app = await openApp({
  now: NOW,
  listen: {
    metrics: { host: '127.0.0.1', port: 0 },
    also: [{ scheme: 'http', host: '127.0.0.1', port: 0 }],
    compat: { open: undefined, serveRounded: false },
    corsOrigins: ['https://erp.example.com'],
  },
})
await app.sync()
const urls: Record<Listener, string> = {
  main: app.app.url,
  shapes: app.app.alsoUrls[0] ?? '',
  metrics: app.app.metricsUrl ?? '',
}
const secrets = { known: [] as string[], revocable: new Map<string, number>(), token: makeSecret('cbt_') }

async function addKey(facts: Partial<Parameters<typeof insertApiKey>[1]>): Promise<void> {
  const secret = makeSecret('cbk_')
  const key = { name: secret.slice(-8), hash: hashOfSecret(secret), createdAt: NOW, ...facts }
  secrets.revocable.set(secret, await asOtherProcess(app, (db) => insertApiKey(db, key)))
  secrets.known.push(secret)
  await app.get('/api/v1/health', { 'x-api-key': secret }) // loads it
}

for (const facts of [
  {},
  { side: 'compra' },
  { provider: 'ecb' },
  { kind: 'url' },
  { kind: 'url', side: 'compra' },
  { kind: 'bank', network: '127.0.0.0/8' },
  { origins: 'https://erp.example.com' },
  { expiresAt: '2026-03-24' },
] as const)
  await addKey(facts)
await asOtherProcess(app, (db) =>
  insertToken(db, {
    ...{ name: 'erp', hash: hashOfSecret(secrets.token), createdAt: NOW },
    ...{ allow: ['documents:GET'], companyId: null, expiresAt: null },
  }),
)

function randomPath(): string {
  const day = random.item(DAYS)
  const base = random.item(['USD', 'EUR', 'JPY', 'CRC', 'XXX'])
  const quote = random.item(['CRC', 'USD', 'CRC'])
  return random.item([
    '/api/v1/rates/latest',
    `/api/v1/rates/latest?on=${day}`,
    `/api/v1/rates/latest?base=${base}&quote=${quote}&on=${day}`,
    '/api/v1/rates/latest?as_of=2026-03-24T16:00:00Z',
    `/api/v1/rates?on=${day}`,
    `/api/v1/rates.csv?on=${day}`,
    `/api/v1/convert?amount=${random.int(1, 3)}&from=${base}&to=${quote}&on=${day}`,
    `/api/v1/series/${random.int(1, 3)}/history?from=2026-03-01`,
    '/api/v1/history?base=EUR&quote=CRC&every=month&stat=mean',
    '/api/v1/history.ledger?base=USD&quote=CRC&from=2026-03-01',
    ...['/api/v1/series', '/api/v1/providers', '/api/v1/health', '/api/v1/indicators', '/api/v1/documents'],
    ...['/api/v1/nothing', '/healthz', '/', '//v1/latest', '/api/v1/../v1/series'],
    `/v1/latest?base=${base}`,
    `/v1/${day}?from=${base}&to=${quote}&amount=2`,
    `/v2/rates?base=${base}&date=${day}`,
    ...['/indicadores/tc', '/indicadores/tc/dolar', '/stats/eurofxref/eurofxref-daily.xml', '/tdc/tdc.json'],
    `/compat/currencylayer/live?source=${base}`,
    `/api/latest.json?base=${base}`,
    `/compat/valor?de=${base}&a=${quote}`,
  ])
}

function randomHeaders(secret: string): Record<string, string> {
  const headers: Record<string, string> = { Host: random.item(['localhost', 'rates.example.com', 'a:99999']) }
  const place = random.item([
    'X-API-Key',
    'X-API-Key',
    'X-API-Key',
    'x-api-key',
    'apikey',
    'Authorization',
    '',
  ])
  if (place) headers[place] = place === 'Authorization' ? `Bearer ${secret}` : secret
  if (random.chance(0.05)) headers.Authorization = `Bearer ${secrets.token}`
  const forms = ['*/*', 'text/csv', 'application/x-ndjson', 'application/json;q=0.5, text/csv', 'image/png']
  if (random.chance(0.4)) headers.Accept = random.item(forms)
  if (random.chance(0.3))
    headers['Accept-Encoding'] = random.item(['gzip', 'gzip, br', 'gzip;q=0', 'identity'])
  if (random.chance(0.3)) headers['If-None-Match'] = random.item(['*', '"x"', ...etags.slice(-20)])
  if (random.chance(0.1)) headers.Origin = random.item(['https://erp.example.com', 'null'])
  if (random.chance(0.05)) headers['Content-Length'] = '0'
  if (random.chance(0.03)) headers['X-Cambista-Page'] = 'open'
  if (random.chance(0.05)) headers['X-Forwarded-For'] = '10.1.2.3'
  if (random.chance(0.1)) headers['X-Request-Id'] = random.item(['mine', 'not valid'])
  return headers
}

const etags: string[] = []

function randomRequest(): Sent {
  const secret = random.chance(0.9)
    ? random.item(secrets.known)
    : random.item([makeSecret('cbk_'), secrets.token, ''])
  const headers = randomHeaders(secret)
  const query = randomPath()
  const inUrl = random.chance(0.1) ? `${query}${query.includes('?') ? '&' : '?'}key=${secret}` : query
  const path = random.chance(0.05) && secret ? `/k/${secret}${query}` : inUrl
  const method = random.chance(0.9) ? 'GET' : random.item(['POST', 'OPTIONS', 'DELETE'])
  const version = random.chance(0.95) ? '1.1' : '1.0'
  if (version === '1.0') Object.assign(headers, { Connection: 'keep-alive', 'If-None-Match': '' }) // a 304 would close it
  const text = (more: Record<string, string>) => {
    const lines = Object.entries({ ...headers, ...more }).map(([name, value]) => `${name}: ${value}\r\n`)
    return `${method} ${path} HTTP/${version}\r\n${lines.join('')}\r\n`
  }
  const listener = random.chance(0.8) ? 'main' : random.item<Listener>(['shapes', 'shapes', 'metrics'])
  return { listener, text: text({}), reference: text({ Expect: 'nothing' }) }
}

/** Each kind of change, as another process makes it; the server has it at the end. */
const changes: (() => Promise<void>)[] = [
  async () => {
    app.clock.now = new Date(app.clock.now.getTime() + random.item([60_000, 86_400_000]))
  },
  async () => {
    const value = `${random.int(400, 600)}.${random.int(10, 98)}9`
    await storeAsOtherProcess(app, { series: 1, day: '2026-03-24', value })
    await until(async () =>
      (await (await app.get('/api/v1/rates/latest?on=2026-03-24')).text()).includes(value),
    )
  },
  async () => {
    const day = addDays('2026-03-24', -random.int(0, 60))
    await app.sync({ from: day, to: day })
  },
  async () => addKey({ side: random.item(['compra', 'venta']), kind: random.item(['header', 'url']) }),
  async () => {
    const [secret, id] = random.item([...secrets.revocable])
    secrets.revocable.delete(secret)
    await addKey({})
    await asOtherProcess(app, (db) => revokeApiKey(db, id, app.clock.read().toISOString()))
    await until(async () => (await app.get('/api/v1/rates/latest', { 'x-api-key': secret })).status === 401)
  },
]

/** The head without the lines of time and id, and the body. An id of the client stays. */
function compared({ head, body }: { head: string; body: Buffer }): string {
  return `${head.replace(/^(date: .*|x-request-id: (?!mine).*)\r\n/gim, '')}\n\n${body.toString('latin1')}`
}

async function sendPairs(listener: Listener, pairs: readonly Sent[]): Promise<void> {
  const { port } = new URL(urls[listener])
  const bytes = pairs.flatMap(({ text, reference }) => [text, reference, text]).join('')
  const answers = (await exchangeRaw(Number(port), bytes)).map((answer) => {
    const etag = /^etag: (.*)$/im.exec(answer.head)?.[1]
    if (etag) etags.push(etag)
    return compared(answer)
  })
  assert.equal(answers.length, pairs.length * 3, 'an answer is missing')
  for (const [at, { text }] of pairs.entries()) {
    const [first = '', reference = '', again = ''] = answers.slice(at * 3)
    const isLimited = [first, reference, again].some((one) => one.startsWith('HTTP/1.1 429 '))
    for (const one of [first, again]) {
      if (isLimited && REFUSED.test(one) && REFUSED.test(reference)) continue
      assert.ok(one === reference, `${text}${one.slice(0, 800)}\n\ninstead of\n${reference.slice(0, 800)}`)
    }
  }
}

async function countHits(): Promise<number> {
  const { body } = await send(urls.metrics)
  return Number(/^cambista_cache_hits_total\{cache="finished"\} (\d+)$/m.exec(body)?.[1])
}

test(`${REQUESTS} random requests have the same answers with finished ones`, async (t) => {
  figure(t, 'seed', SEED)
  let pool: Sent[] = []
  let count = 0
  for (let at = 0; count < REQUESTS; at += 1) {
    if (at % Math.ceil(CHANGE_EVERY / BATCH) === 0) {
      if (at > 0) await random.item(changes)()
      pool = [...pool.slice(-10), ...Array.from({ length: 25 }, randomRequest)]
    }
    const { listener } = random.item(pool)
    const choices = pool.filter((one) => one.listener === listener)
    const pairs = Array.from({ length: BATCH }, () => random.item(choices))
    await sendPairs(listener, pairs)
    count += pairs.length
  }
  const hits = await countHits()
  figure(t, 'finished answers', hits)
  assert.ok(hits > REQUESTS / 20, `${hits} finished answers`)
})
