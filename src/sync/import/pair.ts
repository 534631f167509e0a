// What an import stores of one pair, in one transaction: a killed import leaves whole pairs (decisions 2.21).

import type { Clock, IsoDate } from '../../dates.ts'
import type { SeriesInFile } from '../../domain/rates/export-file.ts'
import { type Interval, joined, runsOf, without } from '../../intervals.ts'
import { raiseRevision } from '../../store/meta.ts'
import { type Coverage, replaceCoverage, selectCoverage } from '../../store/rates/coverage.ts'
import { markSeriesChanged, type StoredRate, selectRatesIn, upsertRates } from '../../store/rates/rates.ts'
import { insertCoverageChanges, insertRevisions, selectDiscardedDays } from '../../store/rates/record.ts'
import { insertSeries } from '../../store/rates/series.ts'
import type { SyncCounts } from '../../store/sync-runs.ts'
import type { Db } from '../../store/tables.ts'
import { type Changes, changesOf } from '../accept.ts'
import { noteNewDays } from '../publication.ts'
import { type Matched, newSeries } from './series.ts'

export type PairCounts = SyncCounts & { kept: number }

/** Both sides of a pair in the caller's transaction; without a run nothing is stored. */
export async function importPair(
  trx: Db,
  sides: readonly Matched[],
  options: { replace: boolean; clock: Clock; runId: number | undefined },
): Promise<PairCounts> {
  const sum = { inserted: 0, updated: 0, unchanged: 0, kept: 0 }
  const changedIds = new Set<number>()
  const answered = await selectCoverage(trx)
  const exact = await selectCoverage(trx, 'exact')
  let isChanged = false
  const now = options.clock() // of both sides: there is no instant at which one was there without the other
  for (const { file, stored, provider, providerId } of sides) {
    const made = stored || options.runId === undefined ? undefined : newSeries(provider, file)
    const id = stored?.id ?? (made && (await insertSeries(trx, providerId, made, now.getTime())))
    const before = id
      ? await selectRatesIn(trx, [id], { from: file.values[0]?.rate_date ?? '', to: '9' })
      : []
    const { changes, kept } = changesFrom(file, id || 0, before, options.replace)
    sum.inserted += changes.inserted
    sum.updated += changes.updated
    sum.unchanged += changes.unchanged
    sum.kept += kept
    if (!id || options.runId === undefined) continue
    await storeChanges(trx, file, changes, { before, now, runId: options.runId })
    if (stored) await noteNewDays(trx, { provider, providerId, series: [stored] }, changes.writes, before)
    const known = answered.get(id) ?? []
    const covered = file.covered.reduce((days, one) => joined(days, one), known)
    const isCoverageNew = JSON.stringify(covered) !== JSON.stringify(known)
    if (isCoverageNew) await replaceCoverage(trx, 'answered', new Map([[id, covered]]), now.getTime())
    await forgetExact(trx, id, exact, changes, now)
    if (changes.writes.length > 0) changedIds.add(id)
    isChanged ||= isCoverageNew || changes.writes.length > 0 || stored === undefined
  }
  if (isChanged) await markSeriesChanged(trx, [...changedIds], await raiseRevision(trx))
  return sum
}

/** What a series of the file changes. Exact values stay, unless they may be replaced. */
function changesFrom(
  { series, values }: SeriesInFile,
  id: number,
  before: readonly StoredRate[],
  replace: boolean,
): { changes: Changes; kept: number } {
  const code = series.external_code
  const accepted = values.map(({ rate_date, value, rounded_to }) => ({
    ...{ code, day: rate_date, value, roundedTo: rounded_to },
  }))
  const changes = changesOf(accepted, new Map([[code, id]]), before)
  if (replace) return { changes, kept: 0 }
  const kept = new Set(
    changes.revisions.flatMap(({ rate_date, old_rounded_to }) =>
      old_rounded_to === null ? [rate_date] : [],
    ),
  )
  changes.updated -= kept.size
  changes.writes = changes.writes.filter(({ rate_date }) => !kept.has(rate_date))
  changes.revisions = changes.revisions.filter(({ rate_date }) => !kept.has(rate_date))
  return { changes, kept: kept.size }
}

/**
 * A new value has the instant that the file says, and the record says that it came only now; what replaces another one
 * was not known here before now. So it is where a value was discarded: that the day came only now would hide the value.
 */
async function storeChanges(
  trx: Db,
  { values }: SeriesInFile,
  { writes, revisions }: Changes,
  { before, now, runId }: { before: readonly StoredRate[]; now: Date; runId: number },
): Promise<void> {
  const [one] = writes
  const discarded = one ? await selectDiscardedDays(trx, one.series_id) : []
  const replaced = new Set([...revisions.map(({ rate_date }) => rate_date), ...discarded])
  const instants = new Map(values.map(({ rate_date, stored_at }) => [rate_date, Date.parse(stored_at)]))
  const byInstant = Map.groupBy(writes, ({ rate_date }) =>
    replaced.has(rate_date) ? now.getTime() : (instants.get(rate_date) ?? now.getTime()),
  )
  for (const [storedAt, rates] of byInstant) await upsertRates(trx, rates, storedAt)
  const added = writes.filter(({ rate_date }) => !replaced.has(rate_date))
  const days = spansBetween(
    added.map(({ rate_date }) => rate_date),
    [...before.map(({ rate_date }) => rate_date), ...discarded],
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

/** What became rounded by a file is read again when there is a source that does not round. */
async function forgetExact(
  trx: Db,
  id: number,
  exact: Coverage,
  { writes }: Changes,
  now: Date,
): Promise<void> {
  const known = exact.get(id) ?? []
  const rounded = runsOf(
    writes.flatMap(({ rate_date, rounded_to }) => (rounded_to === null ? [] : [rate_date])),
  )
  if (known.length === 0 || rounded.length === 0) return
  const left = rounded.reduce((days, one) => without(days, one), known)
  await replaceCoverage(trx, 'exact', new Map([[id, left]]), now.getTime())
}
