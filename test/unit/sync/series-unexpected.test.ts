// Series that differ from the catalogue in an answer: absent, unknown, inverse.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { selectSeries } from '../../../src/store/rates/series.ts'
import {
  AUD,
  EUR,
  JPY,
  listDays,
  nextDay,
  openDesk,
  selectCatalogue,
  XDR,
} from '../../support/rates/memory-bank.ts'

const FLOOR = '2026-02-01'
const TODAY = '2026-03-24'
const TOMORROW = '2026-03-25'
const EVERY_DAY = listDays(FLOOR, TOMORROW)

test('an indicator that nobody knows is named and not stored, and the others are', async (t) => {
  const { sync, bank, db, stored } = await openDesk(t)
  bank.listed.set('77777', 'Corona Checa')
  bank.publish['77777'] = () => '21.5'
  const run = await sync()
  assert.equal(run.message, '520: unknown indicator 77777 (Corona Checa), not stored')
  assert.equal((await selectSeries(db)).length, 6)
  assert.equal(Object.keys(await stored('EUR')).length, EVERY_DAY.length)
})

test('a flood of unknown indicators is ten names and a number', async (t) => {
  const { sync, bank } = await openDesk(t)
  for (let code = 70_000; code < 70_300; code++) {
    bank.listed.set(String(code), 'Corona')
    bank.publish[code] = () => '21.5'
  }
  const { message } = await sync()
  assert.equal(message?.split('; ').length, 11)
  assert.match(message ?? '', /; 520: 290 more unknown indicators, not stored$/)
})

test('a currency that is absent from the newest answer makes the run parcial and is named', async (t) => {
  const { sync, bank } = await openDesk(t)
  bank.supportsSingleSeries = false
  bank.listed.delete(JPY)
  bank.listed.delete(XDR)
  const run = await sync()
  assert.deepEqual([run.status, run.message], ['parcial', '520: absent from the answer: JPY, XDR'])
})

test('a currency that is absent from old answers only is normal', async (t) => {
  const { sync, bank } = await openDesk(t, { backfillFrom: '2025-01-01' })
  bank.fault = ({ indicator, window }, usual) => {
    const answer = usual()
    if (indicator !== undefined || window.to >= TODAY) return answer
    return { ...answer, listed: answer.listed.filter(({ code }) => code !== EUR) }
  }
  assert.deepEqual((await sync()).message, null)
})

test('a side of the dollar that its table does not list makes the run parcial', async (t) => {
  const { sync, bank, covered } = await openDesk(t)
  bank.supportsSingleSeries = false
  bank.fault = ({ indicator }) => (indicator === '318' ? { listed: [], observations: [] } : undefined)
  const run = await sync()
  assert.deepEqual([run.status, run.message], ['parcial', '318: absent from the answer: CRC'])
  // A second request without the series is an answer, since single series cannot be requested (decisions#coverage).
  assert.deepEqual(await covered('CRC'), { from: '2026-02-01', to: '2026-03-24' })
})

test('a name that another known code carries teaches nothing', async (t) => {
  const { sync, bank, db } = await openDesk(t)
  bank.listed.delete(XDR)
  bank.listed.set(EUR, 'Derechos Especiales de Giro')
  await sync()
  assert.equal((await selectSeries(db)).length, 5)
})

for (const [currency, code, wrong, right] of [
  ['AUD', AUD, '1.53', '0.6536'],
  ['NZD', '21269', '0.59', '1.69'],
  ['JOD', '22204', '1.41', '0.709'],
  ['BHD', '41438', '2.65', '0.377'],
] as const) {
  test(`${currency} the other way round is named and not stored, and filled when the bank corrects it`, async (t) => {
    const { sync, bank, stored, covered } = await openDesk(t, {
      catalogue: selectCatalogue(['CRC', 'EUR', currency]),
    })
    bank.publish[code] = (day) => (day <= TOMORROW ? wrong : undefined)
    const run = await sync()
    assert.equal(run.status, 'parcial')
    assert.equal(
      run.message,
      `520: ${currency} seems to be quoted the other way round (${wrong}), not stored`,
    )
    assert.deepEqual(await stored(currency), {})
    assert.equal(await covered(currency), undefined)
    assert.equal(Object.keys(await stored('EUR')).length, EVERY_DAY.length)

    bank.publish[code] = (day) => (day <= TOMORROW ? right : undefined)
    const next = await sync()
    assert.deepEqual([next.status, next.message], ['ok', null])
    assert.deepEqual(await stored(currency), Object.fromEntries(EVERY_DAY.map((day) => [day, right])))
    assert.deepEqual(await covered(currency), { from: FLOOR, to: TOMORROW })
  })
}

test('a currency that is stored may go where it wants', async (t) => {
  const { sync, bank, clock, stored } = await openDesk(t)
  await sync()
  clock.now = new Date('2026-03-25T12:00:00Z')
  bank.publish[AUD] = () => '1.53'
  assert.equal((await sync()).status, 'ok')
  assert.equal((await stored('AUD'))['2026-03-25'], '1.53')
})

test('years of rows that are all rejected are not the beginning of a history', async (t) => {
  const { sync, bank, stored } = await openDesk(t, { backfillFrom: '2021-01-01' })
  for (const code of [AUD, EUR, JPY, XDR]) {
    const value = bank.publish[code]?.(TODAY)
    bank.publish[code] = (day) => (day > TOMORROW ? undefined : /^202[234]/.test(day) ? '0' : value)
  }
  assert.equal((await sync()).status, 'parcial')
  assert.equal(Object.keys(await stored('EUR'))[0], '2021-01-01')
})

test('an answer for tomorrow is stored with its own date, one for the day after is rejected', async (t) => {
  const { sync, bank, stored } = await openDesk(t)
  bank.fault = ({ indicator, window }, usual) => {
    const answer = usual()
    if (indicator !== '318' || window.to !== TOMORROW) return answer
    const row = { code: '318', day: nextDay(TOMORROW), value: '510', roundedTo: undefined }
    return { ...answer, observations: [...answer.observations, row] }
  }
  const run = await sync()
  assert.equal(run.status, 'parcial')
  assert.match(run.message ?? '', /^318: row rejected: 318 on 2026-03-26: outside 2026-03-10 to 2026-03-25$/)
  assert.equal(Object.keys(await stored('CRC')).at(-1), TOMORROW)
})
