// The four optional sources in one store: ids, conversions, routes, and values of sources that are disabled again.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import { ecb } from '../../../src/providers/ecb/ecb.ts'
import type { Provider } from '../../../src/providers/provider.ts'
import { insertRun } from '../../../src/store/rates/sync-runs.ts'
import { enableProviders } from '../../support/sources/enable.ts'
import { EVENING, FOUR, startFour } from '../../support/sources/four.ts'
import { runCommand, until } from '../../support/terminal.ts'
import { asOtherProcess } from '../support.ts'

type Json = Record<string, unknown>

const IDS = ['1 bccr', '2 ecb', '3 banguat', '4 trm', '5 banxico']
const GOOD_RUNS = ['1 ok', '2 ok', '3 ok', '4 ok', '5 ok']

async function startEnabled(t: TestContext, order: readonly Provider[] = FOUR) {
  const app = await startFour(t)
  await app.sync()
  const before = await app.json<Json[]>('/api/v1/series')
  await enableProviders(app, order)
  return { ...app, before }
}

async function providerIds({ json }: { json<T>(path: string): Promise<T> }): Promise<string[]> {
  return (await json<Json[]>('/api/v1/providers')).map(({ id, code }) => `${id} ${code}`)
}

/** Series of optional providers, in the order of enabling, as `id provider_id external_code`. */
function expectedSeries(order: readonly Provider[]): string[] {
  const added = order.flatMap(({ id, catalogue }) =>
    catalogue.map(({ externalCode }) => `${id} ${externalCode}`),
  )
  return added.map((words, at) => `${48 + at} ${words}`)
}

for (const order of [FOUR, FOUR.toReversed()]) {
  const codes = order.map(({ code }) => code).join(', ')
  test(`${codes}: fixed ids in any order of enabling, and series after the bank's`, async (t) => {
    const app = await startEnabled(t, order)
    assert.deepEqual(await app.syncAll(), GOOD_RUNS)
    assert.deepEqual(await providerIds(app), IDS)
    const series = await app.json<Json[]>('/api/v1/series')
    assert.deepEqual(series.slice(0, 47), app.before)
    assert.deepEqual(
      series.slice(47).map((one) => `${one.id} ${one.provider_id} ${one.external_code}`),
      expectedSeries(order),
    )
  })
}

test('/convert names the provider of its rate, and never crosses providers', async (t) => {
  const { syncAll, json, get } = await startEnabled(t)
  await syncAll()
  const convert = (query: string) => json<Json>(`/api/v1/convert?amount=1&on=2026-03-18&${query}`)
  const rates = new Map<string, Set<unknown>>()
  for (const [quote, provider] of [
    ['GTQ', 'bccr'],
    ['GTQ', 'banguat'],
    ['COP', 'bccr'],
    ['COP', 'trm'],
    ['MXN', 'bccr'],
    ['MXN', 'banxico'],
    ['MXN', 'ecb'],
  ] as const) {
    const conversion = await convert(`from=USD&to=${quote}&provider=${provider}`)
    assert.equal(conversion.provider, provider)
    rates.set(quote, (rates.get(quote) ?? new Set()).add(conversion.rate))
  }
  assert.deepEqual(
    [...rates].map(([quote, { size }]) => `${quote} ${size}`),
    ['GTQ 2', 'COP 2', 'MXN 3'],
    'each provider has its own rate',
  )
  assert.equal((await convert('from=USD&to=GTQ')).provider, 'bccr', 'the default')

  const refusal = async (query: string) => {
    const response = await get(`/api/v1/convert?amount=1&${query}`)
    return `${response.status} ${((await response.json()) as Json).detail}`
  }
  for (const provider of ['banguat', 'trm']) {
    const missing = provider === 'banguat' ? 'COP' : 'GTQ'
    assert.equal(
      await refusal(`from=GTQ&to=COP&provider=${provider}`),
      `404 Cannot convert: no rates of ${missing} are stored (provider=bccr has it)`,
    )
  }
  assert.equal(
    await refusal('from=EUR&to=RON&provider=banxico'),
    '404 Cannot convert: no rates of RON are stored (provider=ecb has it)',
  )
  assert.equal(
    await refusal('from=USD&to=MXN&provider=trm'),
    '404 Cannot convert: no rates of MXN are stored (provider=bccr or provider=ecb or provider=banxico has it)',
  )
})

test('a 404 names no provider that never sent a value', async (t) => {
  const app = await startFour(t)
  await enableProviders(app, [ecb])
  const pair = 'from=USD&to=CRC&provider=ecb'
  const refusal = async () =>
    ((await (await app.get(`/api/v1/convert?amount=1&${pair}`)).json()) as Json).detail
  assert.equal(await refusal(), 'Cannot convert: no rates of CRC are stored')
  await app.sync()
  assert.equal(await refusal(), 'Cannot convert: no rates of CRC are stored (provider=bccr has it)')
})

test('sources that are disabled again still answer their stored values', async (t) => {
  const app = await startEnabled(t)
  const { syncAll, json, dataDir, sources } = app
  await syncAll()
  const paths = [
    '/api/v1/rates/latest?provider=ecb&base=EUR&quote=USD',
    '/api/v1/rates/latest?provider=banguat&base=USD&quote=GTQ',
    '/api/v1/rates/latest?provider=trm&base=USD&quote=COP',
    '/api/v1/rates/latest?provider=banxico&base=USD&quote=MXN',
    '/api/v1/convert?amount=3&from=JPY&to=CAD&provider=banxico',
    '/api/v1/history?base=EUR&quote=RON&provider=ecb&from=2026-03-01&to=2026-03-31',
  ]
  const read = () => Promise.all(paths.map((path) => json<Json>(path)))
  const before = await read()
  const requestCounts = () => Object.values(sources).map((one) => one.requests.length)
  const earlierCounts = requestCounts()
  for (const { code } of FOUR) {
    const end = await runCommand(['provider', 'disable', code, '--data-dir', dataDir], {}, [bccr, ...FOUR])
    assert.equal(end.code, 0, end.err)
  }
  await until(async () => (await json<{ providers: Json[] }>('/api/v1/status')).providers.length === 1)
  assert.deepEqual(await read(), before)
  assert.deepEqual(await syncAll(), ['1 ok'])
  assert.deepEqual(requestCounts(), earlierCounts)
  assert.deepEqual(await providerIds(app), IDS, 'their rows stay, disabled')
})

test('/api/v1/status has the last runs of the bank beside a source that fails every hour', async (t) => {
  const app = await startEnabled(t)
  const bankRuns = async () => {
    const { runs } = await app.json<{ runs: Json[] }>('/api/v1/status')
    return runs.filter(({ provider_id: id }) => id === 1)
  }
  const before = await bankRuns()
  assert.equal(before.length, 1)
  await asOtherProcess(app, async (db) => {
    for (let hour = 0; hour < 25; hour++) {
      const started_at = new Date(Date.parse(EVENING) + hour * 3_600_000).toISOString()
      const day = { date_from: '2026-03-20', date_to: '2026-03-21' }
      const id = await insertRun(db, { provider_id: 3, trigger: 'retry', ...day, started_at })
      const end = { status: 'error', message: 'banguat: HTTP 503', finished_at: started_at } as const
      await db.updateTable('sync_runs').set(end).where('id', '=', id).execute()
    }
  })
  assert.deepEqual(await bankRuns(), before)
  const { runs } = await app.json<{ runs: { id: number }[] }>('/api/v1/status')
  assert.deepEqual(
    runs.map(({ id }) => id),
    [...Array.from({ length: 20 }, (_, at) => 26 - at), 1],
    'at most 20 of each provider, newest first',
  )
})
