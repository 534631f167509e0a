// Answers as they were at an instant (decisions#as-of).

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { FetchFailure } from '../../../src/providers/provider.ts'
import { raiseRevision } from '../../../src/store/meta.ts'
import { updateSeriesEnabled } from '../../../src/store/rates/series.ts'
import { fetchAnswer, type MemoryApp, startMemoryApp } from '../../support/rates/memory-app.ts'
import { EUR } from '../../support/rates/memory-bank.ts'
import { until } from '../../support/terminal.ts'
import { asOtherProcess, validationItems } from '../support.ts'

const FIRST = '2026-03-24T12:00:00.000Z' // creation of the store, and its first sync
const SECOND = '2026-03-27T12:00:00.000Z'
// Each commit of a sync has an instant of its own, a millisecond after the one before.
const AFTER_FIRST = '2026-03-24T12:00:01.000Z'
const AFTER_SECOND = '2026-03-27T12:00:01.000Z'
const BEFORE_SECOND = '2026-03-27T11:59:59.999Z'

type Latest = { rate_date: string; venta: string | null }

/** A store synchronized on the 24th and on the 27th, after the bank has corrected the sale of the 23rd. */
async function openStore(t: TestContext): Promise<MemoryApp> {
  const app = await startMemoryApp(t, { now: FIRST, backfillFrom: '2026-02-01' })
  await app.sync()
  app.clock.now = new Date(SECOND)
  const before = app.memory.publish['318']
  app.memory.publish['318'] = (day) => (day === '2026-03-23' ? '498.76' : before?.(day))
  await app.sync()
  app.clock.now = new Date('2026-04-02T12:00:00Z')
  return app
}

test('a corrected value is the old one before its correction, the new one after', async (t) => {
  const app = await openStore(t)
  const ask = (asOf: string) =>
    fetchAnswer(app, `/convert?amount=2&from=USD&to=CRC&on=2026-03-23&as_of=${asOf}`) as Promise<{
      rate: string
    }>
  assert.equal((await ask(AFTER_FIRST)).rate, '500')
  assert.equal((await ask(BEFORE_SECOND)).rate, '500')
  assert.equal((await ask(AFTER_SECOND)).rate, '498.76')
  assert.equal((await ask('2026-04-01T00:00:00Z')).rate, '498.76')
})

test('a value is unknown before it was stored, and the day of the instant is today', async (t) => {
  const app = await openStore(t)
  assert.deepEqual(await fetchAnswer(app, `/rates/latest?as_of=${BEFORE_SECOND}&on=2026-03-27`), {
    ...{ provider: 'bccr', pair: 'USD/CRC', rate_date: '2026-03-25', compra: '500', venta: '500' },
    ...{ referencia: null, as_of: BEFORE_SECOND },
  })
  const latest = (await fetchAnswer(app, `/rates/latest?as_of=${AFTER_SECOND}`)) as Latest
  assert.equal(latest.rate_date, '2026-03-27')
  // In Costa Rica the day is still the 26th.
  const night = (await fetchAnswer(app, '/history?base=USD&quote=CRC&as_of=2026-03-27T05:00:00Z')) as {
    date_to: string
    points: { date: string }[]
    as_of: string
  }
  assert.equal(night.date_to, '2026-03-26')
  assert.equal(night.points.at(-1)?.date, '2026-03-25')
  assert.equal(night.as_of, '2026-03-27T05:00:00.000Z')
  const series = (await fetchAnswer(app, '/series/4/history?as_of=2026-03-27T05:00:00Z')) as typeof night
  assert.equal(series.date_to, '2026-03-26')
  assert.equal(series.points.length, (await readPoints(app, 4, '2026-03-25')).length)
  assert.equal(series.as_of, '2026-03-27T05:00:00.000Z')
})

async function readPoints(app: MemoryApp, id: number, to: string): Promise<unknown[]> {
  const { points } = (await fetchAnswer(app, `/series/${id}/history?from=2025-12-26&to=${to}`)) as {
    points: unknown[]
  }
  return points
}

test('the number of decimals is that of the instant', async (t) => {
  const app = await startMemoryApp(t, { now: FIRST })
  app.memory.publish[EUR] = () => '1.2345678'
  app.takeToken(4)
  app.memory.publish[EUR] = () => '1.2346'
  await app.sync()
  app.giveToken()
  app.memory.publish[EUR] = () => '1.23456'
  app.clock.now = new Date(SECOND)
  await app.sync({ from: '2026-03-01', to: '2026-03-27' })
  app.clock.now = new Date(AFTER_SECOND)
  const ask = (asOf: string) => fetchAnswer(app, `/rates?base=EUR&quote=USD&on=2026-03-20&as_of=${asOf}`)
  const at = async (asOf: string) => ((await ask(asOf)) as { value: string; rounded_to?: number }[])[0]
  assert.equal((await at(AFTER_FIRST))?.value, '1.2346')
  assert.equal((await at(AFTER_FIRST))?.rounded_to, 4)
  assert.equal((await at(AFTER_SECOND))?.value, '1.23456')
  assert.equal((await at(AFTER_SECOND))?.rounded_to, undefined)
})

test('a hole is one until its days were synchronized', async (t) => {
  const app = await startMemoryApp(t, { now: FIRST, backfillFrom: '2026-03-01' })
  app.memory.publish[EUR] = (day) => (day < '2025-01-20' || day > '2026-03-01' ? '1.1' : undefined)
  await app.sync()
  await app.sync({ from: '2025-01-01', to: '2025-01-31' })
  app.clock.now = new Date(SECOND)
  await app.sync({ from: '2025-01-01', to: '2025-03-31' })
  app.clock.now = new Date(AFTER_SECOND)
  const ask = (asOf: string) =>
    fetchAnswer(app, `/convert?amount=1&from=EUR&to=USD&on=2025-03-10&as_of=${asOf}`)
  assert.equal(
    await ask(AFTER_FIRST),
    '404 the days from 2025-02-01 to 2025-03-10 have not been synchronized',
  )
  assert.equal(((await ask(AFTER_SECOND)) as { rate_date: string }).rate_date, '2025-01-19')
})

test('a side that was disabled later delays the other one before that', async (t) => {
  const app = await startMemoryApp(t, { now: FIRST })
  app.memory.fault = ({ indicator, window }) => {
    if (indicator === '317' && window.to > '2026-03-23') throw new FetchFailure('not now')
    return undefined
  }
  await app.sync({ from: '2026-03-20', to: '2026-03-23' })
  await app.sync({ from: '2026-03-24', to: '2026-03-24' })
  app.clock.now = new Date(SECOND)
  await asOtherProcess(app, async (db) => {
    await updateSeriesEnabled(db, 1, false, app.clock.now.getTime())
    await raiseRevision(db)
  })
  app.clock.now = new Date(AFTER_SECOND)
  const ask = async (asOf: string) => (await fetchAnswer(app, `/rates/latest?as_of=${asOf}`)) as Latest
  assert.equal((await ask(BEFORE_SECOND)).rate_date, '2026-03-23')
  const isSeen = async () => (await ask(AFTER_SECOND)).rate_date === '2026-03-24'
  await until(isSeen)
  assert.equal((await ask(BEFORE_SECOND)).rate_date, '2026-03-23')
})

test('an instant before the record or in the future is an error', async (t) => {
  const app = await openStore(t)
  for (const path of [
    '/rates/latest?',
    '/rates?',
    '/convert?amount=1&from=USD&to=CRC&',
    '/series/1/history?',
  ]) {
    const words = `404 as_of is before the record of this store, which begins at ${FIRST}`
    assert.equal(await fetchAnswer(app, `${path}as_of=2026-03-24T11:59:59Z`), words, path)
    const [item] = await validationItems(app, `/api/v1${path}as_of=2026-04-02T12:00:00.001Z`)
    assert.equal(item?.msg, 'as_of must not be in the future')
    assert.deepEqual(item?.loc, ['query', 'as_of'])
  }
  for (const wrong of [
    '2026-03-24',
    '2026-03-24T12:00:00',
    '2026-03-24T24:00:00Z',
    '2026-02-29T12:00:00Z',
    '',
    '1',
  ])
    assert.match(
      (await validationItems(app, `/api/v1/rates?as_of=${wrong}`))[0]?.msg ?? '',
      /as_of must be an instant in UTC/,
    )
})

test('a sync does not change answers about instants before it, in any form', async (t) => {
  const app = await openStore(t)
  const paths = ['/rates', '/rates.csv', '/history.csv', '/convert.ndjson', '/rates/latest'].map((path) => {
    const rest = path.startsWith('/history') ? 'base=EUR&quote=CRC&every=week&stat=mean&' : ''
    const sum = path.startsWith('/convert') ? 'amount=3&from=EUR&to=CRC&details=true&' : ''
    return `/api/v1${path}?${rest}${sum}as_of=2026-03-26T12:00:00Z`
  })
  const read = () => Promise.all(paths.map(async (path) => (await app.get(path)).text()))
  const before = await read()
  app.memory.publish['318'] = () => '1'
  app.memory.publish[EUR] = () => '2'
  await app.sync({ from: '2026-01-01', to: '2026-03-30' })
  assert.deepEqual(await read(), before)
  const [first = ''] = paths
  const tag = (await app.get(first)).headers.get('etag') ?? ''
  assert.equal((await app.get(first, { 'if-none-match': tag })).status, 304)
})
