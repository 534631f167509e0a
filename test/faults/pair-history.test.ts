// The history of any pair against exact fractions. The store has islands of days, holes in each series, rounded
// values and currencies that begin late; requests are random. The expected answer is computed day by day from values
// and covered days (decisions#day, #conversion and #points). CAMBISTA_SEED=17 node --test repeats a failure.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { raiseRevision } from '../../src/store/meta.ts'
import { replaceCoverage, selectCoverage } from '../../src/store/rates/coverage.ts'
import { markSeriesChanged } from '../../src/store/rates/rates.ts'
import { addDays, type IsoDate } from '../../src/values/dates.ts'
import { subtractInterval } from '../../src/values/intervals.ts'
import { asOtherProcess } from '../api/support.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import {
  EVERY,
  expectedPoints,
  findLegs,
  holesOfPair,
  readPairSeries,
  STATS,
} from '../support/rates/pair-answers.ts'
import { createRandom, type Random } from '../support/rates/random-bank.ts'
import { SEED } from '../support/seed.ts'
import { figure, scaled } from './scale.ts'

const REQUESTS = scaled({ short: 200, long: 20_000 })
const MOST_REQUESTS = REQUESTS * 5 // a case may be rare among the first by chance
const LEAST_OF_CASE = 11
const TODAY = '2026-03-24'
/** The bank's codes of compra and venta. */
const DOLLAR = new Set(['317', '318'])

test(`${REQUESTS} random requests to /api/v1/history of a pair get exact answers`, async (t) => {
  figure(t, 'seed', SEED)
  const random = createRandom(SEED)
  const app = await startApp(t, random)
  const store = await readPairSeries(app)
  const currencies = [...new Set(store.flatMap(({ base, quote }) => [base, quote]))]
  const counts = { points: 0, holes: 0, partial: 0, rounded: 0, crosses: 0, unknown: 0 }
  const isComplete = () => Object.values(counts).every((count) => count >= LEAST_OF_CASE)
  for (let at = 0; at < REQUESTS || (!isComplete() && at < MOST_REQUESTS); at += 1) {
    const request = randomRequest(random, currencies, at)
    const path = `/api/v1/history?${new URLSearchParams(request)}`
    const response = await app.get(path)
    const legs = findLegs(store, request)
    if (!legs) {
      assert.equal(response.status, 404, path)
      counts.unknown += 1
      continue
    }
    const answer = (await response.json()) as { points: Record<string, unknown>[] }
    const points = expectedPoints(legs, request, TODAY)
    const dollar = legs.find(({ series }) => series.rateType !== 'referencia')
    const { type: _, details: __, from, to, ...parameters } = request
    const rateFields = { rate_type: dollar?.series.rateType ?? 'referencia', date_from: from, date_to: to }
    const holes = holesOfPair(legs, request)
    const missing = holes.length > 0 && { holes }
    const expected = {
      provider: 'bccr',
      ...parameters,
      ...rateFields,
      count: points.length,
      ...missing,
      points,
    }
    assert.deepEqual(answer, expected, path)
    counts.points += points.length
    counts.holes += holes.length
    counts.partial += points.filter(({ partial }) => partial).length
    counts.rounded += points.filter((point) => (point.mean ?? point).rounded_to !== undefined).length
    if (legs.length > 1 && points.length > 0) counts.crosses += 1
  }
  for (const [name, count] of Object.entries(counts)) {
    figure(t, name, count)
    assert.ok(count >= LEAST_OF_CASE, `${count} ${name}`)
  }
})

/** Stores islands of days; then each series loses days of its own. */
async function startApp(t: TestContext, random: Random): Promise<TestApp> {
  const firstDays = new Map<string, IsoDate>()
  let token: string | undefined
  const app = await startTestApp(t, {
    backfillFrom: '2019-01-01',
    token: () => token,
    bank: {
      value(code, day) {
        const firstDay = firstDays.getOrInsertComputed(code, () =>
          DOLLAR.has(code) || random.chance(0.5)
            ? '1983-01-01'
            : addDays('1990-01-01', random.int(0, 12_000)),
        )
        return day < firstDay || random.chance(0.02) ? null : undefined
      },
    },
  })
  await app.sync({ from: '1990-03-05', to: '1991-02-12' })
  token = 'test-token'
  await app.sync({ from: '2005-06-01', to: '2006-03-31' })
  await app.sync()
  await asOtherProcess(app, (db) =>
    db.transaction().execute(async (trx) => {
      const coverage = new Map(await selectCoverage(trx))
      for (const [id, intervals] of coverage) {
        let covered = [...intervals]
        for (let cut = random.int(0, 4); cut > 0; cut -= 1) {
          const from = addDays(
            random.item(['1990-03-01', '2005-06-01', '2019-01-01', '2025-01-01']),
            random.int(0, 500),
          )
          covered = subtractInterval(covered, { from, to: addDays(from, random.int(0, 40)) })
        }
        coverage.set(id, covered)
      }
      await replaceCoverage(trx, 'answered', coverage, Date.now())
      await markSeriesChanged(trx, [...coverage.keys()], await raiseRevision(trx))
    }),
  )
  return app
}

function randomRequest(random: Random, currencies: readonly string[], index: number) {
  const commonCurrencies = ['USD', 'CRC', 'EUR', 'JPY']
  const currency = () => random.item(random.chance(0.5) ? commonCurrencies : currencies)
  const firstDay = random.item([
    '1983-01-01',
    '1990-02-01',
    '2005-05-01',
    '2019-01-01',
    '2024-06-01',
    '2026-01-01',
  ])
  const from = addDays(firstDay, random.int(0, 600))
  const request = {
    base: currency(),
    quote: currency(),
    type: random.item(['venta', 'compra', 'venta', 'compra', 'venta', 'compra', 'referencia']),
    from,
    to: addDays(from, random.chance(0.1) ? random.int(0, 9000) : random.int(0, 500)),
    every: random.item(EVERY),
    stat: random.chance(0.3) ? 'all' : random.item(STATS),
    details: random.chance(0.3) ? 'true' : 'false',
  } as const
  // The bank has no reference rate of the colón: the pair is unknown.
  if (index % 12 === 0) return { ...request, base: 'CRC', quote: 'EUR', type: 'referencia' } as const
  // The values of 1990 are rounded, and details have the decimals.
  if (index % 12 === 6) {
    const firstRounded = addDays('1990-03-05', random.int(0, 250))
    const days = { from: firstRounded, to: addDays(firstRounded, 60) }
    return { ...request, ...days, base: 'USD', quote: 'CRC', type: 'venta', details: 'true' } as const
  }
  return request
}
