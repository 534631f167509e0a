// Lists of revisions that fit their sums (decisions#sums). The check of a series is remembered until its rates change.

import { AppError } from '../../../runtime/errors.ts'
import { snapshot } from '../../../store/engine.ts'
import { selectMeta } from '../../../store/meta.ts'
import { type RateRevision, selectRevisionsById } from '../../../store/rates/change-log.ts'
import { revisionText, selectSoundRevisions } from '../../../store/rates/rate-sums.ts'
import { findSeriesRevision } from '../../../store/rates/series.ts'
import type { ReadDb } from '../../../store/tables.ts'

/**
 * Returns a function that reads revisions; `seriesId`: of this series alone. Rows and sums are of one transaction.
 * @throws AppError `unavailable`: a series' revisions differ from their sum
 */
export function createRevisionReader(db: ReadDb) {
  const checks = new Map<number, string>() // state of the data at the last check, by series
  return (select: (trx: ReadDb) => Promise<RateRevision[]>, seriesId?: number): Promise<RateRevision[]> =>
    snapshot(db, async (trx) => {
      const rows = await select(trx)
      const { epoch } = await selectMeta(trx)
      const ids = new Set(rows.map(({ series_id }) => series_id))
      if (seriesId !== undefined) ids.add(seriesId)
      for (const id of ids) {
        const state = `${epoch} ${await findSeriesRevision(trx, id)}`
        if (checks.get(id) === state) continue
        await checkRevisions(trx, id)
        checks.set(id, state)
      }
      return rows
    })
}

/** Compares the rows of the index with those of the table: a query may read a day from either. */
async function checkRevisions(db: ReadDb, id: number): Promise<void> {
  const sound = await selectSoundRevisions(db, id)
  const texts = new Set(sound?.map(revisionText))
  const rows = await selectRevisionsById(db, sound?.map((row) => row.id) ?? [])
  if (sound?.length === rows.length && rows.every((row) => texts.has(revisionText(row)))) return
  const text = `the stored revisions of series ${id} are damaged: cambista doctor describes the repair`
  throw new AppError('unavailable', text)
}
