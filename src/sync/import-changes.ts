// What an import changes of the values of a series, stored so that the record stays true (decisions 2.21 and 2.22).

import type { IsoDate } from '../dates.ts'
import type { SeriesInFile } from '../domain/rates/export-file.ts'
import type { Interval } from '../intervals.ts'
import { type StoredRate, upsertRates } from '../store/rates.ts'
import { insertCoverageChanges, insertRevisions } from '../store/record.ts'
import type { Db } from '../store/tables.ts'
import type { Changes } from './accept.ts'

/**
 * A new value has the instant that the file says, and the record says that it came only now; what replaces another one
 * was not known here before now.
 */
export async function storeChanges(
  trx: Db,
  { values }: SeriesInFile,
  { writes, revisions }: Changes,
  { before, now, runId }: { before: readonly StoredRate[]; now: Date; runId: number },
): Promise<void> {
  const replaced = new Set(revisions.map(({ rate_date }) => rate_date))
  const instants = new Map(values.map(({ rate_date, stored_at }) => [rate_date, Date.parse(stored_at)]))
  const byInstant = Map.groupBy(writes, ({ rate_date }) =>
    replaced.has(rate_date) ? now.getTime() : (instants.get(rate_date) ?? now.getTime()),
  )
  for (const [storedAt, rates] of byInstant) await upsertRates(trx, rates, storedAt)
  const added = writes.filter(({ rate_date }) => !replaced.has(rate_date))
  const days = spansBetween(
    added.map(({ rate_date }) => rate_date),
    before.map(({ rate_date }) => rate_date),
  )
  const series = added.slice(0, 1).map(({ series_id }) => series_id)
  await insertCoverageChanges(
    trx,
    now.getTime(),
    days.map((span) => ({ kind: 'imported', days: span, series })),
  )
  await insertRevisions(
    trx,
    revisions.map((one) => ({ ...one, replaced_at: now.toISOString(), run_id: runId })),
  )
}

/** As few intervals as hold these days and none of the others. */
function spansBetween(days: readonly IsoDate[], others: readonly IsoDate[]): Interval[] {
  const spans: Interval[] = []
  const apart = others.toSorted()
  let next = 0 // the first of the others that comes after the span
  for (const day of days.toSorted()) {
    while (next < apart.length && (apart[next] ?? '') < day) next += 1
    const span = spans.at(-1)
    if (span && (apart[next - 1] ?? '') < span.to) span.to = day
    else spans.push({ from: day, to: day })
  }
  return spans
}
