// Every change of rates and revisions goes through a writer, so that their sums change in the same transaction.

import type { IsoDate } from '../../values/dates.ts'
import { splitBatches } from '../batches.ts'
import type { WriteDb } from '../tables.ts'
import type { RateRevision } from './change-log.ts'
import { addSums, REVISIONS, recomputeSums, revisionText, selectOutdatedSeries } from './rate-sums.ts'
import { deleteLaterRates, markSeriesChanged, rateKey, type StoredRate, upsertRates } from './rates.ts'
import { addRow, newSum, rateLine, type Sum } from './sums.ts'

/** A rate to store; without an instant of its own it gets that of the transaction. */
export type NewRate = Omit<StoredRate, 'stored_at'> & { stored_at?: number }

/** Writer of the rates in one transaction, after takeInstant. */
export type RateWriter = {
  /** Series with changed rates. */
  readonly changedIds: ReadonlySet<number>
  /** Stores rates. `before`: all stored rates of their series and days; others are ignored. */
  store(rates: readonly NewRate[], before: readonly StoredRate[], storedAt: number): Promise<void>
  /** Deletes rates, which are all of their series after a day. */
  deleteLater(rates: readonly StoredRate[], after: IsoDate): Promise<void>
  insertRevisions(revisions: readonly Omit<RateRevision, 'id'>[]): Promise<void>
  /** Ends the writes: marks the series with the data revision of the transaction, and writes their sums. */
  close(revision: number): Promise<void>
}

const ROWS_AT_ONCE = 500

export function openRateWriter(trx: WriteDb): RateWriter {
  const changes = new Map<number, Map<string, Sum>>()
  const partSum = (id: number, part: string) =>
    changes.getOrInsertComputed(id, () => new Map([[REVISIONS, newSum()]])).getOrInsertComputed(part, newSum)
  let last = { id: 0, year: '', sum: newSum() } // most rates follow one of the same series and year
  const change = (rate: NewRate, sign: 1 | -1) => {
    const { series_id: id, rate_date: day } = rate
    if (id !== last.id || !day.startsWith(last.year)) {
      const year = day.slice(0, 4)
      last = { id, year, sum: partSum(id, year) }
    }
    addRow(last.sum, rateLine(rate), sign)
  }
  const changedIds = new Set<number>()
  return {
    changedIds,
    async store(rates, before, storedAt) {
      const byInstant = Map.groupBy(rates, ({ stored_at }) => stored_at ?? storedAt)
      for (const [instant, some] of byInstant) await upsertRates(trx, some, instant)
      const writtenKeys = before.length > 0 ? new Set(rates.map(rateKey)) : undefined
      for (const rate of before) if (writtenKeys?.has(rateKey(rate))) change(rate, -1)
      for (const rate of rates) change(rate, 1)
      for (const id of new Set(rates.map(({ series_id }) => series_id))) changedIds.add(id)
    },
    async deleteLater(rates, after) {
      const ids = new Set(rates.map(({ series_id }) => series_id))
      await deleteLaterRates(trx, [...ids], after)
      for (const rate of rates) change(rate, -1)
      for (const id of ids) changedIds.add(id)
    },
    async insertRevisions(revisions) {
      for (const some of splitBatches(revisions, ROWS_AT_ONCE)) {
        const rows = await trx.insertInto('rate_revisions').values(some).returningAll().execute()
        for (const row of rows) addRow(partSum(row.series_id, REVISIONS), revisionText(row))
      }
    },
    async close(revision) {
      const ids = [...changes.keys()]
      if (ids.length === 0) return
      const outdated = await selectOutdatedSeries(trx, ids)
      await markSeriesChanged(trx, ids, revision)
      for (const id of outdated) changes.delete(id)
      await addSums(trx, changes, revision)
      await recomputeSums(trx, outdated, revision)
    },
  }
}
