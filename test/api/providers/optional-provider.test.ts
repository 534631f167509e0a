// A server with an optional provider. Until it is enabled, each answer is that of a server without it.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import type { Provider } from '../../../src/providers/provider.ts'
import { startTestApp, type TestApp, type TestAppOptions } from '../../support/app.ts'
import { pruebas } from '../../support/pruebas/pruebas.ts'
import { PRUEBAS_TOKEN, startPruebas } from '../../support/pruebas/source.ts'
import { fixedClock } from '../../support/temporary.ts'
import { runCommand, until } from '../../support/terminal.ts'
import { ENDPOINTS } from '../support.ts'

type Json = Record<string, unknown>
type Tasks = { tasks: { name: string; next_run: string }[] }

const optional: Provider = { ...pruebas, id: 9, isOptional: true }
const PROVIDERS = [bccr, optional]

// In Helsinki it is Tuesday 14:00: the values of Monday are due.
const NOON = '2026-03-24T12:00:00Z'
const SHAPES = [
  '/indicadores/tc',
  '/v1/latest?base=USD',
  '/v1/2026-03-20..2026-03-24?base=EUR&symbols=USD,CRC',
  '/v2/rates?base=EUR&expand=providers',
  '/v2/currencies',
  '/v2/currency/eur',
  '/v2/providers',
  '/v2/rates?base=EUR&providers=ECB,BCCR',
  '/v2/rates?base=EUR&providers=ECB',
  '/v2/currencies?providers=ECB',
  '/v1/currencies',
  '/live',
  '/list',
  '/api/latest?access_key=x',
  '/api/latest.json',
  '/api/currencies.json',
  '/v6/latest/EUR',
  '/v4/latest/USD',
  '/stats/eurofxref/eurofxref-daily.xml',
  '/stats/eurofxref/eurofxref-hist.xml',
  '/stats/eurofxref/eurofxref-hist.csv',
  '/compat/valor?de=EUR',
]

/** Returns whether a provider has had this many runs. */
function isSynced(logLines: readonly string[], code: string, runs = 1): boolean {
  const isEnd = (line: string) => line.includes('"sync finished"') && line.includes(`"provider":"${code}"`)
  return logLines.filter(isEnd).length >= runs
}

async function start(t: TestContext, options: TestAppOptions = {}) {
  const clock = options.clock ?? fixedClock(NOON)
  const source = await startPruebas(t, clock)
  const app = await startTestApp(t, {
    backfillFrom: '2026-03-01',
    providers: PROVIDERS,
    sources: { pruebas: () => ({ url: source.url, token: PRUEBAS_TOKEN }) },
    listen: { metrics: 'local', compat: { open: 'any', serveRounded: false } },
    ...options,
    clock,
  })
  const provider = (verb: string, ...words: string[]) =>
    runCommand(['provider', verb, ...words, '--data-dir', app.dataDir], {}, PROVIDERS)
  return { ...app, source, provider }
}

/** Answers without the parts that differ between two servers: free space, counts of requests, ages in seconds. */
async function answers({ app, get }: TestApp): Promise<string[]> {
  const bodies: string[] = []
  for (const path of [...ENDPOINTS, ...SHAPES]) {
    const response = await get(path)
    assert.equal(response.status, 200, path)
    bodies.push(`${path} ${response.status} ${(await response.text()).replace(/"free_bytes":\d+/, '')}`)
  }
  const metrics = await (await fetch(`${app.url}/metrics`)).text()
  const rates = metrics.split('\n').filter((line) => /^cambista_(dollar|rates|next|last|sync)/.test(line))
  return [...bodies, ...rates]
}

test('answers of a server with an optional provider that is off are those without it', async (t) => {
  const plain = await start(t, { providers: [bccr] })
  const off = await start(t)
  await plain.sync()
  await off.sync()
  const expected = await answers(plain)
  assert.ok(expected.some((line) => line.startsWith('cambista_dollar_age_days')))
  assert.deepEqual(await answers(off), expected)
  assert.equal(off.source.tokens.length, 0, 'it is not requested')
})

test('`provider enable` adds the row, the series and the scheduler of a running server', async (t) => {
  const { json, provider, logLines } = await start(t, { scheduler: true })
  await until(() => isSynced(logLines, 'bccr'))
  assert.match(
    (await provider('list')).out,
    /^pruebas +Banco de Pruebas +FI +off +Source: Banco de Pruebas$/m,
  )

  const enabled = await provider('enable', 'pruebas')
  assert.deepEqual(
    [enabled.code, enabled.out, enabled.err],
    [
      0,
      'provider pruebas is enabled\n',
      'pruebas adds 4 series to the 47 of this database: /api/v1/rates and /api/v1/series without provider= list ' +
        'them too\n' +
        'pruebas requires a token, in the file of --pruebas-token-file (cambista manual sources)\n',
    ],
  )
  await until(() => isSynced(logLines, 'pruebas'))
  const providers = await json<Json[]>('/api/v1/providers')
  assert.deepEqual(
    providers.map(({ id, code, enabled }) => [id, code, enabled]),
    [
      [1, 'bccr', true],
      [9, 'pruebas', true],
    ],
  )
  const series = await json<Json[]>('/api/v1/series?provider=pruebas')
  assert.deepEqual(
    series.map(({ id, provider_id, external_code }) => [id, provider_id, external_code]),
    optional.catalogue.map(({ externalCode }, at) => [48 + at, 9, externalCode]),
  )
  const { tasks } = await json<Tasks>('/api/v1/scheduler')
  assert.deepEqual(
    tasks.map(({ name }) => name),
    ['sync', 'sync pruebas'],
  )
  const latest = await json<Json>('/api/v1/rates/latest?provider=pruebas&base=EUR&quote=USD')
  assert.equal(latest.rate_date, '2026-03-23')
  assert.equal((await provider('enable', 'pruebas')).err, '', 'nothing is added twice')
})

test('`provider disable` ends the scheduler of an optional provider; its values are still answered', async (t) => {
  const { json, get, provider, source, clock, logLines } = await start(t, { scheduler: true })
  await provider('enable', 'pruebas')
  const hasValue = async () =>
    (await get('/api/v1/rates/latest?provider=pruebas&base=EUR&quote=USD')).status === 200
  await until(() => ['bccr', 'pruebas'].every((code) => isSynced(logLines, code)))
  await until(hasValue)
  await provider('disable', 'pruebas')
  await until(async () => (await json<Tasks>('/api/v1/scheduler')).tasks.length === 1)
  const requests = source.tokens.length
  clock.now = new Date('2026-04-14T12:00:00Z')
  assert.ok(await hasValue())
  const { detail } = await json<{ detail?: { reasons?: string[] } }>('/api/v1/health')
  assert.doesNotMatch(detail?.reasons?.join() ?? '', /pruebas|bccr: /)
  const { providers } = await json<{ providers: Json[] }>('/api/v1/status')
  assert.deepEqual(
    providers.map(({ code }) => code),
    ['bccr'],
  )
  assert.match((await provider('list')).out, /^pruebas .* disabled /m)
  assert.equal(source.tokens.length, requests)

  // A run of an optional provider would give way to the one of the bank, which is due.
  await until(() => isSynced(logLines, 'bccr', 2))
  await provider('enable', 'pruebas')
  await until(async () => (await json<Tasks>('/api/v1/scheduler')).tasks.length === 2)
  await until(() => source.tokens.length > requests)
})

test('`provider disable` of an optional provider that is off changes nothing', async (t) => {
  const { json, provider } = await start(t)
  const disabled = await provider('disable', 'pruebas')
  const line = 'provider pruebas was never enabled: nothing was changed\n'
  assert.deepEqual([disabled.code, disabled.out], [0, line])
  assert.deepEqual(JSON.parse((await provider('disable', 'pruebas', '--json')).out), {
    ...{ code: 'pruebas', enabled: false, off: true },
  })
  assert.equal((await json<Json[]>('/api/v1/providers')).length, 1)
  const unknown = await provider('enable', 'prueba')
  assert.equal(unknown.err, 'cambista: there is no provider prueba: see cambista provider list\n')
})

test('/readyz?fresh=true is about required providers alone', async (t) => {
  const { sync, app, get, provider, source, clock, json } = await start(t)
  await provider('enable', 'pruebas')
  source.stopsOn = '2026-03-10'
  await until(async () => (await json<Json[]>('/api/v1/providers')).length === 2)
  await sync()
  const { status, detail } = await json<{ status: string; detail: { reasons: string[] } }>('/api/v1/health')
  assert.equal(status, 'degraded')
  assert.match(detail.reasons.join(), /^pruebas: the newest referencia of the euro is of 2026-03-10/)
  assert.equal((await get('/readyz?fresh=true')).status, 200)
  clock.now = new Date('2026-03-31T12:00:00Z')
  assert.equal((await fetch(`${app.url}/readyz?fresh=true`)).status, 503)
})

test('details=true of /api/v1/providers has attribution and terms', async (t) => {
  const { json } = await start(t)
  const [row] = await json<Json[]>('/api/v1/providers?details=true')
  assert.deepEqual([row?.attribution, row?.terms], ['Fuente: Banco Central de Costa Rica', null])
})
