import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { countRates, upsertRates } from '../../../../src/store/rates/rates.ts'
import type { WriteDb } from '../../../../src/store/tables.ts'
import { ensureCatalogue } from '../../../../src/sync/catalogue.ts'
import { dayNumber, isoDate } from '../../../../src/values/dates.ts'
import { createMemoryBank } from '../../../support/rates/memory-bank.ts'
import { fixedClock, temporaryDatabase } from '../../../support/temporary.ts'

const FIRST_DAY = dayNumber('1983-01-01')
const ROWS = Array.from({ length: 15_000 }, (_, at) => ({
  series_id: 1,
  rate_date: isoDate(FIRST_DAY + at),
  value: `${500 + (at % 97)}.25`,
  rounded_to: null,
}))

async function openWithSeries(t: TestContext): Promise<WriteDb> {
  const db = temporaryDatabase(t)
  await ensureCatalogue(db, [createMemoryBank(fixedClock()).provider], fixedClock().read)
  return db
}

/** Counts the turns of the event loop during the work. */
async function countTurns(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let working = true
  const count = () => {
    turns += 1
    if (working) setImmediate(count)
  }
  setImmediate(count)
  await work()
  working = false
  return turns
}

test('a long transaction yields to other work, but not to other queries', async (t) => {
  const db = await openWithSeries(t)
  const counts: number[] = []
  const turns = await countTurns(() =>
    db.transaction().execute(async (trx) => {
      void countRates(db).then(({ all }) => counts.push(all))
      await upsertRates(trx, ROWS, 0)
      assert.deepEqual(counts, [], 'other queries wait for its end')
    }),
  )
  assert.ok(turns >= 5, `${turns} turns`)
  assert.equal((await countRates(db)).all, ROWS.length)
  assert.deepEqual(counts, [ROWS.length])
})

test('many small queries in a row yield to other work', async (t) => {
  const db = await openWithSeries(t)
  const turns = await countTurns(async () => {
    for (let at = 0; at < 500; at++) await db.selectFrom('series').selectAll().execute()
  })
  assert.ok(turns >= 5, `${turns} turns`)
})

test('a transaction that fails after it has yielded is rolled back as a whole', async (t) => {
  const db = await openWithSeries(t)
  const failing = db.transaction().execute(async (trx) => {
    await upsertRates(trx, ROWS, 0)
    throw new Error('no')
  })
  await assert.rejects(failing, /^Error: no$/)
  assert.equal((await countRates(db)).all, 0)
})
