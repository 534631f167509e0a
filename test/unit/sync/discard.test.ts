// Values and covered days of the future are removed and recorded. Answers about the past stay the same
// (decisions#as-of), over random stores.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import { atomically, type Engine } from '../../../src/store/engine.ts'
import { raiseRevision } from '../../../src/store/meta.ts'
import { selectRevisions } from '../../../src/store/rates/change-log.ts'
import { replaceCoverage, selectCoverage } from '../../../src/store/rates/coverage.ts'
import { markSeriesChanged, upsertRates } from '../../../src/store/rates/rates.ts'
import { countLaterRates, discardRates } from '../../../src/sync/discard.ts'
import { importRates } from '../../../src/sync/import/import.ts'
import { COVERAGE_KINDS } from '../../../src/sync/windows/answer-coverage.ts'
import { addDays } from '../../../src/values/dates.ts'
import { addInterval } from '../../../src/values/intervals.ts'
import { scaled } from '../../faults/scale.ts'
import { fetchAnswer, type MemoryApp, startMemoryApp } from '../../support/rates/memory-app.ts'
import { createRandom, type Random } from '../../support/rates/random-bank.ts'
import { temporaryEngine } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'

const TODAY = '2026-03-24'
const TOMORROW = '2026-03-25'
const FUTURE = 60
const MINUTE = 60_000
const SEEDS = scaled({ short: 2, long: 24 })

for (let seed = 0; seed < SEEDS; seed += 1) {
  test(`an as_of of before a discard answers as it did (seed ${seed})`, async (t) => {
    const random = createRandom(seed)
    const app = await startMemoryApp(t, { now: `${TODAY}T12:00:00Z`, backfillFrom: '2026-03-01' })
    await app.sync()
    const engine = { ...(await temporaryEngine(t, app.dataDir)), clock: app.clock.read }
    const witnesses: { path: string; answer: unknown }[] = []
    const paths = questions(random)
    const later = (minutes: number) => {
      app.clock.now = new Date(app.clock.now.getTime() + minutes * MINUTE)
    }
    const note = async () => {
      const asOf = app.clock.now.toISOString()
      for (const path of paths) {
        const one = `${path}&as_of=${asOf}`
        witnesses.push({ path: one, answer: await fetchAnswer(app, one) })
      }
    }
    const check = async (when: string) => {
      for (const { path, answer } of witnesses)
        assert.deepEqual(await fetchAnswer(app, path), answer, `${when}: ${path}`)
    }
    const clean = await Promise.all(paths.map((path) => fetchAnswer(app, path)))
    for (let step = 0; step < 3; step += 1) {
      later(random.int(1, 20))
      await changeData(app, engine, () => pollute(engine, random))
      await note()
    }
    await check('before')
    assert.notDeepEqual(await Promise.all(paths.map((path) => fetchAnswer(app, path))), clean)

    later(1)
    const half = addDays(TOMORROW, random.int(1, FUTURE))
    await changeData(app, engine, () => discardRates(engine, half))
    assert.deepEqual(await countLaterRates(engine.db, half), { values: 0, series: 0, lastDay: undefined })
    await check(`discarded after ${half}`)
    await note()

    later(1)
    await changeData(app, engine, () => discardRates(engine, TOMORROW))
    await check('discarded')
    assert.deepEqual(
      await Promise.all(paths.map((path) => fetchAnswer(app, path))),
      clean,
      'it is as it was before',
    )
    for (const kind of COVERAGE_KINDS) {
      for (const [, days] of await selectCoverage(engine.db, kind))
        assert.ok((days.at(-1)?.to ?? '') <= TOMORROW)
    }

    await note()
    later(FUTURE * 24 * 60)
    await changeData(app, engine, () => importSome(engine, random))
    await check('days that were discarded are imported')
    await note()
    later(1)
    await app.sync()
    await check('and synchronized')
    later(1)
    await changeData(app, engine, () => pollute(engine, random, FUTURE + 30))
    await note()
    later(1)
    await changeData(app, engine, () => discardRates(engine, addDays(app.clock.today(), 1)))
    await check('discarded again')
  })
}

test('discarded values are revisions that are listed by their kind alone', async (t) => {
  const app = await startMemoryApp(t)
  await app.sync()
  const engine = { ...(await temporaryEngine(t, app.dataDir)), clock: app.clock.read }
  const storedAt = app.clock.now.getTime()
  await store(engine, [{ series_id: 2, rate_date: '2030-01-01', value: '777.5', rounded_to: 2 }], [])
  app.clock.now = new Date('2026-03-24T13:00:00Z')
  const run = (await fetchAnswer(app, '/sync/runs?limit=1')) as { id: number }[]
  assert.deepEqual(await discardRates(engine, TOMORROW), { values: 1, series: 1, lastDay: '2030-01-01' })
  assert.deepEqual(await selectRevisions(engine.db, { kind: 'correction' }), [])
  const list = async (query: string) =>
    ((await fetchAnswer(app, `/revisions?${query}`)) as { revisions: { id: number }[] }).revisions
  assert.deepEqual(await list(''), [])
  const [one, ...others] = await list('kind=discarded')
  assert.deepEqual(others, [])
  assert.deepEqual(one, {
    ...{
      id: one?.id,
      provider: 'bccr',
      series_id: 2,
      external_code: '318',
      pair: 'USD/CRC',
      rate_type: 'venta',
    },
    ...{ rate_date: '2030-01-01', kind: 'discarded', old_value: '777.5', old_rounded_to: 2 },
    ...{ old_stored_at: new Date(storedAt).toISOString(), new_value: null },
    ...{ replaced_at: '2026-03-24T13:00:00.000Z', run_id: null },
  })
  assert.deepEqual(await fetchAnswer(app, '/sync/runs?limit=1'), run, 'it is no run')
})

test('nothing is changed where nothing is stored of days after the one', async (t) => {
  const app = await startMemoryApp(t)
  await app.sync()
  const engine = await temporaryEngine(t, app.dataDir)
  const meta = () => engine.db.selectFrom('meta').select('data_revision').execute()
  const before = await meta()
  assert.deepEqual(await discardRates(engine, TOMORROW), { values: 0, series: 0, lastDay: undefined })
  assert.deepEqual(await meta(), before)
})

test('no value is discarded while a sync runs', async (t) => {
  const app = await startMemoryApp(t)
  await app.sync()
  const engine = await temporaryEngine(t, app.dataDir)
  await store(engine, [{ series_id: 2, rate_date: '2030-01-01', value: '777.5', rounded_to: null }], [])
  const other = await temporaryEngine(t, app.dataDir)
  const lock = await other.takeLock('sync')
  assert.ok(lock)
  await assert.rejects(discardRates(engine, TOMORROW), {
    code: 'conflict',
    message: /a sync is already running/,
  })
  assert.equal((await countLaterRates(engine.db, TOMORROW)).values, 1)
  await lock.release()
  assert.equal((await discardRates(engine, TOMORROW)).values, 1)
})

type Rate = { series_id: number; rate_date: string; value: string; rounded_to: number | null }

/** Stores what no sync or import would: days of the future, some of them again with another value. */
async function pollute(engine: Engine, random: Random, from = 0): Promise<void> {
  const day = () => addDays(TOMORROW, from + random.int(1, FUTURE))
  const rates = new Map<string, Rate>()
  for (let count = random.int(3, 30); count > 0; count -= 1) {
    const rate = {
      ...{ series_id: random.int(1, 4), rate_date: day(), value: String(random.int(400, 600)) },
      rounded_to: random.chance(0.3) ? 0 : null,
    }
    rates.set(`${rate.series_id} ${rate.rate_date}`, rate)
  }
  const covered = [1, 2, 3].slice(0, random.int(1, 3)).map((id) => {
    const [a, b] = [day(), day()].sort() as [string, string]
    return { id, from: a, to: b }
  })
  await store(engine, [...rates.values()], covered)
}

async function store(
  { db, clock }: Engine,
  rates: readonly Rate[],
  covered: readonly { id: number; from: string; to: string }[],
): Promise<void> {
  await atomically(db, async (trx) => {
    const rows = await trx.selectFrom('rates').select(['series_id', 'rate_date']).execute()
    const storedKeys = new Set(rows.map(({ series_id, rate_date }) => `${series_id} ${rate_date}`))
    const added = rates.filter(({ series_id, rate_date }) => !storedKeys.has(`${series_id} ${rate_date}`))
    const at = clock().getTime()
    await upsertRates(trx, added, at)
    for (const kind of COVERAGE_KINDS) {
      for (const { id, from, to } of covered) {
        const before = (await selectCoverage(trx, kind)).get(id) ?? []
        await replaceCoverage(trx, kind, new Map([[id, addInterval(before, { from, to })]]), at)
      }
    }
    const ids = [...new Set(added.map(({ series_id }) => series_id))]
    await markSeriesChanged(trx, ids, await raiseRevision(trx))
  })
}

/** Imports some of the same days with old instants, as another server stored them. */
async function importSome(engine: Engine, random: Random): Promise<void> {
  const { signal } = new AbortController()
  const days = Array.from({ length: FUTURE }, (_, at) => addDays(TOMORROW, at + 1)).filter(() =>
    random.chance(0.5),
  )
  const values = days.map((day) => ({
    ...{ day, value: '450', rounded_to: null, stored_at: '2020-01-01T00:00:00.000Z' },
  }))
  const series = { provider: 'bccr', series_id: 2, external_code: '318', pair: 'USD/CRC', rate_type: 'venta' }
  await importRates(
    { ...engine, providers: [bccr], signal },
    [{ series, covered: [{ from: days[0] ?? TOMORROW, to: days.at(-1) ?? TOMORROW }], values }],
    { replace: true, dryRun: false },
  )
}

function questions(random: Random): string[] {
  const on = () => addDays(TODAY, random.int(0, FUTURE))
  const points = [1, 2, 3, 4].map((id) => `/series/${id}/history?from=2026-03-20&to=2026-06-30`)
  return [
    ...points,
    '/history?base=USD&quote=CRC&from=2026-03-01&to=2026-06-30&every=month',
    ...[on(), on(), on()].flatMap((day) => [
      `/rates/latest?base=USD&quote=CRC&on=${day}`,
      `/rates?on=${day}`,
      `/convert?amount=1&from=USD&to=CRC&on=${day}`,
    ]),
  ]
}

/** Does what another process does, and waits until the server has it. */
async function changeData(app: MemoryApp, { db }: Engine, work: () => Promise<unknown>): Promise<void> {
  const tag = async () => (await app.get('/api/v1/rates')).headers.get('etag')
  const revision = () => db.selectFrom('meta').select('data_revision').executeTakeFirstOrThrow()
  const before = { tag: await tag(), ...(await revision()) }
  await work()
  if ((await revision()).data_revision === before.data_revision) return
  await until(async () => (await tag()) !== before.tag)
}
