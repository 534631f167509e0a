// Updates of rates and revisions beneath the program, on PostgreSQL. Each is named as damaged: no answer is another
// number.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columnValue } from '../../../src/domain/rates/column.ts'
import { isCovered } from '../../../src/domain/rates/covered-days.ts'
import { openPastRates } from '../../../src/domain/rates/history/past.ts'
import { createRevisionReader } from '../../../src/domain/rates/history/sound-revisions.ts'
import { openRateCache, type RateSnapshot } from '../../../src/domain/rates/rate-cache.ts'
import { atomically, type Engine } from '../../../src/store/engine.ts'
import { raiseRevision } from '../../../src/store/meta.ts'
import { selectRevisions, takeInstant } from '../../../src/store/rates/change-log.ts'
import { replaceCoverage } from '../../../src/store/rates/coverage.ts'
import { openRateWriter } from '../../../src/store/rates/rate-writer.ts'
import { selectRates } from '../../../src/store/rates/rates.ts'
import type { ReadDb } from '../../../src/store/tables.ts'
import { ensureCatalogue } from '../../../src/sync/catalogue.ts'
import { addDays, dayNumber, isoDate } from '../../../src/values/dates.ts'
import { figure, scaled } from '../../faults/scale.ts'
import { openNode } from '../../support/postgres/database.ts'
import { createPostgresSchema, queryOnce } from '../../support/postgres/server.ts'
import { createMemoryBank } from '../../support/rates/memory-bank.ts'
import { createRandom, type Random } from '../../support/rates/random-bank.ts'
import { SEED } from '../../support/seed.ts'
import { fixedClock } from '../../support/temporary.ts'

const FIRST = '2025-12-20'
const DAYS = 40
const CHANGED = '2026-01-10'

const UPDATES = [
  `update rates set value = '590' where series_id = 1 and rate_date = '${CHANGED}'`,
  `update rates set value = '5x' where series_id = 1 and rate_date = '${CHANGED}'`,
  `update rates set rounded_to = 2 where series_id = 1 and rate_date = '${CHANGED}'`,
  `update rates set rate_date = '2026-06-10' where series_id = 1 and rate_date = '${CHANGED}'`,
  `update rates set series_id = 3 where series_id = 1 and rate_date = '${CHANGED}'`,
  `delete from rates where series_id = 1 and rate_date = '${CHANGED}'`,
  `insert into rates values (1, '2026-02-20', '500', null, 7)`,
  `update rate_sums set first_sum = first_sum + 1 where series_id = 1 and part = '2026'`,
]
const REVISION_UPDATES = [
  `update rate_revisions set old_value = '490' where rate_date = '${CHANGED}'`,
  `update rate_revisions set rate_date = '2026-01-11' where rate_date = '${CHANGED}'`,
  `update rate_revisions set old_stored_at = 5 where rate_date = '${CHANGED}'`,
  `delete from rate_revisions where rate_date = '${CHANGED}'`,
]

/** Tables with sums, and the types of their columns. */
const TABLES: Record<string, Record<string, 'number' | 'text'>> = {
  rates: { series_id: 'number', rate_date: 'text', value: 'text', rounded_to: 'number' },
  rate_revisions: {
    ...{ series_id: 'number', rate_date: 'text', kind: 'text', old_value: 'text', old_stored_at: 'number' },
    ...{ new_value: 'text', replaced_at: 'text' },
  },
  rate_sums: { part: 'text', row_count: 'number', first_sum: 'number', second_sum: 'number' },
}
const RANDOM_UPDATES = scaled({ short: 40, long: 1000 })

/** A store with two values of each day, the second one a correction. */
async function openStore(t: Parameters<typeof openNode>[0]) {
  const url = await createPostgresSchema()
  const node = await openNode(t, url)
  const clock = fixedClock()
  await ensureCatalogue(node.db, [createMemoryBank(clock).provider], clock.read)
  await storeValues(node, '500')
  clock.now = new Date(clock.now.getTime() + 60_000)
  const instant = clock.now.getTime()
  clock.now = new Date(clock.now.getTime() + 60_000)
  await storeValues(node, '501')
  return { url, node, instant }

  async function storeValues({ db }: Engine, value: string): Promise<void> {
    await atomically(db, async (trx) => {
      const now = await takeInstant(trx, clock.read())
      const window = { from: FIRST, to: addDays(FIRST, DAYS - 1) }
      const before = await selectRates(trx, [1, 2], window)
      const days = Array.from({ length: DAYS }, (_, at) => addDays(FIRST, at))
      const rates = [1, 2].flatMap((series_id) =>
        days.map((rate_date) => ({ series_id, rate_date, value, rounded_to: null })),
      )
      const writer = openRateWriter(trx)
      await writer.store(rates, before, now.getTime())
      await replaceCoverage(trx, 'answered', new Map([1, 2].map((id) => [id, [window]])), now.getTime())
      if (before.length > 0) {
        const run = { provider_id: 1, trigger: 'cli', status: 'ok', started_at: now.toISOString() } as const
        const { id } = await trx.insertInto('sync_runs').values(run).returning('id').executeTakeFirstOrThrow()
        const revisions = before.map((old) => ({
          ...{ series_id: old.series_id, rate_date: old.rate_date, kind: 'correction' as const, run_id: id },
          ...{ old_value: old.value, old_rounded_to: null, old_stored_at: old.stored_at, new_value: value },
          replaced_at: now.toISOString(),
        }))
        await writer.insertRevisions(revisions)
      }
      await writer.close(await raiseRevision(trx, now))
    })
  }
}

/** Values of the dollar by day, and the days that are known to lack one. */
async function readValues({ longReads }: Engine, instant?: number) {
  const cache = await openRateCache(longReads, [])
  const collect = async (snapshot: RateSnapshot) => {
    const [series] = snapshot.series
    const [column] = series ? await snapshot.columns([series]) : []
    const values = new Map(
      Array.from(column?.days ?? [], (day, at) => [isoDate(day), column && columnValue(column, at)]),
    )
    const isHole = (day: string) => !isCovered(snapshot.coveredDays(1), dayNumber(day))
    return { values, isHole }
  }
  return instant === undefined
    ? cache.read(collect)
    : cache.read((now) => openPastRates(longReads).read(now, instant, collect))
}

for (const update of UPDATES) {
  test(`named as damaged: ${update}`, async (t) => {
    const { url, node, instant } = await openStore(t)
    const truth = await readValues(node)
    assert.equal(truth.values.get(CHANGED), '501')
    await queryOnce(url, update)
    const now = await readValues(node)
    for (const [day, value] of now.values) assert.equal(value, truth.values.get(day), day)
    assert.ok(
      now.values.has('2025-12-31') && now.isHole(CHANGED),
      'the year is a hole, the one before is not',
    )
    const then = await readValues(node, instant)
    assert.ok(then.values.get(CHANGED) === '500' || then.isHole(CHANGED))
  })
}

for (const update of REVISION_UPDATES) {
  test(`refused in the past: ${update}`, async (t) => {
    const { url, node, instant } = await openStore(t)
    assert.equal((await readValues(node, instant)).values.get(CHANGED), '500')
    await queryOnce(url, update)
    const then = await readValues(node, instant)
    assert.deepEqual([then.values.size, then.isHole(CHANGED)], [0, true])
    assert.equal((await readValues(node)).values.get(CHANGED), '501')
    const read = createRevisionReader(node.db)
    const select = (trx: ReadDb) => selectRevisions(trx, { seriesId: 1 })
    await assert.rejects(read(select, 1), { code: 'unavailable' })
  })
}

test(`${RANDOM_UPDATES} random updates: no answer is another number`, async (t) => {
  const { url, node, instant } = await openStore(t)
  const random = createRandom(SEED)
  const truth = await readValues(node)
  const past = await readValues(node, instant)
  const revisions = await listRevisions(node)
  const names = Object.keys(TABLES)
  for (const name of names) await queryOnce(url, `create table copy_of_${name} as select * from ${name}`)
  const counts = { refused: 0, unchanged: 0, named: 0 }
  for (let count = 0; count < RANDOM_UPDATES; count++) {
    const name = random.item(names)
    const [column, type] = random.item(Object.entries(TABLES[name] ?? {}))
    const update = await randomUpdate(url, random, { name, column, type })
    const isDone = await queryOnce(url, update).then(
      () => true,
      () => false,
    )
    if (!isDone) {
      counts.refused += 1
      continue
    }
    const isNamed = [
      comparison(await readValues(node), truth, update),
      comparison(await readValues(node, instant), past, update),
      await listRevisions(node).then(
        (list) => assert.deepEqual(list, revisions, update),
        () => true,
      ),
    ].includes(true)
    counts[isNamed ? 'named' : 'unchanged'] += 1
    const restored = names.map((one) => `delete from ${one}; insert into ${one} select * from copy_of_${one}`)
    await queryOnce(url, restored.join('; '))
  }
  for (const [kind, count] of Object.entries(counts)) figure(t, kind, count)
  assert.ok(counts.named > RANDOM_UPDATES / 3, JSON.stringify(counts))
})

type Values = Awaited<ReturnType<typeof readValues>>

/** Returns true if some values are holes instead. */
function comparison(now: Values, truth: Values, update: string): boolean {
  for (const [day, value] of now.values) assert.ok(now.isHole(day) || value === truth.values.get(day), update)
  const missing = [...truth.values.keys()].filter((day) => !now.values.has(day))
  for (const day of missing) assert.ok(now.isHole(day), `${update}: ${day} lacks a value in silence`)
  return missing.length > 0 || [...truth.values.keys()].some((day) => now.isHole(day))
}

function listRevisions({ db }: Engine) {
  return createRevisionReader(db)((trx: ReadDb) => selectRevisions(trx, { seriesId: 1 }), 1)
}

/** Changes one sign of a text, or adds to a number, in one row of series 1. */
async function randomUpdate(
  url: string,
  random: Random,
  { name, column, type }: { name: string; column: string; type: 'number' | 'text' },
): Promise<string> {
  const rows = await queryOnce(
    url,
    `select ctid, ${column} as old from ${name} where series_id = 1 order by ctid`,
  )
  const { ctid, old } = random.item(rows as { ctid: string; old: string | number | null }[])
  const text = String(old ?? '')
  const at = random.int(0, Math.max(0, text.length - 1))
  const sign = random.item([...'0123456789-.x '])
  const value =
    type === 'text'
      ? `'${text.slice(0, at)}${sign}${text.slice(at + 1)}'`
      : String(Number(old ?? 0) + random.item([-1, 1, 2, 1024]))
  return `update ${name} set ${column} = ${value} where ctid = '${ctid}'`
}
