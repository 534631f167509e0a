// A server over two different providers. Each has its own settings, pivot, zone, schedule and health. The
// contract of the central bank is the same as without the other.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { messageWithAdvice } from '../../../src/cli/help/advice.ts'
import { examine } from '../../../src/domain/operations/doctor/doctor.ts'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import type { Provider } from '../../../src/providers/provider.ts'
import { selectCoverage } from '../../../src/store/rates/coverage.ts'
import { updateProviderEnabled } from '../../../src/store/rates/providers.ts'
import { loadContext } from '../../../src/sync/run-context.ts'
import { startTestApp, type TestAppOptions } from '../../support/app.ts'
import { pruebas } from '../../support/pruebas/pruebas.ts'
import { PRUEBAS_TOKEN, pruebasValue, startPruebas } from '../../support/pruebas/source.ts'
import { fixedClock, ofSqlite, temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'
import { asOtherProcess } from '../support.ts'

type Json = Record<string, unknown>
type Health = {
  status: string
  series: number
  detail?: { reasons?: string[]; reason_codes?: { code: string; provider: string }[] }
}

// In Helsinki it is Tuesday 14:00: the values of Monday are due. In Costa Rica it is 06:00.
const NOON = '2026-03-24T12:00:00Z'
const BACKFILL_FROM = '2026-02-01'

async function startBoth(t: TestContext, options: TestAppOptions = {}) {
  const clock = options.clock ?? fixedClock(NOON)
  const source = await startPruebas(t, clock)
  const app = await startTestApp(t, {
    backfillFrom: BACKFILL_FROM,
    providers: [bccr, pruebas],
    sources: { pruebas: () => ({ url: source.url, token: PRUEBAS_TOKEN }) },
    ...options,
    clock,
  })
  const syncBoth = () =>
    app.app.sync({ trigger: 'cli', range: undefined, signal: new AbortController().signal })
  return { ...app, source, syncBoth }
}

test('each run gets the settings of its own provider', async (t) => {
  const { source, bank, syncBoth, logLines } = await startBoth(t)
  const ends = await syncBoth()
  assert.deepEqual(
    ends.map(({ run, current }) => [run.provider_id, run.status, run.message, current]),
    [
      [1, 'ok', null, true],
      [2, 'ok', null, true],
    ],
  )
  assert.deepEqual(new Set(source.tokens), new Set([PRUEBAS_TOKEN]))
  assert.ok(bank.requests.every(({ path }) => path.startsWith('/SDDE/api/')))
  assert.ok(!/secret\.of-pruebas|test-token/.test(logLines.join('')))
})

test('a second provider gets the next ids, also in an existing database', async (t) => {
  const dataDir = temporaryDirectory(t)
  const alone = await startTestApp(t, { dataDir, now: NOON, backfillFrom: '2026-03-20' })
  await alone.sync() // adds the last series
  const before = await alone.json<Json[]>('/api/v1/series')
  await alone.app.close()

  const { json } = await startBoth(t, { dataDir })
  const after = await json<Json[]>('/api/v1/series')
  assert.deepEqual(after.slice(0, 47), before)
  assert.deepEqual(
    after.slice(47).map((one) => [one.id, one.provider_id, one.quote_currency, one.external_code]),
    [
      [48, 2, 'USD', 'EUR.USD'],
      [49, 2, 'GBP', 'EUR.GBP'],
      [50, 2, 'JPY', 'EUR.JPY'],
      [51, 2, 'SEK', 'EUR.SEK'],
    ],
  )
  const providers = await json<Json[]>('/api/v1/providers')
  assert.deepEqual(
    providers.map(({ id, code }) => [id, code]),
    [
      [1, 'bccr'],
      [2, 'pruebas'],
    ],
  )
})

test('each run counts its days in the zone of its provider', async (t) => {
  const clock = fixedClock('2026-03-24T22:30:00Z') // 16:30 in Costa Rica, 00:30 of the next day in Helsinki
  const both = await startBoth(t, { clock })
  const { syncBoth, json } = both
  const ends = await syncBoth()
  assert.deepEqual(
    ends.map(({ run, current }) => [run.status, run.date_to, current]),
    [
      ['ok', '2026-03-25', true],
      ['ok', '2026-03-26', true],
    ],
  )
  const { rate_date } = await json<Json>('/api/v1/rates/latest?provider=pruebas&base=EUR&quote=USD')
  assert.equal(rate_date, '2026-03-24')
  const covered = await asOtherProcess(both, (db) => selectCoverage(db))
  const newest = [2, 48].map((id) => covered.get(id)?.at(-1)?.to)
  assert.deepEqual(newest, ['2026-03-25', '2026-03-25'], 'a value of tomorrow, and a day that has begun')
})

test('a run reads the coverage of its own provider alone', async (t) => {
  const both = await startBoth(t)
  const readCoverage = (provider: Provider) =>
    asOtherProcess(both, async (db) => {
      const { series, covered } = await loadContext(
        db,
        provider,
        { clock: both.clock.read, trigger: 'cli' },
        async () => {},
      )
      const ids = new Set(series.map(({ id }) => id))
      return [...covered.answered.keys()].map((id) => ids.has(id))
    })
  await both.syncBoth()
  assert.deepEqual(
    await readCoverage(bccr),
    Array.from({ length: 47 }, () => true),
  )
  assert.deepEqual(
    await readCoverage(pruebas),
    Array.from({ length: 4 }, () => true),
  )
})

test('rates are those of the requested provider, and conversions use its pivot', async (t) => {
  const { json, get, syncBoth } = await startBoth(t)
  await syncBoth()
  const latest = await json<Json>('/api/v1/rates/latest?provider=pruebas&base=EUR&quote=USD')
  assert.deepEqual([latest.rate_date, latest.referencia], ['2026-03-23', pruebasValue('USD', '2026-03-23')])
  assert.equal((await json<Json>('/api/v1/rates/latest')).provider, 'bccr')

  const over = async (provider: string, from: string, to: string) => {
    const conversion = await json<Json>(`/api/v1/convert?amount=1&from=${from}&to=${to}&provider=${provider}`)
    return [conversion.path, conversion.via_pivot]
  }
  assert.deepEqual(await over('pruebas', 'JPY', 'SEK'), ['JPY -> EUR -> SEK', true])
  assert.deepEqual(await over('pruebas', 'JPY', 'EUR'), ['JPY -> EUR', false])
  assert.deepEqual(await over('bccr', 'JPY', 'SEK'), ['JPY -> USD -> SEK', true])
  assert.deepEqual(await over('bccr', 'JPY', 'EUR'), ['JPY -> USD -> EUR', true])
  const query = 'amount=2&from=JPY&to=SEK&provider=pruebas&details=true'
  const { rate, result, legs } = await json<{ rate: string; result: string; legs: Json[] }>(
    `/api/v1/convert?${query}`,
  )
  assert.deepEqual([rate, result], ['0.0687986277032408', '0.1375972554064816'])
  assert.deepEqual(
    legs.map(({ pair, value, inverse }) => [pair, value, inverse]),
    [
      ['EUR/JPY', '163.23', true],
      ['EUR/SEK', '11.23', false],
    ],
  )
  const unknown = await get('/api/v1/convert?amount=1&from=CRC&to=EUR&provider=pruebas')
  assert.deepEqual(
    [unknown.status, await unknown.json()],
    [404, { detail: 'Cannot convert: no rates of CRC are stored (provider=bccr has it)' }],
  )
})

test('health names the failing provider, each by its own calendar', async (t) => {
  const { json, clock, source, syncBoth, app } = await startBoth(t)
  await syncBoth()
  const { status, detail, series } = await json<Health>('/api/v1/health')
  assert.deepEqual([status, detail, series], ['ok', undefined, 51])

  source.stopsOn = '2026-03-20'
  clock.now = new Date('2026-03-30T06:30:00Z') // Monday; Friday is due in Helsinki
  await syncBoth()
  const words = 'pruebas: the newest referencia of the euro is of 2026-03-23, 7 days ago'
  assert.deepEqual((await json<Health>('/api/v1/health')).detail, undefined, 'four days behind is not stale')
  clock.now = new Date('2026-03-30T14:00:00Z')
  assert.deepEqual((await json<Health>('/api/v1/health')).detail?.reasons, [words])
  const probe = await fetch(`${app.url}/readyz?fresh=1`)
  assert.deepEqual([probe.status, await probe.json()], [503, { status: 'stale', detail: [words] }])

  source.isDown = true
  const [good, bad] = await syncBoth()
  assert.deepEqual([good?.run.status, bad?.run.status], ['ok', 'error'])
  const failureReason = 'pruebas: the last run failed: daily: HTTP 400: no'
  const { reasons, reason_codes } = (await json<Health>('/api/v1/health')).detail ?? {}
  assert.deepEqual(reasons, [words, failureReason])
  assert.deepEqual(
    reason_codes?.map(({ code, provider }) => [code, provider]),
    [
      ['stale_side', 'pruebas'],
      ['last_run_failed', 'pruebas'],
    ],
  )
})

test('a failure of one provider is not hidden by a later good run of the other', async (t) => {
  const { json, bank, syncBoth } = await startBoth(t)
  await syncBoth()
  bank.faults = () => ({ status: 400, body: 'no' })
  const ends = await syncBoth()
  assert.deepEqual(
    ends.map(({ run }) => run.status),
    ['error', 'ok'],
  )
  const { status, detail } = await json<Health>('/api/v1/health')
  assert.equal(status, 'degraded')
  assert.match(detail?.reasons?.join() ?? '', /^bccr: the last run failed: 317: HTTP 400: no/)
})

test('doctor examines each provider by its own calendar', ofSqlite, async (t) => {
  const { dataDir, clock, syncBoth } = await startBoth(t)
  await syncBoth()
  const look = async () => {
    const examination = await examine({
      dataDir,
      clock: clock.read,
      providers: [bccr, pruebas],
      minFree: 0,
      zone: 'UTC',
      backup: undefined,
      signal: new AbortController().signal,
      beforeRecheck: async () => {},
    })
    const notes = examination.notes.map(messageWithAdvice)
    const findings = examination.findings.map((one) => ({
      check: one.check,
      message: messageWithAdvice(one),
    }))
    const rates = findings.filter(({ check }) => check === 'rates').map(({ message }) => message)
    return { rates, notes: notes.join('\n') }
  }
  const well = await look()
  assert.deepEqual(well.rates, [], 'weekends without values are no holes where none are published')
  assert.match(well.notes, /^last sync of bccr: run 1, ended .*, ok$/m)
  assert.match(well.notes, /^last sync of pruebas: run 2, ended .*, ok$/m)
  assert.match(well.notes, /^pruebas: the newest referencia of the euro is of 2026-03-23$/m)
  assert.match(well.notes, /^bccr: the newest venta of the dollar is of 2026-03-25$/m)

  clock.now = new Date('2026-03-31T12:00:00Z')
  const stale = await look()
  assert.deepEqual(
    stale.rates.map((one) => one.replace(/ is of .*/, '')),
    [
      'bccr: the newest compra of the dollar',
      'bccr: the newest venta of the dollar',
      'pruebas: the newest referencia of the euro',
    ],
  )
})

test('each provider is synced by its own schedule in its own zone, with its own metrics', async (t) => {
  const listen = { metrics: 'local' } as const
  const { app, json, logLines, syncBoth } = await startBoth(t, { scheduler: true, listen })
  await until(() => (logLines.join('').match(/"event":"sync finished"/g) ?? []).length === 2)
  const { tasks, timezone } = await json<{ tasks: Json[]; timezone: string }>('/api/v1/scheduler')
  assert.equal(timezone, 'America/Costa_Rica')
  assert.deepEqual(
    tasks.map(({ name, schedule, next_run, last_status }) => [name, schedule, next_run, last_status]),
    [
      ['sync', '0 5 * * *', '2026-03-25T11:00:00.000Z', 'ok'],
      ['sync pruebas', 'CRON_TZ=Europe/Helsinki 30 16 * * 1-5', '2026-03-24T14:30:00.000Z', 'ok'],
    ],
  )
  await syncBoth()
  const metrics = await (await fetch(`${app.url}/metrics`)).text()
  assert.match(metrics, /^cambista_dollar_age_days\{side="venta"\} -1$/m)
  assert.match(metrics, /^cambista_dollar_age_days\{provider="pruebas",side="referencia"\} 1$/m)
  assert.match(
    metrics,
    new RegExp(`^cambista_next_sync_timestamp_seconds ${Date.parse('2026-03-24T14:30:00Z') / 1000}$`, 'm'),
  )
})

test('a disabled provider is neither synced nor a reason for bad health; its values are still served', async (t) => {
  const both = await startBoth(t)
  const { json, source, syncBoth, clock } = both
  await syncBoth()
  source.isDown = true
  await syncBoth()
  assert.equal((await json<Health>('/api/v1/health')).status, 'degraded')
  await asOtherProcess(both, (db) => updateProviderEnabled(db, 'pruebas', false, both.clock.read().getTime()))
  const requestCount = source.tokens.length
  clock.now = new Date('2026-04-14T12:00:00Z')
  const ends = await syncBoth()
  assert.deepEqual([ends.length, source.tokens.length], [1, requestCount])
  assert.deepEqual((await json<Health>('/api/v1/health')).detail, undefined)
  const latest = await json<Json>('/api/v1/rates/latest?provider=pruebas&base=EUR&quote=GBP')
  assert.equal(latest.rate_date, '2026-03-23')
})
