import { AppError } from '../../../runtime/errors.ts'
import type { RateRevision } from '../../../store/rates/change-log.ts'
import { revisionText, selectSoundRevisions } from '../../../store/rates/rate-sums.ts'
import type { ReadDb } from '../../../store/tables.ts'

/**
 * Checks revisions that are to be listed; `seriesId`: of this series alone. Each row is compared with that of the sum,
 * because another query may read a day from an index.
 * @throws AppError `unavailable`: a series' revisions differ from their sum (decisions 2.6)
 */
export async function requireSoundRevisions(
  db: ReadDb,
  rows: readonly RateRevision[],
  seriesId?: number,
): Promise<void> {
  const bySeries = Map.groupBy(rows, ({ series_id }) => series_id)
  if (seriesId !== undefined) bySeries.getOrInsert(seriesId, [])
  for (const [id, listed] of bySeries) {
    const sound = await selectSoundRevisions(db, id)
    const texts = new Set(sound?.map(revisionText))
    if (sound && listed.every((row) => texts.has(revisionText(row)))) continue
    const text = `the stored revisions of series ${id} are damaged: cambista doctor describes the repair`
    throw new AppError('unavailable', text)
  }
}
