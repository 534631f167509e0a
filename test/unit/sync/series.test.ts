// Life of a single series: absent, unknown, learned, quoted in the other direction, disabled for a time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openRateCache } from '../../../src/domain/rates/rate-cache.ts'
import { bccrCatalogue } from '../../../src/providers/bccr/catalogue.ts'
import { FetchFailure } from '../../../src/providers/provider.ts'
import { selectMeta } from '../../../src/store/meta.ts'
import { selectSeries, updateSeriesEnabled } from '../../../src/store/rates/series.ts'
import { ensureCatalogue } from '../../../src/sync/catalogue.ts'
import {
  AUD,
  createMemoryBank,
  EUR,
  JPY,
  listDays,
  nextDay,
  openDesk,
  XDR,
} from '../../support/rates/memory-bank.ts'

const FLOOR = '2026-02-01'
const TODAY = '2026-03-24'
const TOMORROW = '2026-03-25'
const EVERY_DAY = listDays(FLOOR, TOMORROW)

test('a currency that reappears in a table gets the days that it missed, unless two answers left it out three months later', async (t) => {
  for (const supportsSingleSeries of [true, false]) {
    const { sync, bank, clock, stored, covered } = await openDesk(t)
    bank.supportsSingleSeries = supportsSingleSeries
    await sync()
    bank.fault = ({ indicator }, usual) => {
      if (indicator === JPY) throw new FetchFailure('HTTP 400')
      const answer = usual()
      return {
        ...answer,
        listed: answer.listed.filter(({ code }) => code !== JPY),
        observations: answer.observations.filter(({ code }) => code !== JPY),
      }
    }
    for (const now of ['2026-04-20', '2026-07-20']) {
      clock.now = new Date(`${now}T12:00:00Z`)
      assert.equal((await sync()).status, 'parcial')
    }
    // A table without single series is read twice each time: that is an answer (decisions#coverage).
    assert.deepEqual(await covered('JPY'), {
      from: FLOOR,
      to: supportsSingleSeries ? TOMORROW : '2026-07-20',
    })
    bank.fault = undefined
    clock.now = new Date('2026-08-20T12:00:00Z')
    assert.equal((await sync()).status, 'ok')
    const missingDays = supportsSingleSeries ? [] : listDays('2026-03-26', '2026-07-06')
    const expected = listDays(FLOOR, '2026-08-21').filter((day) => !missingDays.includes(day))
    assert.deepEqual(Object.keys(await stored('JPY')), expected)
  }
})

test('a currency without a code is learned by name, whatever its accents and case, under the next free id', async (t) => {
  const { sync, bank, db, stored } = await openDesk(t)
  bank.listed.set(XDR, '  DERECHOS  Especiales de GÍRO ')
  await sync()
  const series = await selectSeries(db)
  const { id, external_code, base_currency, quote_currency, first_data_date } = series[5] ?? {}
  assert.deepEqual(
    [series.length, id, external_code, base_currency, quote_currency, first_data_date],
    [6, 6, XDR, 'XDR', 'USD', FLOOR],
  )
  assert.equal(Object.keys(await stored('XDR')).length, EVERY_DAY.length)
})

test('with the whole catalogue the learned one is number 47', async (t) => {
  const { sync, db } = await openDesk(t, { backfillFrom: '2026-03-20', catalogue: bccrCatalogue })
  const run = await sync()
  assert.deepEqual([run.status, run.message], ['ok', null])
  const series = await selectSeries(db)
  assert.deepEqual([series.length, series.at(-1)?.id, series.at(-1)?.base_currency], [47, 47, 'XDR'])
  const [compra, venta, ...parities] = series.slice(0, -1)
  assert.deepEqual([compra?.external_code, venta?.external_code], ['317', '318'])
  const currencies = parities.map((one) =>
    one.base_currency === 'USD' ? one.quote_currency : one.base_currency,
  )
  assert.deepEqual(currencies, currencies.toSorted())
})

test('a currency learned later than the rest gets its history', async (t) => {
  const { sync, bank, clock, stored, covered, idOf } = await openDesk(t)
  bank.listed.delete(XDR)
  assert.equal((await sync()).message, '520: absent from the answer: XDR')
  bank.listed.set(XDR, 'Derechos Especiales de Giro')
  clock.now = new Date('2026-03-25T12:00:00Z')
  const run = await sync()
  assert.deepEqual([run.status, run.message], ['ok', null])
  assert.equal(await idOf('XDR'), 6)
  assert.deepEqual(Object.keys(await stored('XDR')), listDays(FLOOR, '2026-03-26'))
  assert.deepEqual(await covered('XDR'), { from: FLOOR, to: '2026-03-26' })
})

test('a disabled series is not synced but served, and gets the missed days when enabled again', async (t) => {
  const { sync, bank, db, clock, stored, idOf } = await openDesk(t)
  await sync()
  for (const currency of ['EUR', 'CRC'])
    await updateSeriesEnabled(db, await idOf(currency), false, clock.now.getTime())
  clock.now = new Date('2026-06-01T12:00:00Z')
  const without = await sync()
  assert.deepEqual([without.status, without.message], ['ok', null])
  assert.ok(!bank.asked.some(({ indicator, window }) => indicator === '318' && window.to > TOMORROW))
  for (const currency of ['EUR', 'CRC']) assert.deepEqual(Object.keys(await stored(currency)), EVERY_DAY)

  for (const currency of ['EUR', 'CRC'])
    await updateSeriesEnabled(db, await idOf(currency), true, clock.now.getTime())
  clock.now = new Date('2026-06-02T12:00:00Z')
  const run = await sync()
  assert.equal(run.status, 'ok')
  assert.ok((run.date_from ?? '') <= '2026-03-26', `asked for days since ${run.date_from}`)
  for (const currency of ['EUR', 'CRC']) {
    assert.deepEqual(Object.keys(await stored(currency)), listDays(FLOOR, '2026-06-03'))
  }
})

test('the record of a run has a range with every requested day', async (t) => {
  const { sync, bank, db, clock, idOf } = await openDesk(t)
  await sync()
  await updateSeriesEnabled(db, await idOf('EUR'), false, clock.now.getTime())
  clock.now = new Date('2026-05-01T12:00:00Z')
  await sync()
  await updateSeriesEnabled(db, await idOf('EUR'), true, clock.now.getTime())
  bank.asked.length = 0
  const run = await sync()
  assert.equal(run.date_from, bank.asked.map(({ window }) => window.from).toSorted()[0])
})

test('the history of a parity ends where a year brings nothing, once and for all', async (t) => {
  const { sync, bank, stored, covered } = await openDesk(t, { backfillFrom: '2020-01-01' })
  const born = { AUD: '2025-06-10', EUR: '2023-03-03', JPY: '2024-02-29', XDR: '2025-11-11' }
  for (const [code, first] of [
    [AUD, born.AUD],
    [EUR, born.EUR],
    [JPY, born.JPY],
    [XDR, born.XDR],
  ] as const) {
    const value = bank.publish[code]?.(TODAY)
    bank.publish[code] = (day) => (day >= first && day <= TOMORROW ? value : undefined)
  }
  assert.equal((await sync()).status, 'ok')
  for (const [currency, first] of Object.entries(born)) {
    assert.equal(Object.keys(await stored(currency))[0], first)
    const { from = '', to } = ((await covered(currency)) ?? {}) as { from?: string; to?: string }
    assert.ok(from <= nextDay(first, -365) && from > '2020-06-01', `${currency} is covered from ${from}`)
    assert.equal(to, TOMORROW)
  }
  assert.ok(!bank.asked.some(({ table, window }) => table === '520' && window.to < '2021-01-01'))
  bank.asked.length = 0
  await sync()
  assert.equal(bank.asked.length, 3, 'nothing is asked backwards again')
})

test('a lower floor than before brings the older history', async (t) => {
  const { sync, deps, stored } = await openDesk(t)
  await sync()
  deps.backfillFrom = '2025-11-11'
  assert.equal((await sync()).status, 'ok')
  for (const currency of ['CRC', 'EUR']) assert.equal(Object.keys(await stored(currency))[0], '2025-11-11')
})

test('only what changes raises the data revision and turns a column', async (t) => {
  const { sync, bank, db, idOf } = await openDesk(t)
  await sync()
  const before = await selectMeta(db)
  const cache = await openRateCache(db, [])
  const columns = await cache.snapshot().columns(cache.snapshot().series)
  await sync()
  assert.deepEqual(await selectMeta(db), before)

  bank.publish[EUR] = (day) => (day === TODAY ? '1.25' : undefined)
  await sync()
  assert.equal((await selectMeta(db)).revision, before.revision + 1)
  await cache.refresh()
  const after = await cache.snapshot().columns(cache.snapshot().series)
  const turned = cache.snapshot().series.filter((_, at) => columns[at] !== after[at])
  assert.deepEqual(
    turned.map(({ id }) => id),
    [await idOf('EUR')],
  )
})

test('two providers that quote the same pair do not touch each other', async (t) => {
  const { sync, db, clock, stored, bank } = await openDesk(t)
  const other = createMemoryBank(clock)
  await ensureCatalogue(
    db,
    [bank.provider, { ...other.provider, id: 2, code: 'ecb', name: 'Other' }],
    () => new Date(),
  )
  const series = await selectSeries(db)
  assert.deepEqual(
    series.map(({ provider_id }) => provider_id),
    [1, 1, 1, 1, 1, 2, 2, 2, 2, 2],
  )
  const run = await sync()
  assert.deepEqual([run.status, run.message], ['ok', null])
  const filledSeries = (await selectSeries(db)).filter(({ first_data_date }) => first_data_date !== null)
  assert.deepEqual([...new Set(filledSeries.map(({ provider_id }) => provider_id))], [1])
  assert.deepEqual(await stored('XDR'), Object.fromEntries(EVERY_DAY.map((day) => [day, '1.2'])))
})
