import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { dayOf, isoOf } from '../../../src/dates.ts'
import { countRates, upsertRates } from '../../../src/store/rates/rates.ts'
import type { Db } from '../../../src/store/tables.ts'
import { ensureCatalogue } from '../../../src/sync/catalogue.ts'
import { createMemoryBank } from '../../support/rates/memory-bank.ts'
import { fixedClock, temporaryDatabase } from '../../support/temporary.ts'

const FIRST_DAY = dayOf('1983-01-01')
const ROWS = Array.from({ length: 15_000 }, (_, at) => ({
  series_id: 1,
  rate_date: isoOf(FIRST_DAY + at),
  value: `${500 + (at % 97)}.25`,
  rounded_to: null,
}))

async function openWithSeries(t: TestContext): Promise<Db> {
  const db = temporaryDatabase(t)
  await ensureCatalogue(db, [createMemoryBank(fixedClock()).provider], fixedClock().read)
  return db
}

/** How often the event loop went round while work was done. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
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

test('within a long transaction others have their turn, but not the database', async (t) => {
  const db = await openWithSeries(t)
  const seen: number[] = []
  const turns = await turnsDuring(() =>
    db.transaction().execute(async (trx) => {
      void countRates(db).then(({ all }) => seen.push(all))
      await upsertRates(trx, ROWS, 0)
      assert.deepEqual(seen, [], 'who is not in it waits for its end')
    }),
  )
  assert.ok(turns >= 5, `${turns} turns`)
  assert.equal((await countRates(db)).all, ROWS.length)
  assert.deepEqual(seen, [ROWS.length])
})

test('many small queries in a row let others have their turn too', async (t) => {
  const db = await openWithSeries(t)
  const turns = await turnsDuring(async () => {
    for (let at = 0; at < 500; at++) await db.selectFrom('series').selectAll().execute()
  })
  assert.ok(turns >= 5, `${turns} turns`)
})

test('what fails after such a turn is rolled back as a whole', async (t) => {
  const db = await openWithSeries(t)
  const failing = db.transaction().execute(async (trx) => {
    await upsertRates(trx, ROWS, 0)
    throw new Error('no')
  })
  await assert.rejects(failing, /^Error: no$/)
  assert.equal((await countRates(db)).all, 0)
})
