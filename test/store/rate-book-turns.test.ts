import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openRateBook } from '../../src/store/rate-book.ts'
import { ensureCatalogue } from '../../src/sync/catalogue.ts'
import { fixedClock, temporaryDatabase } from '../support/ground.ts'
import { createPaperBank } from '../support/paper-bank.ts'

test('others have turns while the columns of many series are read', async (t) => {
  const db = temporaryDatabase(t)
  await ensureCatalogue(db, [createPaperBank(fixedClock()).provider])
  const page = (await openRateBook(db)).page()
  assert.ok(page.series.length > 3)
  let turns = 0
  let reading = true
  const count = () => {
    turns += 1
    if (reading) setImmediate(count)
  }
  setImmediate(count)
  await page.columns(page.series)
  reading = false
  assert.ok(turns >= page.series.length - 1, `${turns} turns`)
})
