// A stored value that is damaged. Every answer is that of a store whose day was never synchronized. The error of a
// single value is a 503 with the series and the day.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { raiseRevision } from '../../../src/store/meta.ts'
import { markSeriesChanged } from '../../../src/store/rates/rates.ts'
import { selectSeries } from '../../../src/store/rates/series.ts'
import { addDays } from '../../../src/values/dates.ts'
import { DAY_REQUESTS, RANGE_REQUESTS } from '../../support/rates/compat-requests.ts'
import { until } from '../../support/terminal.ts'
import { addKey, URL_KEY } from '../compat/asmx.ts'
import { openShapes, type TestApp } from '../compat/support.ts'
import { asOtherProcess, loseDays } from '../support.ts'

const DAY = '2026-03-03'
const NEWEST = '2026-03-24'
const SDDE = '/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API'
const PAIRS = [
  { base: 'USD', quote: 'CRC', side: 'venta' },
  { base: 'USD', quote: 'CRC', side: 'compra' },
  { base: 'EUR', quote: 'CRC', side: 'venta' },
  { base: 'EUR', quote: 'USD', side: 'venta' },
  { base: 'USD', quote: 'JPY', side: 'venta' },
] as const

async function openDamaged(code: string, day: string) {
  const app = await openShapes({ listen: { metrics: 'local' } })
  await addKey(app, { secret: URL_KEY, kind: 'url' })
  await damage(app, { code, day, value: '44x.84' })
  return app
}

/** Writes beneath the program, as a damaged disk does. */
async function damage(app: TestApp, { code, day, value }: { code: string; day: string; value: string }) {
  const id = await asOtherProcess(app, async (db) => {
    const series = (await selectSeries(db)).find(({ external_code }) => external_code === code)
    const row = db
      .updateTable('rates')
      .set({ value })
      .where('series_id', '=', series?.id ?? 0)
    await row.where('rate_date', '=', day).execute()
    await db
      .transaction()
      .execute(async (trx) => markSeriesChanged(trx, [series?.id ?? 0], await raiseRevision(trx)))
    return series?.id ?? 0
  })
  await until(async () => {
    const { leftOut } = await read(app, `/api/v1/rates?on=${day}&exact=true`)
    return leftOut?.includes(String(id)) === true
  })
  return id
}

async function openHoled(code: string, day: string) {
  const app = await openShapes()
  await addKey(app, { secret: URL_KEY, kind: 'url' })
  await loseDays(app, { from: day, to: day }, [code])
  await until(async () => (await read(app, `/api/v1/rates?on=${day}&exact=true`)).leftOut !== null)
  return app
}

async function read(app: TestApp, path: string) {
  const response = await app.get(path)
  const leftOut = response.headers.get('x-left-out')
  return {
    status: response.status,
    leftOut,
    holes: response.headers.get('x-holes'),
    body: await response.text(),
  }
}

/** Requests of each API for the day, the day before, the day after, and ranges over it. */
function listPaths(day: string): string[] {
  const days = [addDays(day, -1), day, addDays(day, 1), addDays(day, 4)]
  const range = { from: addDays(day, -7), to: addDays(day, 7) }
  const query = `from=${range.from}&to=${range.to}`
  return [
    ...days.flatMap((on) => [
      `/api/v1/rates?on=${on}`,
      `/api/v1/rates?on=${on}&exact=true`,
      `/api/v1/rates.csv?on=${on}`,
      `/v1/${on}?base=USD`,
      `/v2/rates?base=USD&date=${on}`,
      `/historical?date=${on}`,
      `/api/${on}?base=EUR`,
      `/api/historical/${on}.json`,
      `${SDDE}/cuadro/1/series?fechaInicio=${on.replaceAll('-', '/')}&fechaFin=${on.replaceAll('-', '/')}`,
      ...PAIRS.flatMap((pair) => [
        `/api/v1/rates/latest?base=${pair.base}&quote=${pair.quote}&on=${on}`,
        `/api/v1/convert?amount=1500&from=${pair.base}&to=${pair.quote}&type=${pair.side}&on=${on}`,
        ...DAY_REQUESTS.map((request) => request.path(pair, on)),
      ]),
    ]),
    ...['history', 'history.csv', 'history.ndjson'].map((name) => `/api/v1/series/2/${name}?${query}`),
    `/indicadores/tc/dolar/historico?d=${range.from}&h=${range.to}`,
    ...PAIRS.flatMap(({ base, quote, side }) => [
      ...['', '&every=week', '&every=month&stat=mean'].map(
        (more) => `/api/v1/history?base=${base}&quote=${quote}&type=${side}&${query}${more}`,
      ),
      `/api/v1/history/stats?base=${base}&quote=${quote}&type=${side}&${query}`,
      ...RANGE_REQUESTS.map((request) => request.path({ base, side }, [quote], range)),
      ...RANGE_REQUESTS.map((request) => request.path({ base, side }, [], range)),
    ]),
  ]
}

for (const code of ['318', '333']) {
  for (const day of [DAY, NEWEST]) {
    test(`a damaged value of ${code} on ${day} is a hole in every answer, and an error names it`, async () => {
      const [damaged, holed] = await Promise.all([
        openDamaged(code, day),
        openHoled(code, day === NEWEST ? addDays(day, -1) : day),
      ])
      let errors = 0
      for (const path of listPaths(day)) {
        const answer = await read(damaged, path)
        assert.ok(answer.status !== 500, `${path}: ${answer.body}`)
        assert.doesNotMatch(answer.body, /44x/, path)
        const isNamed = answer.body.includes(`on ${day} is damaged`)
        if (isNamed) errors += 1
        if (isNamed && path.startsWith('/api/v1/')) assert.equal(answer.status, 503, path)
        if (day === NEWEST) continue // a lost newest day is no hole: nothing was published yet
        const expected = await read(holed, path)
        const isError = expected.status >= 400 || expected.body.startsWith('{"success":false')
        if (isNamed && !path.startsWith('/api/v1/')) {
          assert.ok(isError || expected.body === '[]', `${path}: an error of the shape: ${expected.body}`)
          continue
        }
        if (expected.body.includes('"missing":')) {
          assert.equal(answer.status, 503, `${path}: a damaged side is no side without a value`)
          continue
        }
        const plain = (body: string) =>
          body
            .replace(
              /the stored value of series \d+ on [-\d]+ is damaged: cambista doctor describes the repair/g,
              '?',
            )
            .replace(/the days from [-\d]+ to [-\d]+ have not been synchronized/g, '?')
            .replace(/"status":\d+|,?"(timestamp|hint|see|reason)":("[^"]*"|\d+)/g, '')
        assert.deepEqual(
          [plain(answer.body), answer.leftOut, answer.holes],
          [plain(expected.body), expected.leftOut, expected.holes],
          path,
        )
        // This API has codes alone, and no words.
        const isCode = path.startsWith('/v6/') && answer.status === 503
        if (!isNamed && !isCode) assert.equal(answer.status, expected.status, path)
      }
      assert.ok(errors >= 10, `${errors} errors name the day`)
    })
  }
}

test('health is degraded, the log has a line, and a metric counts the days', async () => {
  const app = await openDamaged('318', DAY)
  const text = 'the stored value of series 2 on 2026-03-03 is damaged: cambista doctor describes the repair'
  const health = await app.json<{ status: string; detail: { reasons: string[] } }>('/api/v1/health')
  assert.deepEqual([health.status, health.detail.reasons], ['degraded', [text]])
  const { reason_codes } = await app.json<{ reason_codes: object[] }>('/api/v1/status')
  assert.deepEqual(reason_codes, [{ code: 'damaged', provider: 'bccr', series_id: 2, since: DAY }])
  assert.match((await read(app, '/metrics')).body, /^cambista_rates_damaged 1$/m)
  for (let at = 0; at < 3; at += 1) await read(app, '/api/v1/series/2/history')
  await damage(app, { code: '317', day: DAY, value: '' })
  const lines = app.logLines
    .join('')
    .split('\n')
    .filter((line) => line.includes('stored values are damaged'))
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)).map(({ level, of, first }) => [level, of, first]),
    [
      ['error', 'series 2', DAY],
      ['error', 'series 1', DAY],
    ],
  )
})

test('as_of answers from sound revisions of a damaged value, and refuses a damaged revision', async () => {
  const app = await openShapes()
  await addKey(app, { secret: URL_KEY, kind: 'url' })
  const later = (seconds: number) => new Date(app.clock.now.getTime() + seconds * 1000)
  app.clock.now = later(60)
  const before = app.clock.now.toISOString()
  app.clock.now = later(60)
  const correct = '/api/v1/convert?amount=1&from=USD&to=CRC&type=venta&on=2026-03-03'
  const { rate } = await app.json<{ rate: string }>(correct)
  await asOtherProcess(app, async (db) => {
    const run = await db.selectFrom('sync_runs').select('id').limit(1).executeTakeFirstOrThrow()
    const revision = {
      series_id: 2,
      rate_date: DAY,
      kind: 'correction' as const,
      old_value: rate,
      run_id: run.id,
    }
    const instants = {
      old_stored_at: Date.parse(before) - 1000,
      replaced_at: app.clock.now.toISOString(),
    }
    await db
      .insertInto('rate_revisions')
      .values({ ...revision, ...instants, old_rounded_to: null, new_value: '449' })
      .execute()
  })
  await damage(app, { code: '318', day: DAY, value: '4 49' })
  const past = `${correct}&as_of=${before}`
  assert.equal((await app.json<{ rate: string }>(past)).rate, rate)
  assert.equal((await read(app, correct)).status, 503)
  await asOtherProcess(app, (db) => db.updateTable('rate_revisions').set({ old_value: '44:' }).execute())
  await damage(app, { code: '318', day: DAY, value: '4 4' })
  await until(async () => (await read(app, past)).body.includes(`on ${DAY} is damaged`))
  assert.equal((await read(app, past)).status, 503)
})

test('damage before the first sound value is an error that names it, and no missing value', async () => {
  const app = await openShapes()
  await damage(app, { code: '318', day: '2026-01-01', value: 'x' })
  await asOtherProcess(app, (db) =>
    db
      .updateTable('rates')
      .set({ value: 'x' })
      .where('series_id', '=', 2)
      .where('rate_date', '<', '2026-01-12')
      .execute(),
  )
  await damage(app, { code: '318', day: '2026-01-11', value: 'y' })
  for (const path of [
    '/api/v1/convert?amount=1&from=USD&to=CRC&type=venta&on=2026-01-08',
    '/compat/valor?de=USD&a=CRC&tipo=venta&fecha=2026-01-08',
  ]) {
    const answer = await read(app, path)
    assert.deepEqual([answer.status, /is damaged/.test(answer.body)], [503, true], `${path}: ${answer.body}`)
  }
  assert.equal(
    (await read(app, '/api/v1/convert?amount=1&from=USD&to=CRC&type=venta&on=2026-01-13')).status,
    200,
  )
})
