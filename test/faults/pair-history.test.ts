// The history of any pair against exact fractions: random requests over a store with islands, holes of each series of its
// own, values that are rounded and currencies that begin late. What must be answered is worked out day by day, from the
// values and covered days of each series (decisions 2.6, 2.9, 2.18). CAMBISTA_SEED=17 node --test does a failure again.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { addDays, type IsoDate } from '../../src/dates.ts'
import { without } from '../../src/intervals.ts'
import { raiseRevision } from '../../src/store/meta.ts'
import { replaceCoverage, selectCoverage } from '../../src/store/rates/coverage.ts'
import { markSeriesChanged } from '../../src/store/rates/rates.ts'
import { asOtherProcess } from '../api/support.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import {
  EVERY,
  holesOfLegs,
  legsOf,
  type PairRequest,
  pointsOf,
  STATS,
  storeOf,
} from '../support/rates/pair-answers.ts'
import { type Random, randomOf } from '../support/rates/random-bank.ts'
import { pick } from './hostile/shape-requests.ts'
import { figure, SEED, scaled } from './scale.ts'

const REQUESTS = scaled({ short: 2000, long: 20_000 })
const TODAY = '2026-03-24'

test(`${REQUESTS} random histories of pairs are exact`, async (t) => {
  figure(t, 'seed', SEED)
  const random = randomOf(SEED)
  const app = await startGround(t, random)
  const store = await storeOf(app)
  const currencies = [...new Set(store.flatMap(({ base, quote }) => [base, quote]))]
  const seen = { points: 0, holes: 0, partial: 0, rounded: 0, crosses: 0, unknown: 0 }
  for (let at = 0; at < REQUESTS; at += 1) {
    const request = requestOf(random, currencies)
    const path = `/api/v1/history?${new URLSearchParams(request)}`
    const response = await app.get(path)
    const legs = legsOf(store, request)
    if (!legs) {
      assert.equal(response.status, 404, path)
      seen.unknown += 1
      continue
    }
    const answer = (await response.json()) as { points: Record<string, unknown>[] }
    const points = pointsOf(legs, request, TODAY)
    const dollar = legs.find(({ series }) => series.rateType !== 'referencia')
    const { type: _, from, to, ...asked } = request
    const about = { rate_type: dollar?.series.rateType ?? 'referencia', date_from: from, date_to: to }
    const holes = holesOfLegs(legs, request)
    const missing = holes.length > 0 && { holes }
    const expected = { provider: 'bccr', ...asked, ...about, count: points.length, ...missing, points }
    assert.deepEqual(answer, expected, path)
    seen.points += points.length
    seen.holes += holes.length
    seen.partial += points.filter(({ partial }) => partial).length
    seen.rounded += points.filter(({ rounded_to }) => rounded_to !== undefined).length
    if (legs.length > 1 && points.length > 0) seen.crosses += 1
  }
  for (const [name, count] of Object.entries(seen)) {
    figure(t, name, count)
    assert.ok(count > 10, `${count} ${name}`)
  }
})

/** Islands of days; then each series loses days of its own. */
async function startGround(t: TestContext, random: Random): Promise<TestApp> {
  const begins = new Map<string, IsoDate>()
  let token: string | undefined
  const app = await startTestApp(t, {
    backfillFrom: '2019-01-01',
    token: () => token,
    bank: {
      value(code, day) {
        const begin = begins.getOrInsertComputed(code, () =>
          random.chance(0.5) ? '1983-01-01' : addDays('1990-01-01', random.int(0, 12_000)),
        )
        return day < begin || random.chance(0.02) ? null : undefined
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
        let rest = [...intervals]
        for (let cut = random.int(0, 4); cut > 0; cut -= 1) {
          const from = addDays(
            pick(random, ['1990-03-01', '2005-06-01', '2019-01-01', '2025-01-01']),
            random.int(0, 500),
          )
          rest = without(rest, { from, to: addDays(from, random.int(0, 40)) })
        }
        coverage.set(id, rest)
      }
      await replaceCoverage(trx, 'answered', coverage, Date.now())
      await markSeriesChanged(trx, [...coverage.keys()], await raiseRevision(trx))
    }),
  )
  return app
}

function requestOf(random: Random, currencies: readonly string[]): PairRequest {
  const common = ['USD', 'CRC', 'EUR', 'JPY']
  const currency = () => pick(random, random.chance(0.5) ? common : currencies)
  const begin = pick(random, [
    '1983-01-01',
    '1990-02-01',
    '2005-05-01',
    '2019-01-01',
    '2024-06-01',
    '2026-01-01',
  ])
  const from = addDays(begin, random.int(0, 600))
  return {
    base: currency(),
    quote: currency(),
    type: pick(random, ['venta', 'compra', 'venta', 'compra', 'venta', 'compra', 'referencia']),
    from,
    to: addDays(from, random.chance(0.1) ? random.int(0, 9000) : random.int(0, 500)),
    every: pick(random, EVERY),
    stat: pick(random, STATS),
  }
}
