// Commit instants of the values of a series. A sync stores thousands of values at once, so the instants are grouped
// into runs. A run begins on a day and ends before the next one.

import type { IsoDate } from '../../values/dates.ts'
import { engineSql, snapshot } from '../engine.ts'
import type { ReadDb, RevisionKind } from '../tables.ts'
import type { RateRevision } from './change-log.ts'
import { selectSoundRevisions } from './rate-sums.ts'
import { findSeriesRevision } from './series.ts'

/** Values from the day `from` on were stored at this instant, in milliseconds since 1970. */
export type StoredAtRun = { from: IsoDate; storedAt: number }

/** Commit instants of a series' values, and its replaced values. */
export type ValueLog = {
  stored: readonly StoredAtRun[]
  /** Values that were replaced after an instant, in the order of their replacement. */
  revisions: readonly RateRevision[]
}

/**
 * Selects the instants of a series, by day; undefined when its values are of another data revision. A row for each
 * value would take as long as the whole export.
 */
export function selectStoredAtRuns(
  db: ReadDb,
  series: { id: number; revision: number },
): Promise<StoredAtRun[] | undefined> {
  return snapshot(db, async (trx) => {
    if ((await findSeriesRevision(trx, series.id)) !== series.revision) return undefined
    return engineSql(trx).storedAtRuns(trx, series.id)
  })
}

/**
 * Selects the data from which the values of a series at an instant (milliseconds since 1970) are computed. A damaged
 * value was never one: its repaired value has been known since the instant of the damaged one. Undefined: the revisions
 * are damaged.
 */
export async function selectValueLog(
  db: ReadDb,
  seriesId: number,
  instant: number,
): Promise<ValueLog | undefined> {
  const revisions = await selectSoundRevisions(db, seriesId)
  const after = new Date(instant).toISOString()
  return (
    revisions && {
      stored: await engineSql(db).storedAtRuns(db, seriesId),
      revisions: revisions.filter(({ kind, replaced_at }) => kind !== 'repaired' && replaced_at > after),
    }
  )
}

/** Kind of the revision, or `new`: a value without a revision. The repair of a damaged value changed nothing. */
export type ChangeKind = Exclude<RevisionKind, 'repaired'> | 'new'

/**
 * Selects the last change of the value of a day after `after`: replaced, removed or stored. Its instant is undefined
 * where it is not recorded. The kind of a refinement after a correction is `correction`.
 */
export async function selectValueChange(
  db: ReadDb,
  { seriesId, day }: { seriesId: number; day: IsoDate },
  after: number,
): Promise<{ at: string | undefined; kind: ChangeKind }> {
  const revisions = await db
    .selectFrom('rate_revisions')
    .select(['kind', 'replaced_at'])
    .where('series_id', '=', seriesId)
    .where('rate_date', '=', day)
    .where('replaced_at', '>', new Date(after).toISOString())
    .where('kind', '!=', 'repaired')
    .$narrowType<{ kind: Exclude<RevisionKind, 'repaired'> }>()
    .orderBy('id', 'desc')
    .execute()
  const [last] = revisions
  if (last) {
    const isCorrected = last.kind === 'refined' && revisions.some(({ kind }) => kind === 'correction')
    return { at: last.replaced_at, kind: isCorrected ? 'correction' : last.kind }
  }
  const rate = await db
    .selectFrom('rates')
    .select('stored_at')
    .where('series_id', '=', seriesId)
    .where('rate_date', '=', day)
    .where('stored_at', '>', after)
    .executeTakeFirst()
  const at = rate?.stored_at ?? (await selectImportInstant(db, { seriesId, day }, after))
  return { at: at === undefined ? undefined : new Date(at).toISOString(), kind: 'new' }
}

/** An imported value has the instant of the other server, and the change log that of the import. */
async function selectImportInstant(
  db: ReadDb,
  { seriesId, day }: { seriesId: number; day: IsoDate },
  after: number,
): Promise<number | undefined> {
  const imports = await db
    .selectFrom('coverage_changes')
    .select(['changed_at', 'series'])
    .where('kind', '=', 'imported')
    .where('changed_at', '>', after)
    .where('days_from', '<=', day)
    .where('days_to', '>=', day)
    .orderBy('id', 'desc')
    .execute()
  return imports.find(({ series }) => (JSON.parse(series) as number[]).includes(seriesId))?.changed_at
}

/** Returns a function from day to instant, for ascending days. */
export function ascendingInstants(runs: readonly StoredAtRun[]): (day: string) => string {
  let next = 0
  let text = ''
  return (day) => {
    for (let run = runs[next]; run && run.from <= day; run = runs[next]) {
      text = new Date(run.storedAt).toISOString()
      next += 1
    }
    return text
  }
}
