// Banco de Guatemala and European Central Bank through a whole server: ids, captured values, conversions.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { examine } from '../../../src/domain/operations/doctor/doctor.ts'
import { banguat } from '../../../src/providers/banguat/banguat.ts'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import { ecb } from '../../../src/providers/ecb/ecb.ts'
import { selectCoverage } from '../../../src/store/rates/coverage.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { canonicalNumber } from '../../../src/values/decimal.ts'
import { startTestApp, type TestAppOptions } from '../../support/app.ts'
import { startBanguat } from '../../support/sources/banguat.ts'
import { startEcb } from '../../support/sources/ecb.ts'
import { enableProviders } from '../../support/sources/enable.ts'
import { fixedClock, ofSqlite } from '../../support/temporary.ts'

type Json = Record<string, unknown>
type Points = { points: { rate_date: string; value: string }[] }

const FIXTURES = join(import.meta.dirname, '../../fixtures')
const listen = { compat: { open: 'any', serveRounded: false } } as const
const ZAR = 'D.ZAR.EUR.SP00.A'
const EVENING = '2026-03-18T23:00:00Z'

async function start(t: TestContext, bank: TestAppOptions['bank'] = {}) {
  const clock = fixedClock(EVENING)
  const [guatemala, frankfurt] = [await startBanguat(t, clock.read), await startEcb(t, clock.read)]
  const app = await startTestApp(t, {
    clock,
    bank,
    listen,
    backfillFrom: '2026-03-01',
    providers: [bccr, ecb, banguat],
    sources: {
      banguat: () => ({ url: guatemala.url, token: undefined }),
      ecb: () => ({ url: frankfurt.url, token: undefined }),
    },
  })
  await app.sync()
  await enableProviders(app, [banguat, ecb])
  const sync = async () => {
    const ends = await app.app.sync({
      trigger: 'cli',
      range: undefined,
      signal: new AbortController().signal,
    })
    return ends.map(({ run, current }) => [run.provider_id, run.status, run.message, current])
  }
  return { ...app, guatemala, frankfurt, sync }
}

test('each captured value is answered digit for digit, under fixed ids', async (t) => {
  const { sync, json } = await start(t)
  assert.deepEqual(await sync(), [
    [1, 'ok', null, true],
    [2, 'ok', null, true],
    [3, 'ok', null, true],
  ])
  const providers = await json<Json[]>('/api/v1/providers')
  assert.deepEqual(
    providers.map(({ id, code }) => `${id} ${code}`),
    ['1 bccr', '2 ecb', '3 banguat'],
  )
  const series = await json<Json[]>('/api/v1/series')
  assert.deepEqual(
    series.slice(47).map(({ id, external_code }) => `${id} ${external_code}`),
    ['2.compra', '2.venta', ...ecb.catalogue.map((one) => one.externalCode)].map(
      (code, at) => `${48 + at} ${code}`,
    ),
  )
  const values = new Map<string, string[]>()
  for (const { id, external_code: code } of series.slice(47)) {
    const { points } = await json<Points>(`/api/v1/series/${id}/history?from=2026-03-01&to=2026-03-31`)
    values.set(
      String(code),
      points.map(({ rate_date, value }) => `${rate_date} ${value}`),
    )
  }
  const csv = readFileSync(join(FIXTURES, 'ecb/reconstructed-exr-dataonly-2026-03-11.csv'), 'utf8')
  const published = Map.groupBy(
    csv
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((row) => row.split(',')),
    ([key = '']) => key.replace('EXR.', ''),
  )
  assert.equal(published.size, 29)
  for (const [code, rows] of published) {
    const expected = rows.map(([, , , , , , day, value = '']) => `${day} ${canonicalNumber(value)}`)
    assert.deepEqual(values.get(code), expected, code)
  }
  const xml = readFileSync(join(FIXTURES, 'banguat/tipocambiorango-2026-03-01-20.xml'), 'utf8')
  for (const side of ['compra', 'venta']) {
    const rows = xml.match(/<Var>.*?<\/Var>/g) ?? []
    const expected = rows.map((row) => {
      const [, day, month, year] = /<fecha>(\d\d)\/(\d\d)\/(\d{4})</.exec(row) ?? []
      return `${year}-${month}-${day} ${new RegExp(`<${side}>([^<]*)<`).exec(row)?.[1]}`
    })
    assert.deepEqual(values.get(`2.${side}`), expected.slice(0, 18), side)
  }
})

test('a currency whose last rows are cut is not covered, until an answer has them', ofSqlite, async (t) => {
  const app = await start(t)
  const db = openDatabase(app.dataDir)
  t.after(() => db.destroy())
  const days = async () => {
    const series = (await app.json<Json[]>('/api/v1/series')).find((one) => one.external_code === ZAR)
    const covered = await selectCoverage(db)
    return (covered.get(Number(series?.id)) ?? []).map(({ from, to }) => `${from} ${to}`)
  }
  app.frankfurt.correct = (body) => body.split('\r\n').slice(0, -3).join('\r\n').concat('\r\n')
  await app.sync()
  assert.deepEqual(await days(), ['2026-03-01 2026-03-04', '2026-03-19 2026-03-19'], 'days without values')
  const [first, second] = app.frankfurt.requests.map(({ url }) => url.search)
  assert.equal(first, second, 'requested again')
  app.frankfurt.correct = undefined
  await app.sync()
  assert.deepEqual(await days(), ['2026-03-01 2026-03-19'])
})

test('a conversion to quetzales is that of one source, and no route uses two', async (t) => {
  const { sync, json, get } = await start(t)
  await sync()
  const convert = (provider: string, to = 'GTQ', type = 'venta') =>
    json<Json>(`/api/v1/convert?amount=1&from=USD&to=${to}&type=${type}&provider=${provider}&on=2026-03-11`)
  const [guatemala, bank] = [await convert('banguat'), await convert('bccr')]
  assert.deepEqual([guatemala.provider, guatemala.rate, guatemala.rate_type], ['banguat', '7.66069', 'venta'])
  assert.equal((await convert('banguat', 'GTQ', 'compra')).rate_type, 'compra')
  assert.equal(bank.provider, 'bccr')
  assert.notEqual(bank.rate, guatemala.rate)
  const euro = await convert('ecb', 'JPY')
  assert.deepEqual([euro.path, euro.via_pivot, euro.rate_type], ['USD -> EUR -> JPY', true, 'referencia'])
  const refusal = async (path: string) => {
    const response = await get(path)
    return [response.status, ((await response.json()) as Json).detail]
  }
  assert.deepEqual(await refusal('/api/v1/convert?amount=1&from=GTQ&to=CRC&provider=banguat'), [
    404,
    'Cannot convert: no rates of CRC are stored (provider=bccr has it)',
  ])
  assert.deepEqual(await refusal('/api/v1/rates/latest?base=EUR&quote=RON'), [
    404,
    'No series of bccr gives EUR/RON (provider=ecb has it)',
  ])
  assert.deepEqual(await refusal('/api/v1/convert?amount=1&from=RON&to=COP&provider=ecb'), [
    404,
    'Cannot convert: no rates of COP are stored',
  ])
})

test('enabled sources change no answer in the shape of another service', async (t) => {
  const paths = [
    '/v1/latest?base=USD',
    '/v2/currencies',
    '/v2/currency/eur',
    '/v2/rates?base=EUR',
    '/v2/rates?base=EUR&providers=BCCR&expand=providers',
    '/stats/eurofxref/eurofxref-daily.xml',
    '/stats/eurofxref/eurofxref-hist.csv',
    '/latest?access_key=x',
    '/api/latest.json',
    '/v6/latest/EUR',
    '/compat/valor?de=EUR',
  ]
  const clock = fixedClock(EVENING)
  const alone = await startTestApp(t, { clock, backfillFrom: '2026-03-01', providers: [bccr], listen })
  await alone.sync()
  const { sync, get } = await start(t)
  await sync()
  for (const path of paths) {
    const [before, after] = [await alone.get(path), await get(path)]
    assert.deepEqual([after.status, await after.text()], [200, await before.text()], path)
  }
})

test('a source that is down or hostile for a week leaves the bank and the dollar alone', async (t) => {
  const { sync, json, get, guatemala, clock } = await start(t)
  await sync()
  const faults = [
    { body: '<html><body>En mantenimiento</body></html>' },
    { status: 302, headers: { Location: 'https://portal.example/' }, body: '' },
    { status: 413, body: '' },
    { status: 404, body: 'Not found' },
    { status: 401, body: '' },
    { body: '<soap:Envelope' },
    { body: '' },
  ]
  for (const [index, fault] of faults.entries()) {
    guatemala.fault = () => fault
    clock.now = new Date(Date.parse(EVENING) + (index + 1) * 86_400_000)
    const ends = await sync()
    assert.deepEqual(ends[0], [1, 'ok', null, true], `day ${index + 1}`)
    const [id, status, message] = ends[2] ?? []
    assert.deepEqual([id, status], [3, 'error'], `day ${index + 1}`)
    assert.match(String(message), /^banguat: /)
    assert.equal((await get('/readyz?fresh=true')).status, 200)
  }
  const { status, detail } = await json<{ status: string; detail: { reasons: string[] } }>('/api/v1/health')
  assert.equal(status, 'degraded', 'the enabled source is late')
  const { providers } = await json<{ providers: Json[] }>('/api/v1/status')
  assert.deepEqual(
    providers.map(({ code, fresh }) => `${code} ${fresh}`),
    ['bccr true', 'ecb false', 'banguat false'],
  )
  assert.ok(detail.reasons.some((reason) => reason.startsWith('banguat: the last run failed: ')))
  assert.ok(detail.reasons.every((reason) => !reason.startsWith('bccr: ')))
  const latest = await json<Json>('/api/v1/rates/latest?provider=banguat&base=USD&quote=GTQ&on=2026-03-17')
  assert.equal(latest.rate_date, '2026-03-17')
})

test(
  '`doctor` compares parities of the bank with those of enabled sources on the same day',
  ofSqlite,
  async (t) => {
    // Values of the captured day; the quetzal is 4 percent off. The yen is its inverse, as earlier versions stored it.
    const parities: Record<string, string> = { 333: '1.15', 330: '1.3311', 328: '1.3717', 332: '17.734' }
    const value = (code: string) => (code === '338' ? '7.97' : code === '325' ? '159.55' : parities[code])
    const { sync, dataDir, clock } = await start(t, { value })
    await sync()
    const db = openDatabase(dataDir)
    const yen = db.selectFrom('series').select('id').where('external_code', '=', '325')
    await db.updateTable('rates').set({ value: '0.00627' }).where('series_id', 'in', yen).execute()
    await db.deleteFrom('rate_sums').execute() // earlier versions have none
    await db.destroy()
    const { findings } = await examine({
      ...{ dataDir, clock: clock.read, providers: [bccr, ecb, banguat] },
      ...{ minFree: 0, zone: 'UTC', backup: undefined },
      ...{ signal: new AbortController().signal, beforeRecheck: async () => {} },
    })
    const differences = findings
      .map(({ message }) => message)
      .filter((message) => message.includes(' at bccr and '))
    assert.deepEqual(differences, [
      'USD/JPY of 2026-03-18 is 0.00627 at bccr and 159.55652173913 at ecb: one is the inverse of the other',
      'USD/GTQ of 2026-03-18 is 7.97 at bccr and 7.65267 at banguat: they differ by more than 3 percent',
    ])
  },
)
