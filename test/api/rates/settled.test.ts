// The day that /rates/latest answers while one side of the dollar is known alone (decisions#settled,
// missing). No client reads half a sync.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { FetchFailure } from '../../../src/providers/provider.ts'
import { addDays } from '../../../src/values/dates.ts'
import { fetchAnswer, type MemoryApp, startMemoryApp } from '../../support/rates/memory-app.ts'
import { TOMORROW_OF_TEST } from '../../support/rates/memory-bank.ts'

const TODAY = '2026-03-24'
const TOMORROW = TOMORROW_OF_TEST
const noon = (day: string) => new Date(`${day}T18:00:00Z`)
const evening = (day: string) => new Date(`${addDays(day, 1)}T01:00:00Z`)

type Latest = {
  provider: string
  pair: string
  rate_date: string
  compra: string | null
  venta: string | null
  referencia: null
  missing?: string[]
  covered_to?: string
}
type Shown = [day: string, compra: string | null, venta: string | null, missing?: string[]]

/** The dollar of /rates/latest, as a row of a table. */
async function dollar(app: MemoryApp, on?: string): Promise<Shown> {
  const path = `/rates/latest${on === undefined ? '' : `?on=${on}`}`
  const answer = (await fetchAnswer(app, path)) as Latest
  assert.equal(typeof answer, 'object', `${path}: ${answer}`)
  const { rate_date, compra, venta, missing, future, ...rest } = answer as Latest & { future?: true }
  assert.equal(future, on !== undefined && on > addDays(app.clock.today(), 1) ? true : undefined)
  assert.deepEqual(rest, { provider: 'bccr', pair: 'USD/CRC', referencia: null })
  return missing === undefined ? [rate_date, compra, venta] : [rate_date, compra, venta, missing]
}

/** A store that is complete up to `TODAY`; from then on one side cannot be read. */
async function openHalf(t: TestContext, failing = '318'): Promise<MemoryApp> {
  const app = await startMemoryApp(t)
  for (const code of ['317', '318']) {
    const value = code === '317' ? '500' : '510'
    app.memory.publish[code] = (day) => (day <= app.clock.today() ? value : undefined)
  }
  await app.sync()
  app.memory.fault = fail(failing)
  return app
}

function fail(failing: string) {
  return ({ indicator }: { indicator: string | undefined }) => {
    if (indicator === failing) throw new FetchFailure('HTTP 500')
    return undefined
  }
}

for (const [failing, compra, venta, missing] of [
  ['318', '500', null, 'venta'],
  ['317', null, '510', 'compra'],
] as const) {
  test(`without ${failing} the last complete day is served for three days, then the known half`, async (t) => {
    const app = await openHalf(t, failing)
    assert.deepEqual(await dollar(app), [TODAY, '500', '510'])
    for (let later = 1; later <= 5; later++) {
      app.clock.now = noon(addDays(TODAY, later))
      const { run } = await app.sync()
      assert.equal(run.status, 'parcial')
      const expected = later <= 3 ? [TODAY, '500', '510'] : [addDays(TODAY, later), compra, venta, [missing]]
      assert.deepEqual(await dollar(app), expected, `${later} days after`)
      assert.deepEqual(await dollar(app, '2999-12-31'), expected)
      assert.deepEqual(await dollar(app, addDays(TODAY, 2)), [TODAY, '500', '510'])
    }
    app.memory.fault = undefined
    await app.sync()
    assert.deepEqual(await dollar(app), [addDays(TODAY, 5), '500', '510'])
  })
}

test('the other endpoints depend on their own series alone', async (t) => {
  const app = await openHalf(t)
  app.clock.now = noon(TOMORROW)
  await app.sync()
  assert.deepEqual(await dollar(app), [TODAY, '500', '510'])
  const rates = await app.json<{ rate_date: string }[]>('/api/v1/rates?quote=CRC')
  assert.deepEqual(
    rates.map(({ rate_date }) => rate_date),
    [TOMORROW, TODAY],
  )
  for (const [type, day] of [
    ['compra', TOMORROW],
    ['venta', TODAY],
  ]) {
    const path = `/api/v1/convert?amount=1&from=USD&to=CRC&type=${type}`
    assert.equal((await app.json<{ rate_date: string }>(path)).rate_date, day)
  }
  const { points } = await app.json<{ points: { rate_date: string }[] }>('/api/v1/series/1/history')
  assert.equal(points.at(-1)?.rate_date, TOMORROW)
})

test('while a sync runs no client reads its first half', async (t) => {
  const app = await openHalf(t)
  app.clock.now = noon(TOMORROW)
  const answers: Shown[] = []
  app.memory.fault = async ({ indicator }) => {
    if (indicator !== '317') answers.push(await dollar(app))
    return undefined
  }
  await app.sync()
  assert.ok(answers.length >= 2)
  for (const [day, compra, venta] of answers) {
    assert.ok(day === TODAY || day === TOMORROW, day)
    assert.deepEqual([compra, venta], ['500', '510'])
  }
  assert.deepEqual(answers[0], [TODAY, '500', '510'])
  assert.deepEqual(await dollar(app), [TOMORROW, '500', '510'])
})

test('a run that breaks off between the two sides leaves no half visible', async (t) => {
  const app = await openHalf(t)
  app.clock.now = noon(TOMORROW)
  app.memory.fault = ({ indicator }) => {
    if (indicator === '318') throw new TypeError('surprise')
    return undefined
  }
  await app.sync()
  assert.deepEqual(await dollar(app), [TODAY, '500', '510'])
})

test('both sides of an answered window are stored, although the next window fails', async (t) => {
  const app = await openHalf(t)
  app.clock.now = noon(TOMORROW)
  app.memory.fault = ({ table }) => {
    if (table === '520') throw new FetchFailure('HTTP 500')
    return undefined
  }
  assert.equal((await app.sync()).run.status, 'parcial')
  assert.deepEqual(await dollar(app), [TOMORROW, '500', '510'])
})

test('/rates/latest has the covered day of the older side', async (t) => {
  const app = await openHalf(t)
  app.clock.now = noon(addDays(TODAY, 1))
  await app.sync()
  const { rate_date, covered_to } = (await fetchAnswer(app, '/rates/latest?details=true')) as Latest
  assert.deepEqual([rate_date, covered_to], [TODAY, TODAY])
})

test("in the evening one side of tomorrow's dollar does not replace today's two", async (t) => {
  const app = await openHalf(t)
  app.memory.publish['317'] = (day) => (day <= TOMORROW ? '501' : undefined)
  app.clock.now = evening(TODAY)
  await app.sync()
  assert.deepEqual(await dollar(app), [TODAY, '501', '510'])
  assert.deepEqual(await dollar(app, TOMORROW), [TODAY, '501', '510'])
  assert.deepEqual(await dollar(app, '2999-12-31'), [TODAY, '501', '510'])
})

test('a new store without 318 serves the other side and names the missing one', async (t) => {
  const app = await startMemoryApp(t)
  app.memory.fault = fail('318')
  const { run } = await app.sync()
  assert.equal(run.status, 'parcial')
  assert.ok(run.inserted > 0)
  assert.deepEqual(await dollar(app), [TODAY, '500', null, ['venta']])
  assert.deepEqual(await dollar(app, '2026-02-10'), ['2026-02-10', '500', null, ['venta']])
  app.memory.fault = undefined
  await app.sync()
  assert.deepEqual(await dollar(app), [TODAY, '500', '500'])
})

test('"none" of the day itself settles it, and is not missing', async (t) => {
  const app = await openHalf(t)
  app.memory.fault = undefined
  app.memory.publish['318'] = (day) => (day <= TODAY ? '510' : undefined)
  app.clock.now = noon(TOMORROW)
  await app.sync()
  assert.deepEqual(await dollar(app), [TOMORROW, '500', null])
})

test('"none" of a future day settles nothing', async (t) => {
  const app = await openHalf(t)
  app.memory.fault = undefined
  app.memory.publish['317'] = (day) => (day <= TOMORROW ? '501' : undefined)
  app.memory.publish['318'] = (day) => (day <= TODAY ? '510' : undefined)
  app.clock.now = evening(TODAY)
  await app.sync()
  assert.deepEqual(await dollar(app, TOMORROW), [TODAY, '501', '510'])
  // The same answer, fetched after midnight.
  app.clock.now = new Date(`${TOMORROW}T06:00:00Z`)
  await app.sync()
  assert.deepEqual(await dollar(app, TOMORROW), [TOMORROW, '501', null])
})

test('a rejected row is not "none", and a value of a later day settles its day', async (t) => {
  const app = await openHalf(t)
  app.memory.fault = undefined
  app.memory.publish['318'] = (day) =>
    day === TOMORROW ? '-1' : day <= app.clock.today() ? '510' : undefined
  app.clock.now = noon(TOMORROW)
  assert.equal((await app.sync()).run.status, 'parcial')
  assert.deepEqual(await dollar(app), [TODAY, '500', '510'])
  app.clock.now = noon('2026-03-26')
  await app.sync()
  assert.deepEqual(await dollar(app), ['2026-03-26', '500', '510'])
  assert.deepEqual(await dollar(app, TOMORROW), [TOMORROW, '500', null, ['venta']])
})

test('a side that is known to have no value is null without being missing', async (t) => {
  const app = await startMemoryApp(t)
  app.memory.publish['318'] = (day) => (day !== '2026-03-18' && day <= TOMORROW ? '510' : undefined)
  await app.sync()
  assert.deepEqual(await dollar(app, '2026-03-18'), ['2026-03-18', '500', null])
  assert.deepEqual(await dollar(app, '2026-03-19'), ['2026-03-19', '500', '510'])
})
