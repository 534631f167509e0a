// A source that is another cambista has days of an indicator that it has not synchronized itself.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { UnsynchronizedFailure } from '../../../../src/providers/provider.ts'
import { selectIndicatorCoverage } from '../../../../src/store/indicators/values.ts'
import { addDays, type IsoDate } from '../../../../src/values/dates.ts'
import { type Interval, intersects } from '../../../../src/values/intervals.ts'
import { type IndicatorDesk, openIndicatorDesk, startNextDay } from '../../../support/rates/indicator-desk.ts'
import { listDays } from '../../../support/rates/memory-bank.ts'

const TODAY = '2026-03-24'
const FLOOR = '2024-01-01'

/** Opens a desk whose source lacks days of 423, and names the first of them in an answer. */
async function openWithHoles(t: TestContext, holes: readonly Interval[]): Promise<IndicatorDesk> {
  const desk = await openIndicatorDesk(t)
  desk.values['423'] = (day) => (day <= desk.clock.today() ? '4' : undefined)
  mirrorHoles(desk, holes)
  return desk
}

function mirrorHoles(desk: IndicatorDesk, holes: readonly Interval[]): void {
  desk.hook.fault = ({ code, window }) => {
    const hole = code === '423' ? holes.find((one) => intersects(one, window)) : undefined
    if (hole) throw new UnsynchronizedFailure(`${code}: HTTP 503`, hole)
    return undefined
  }
}

async function missingDays(desk: IndicatorDesk, from: IsoDate = FLOOR): Promise<IsoDate[]> {
  const values = await desk.stored('423')
  return listDays(from, desk.clock.today()).filter((day) => !(day in values))
}

for (const day of ['2026-03-12', TODAY, '2025-06-15']) {
  test(`an indicator is read around ${day}, which the source has not synchronized`, async (t) => {
    const desk = await openWithHoles(t, [{ from: day, to: day }])
    await desk.enable(['423'], FLOOR)
    const run = await desk.read()
    assert.deepEqual(await missingDays(desk), [day])
    assert.deepEqual(
      [run?.status, run?.message],
      ['parcial', `the source has not synchronized ${day} of 423`],
    )
    const requests = desk.calls.length
    assert.equal(await desk.read(), undefined, 'the missing day is requested once a day')
    await startNextDay(desk)
    await desk.read()
    assert.deepEqual(await missingDays(desk), [day])
    assert.ok(desk.calls.length - requests <= 4, `${desk.calls.length - requests} requests`)
    desk.hook.fault = undefined
    await startNextDay(desk)
    assert.equal((await desk.read())?.status, 'ok')
    assert.deepEqual(await missingDays(desk), [])
  })
}

test('an unsynchronized day that is met before dawn does not stop the history', async (t) => {
  const desk = await openIndicatorDesk(t, '2026-03-24T11:01:00Z')
  desk.values['423'] = (day) => (day <= desk.clock.today() ? '4' : undefined)
  mirrorHoles(desk, [{ from: '2026-03-12', to: '2026-03-12' }])
  await desk.enable(['423'], FLOOR)
  await desk.read()
  assert.ok((await missingDays(desk)).length > 700, 'the quiet time has no history')
  desk.clock.now = new Date('2026-03-24T12:45:00Z')
  await desk.read()
  assert.deepEqual(await missingDays(desk), ['2026-03-12'])
  assert.equal(await desk.read(), undefined)
})

test("today's value arrives with few requests, however many days the source lacks", async (t) => {
  const desk = await openIndicatorDesk(t, '2026-01-01T12:40:00Z')
  desk.names.set('3541', 'Tasa política monetaria neta')
  desk.values['423'] = (day) => (day <= desk.clock.today() ? '4' : undefined)
  await desk.enable(['423', '3541'], FLOOR)
  await desk.read()
  const days = listDays('2026-01-01', '2026-03-23').filter((_, at) => at % 2 === 1)
  const holes = days.map((day) => ({ from: day, to: day }))
  mirrorHoles(desk, holes)
  desk.calls.length = 0
  await startNextDay(desk, 82)
  await desk.read({ isNewestOnly: true })
  assert.equal(desk.clock.today(), TODAY)
  const ofToday = desk.calls.findIndex(({ window }) => window.from === TODAY)
  assert.ok(ofToday > 0 && ofToday <= 4, `request ${ofToday}`)
  assert.ok(TODAY in (await desk.stored('423')))
  assert.equal(desk.calls.filter(({ code }) => code === '3541').length, 1)
  assert.ok(desk.calls.length <= 45, `${desk.calls.length} requests`)
  await startNextDay(desk)
  await desk.read()
  assert.deepEqual(await missingDays(desk, '2026-01-01'), days)
})

test('late values before and after an unsynchronized day are stored', async (t) => {
  const desk = await openIndicatorDesk(t)
  let published = TODAY
  desk.values['423'] = (day) => (day <= published ? '4' : undefined)
  await desk.enable(['423'], FLOOR)
  await desk.read()
  for (let week = 1; week <= 5; week++) {
    await startNextDay(desk, 7)
    await desk.read()
  }
  const hole = addDays(TODAY, 20)
  mirrorHoles(desk, [{ from: hole, to: hole }])
  published = addDays(TODAY, 42)
  await startNextDay(desk, 7)
  await desk.read()
  assert.deepEqual(await missingDays(desk), [hole])
  const covered = (await selectIndicatorCoverage(desk.db)).get('423') ?? []
  assert.deepEqual(covered, [
    { from: FLOOR, to: addDays(hole, -1) },
    { from: addDays(hole, 1), to: published },
  ])
})

test('days that the source lacks do not end the run of other indicators', async (t) => {
  const desk = await openIndicatorDesk(t)
  const codes = ['423', '3541', '3540', '353', '347']
  await desk.enable(codes)
  for (const code of codes) {
    desk.names.set(code, code)
    desk.values[code] = (day) => (day <= TODAY ? '4' : undefined)
  }
  desk.hook.fault = ({ code, window }) => {
    if (code === '347') return undefined
    throw new UnsynchronizedFailure(`${code}: HTTP 503`, window)
  }
  await desk.read({ isNewestOnly: true })
  assert.equal((await desk.stored('347'))[TODAY], '4')
  desk.calls.length = 0
  assert.equal(await desk.read({ isNewestOnly: true }), undefined, 'an hour passes')
  desk.clock.now = new Date(desk.clock.now.getTime() + 3_600_000)
  await desk.read({ isNewestOnly: true })
  assert.equal(desk.calls.length, 4)
})

test('the history ends for the day at a year that the source has not synchronized', async (t) => {
  const desk = await openWithHoles(t, [{ from: '1900-01-01', to: '2025-01-31' }])
  await desk.enable(['423'])
  await desk.read()
  assert.equal(Object.keys(await desk.stored('423'))[0], '2025-02-01')
  assert.ok(desk.calls.length <= 6, `${desk.calls.length} requests`)
})
