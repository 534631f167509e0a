// Answers about the past of stores that an import, a restore or an upgrade has made (decisions#as-of).

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { createBackup } from '../../../src/domain/operations/backup/backup.ts'
import { restoreBackup } from '../../../src/domain/operations/backup/restore.ts'
import { openBackupSet } from '../../../src/domain/operations/backup/set.ts'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import { importRates } from '../../../src/sync/import/import.ts'
import { addDays } from '../../../src/values/dates.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { olderSchema } from '../../support/older-schema.ts'
import { fetchAnswer, startMemoryApp } from '../../support/rates/memory-app.ts'
import { ofSqlite, temporaryDirectory, temporaryEngine } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'

const MADE = '2026-03-24T12:00:00.000Z'
const SYNCED = '2026-03-24T12:00:01.000Z' // after the last commit of a sync
const IMPORTED = '2026-03-26T12:00:00.000Z'

type Series = { points: { rate_date: string; value: string }[] }

/** Imports the sale of the dollar for `days`: 400 colones each, marked as stored long ago. */
async function importDays(
  t: TestContext,
  app: TestApp,
  at: string,
  days: readonly string[],
  covered: { from: string; to: string },
) {
  const series = {
    provider: 'bccr',
    series_id: 2,
    external_code: '318',
    pair: 'USD/CRC',
    rate_type: 'venta',
  } as const
  const values = days.map((day) => ({
    ...{ day, value: '400', rounded_to: null, stored_at: '2020-01-01T00:00:00.000Z' },
  }))
  const options = { replace: true, dryRun: false }
  const { signal } = new AbortController()
  const engine = await temporaryEngine(t, app.dataDir)
  const deps = { ...engine, clock: () => new Date(at), providers: [bccr], signal }
  await importRates(deps, [{ series, covered: [covered], values }], options)
  const path = `/series/2/history?from=${covered.from}&to=${covered.to}`
  const isThere = async () =>
    ((await fetchAnswer(app, path)) as Series).points.some(({ value }) => value === '400')
  await until(isThere)
}

async function readPoints(app: TestApp, asOf: string): Promise<string[]> {
  const path = `/series/2/history?from=2026-01-01&to=2026-03-31&as_of=${asOf}`
  return ((await fetchAnswer(app, path)) as Series).points.map(
    ({ rate_date, value }) => `${rate_date} ${value}`,
  )
}

test('a value stored in the future is an error: one of two clocks is wrong', async (t) => {
  const app = await startMemoryApp(t, { now: MADE })
  const days = importDays(t, app, '2019-12-31T23:59:59Z', ['2019-12-30'], {
    from: '2019-12-30',
    to: '2019-12-30',
  })
  await assert.rejects(days, { message: /stored at 2020-01-01T00:00:00.000Z, and now is 2019-12-31/ })
})

test('imported values are unknown before the import, though another store had them long ago', async (t) => {
  const app = await startMemoryApp(t, { now: MADE })
  app.memory.publish['318'] = (day) => (day === '2026-03-03' ? '500' : undefined)
  await app.sync({ from: '2026-03-01', to: '2026-03-05' })
  app.clock.now = new Date('2026-04-01T12:00:00Z')
  // A day before the range, a day without a value, a day with another value, a day after the range.
  const days = ['2026-02-27', '2026-03-02', '2026-03-03', '2026-03-09']
  await importDays(t, app, IMPORTED, days, { from: '2026-02-20', to: '2026-03-10' })
  assert.deepEqual(await readPoints(app, SYNCED), ['2026-03-03 500'])
  assert.deepEqual(await readPoints(app, '2026-03-26T11:59:59.999Z'), ['2026-03-03 500'])
  assert.deepEqual(
    await readPoints(app, IMPORTED),
    days.map((day) => `${day} 400`),
  )
  const convert = (asOf: string) =>
    fetchAnswer(app, `/convert?amount=1&from=USD&to=CRC&on=2026-03-04&as_of=${asOf}`)
  assert.equal(((await convert(SYNCED)) as { rate: string }).rate, '500')
  assert.equal(((await convert(IMPORTED)) as { rate: string }).rate, '400')
  const before = await fetchAnswer(app, `/rates/latest?as_of=2020-02-01T00:00:00Z`)
  assert.equal(before, `404 as_of is before the record of this store, which begins at ${MADE}`)
})

test(
  'nothing is known between a backup and its restore, everything before and after',
  ofSqlite,
  async (t) => {
    const app = await startMemoryApp(t, { now: MADE })
    await app.sync()
    const home = temporaryDirectory(t)
    app.clock.now = new Date('2026-03-25T12:00:00Z')
    const set = await openBackupSet(join(home, 'set'), app.dataDir)
    const { path } = await createBackup(set, { dataDir: app.dataDir, now: app.clock.now })
    set.close()
    await app.app.close()
    const dataDir = join(home, 'data')
    const now = new Date('2026-03-27T08:00:00Z')
    const clock = () => new Date('2026-03-27T12:00:00Z') // time of the copy
    const request = { dataDir, owner: undefined, now, clock }
    await restoreBackup(path, request, { fault: assert.fail, inPieces: false })
    app.clock.now = new Date('2026-03-28T12:00:00Z')
    const restored = await startTestApp(t, { dataDir, clock: app.clock, providers: [app.memory.provider] })
    const ask = (asOf: string) => fetchAnswer(restored, `/convert?amount=1&from=USD&to=CRC&as_of=${asOf}`)
    const lostAnswer =
      '404 what this store had from 2026-03-25T12:00:00.000Z until it was restored at 2026-03-27T12:00:00.000Z is lost'
    for (const asOf of ['2026-03-25T12:00:00Z', '2026-03-27T11:59:59.999Z'])
      assert.equal(await ask(asOf), lostAnswer)
    const readRate = async (asOf: string) => ((await ask(asOf)) as { rate: string }).rate
    assert.equal(await readRate(SYNCED), '500')
    assert.equal(await readRate('2026-03-25T11:59:59.999Z'), '500')
    assert.equal(await readRate('2026-03-27T12:00:00Z'), '500')
  },
)

/** A store with a dollar since 1 January, whose changes of coverage are recorded from now on. */
async function openOlder(t: TestContext, change: (sqlite: Sqlite.Database) => void = () => {}) {
  const dataDir = olderSchema(t)
  const sqlite = new Sqlite(join(dataDir, 'cambista.db'))
  const storeTime = Date.parse('2026-01-01T00:00:00Z')
  sqlite.exec(`
    update rates set stored_at = ${storeTime};
    insert into rates values (1, '2026-03-27', '497', null, ${storeTime});
    insert into series (provider_id, external_code, name, base_currency, quote_currency, rate_type)
      values (1, '318', 'Tipo cambio venta', 'USD', 'CRC', 'venta');
    update coverage set covered_to = '2026-03-27';
    update meta set record_from = ${storeTime}, coverage_from = ${Date.now()};
  `)
  change(sqlite)
  sqlite.close()
  return startTestApp(t, { dataDir, now: new Date(Date.now() + 3_600_000).toISOString() })
}

test(
  'a store older than the record knows its values, and nothing that depends on covered days',
  ofSqlite,
  async (t) => {
    const app = await openOlder(t)
    const ask = (path: string, asOf = '2026-02-01T00:00:00Z') => fetchAnswer(app, `${path}&as_of=${asOf}`)
    const unknown =
      '404 which days had been synchronized then is not in the record, and the answer depends on it'
    const convert = '/convert?amount=1&from=USD&to=CRC&type=compra&on='
    assert.equal(((await ask(`${convert}2026-03-24`)) as { rate: string }).rate, '496.44')
    assert.equal(((await ask('/rates?exact=true&on=2026-03-27')) as unknown[]).length, 1)
    assert.equal(((await ask('/series/1/history?from=2026-01-01&to=2026-12-31')) as Series).points.length, 2)
    const pair = '/history?base=USD&quote=CRC&type=compra&from=2026-03-01&to=2026-03-31'
    assert.equal(((await ask(pair)) as Series).points.length, 2)
    for (const path of [
      `${convert}2026-03-25`,
      '/rates?on=2026-03-28',
      '/rates/latest?on=2026-03-28',
      // The other side has no value, and its coverage is unknown.
      '/rates/latest?on=2026-03-24',
    ]) {
      assert.equal(await ask(path), unknown, path)
    }
    // A past week is complete if all its days are covered; the current week is partial in any case.
    const week = pair.replace('from=2026-03-01&to=2026-03-31', 'from=2026-03-23&to=2026-03-29&every=week')
    assert.equal(await ask(week, '2026-04-01T00:00:00Z'), unknown)
    assert.equal(((await ask(week)) as Series).points.length, 1)
    const now = new Date(Date.now() + 60_000).toISOString()
    assert.equal(((await ask(`${convert}2026-03-25`, now)) as { rate: string }).rate, '496.44')
    const first = '404 as_of is before the record of this store, which begins at 2026-01-01T00:00:00.000Z'
    assert.equal(await ask(`${convert}2026-03-24`, '2025-12-31T23:59:59.999Z'), first)
  },
)

test('a long table is rejected as a whole, before its first row', ofSqlite, async (t) => {
  const app = await openOlder(t, (sqlite) => {
    sqlite.exec(`
      insert into series (provider_id, external_code, name, base_currency, quote_currency, rate_type)
        values (1, '333', 'Euro', 'EUR', 'USD', 'referencia')
    `)
    const insert = sqlite.prepare('insert into rates values (?, ?, ?, null, ?)')
    for (let at = 0; at < 3000; at += 1) {
      for (const id of [1, 3]) insert.run(id, addDays('2015-01-01', at), '1.234567', Date.parse('2026-01-01'))
    }
    insert.run(1, addDays('2015-01-01', 3000), '1.2', Date.parse('2026-01-01'))
  })
  for (const path of ['/history', '/history.csv', '/history.ndjson']) {
    const query = `${path}?base=EUR&quote=CRC&type=compra&from=2015-01-01&as_of=2026-02-01T00:00:00Z`
    const whole = await app.get(`/api/v1${query}&to=${addDays('2015-01-01', 2999)}`)
    assert.equal(whole.status, 200, path)
    assert.ok((await whole.text()).length > 64 * 1024)
    assert.match(String(await fetchAnswer(app, query)), /^404 which days had been synchronized then/, path)
  }
})
