// Stored sums equal those of the rows after each write. Writes are syncs, refinements, imports, discards, and those of
// programs without sums, in any order.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import { atomically, type Engine } from '../../../src/store/engine.ts'
import { raiseRevision } from '../../../src/store/meta.ts'
import { listDamagedParts, selectOutdatedSeries } from '../../../src/store/rates/rate-sums.ts'
import { markSeriesChanged, upsertRates } from '../../../src/store/rates/rates.ts'
import { discardRates } from '../../../src/sync/discard.ts'
import { importRates } from '../../../src/sync/import/import.ts'
import { addDays } from '../../../src/values/dates.ts'
import { scaled } from '../../faults/scale.ts'
import { type MemoryApp, startMemoryApp } from '../../support/rates/memory-app.ts'
import { createRandom, type Random } from '../../support/rates/random-bank.ts'
import { temporaryEngine } from '../../support/temporary.ts'

const FIRST = '2025-11-01'
const SEEDS = scaled({ short: 2, long: 20 })
const STEPS = 12

for (let seed = 0; seed < SEEDS; seed += 1) {
  test(`stored sums are those of the rows after each of many writes (seed ${seed})`, async (t) => {
    const random = createRandom(seed)
    const app = await startMemoryApp(t, { backfillFrom: FIRST })
    const engine = { ...(await temporaryEngine(t, app.dataDir)), clock: app.clock.read }
    const steps = {
      sync: () => syncSome(app, random),
      refine: () => refineSome(app),
      import: () => importSome(engine, random),
      discard: () => discardRates(engine, app.clock.today()),
      'older program': () => writeWithoutSums(engine, random),
    }
    const names = Object.keys(steps) as (keyof typeof steps)[]
    await app.sync()
    await verifySums(engine, 'the first sync', [])
    let outdated = new Set<number>()
    for (let step = 0; step < STEPS; step += 1) {
      const name = names[random.int(0, names.length - 1)] ?? 'sync'
      app.clock.now = new Date(app.clock.now.getTime() + random.int(1, 60) * 60_000)
      const seriesId = await steps[name]()
      // The next run of the program settles all series.
      if (name === 'sync' || name === 'refine') outdated = new Set()
      if (name === 'older program') outdated.add(Number(seriesId))
      await verifySums(engine, `step ${step}, ${name}`, [...outdated])
    }
    await app.sync()
    await verifySums(engine, 'the last sync', [])
  })
}

/** Compares stored with computed sums; `mayBeOutdated`: series of an older program. */
async function verifySums({ db }: Engine, when: string, mayBeOutdated: readonly number[]): Promise<void> {
  const outdated = await selectOutdatedSeries(db)
  for (const id of outdated) assert.ok(mayBeOutdated.includes(id), `${when}: series ${id} is outdated`)
  for (const { id } of await db.selectFrom('series').select('id').execute())
    assert.deepEqual(await listDamagedParts(db, id), [], when)
}

async function syncSome(app: MemoryApp, random: Random): Promise<void> {
  const values = Array.from({ length: 50 }, () => `${random.int(490, 520)}.${random.int(1, 9)}`)
  app.memory.publish['317'] = (day) =>
    day > addDays(app.clock.today(), 1) ? undefined : values[Number(day.slice(-2))]
  if (random.chance(0.4)) app.takeToken(random.int(0, 1))
  else app.giveToken()
  const from = addDays(FIRST, random.int(0, 100))
  await app.sync({ from, to: addDays(from, random.int(0, 60)) })
}

async function refineSome(app: MemoryApp): Promise<void> {
  app.giveToken()
  await app.sync()
}

/** Imports days of two years, some with other values, some rounded. */
async function importSome(engine: Engine, random: Random): Promise<void> {
  const { signal } = new AbortController()
  const start = addDays(FIRST, random.int(0, 100))
  const days = Array.from({ length: 40 }, (_, at) => addDays(start, at)).filter(() => random.chance(0.5))
  const values = days.map((day) => ({
    ...{ day, value: `${random.int(490, 520)}`, rounded_to: random.chance(0.5) ? 0 : null },
    stored_at: `202${random.int(0, 5)}-01-01T00:00:00.000Z`,
  }))
  const series = { provider: 'bccr', series_id: 2, external_code: '318', pair: 'USD/CRC', rate_type: 'venta' }
  const covered = [{ from: days[0] ?? start, to: days.at(-1) ?? start }]
  const options = { replace: random.chance(0.5), dryRun: false }
  await importRates({ ...engine, providers: [bccr], signal }, [{ series, covered, values }], options)
}

/** Writes as a program of an earlier version: rows and the revision of the series, and no sums. */
async function writeWithoutSums({ db, clock }: Engine, random: Random): Promise<number> {
  const series_id = random.int(1, 3)
  const rate_date = addDays(FIRST, random.int(0, 100))
  await atomically(db, async (trx) => {
    await upsertRates(trx, [{ series_id, rate_date, value: '499', rounded_to: null }], clock().getTime())
    await markSeriesChanged(trx, [series_id], await raiseRevision(trx, clock()))
  })
  return series_id
}
