// Fills a database with 47 series of one value a day since 1983, loads every column and prints their memory.

import { openRateCache } from '../../../src/domain/rates/rate-cache.ts'
import { bccrCatalogue } from '../../../src/providers/bccr/catalogue.ts'
import { type StoredRate, upsertRates } from '../../../src/store/rates/rates.ts'
import { insertSeries, selectSeries } from '../../../src/store/rates/series.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { ensureCatalogue } from '../../../src/sync/catalogue.ts'
import { dayNumber, isoDate } from '../../../src/values/dates.ts'
import { fixedClock } from '../temporary.ts'
import { createMemoryBank, selectCatalogue, XDR } from './memory-bank.ts'

const db = openDatabase(process.argv[2] ?? '')
await ensureCatalogue(
  db,
  [createMemoryBank(fixedClock(), { catalogue: bccrCatalogue }).provider],
  fixedClock().read,
)
for (const series of selectCatalogue(['XDR']))
  await insertSeries(db, 1, { ...series, externalCode: XDR }, Date.now())
for (const { id } of await selectSeries(db)) {
  const rates: Omit<StoredRate, 'stored_at'>[] = []
  for (let day = dayNumber('1983-01-01'); day <= dayNumber('2026-06-30'); day++) {
    // Distinct values, with as many digits as the bank's.
    const value = (400 + id + Math.sin(day * id)).toFixed(5).replace(/0+$/, '')
    rates.push({ series_id: id, rate_date: isoDate(day), value, rounded_to: null })
  }
  await db.transaction().execute((trx) => upsertRates(trx, rates, 0))
}

const usedMemory = () => {
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
const before = usedMemory()
const cache = await openRateCache(db, [])
const columns = await cache.snapshot().columns(cache.snapshot().series)
const megabytes = (usedMemory() - before) / 2 ** 20
const values = columns.reduce((sum, column) => sum + column.days.length, 0)
process.stdout.write(JSON.stringify({ values, megabytes }))
await db.destroy()
