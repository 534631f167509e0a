import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayOf } from '../../src/dates.ts'
import { raiseRevision } from '../../src/store/meta.ts'
import { type Column, openRateBook, type RateBook, valueAt } from '../../src/store/rate-book.ts'
import { markSeriesChanged, upsertRates } from '../../src/store/rates.ts'
import { selectSeries } from '../../src/store/series.ts'
import type { Db } from '../../src/store/tables.ts'
import { ensureCatalogue } from '../../src/sync/catalogue.ts'
import { fixedClock, temporaryDatabase } from '../support/ground.ts'
import { createPaperBank } from '../support/paper-bank.ts'

async function store(db: Db, seriesId: number, rates: Record<string, string>): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const rows = Object.entries(rates).map(([rate_date, value]) => ({
      series_id: seriesId,
      rate_date,
      value,
      rounded_to: null,
    }))
    await upsertRates(trx, rows)
    await markSeriesChanged(trx, [seriesId], await raiseRevision(trx))
  })
}

async function columnOf(book: RateBook, seriesId: number) {
  const page = book.page()
  const [column] = await page.columns(page.series.filter(({ id }) => id === seriesId))
  if (!column) throw new Error(`no column of ${seriesId}`)
  return column
}

async function open(t: Parameters<typeof temporaryDatabase>[0]) {
  const db = temporaryDatabase(t)
  await ensureCatalogue(db, [createPaperBank(fixedClock()).provider])
  await store(db, 1, { '2026-03-24': '500', '2026-03-23': '499.5' })
  await store(db, 2, { '2026-03-24': '505' })
  return { db, book: await openRateBook(db) }
}

const valuesOf = (column: Column) => Array.from(column.days, (_, at) => valueAt(column, at))

test('a column is a series by day, with the digits as they are stored', async (t) => {
  const { book } = await open(t)
  const column = await columnOf(book, 1)
  assert.deepEqual([...column.days], [dayOf('2026-03-23'), dayOf('2026-03-24')])
  assert.deepEqual(valuesOf(column), ['499.5', '500'])
})

test('a page stands still until the book is refreshed', async (t) => {
  const { db, book } = await open(t)
  const page = book.page()
  await store(db, 1, { '2026-03-25': '501' })
  assert.equal(book.page(), page)
  await book.refresh()
  assert.equal(book.page().revision, page.revision + 1)
  assert.equal((await columnOf(book, 1)).days.length, 3)
})

test('a refresh drops the columns that changed and keeps the others', async (t) => {
  const { db, book } = await open(t)
  const [first, second] = [await columnOf(book, 1), await columnOf(book, 2)]
  await store(db, 1, { '2026-03-24': '500.1' })
  await book.refresh()
  assert.notEqual(await columnOf(book, 1), first)
  assert.equal(await columnOf(book, 2), second)
})

test('a refresh without a change keeps the page', async (t) => {
  const { book } = await open(t)
  const page = book.page()
  await book.refresh()
  assert.equal(book.page(), page)
})

test('a column is read when it is first asked for, and once', async (t) => {
  const { db, book } = await open(t)
  const column = await columnOf(book, 1)
  await db.deleteFrom('rates').execute()
  assert.equal(await columnOf(book, 1), column)
  assert.deepEqual(valuesOf(await columnOf(book, 2)), [])
})

test('who asks for a column that is being read waits for that reading', async (t) => {
  const { book } = await open(t)
  const [first, ...others] = await Promise.all(Array.from({ length: 20 }, () => columnOf(book, 1)))
  for (const other of others) assert.equal(other, first)
})

test('a restored database is another one, even where the revisions agree', async (t) => {
  const { db, book } = await open(t)
  await columnOf(book, 1)
  await db.updateTable('rates').set({ value: '400' }).execute()
  await db.updateTable('meta').set({ epoch: 'restored' }).execute()
  await book.refresh()
  assert.deepEqual(valuesOf(await columnOf(book, 1)), ['400', '400'])
})

test('the count of rates and the first days are those of the page', async (t) => {
  const { db, book } = await open(t)
  const count = () => book.page().countRates()
  assert.equal(await count(), 3)
  await store(db, 2, { '2026-03-25': '506' })
  assert.equal(await count(), 3)
  await book.refresh()
  assert.equal(await count(), 4)
  const firstDays = (await selectSeries(db)).map(({ first_data_date }) => first_data_date)
  assert.deepEqual(firstDays, ['2026-03-23', '2026-03-24', null, null, null])
})
