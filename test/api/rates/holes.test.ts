// Days that were never synchronized: no value answers across them (decisions 2.6: coverage, holes).

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Window } from '../../../src/providers/provider.ts'
import { FetchFailure } from '../../../src/providers/provider.ts'
import { answerTo, type MemoryApp, startMemoryApp } from '../../support/rates/memory-app.ts'
import { EUR } from '../../support/rates/memory-bank.ts'

const COMPRA = 1
const VENTA = 2
const AUD_ID = 3
const EUR_ID = 4
const TODAY = '2026-03-24'
const TOMORROW = '2026-03-25'

type Latest = { rate_date: string; compra: string | null; venta: string | null; missing?: string[] }
type Rate = { series_id: number; rate_date: string }
type History = { points: { rate_date: string }[] }

const hole = (from: string, to: string) => `404 the days from ${from} to ${to} have not been synchronized`

/** The question's answer in a word: the day of the value, or the 404. */
async function dayOfAnswer(app: MemoryApp, path: string): Promise<string> {
  const answer = await answerTo(app, path)
  return typeof answer === 'string' ? answer : (answer as { rate_date: string }).rate_date
}

async function seriesOn(app: MemoryApp, on: string): Promise<number[]> {
  return (await app.json<Rate[]>(`/api/v1/rates?on=${on}`)).map(({ series_id }) => series_id)
}

async function pointsOf(app: MemoryApp, id: number, { from, to }: Window): Promise<string[]> {
  const { points } = await app.json<History>(`/api/v1/series/${id}/history?from=${from}&to=${to}`)
  return points.map(({ rate_date }) => rate_date)
}

/** Two islands, `2025-03-01` to `2025-03-31` and the last seven weeks, and the sea between. */
async function openIslands(t: TestContext): Promise<MemoryApp> {
  const app = await startMemoryApp(t, { backfillFrom: '2026-02-01' })
  await app.sync()
  await app.sync({ from: '2025-03-01', to: '2025-03-31' })
  return app
}

test('1983 does not answer for 2010', async (t) => {
  const app = await startMemoryApp(t, { backfillFrom: '2020-01-01' })
  await app.sync()
  await app.sync({ from: '1983-01-01', to: '1983-12-31' })
  const cases: [on: string, answer: string][] = [
    ['1983-06-05', '1983-06-05'],
    ['1983-12-31', '1983-12-31'],
    ['1984-01-01', hole('1984-01-01', '1984-01-01')],
    ['2010-05-05', hole('1984-01-01', '2010-05-05')],
    ['2019-12-31', hole('1984-01-01', '2019-12-31')],
    ['2020-01-01', '2020-01-01'],
    ['2999-12-31', TOMORROW],
  ]
  for (const [on, answer] of cases) {
    for (const path of [
      `/rates/latest?on=${on}`,
      `/rates/latest?base=EUR&quote=USD&on=${on}`,
      `/convert?amount=1&from=USD&to=CRC&on=${on}`,
      `/convert?amount=1&from=CRC&to=USD&type=compra&on=${on}`,
      `/convert?amount=1&from=EUR&to=USD&on=${on}`,
      `/convert?amount=1&from=EUR&to=CRC&on=${on}`,
    ]) {
      assert.equal(await dayOfAnswer(app, path), answer, path)
    }
    assert.equal((await seriesOn(app, on)).length, answer.startsWith('404') ? 0 : 6, `/rates?on=${on}`)
  }
  const points = await pointsOf(app, COMPRA, { from: '1983-12-30', to: '2020-01-02' })
  assert.deepEqual(points, ['1983-12-30', '1983-12-31', '2020-01-01', '2020-01-02'])
})

test('a default sync leaves the island that is older than --backfill-from as it is', async (t) => {
  const app = await openIslands(t)
  await app.sync()
  assert.equal(await dayOfAnswer(app, '/rates/latest?on=2025-06-05'), hole('2025-04-01', '2025-06-05'))
  assert.equal(await dayOfAnswer(app, '/rates/latest?on=2025-03-31'), '2025-03-31')
})

test('a sync of the days between joins the islands', async (t) => {
  const app = await openIslands(t)
  await app.sync({ from: '2025-04-01', to: '2026-01-30' })
  assert.equal(await dayOfAnswer(app, '/rates/latest?on=2025-06-05'), '2025-06-05')
  assert.equal(await dayOfAnswer(app, '/rates/latest?on=2026-01-31'), hole('2026-01-31', '2026-01-31'))
  await app.sync({ from: '2026-01-31', to: '2026-01-31' })
  assert.equal(await dayOfAnswer(app, '/rates/latest?on=2026-01-31'), '2026-01-31')
})

test('a default sync closes the holes from --backfill-from on', async (t) => {
  const app = await startMemoryApp(t, { backfillFrom: '2025-10-01' })
  await app.sync({ from: '2025-10-05', to: '2025-10-20' })
  await app.sync({ from: '2025-12-01', to: '2025-12-20' })
  await app.sync({ from: '2026-03-01', to: TOMORROW })
  assert.equal(await dayOfAnswer(app, '/rates/latest?on=2025-11-11'), hole('2025-10-21', '2025-11-11'))
  assert.equal(await dayOfAnswer(app, '/rates/latest?on=2026-01-01'), hole('2025-12-21', '2026-01-01'))
  await app.sync()
  for (const on of ['2025-10-01', '2025-11-11', '2026-01-01', '2026-02-28', TODAY]) {
    assert.equal(await dayOfAnswer(app, `/rates/latest?on=${on}`), on)
    assert.equal(await dayOfAnswer(app, `/convert?amount=1&from=EUR&to=CRC&on=${on}`), on)
    assert.equal((await seriesOn(app, on)).length, 6)
  }
})

test('the days that are named end with the last that is uncovered, not with the day asked', async (t) => {
  const app = await startMemoryApp(t)
  const daily = app.memory.publish[EUR]
  // No euro on the first days of the later island.
  app.memory.publish[EUR] = (day) => (day >= '2026-03-15' && day <= '2026-03-17' ? undefined : daily?.(day))
  await app.sync({ from: '2026-02-01', to: '2026-03-10' })
  await app.sync({ from: '2026-03-15', to: '2026-03-20' })
  const euro = (on: string) => dayOfAnswer(app, `/rates/latest?base=EUR&quote=USD&on=${on}`)
  assert.equal(await euro('2026-03-10'), '2026-03-10')
  assert.equal(await euro('2026-03-12'), hole('2026-03-11', '2026-03-12'))
  assert.equal(await euro('2026-03-16'), hole('2026-03-11', '2026-03-14'))
  assert.equal(await euro('2026-03-18'), '2026-03-18')
  assert.deepEqual(await seriesOn(app, '2026-03-16'), [COMPRA, VENTA, AUD_ID, 5, 6])
})

test('each series has its own holes: a side that is unknown is named, the other answers', async (t) => {
  const app = await startMemoryApp(t)
  await app.sync({ from: '2026-02-01', to: '2026-03-10' })
  await app.sync({ from: '2026-03-15', to: '2026-03-20' })
  app.memory.fault = ({ indicator }) => {
    if (indicator === '318') throw new FetchFailure('HTTP 500')
    return undefined
  }
  const run = await app.sync({ from: '2026-03-11', to: '2026-03-14' })
  assert.equal(run.run.status, 'parcial')
  assert.deepEqual(await answerTo(app, '/rates/latest?on=2026-03-12'), {
    provider: 'bccr',
    pair: 'USD/CRC',
    rate_date: '2026-03-12',
    compra: '500',
    venta: null,
    referencia: null,
    missing: ['venta'],
  })
  assert.deepEqual(await seriesOn(app, '2026-03-12'), [COMPRA, AUD_ID, EUR_ID, 5, 6])
  const convert = (type: string) =>
    dayOfAnswer(app, `/convert?amount=1&from=USD&to=CRC&type=${type}&on=2026-03-12`)
  assert.equal(await convert('compra'), '2026-03-12')
  assert.equal(await convert('venta'), hole('2026-03-11', '2026-03-12'))
  const euros = (type: string) =>
    dayOfAnswer(app, `/convert?amount=1&from=EUR&to=CRC&type=${type}&on=2026-03-12`)
  assert.equal(await euros('compra'), '2026-03-12')
  assert.equal(await euros('venta'), hole('2026-03-11', '2026-03-12'))
})

test('one shown side whose days are unknown is a hole of the pair, not of the other side', async (t) => {
  const app = await startMemoryApp(t)
  await app.sync({ from: '2026-02-01', to: '2026-03-10' })
  await app.sync({ from: '2026-03-15', to: '2026-03-20' })
  // For these days the bank has no purchase, and of the sale nothing is known.
  app.memory.publish['317'] = () => undefined
  app.memory.fault = ({ indicator }) => {
    if (indicator === '318') throw new FetchFailure('HTTP 500')
    return undefined
  }
  await app.sync({ from: '2026-03-11', to: '2026-03-14' })
  assert.equal(await dayOfAnswer(app, '/rates/latest?on=2026-03-12'), hole('2026-03-11', '2026-03-12'))
  assert.deepEqual(await seriesOn(app, '2026-03-12'), [COMPRA, AUD_ID, EUR_ID, 5, 6])
  const convert = (type: string) =>
    dayOfAnswer(app, `/convert?amount=1&from=USD&to=CRC&type=${type}&on=2026-03-12`)
  assert.equal(await convert('compra'), '2026-03-10')
  assert.equal(await convert('venta'), hole('2026-03-11', '2026-03-12'))
})

test('"no data" is an answer: a weekend, and years before the first value, are no hole', async (t) => {
  const app = await startMemoryApp(t, { backfillFrom: '2025-01-01' })
  const daily = app.memory.publish[EUR]
  app.memory.publish[EUR] = (day) => {
    const born = day >= '2025-07-01' || (day >= '2025-02-01' && day <= '2025-02-10')
    return born && day !== '2026-03-21' && day !== '2026-03-22' ? daily?.(day) : undefined
  }
  await app.sync()
  const euro = (on: string) => dayOfAnswer(app, `/rates/latest?base=EUR&quote=USD&on=${on}`)
  assert.equal(await euro('2026-03-22'), '2026-03-20')
  assert.equal(await euro('2025-06-30'), '2025-02-10')
  assert.match(await euro('2025-01-31'), /^404 (?!the days from)/)
})

test('a rejected row is not "no data": its day is not covered until it is answered', async (t) => {
  const app = await startMemoryApp(t)
  const daily = app.memory.publish[EUR]
  const euro = (on: string) => dayOfAnswer(app, `/rates/latest?base=EUR&quote=USD&on=${on}`)
  app.memory.publish[EUR] = (day) => (day === '2026-03-18' ? '-1' : daily?.(day))
  assert.equal((await app.sync()).run.status, 'parcial')
  assert.equal(await euro('2026-03-17'), '2026-03-17')
  assert.equal(await euro('2026-03-18'), hole('2026-03-18', '2026-03-18'))
  assert.equal(await euro('2026-03-19'), '2026-03-19')
  assert.deepEqual(await seriesOn(app, '2026-03-18'), [COMPRA, VENTA, AUD_ID, 5, 6])
  assert.equal(
    await dayOfAnswer(app, '/convert?amount=1&from=CRC&to=EUR&on=2026-03-18'),
    hole('2026-03-18', '2026-03-18'),
  )

  // Outside of the days that are read again anyway: it is asked for by each run.
  app.clock.now = new Date('2026-05-24T12:00:00Z')
  await app.sync()
  assert.equal(await euro('2026-03-18'), hole('2026-03-18', '2026-03-18'))
  app.memory.publish[EUR] = (day) => (day === '2026-03-18' ? undefined : daily?.(day))
  await app.sync()
  assert.equal(await euro('2026-03-18'), '2026-03-17')
  assert.equal(await euro('2026-03-19'), '2026-03-19')
})

test('after the newest covered day the last value goes on answering', async (t) => {
  const app = await startMemoryApp(t)
  const daily = app.memory.publish[EUR]
  app.memory.publish[EUR] = (day) => (day >= TODAY ? 'abc' : daily?.(day))
  await app.sync()
  const euro = (on: string) => dayOfAnswer(app, `/rates/latest?base=EUR&quote=USD&on=${on}`)
  for (const on of ['2026-03-23', TODAY, TOMORROW, '2999-12-31']) assert.equal(await euro(on), '2026-03-23')
  assert.deepEqual(await seriesOn(app, '2027-01-01'), [COMPRA, VENTA, AUD_ID, EUR_ID, 5, 6])

  // Then a later day is known, and what lies between is a hole.
  app.clock.now = new Date('2026-03-26T12:00:00Z')
  app.memory.publish[EUR] = (day) => (day === TODAY || day === TOMORROW ? 'abc' : daily?.(day))
  await app.sync()
  assert.equal(await euro('2026-03-23'), '2026-03-23')
  assert.equal(await euro(TODAY), hole(TODAY, TODAY))
  assert.equal(await euro(TOMORROW), hole(TODAY, TOMORROW))
  assert.equal(await euro('2026-03-26'), '2026-03-26')
})

test('days that had not begun when the answer was fetched are not known to have no value', async (t) => {
  const app = await startMemoryApp(t)
  const daily = app.memory.publish[EUR]
  app.memory.publish[EUR] = (day) => (day >= TOMORROW ? undefined : daily?.(day))
  await app.sync({ from: '2026-03-20', to: TOMORROW })
  app.clock.now = new Date('2026-03-28T12:00:00Z')
  app.memory.publish[EUR] = daily ?? (() => undefined)
  await app.sync({ from: '2026-03-26', to: '2026-03-28' })
  const euro = (on: string) => dayOfAnswer(app, `/rates/latest?base=EUR&quote=USD&on=${on}`)
  assert.equal(await euro(TODAY), TODAY)
  assert.equal(await euro(TOMORROW), hole(TOMORROW, TOMORROW))
  assert.equal(await euro('2026-03-26'), '2026-03-26')
})

for (const [what, supportsSingleSeries, alone, answer] of [
  ['and the series alone has none', true, 'answers', '2026-03-10'],
  ['and the series alone cannot be read', true, 'fails', hole('2026-03-11', '2026-03-12')],
  ['nor when it is asked for again', false, 'answers', '2026-03-10'],
  ['and the second request fails', false, 'fails', hole('2026-03-11', '2026-03-12')],
] as const) {
  test(`a table that does not list a series, ${what}`, async (t) => {
    const app = await startMemoryApp(t)
    await app.sync({ from: '2026-02-01', to: '2026-03-10' })
    await app.sync({ from: '2026-03-15', to: '2026-03-20' })
    if (!supportsSingleSeries) app.takeToken(4)
    const daily = app.memory.publish[EUR]
    app.memory.publish[EUR] = (day) => (day >= '2026-03-11' && day <= '2026-03-14' ? undefined : daily?.(day))
    let asks = 0
    app.memory.fault = ({ table }, usual) => {
      if (table !== '520') return undefined
      asks += 1
      if (asks > 1 && alone === 'fails') throw new FetchFailure('HTTP 500')
      const all = usual()
      if (asks > 1 && supportsSingleSeries) return all
      return { ...all, listed: all.listed.filter(({ code }) => code !== EUR) }
    }
    await app.sync({ from: '2026-03-11', to: '2026-03-14' })
    assert.ok(asks >= 2, 'it was asked for once only')
    assert.equal(await dayOfAnswer(app, '/rates/latest?base=EUR&quote=USD&on=2026-03-12'), answer)
    const found = (await seriesOn(app, '2026-03-12')).includes(EUR_ID)
    assert.equal(found, !answer.startsWith('404'))
    assert.equal(await dayOfAnswer(app, '/rates/latest?base=AUD&quote=USD&on=2026-03-12'), '2026-03-12')
  })
}

test('a window of a run whose request failed is a hole, and the run after closes it', async (t) => {
  const app = await startMemoryApp(t)
  await app.sync({ from: '2026-02-01', to: '2026-03-01' })
  app.memory.fault = () => {
    throw new FetchFailure('HTTP 500')
  }
  assert.equal((await app.sync({ from: '2026-03-02', to: '2026-03-09' })).run.status, 'error')
  app.memory.fault = undefined
  await app.sync({ from: '2026-03-10', to: TODAY })
  for (const path of ['/rates/latest?', '/convert?amount=1&from=EUR&to=CRC&']) {
    assert.equal(await dayOfAnswer(app, `${path}on=2026-03-05`), hole('2026-03-02', '2026-03-05'))
  }
  await app.sync()
  const { rate_date, missing } = (await answerTo(app, '/rates/latest?on=2026-03-05')) as Latest
  assert.deepEqual([rate_date, missing], ['2026-03-05', undefined])
})
