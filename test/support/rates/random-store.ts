// A random store of the dollar and four parities from a seed, with rejected rows, one-sided days, holes, islands and
// an unfinished month. The model is built from the tables themselves.

import type { TestContext } from 'node:test'
import { raiseRevision } from '../../../src/store/meta.ts'
import { replaceCoverage, selectCoverage } from '../../../src/store/rates/coverage.ts'
import { markSeriesChanged, selectRatesOfSeries } from '../../../src/store/rates/rates.ts'
import { selectSeries } from '../../../src/store/rates/series.ts'
import { addDays, type IsoDate } from '../../../src/values/dates.ts'
import { subtractInterval } from '../../../src/values/intervals.ts'
import { asOtherProcess } from '../../api/support.ts'
import { startTestApp, type TestApp } from '../app.ts'
import { fixedClock } from '../temporary.ts'
import { until } from '../terminal.ts'
import { createMemoryBank, listDays, SMALL_CATALOGUE } from './memory-bank.ts'
import type { Random } from './random-bank.ts'
import type { ModelSeries, RatesModel } from './rates-model.ts'

export type RandomStore = { app: TestApp; model: RatesModel; today: IsoDate; first: IsoDate }

const PLACES: Record<string, number> = { 317: 2, 318: 2 }

export async function openRandomStore(t: TestContext, random: Random): Promise<RandomStore> {
  const today = addDays('2026-03-01', random.int(5, 27))
  const clock = fixedClock(`${today}T16:00:00Z`)
  const bank = createMemoryBank(clock)
  const ago = (days: number) => addDays(today, -days)
  for (const code of Object.keys(bank.publish)) bank.publish[code] = publication(random, code, today)
  const first = ago(random.int(60, 150))
  const app = await startTestApp(t, {
    clock,
    backfillFrom: first,
    providers: [bank.provider],
    listen: { compat: { open: 'any', serveRounded: false } },
  })
  if (random.chance(0.5))
    await app.sync({ from: addDays(first, -60), to: addDays(first, -random.int(20, 40)) })
  await app.sync()
  await loseSome(app, random, { from: addDays(first, -60), today })
  const model = await readModel(app)
  const revision = async () => (await app.get('/api/v1/rates')).headers.get('etag')
  const before = await revision()
  await asOtherProcess(app, (db) =>
    db.transaction().execute(async (trx) => markSeriesChanged(trx, [1], await raiseRevision(trx))),
  )
  await until(async () => (await revision()) !== before)
  return { app, model, today, first }
}

/** Values of about three digits; one day in ten has none, one row in thirty is rejected. */
function publication(random: Random, code: string, today: IsoDate) {
  const middle = code === '317' || code === '318' ? 500 : random.chance(0.5) ? 1.2 : 150
  const [empty, rejected] = [random.chance(0.5) ? 0.1 : 0.4, random.chance(0.5) ? 0.03 : 0]
  const texts = new Map<IsoDate, string | undefined>()
  const last = addDays(today, random.int(-3, 1)) // the newest values may be late, or tomorrow's
  return (day: IsoDate) =>
    texts.getOrInsertComputed(day, () => {
      if (day > last || random.chance(empty)) return undefined
      if (random.chance(rejected)) return '-1'
      return (middle * (1 + (random.next() - 0.5) / 50)).toFixed(PLACES[code] ?? random.int(2, 6))
    })
}

/** Removes coverage of days, of one series or of all, in some cases with the values. */
function loseSome(
  app: TestApp,
  random: Random,
  { from, today }: { from: IsoDate; today: IsoDate },
): Promise<void> {
  const days = listDays(from, today)
  return asOtherProcess(app, (db) =>
    db.transaction().execute(async (trx) => {
      const series = await selectSeries(trx)
      const coverage = new Map(await selectCoverage(trx))
      for (let hole = random.int(0, 5); hole > 0; hole -= 1) {
        const isLate = random.chance(0.3) // the newest days are not synchronized yet
        const begin = days[random.int(isLate ? days.length - 5 : 0, days.length - 1)] ?? from
        const window = { from: begin, to: addDays(begin, random.chance(0.3) ? 0 : random.int(0, 15)) }
        const only = random.chance(0.3) ? undefined : series[random.int(0, series.length - 1)]
        const keepsValues = random.chance(0.3)
        for (const { id } of series) {
          if (only && only.id !== id) continue
          coverage.set(id, subtractInterval(coverage.get(id) ?? [], window))
          if (keepsValues) continue
          const rates = trx.deleteFrom('rates').where('series_id', '=', id)
          await rates.where('rate_date', '>=', window.from).where('rate_date', '<=', window.to).execute()
        }
      }
      await replaceCoverage(trx, 'answered', coverage, Date.now())
      await markSeriesChanged(trx, [...coverage.keys()], await raiseRevision(trx))
    }),
  )
}

/** Reads the model from the tables. */
function readModel(app: TestApp): Promise<RatesModel> {
  return asOtherProcess(app, async (db) => {
    const coverage = await selectCoverage(db)
    const series: ModelSeries[] = []
    for (const one of await selectSeries(db)) {
      const rows = await selectRatesOfSeries(db, one.id)
      series.push({
        ...{ id: one.id, code: one.external_code, base: one.base_currency, quote: one.quote_currency },
        ...{ rateType: one.rate_type, table: one.rate_type === 'referencia' ? '520' : '1', enabled: true },
        values: new Map(rows.map(({ rate_date, value }) => [rate_date, { value, roundedTo: undefined }])),
        covered: new Set((coverage.get(one.id) ?? []).flatMap(({ from, to }) => listDays(from, to))),
        unlisted: new Set(),
      })
    }
    return { catalogue: SMALL_CATALOGUE, dollarSince: '1983-01-01', series }
  })
}
