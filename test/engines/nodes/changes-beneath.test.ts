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
import { openNode } from '../../support/postgres/database.ts'
import { createPostgresSchema, queryOnce } from '../../support/postgres/server.ts'
import { createMemoryBank } from '../../support/rates/memory-bank.ts'
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
