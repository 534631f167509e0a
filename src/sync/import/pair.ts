// Imports one pair in one transaction, so a killed import leaves whole pairs (decisions#export).

import type { SeriesInFile } from '../../domain/rates/export/export-file.ts'
import { raiseRevision } from '../../store/meta.ts'
import { insertCoverageChanges, selectDiscardedDays, takeInstant } from '../../store/rates/change-log.ts'
import { replaceCoverage, selectCoverage } from '../../store/rates/coverage.ts'
import { openRateWriter, type RateWriter } from '../../store/rates/rate-writer.ts'
import { type StoredRate, selectRates } from '../../store/rates/rates.ts'
import { insertSeries } from '../../store/rates/series.ts'
import { deleteStoredWithheld } from '../../store/rates/withheld.ts'
import type { WriteDb } from '../../store/tables.ts'
import type { Clock, IsoDate } from '../../values/dates.ts'
import type { Interval } from '../../values/intervals.ts'
import { recordNewDays } from '../publication.ts'
import type { Changes } from '../windows/accept.ts'
import { changeDays } from '../windows/answer-coverage.ts'
import { compareOrRepair } from '../windows/repairs.ts'
import type { ValueCounts } from './import-run.ts'
import { newSeries, type SeriesMatch } from './imported-series.ts'

/** Imports both sides of a pair in the transaction of the caller. Without a run it stores nothing. */
export async function importPair(
  trx: WriteDb,
  sides: readonly SeriesMatch[],
  options: { replace: boolean; clock: Clock; runId: number | undefined },
): Promise<ValueCounts> {
  const sum = { inserted: 0, updated: 0, unchanged: 0, kept: 0 }
  const writer = openRateWriter(trx)
  const answered = await selectCoverage(trx)
  const exact = await selectCoverage(trx, 'exact')
  let isChanged = false
  // Same instant for both sides, so that no `as_of` returns one alone.
  const clock = options.clock()
  const now = options.runId === undefined ? clock : await takeInstant(trx, clock)
  for (const { file, stored, provider, providerId } of sides) {
    const entry = stored || options.runId === undefined ? undefined : newSeries(provider, file)
    const id = stored?.id ?? (entry && (await insertSeries(trx, providerId, entry, now.getTime())))
    const before = id ? await selectRates(trx, [id], { from: file.values[0]?.day ?? '', to: '9' }) : []
    const storedData = { id: id || 0, before, written: writer.changedIds }
    const { changes, kept } = await compareSeries(trx, file, storedData, options.replace)
    sum.inserted += changes.inserted
    sum.updated += changes.updated
    sum.unchanged += changes.unchanged
    sum.kept += kept
    if (!id || options.runId === undefined) continue
    await storeChanges(trx, file, changes, { before, writer, now, runId: options.runId })
    if (stored) await deleteStoredWithheld(trx, id)
    if (stored) await recordNewDays(trx, { provider, providerId, series: [stored] }, changes.writes, before)
    const covered = changeDays(answered.get(id) ?? [], file.covered, [])
    if (covered) await replaceCoverage(trx, 'answered', new Map([[id, covered]]), now.getTime())
    // Days with rounded values are refined again.
    const rounded = changes.writes.flatMap((one) => (one.rounded_to === null ? [] : [one.rate_date]))
    const exactDays = changeDays(exact.get(id) ?? [], [], rounded)
    if (exactDays) await replaceCoverage(trx, 'exact', new Map([[id, exactDays]]), now.getTime())
    isChanged ||= covered !== undefined || changes.writes.length > 0 || stored === undefined
  }
  if (isChanged) await writer.close(await raiseRevision(trx, now))
  return sum
}

/** Compares a series of the file with stored values. Exact values stay unless `replace` is set. */
async function compareSeries(
  trx: WriteDb,
  { series, values }: SeriesInFile,
  { id, before, written }: { id: number; before: readonly StoredRate[]; written: ReadonlySet<number> },
  replace: boolean,
): Promise<{ changes: Changes; kept: number }> {
  const code = series.external_code
  const accepted = values.map(({ day, value, rounded_to }) => ({ code, day, value, roundedTo: rounded_to }))
  const changes = await compareOrRepair(trx, accepted, new Map([[code, id]]), { before, written })
  if (replace) return { changes, kept: 0 }
  const exactConflicts = new Set(
    changes.revisions.flatMap(({ rate_date, old_rounded_to }) =>
      old_rounded_to === null ? [rate_date] : [],
    ),
  )
  changes.updated -= exactConflicts.size
  changes.writes = changes.writes.filter(({ rate_date }) => !exactConflicts.has(rate_date))
  changes.revisions = changes.revisions.filter(({ rate_date }) => !exactConflicts.has(rate_date))
  return { changes, kept: exactConflicts.size }
}

/**
 * Stores a new value under the instant of the file, and records that its day arrived now. A value that replaces
 * another one is stored under the current instant. So is the value of a discarded day: a record of its arrival now
 * would hide the value.
 */
async function storeChanges(
  trx: WriteDb,
  { values }: SeriesInFile,
  { writes, revisions }: Changes,
  options: { before: readonly StoredRate[]; writer: RateWriter; now: Date; runId: number },
): Promise<void> {
  const { before, writer, now, runId } = options
  const [one] = writes
  const discarded = one ? await selectDiscardedDays(trx, one.series_id) : []
  const replaced = new Set([...revisions.map(({ rate_date }) => rate_date), ...discarded])
  const instants = new Map(values.map(({ day, stored_at }) => [day, Date.parse(stored_at)]))
  const rates = writes.map((rate) => {
    const instant = replaced.has(rate.rate_date) ? undefined : instants.get(rate.rate_date)
    return instant === undefined ? rate : { ...rate, stored_at: instant }
  })
  await writer.store(rates, before, now.getTime())
  const added = writes.filter(({ rate_date }) => !replaced.has(rate_date))
  const days = joinDays(
    added.map(({ rate_date }) => rate_date),
    [...before.map(({ rate_date }) => rate_date), ...discarded],
  )
  const series = added.slice(0, 1).map(({ series_id }) => series_id)
  await insertCoverageChanges(
    trx,
    now.getTime(),
    days.map((span) => ({ kind: 'imported', days: span, series })),
  )
  await writer.insertRevisions(
    revisions.map((one) => ({ ...one, replaced_at: now.toISOString(), run_id: runId })),
  )
}

/** Returns the fewest intervals that contain all `days` and none of `others`. */
function joinDays(days: readonly IsoDate[], others: readonly IsoDate[]): Interval[] {
  const spans: Interval[] = []
  const otherDays = others.toSorted()
  let next = 0 // index of the first of the others after the span
  for (const day of days.toSorted()) {
    while (next < otherDays.length && (otherDays[next] ?? '') < day) next += 1
    const span = spans.at(-1)
    if (span && (otherDays[next - 1] ?? '') < span.to) span.to = day
    else spans.push({ from: day, to: day })
  }
  return spans
}
