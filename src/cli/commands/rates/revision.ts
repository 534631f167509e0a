import { createRevisionReader } from '../../../domain/rates/history/sound-revisions.ts'
import { AppError } from '../../../runtime/errors.ts'
import { selectRevisions } from '../../../store/rates/change-log.ts'
import type { ReadDb } from '../../../store/tables.ts'
import { command } from '../../command.ts'
import { STORAGE } from '../../options/storage.ts'
import { listRows } from '../rows.ts'

export const revisionList = command({
  name: 'revision list',
  options: [...STORAGE, 'series', 'since', 'refined', 'discarded', 'json'],
  run(input) {
    const { series: seriesId, since, refined, discarded } = input.options
    if (refined && discarded)
      throw new AppError('usage', '--refined and --discarded are two lists: give one of them')
    const kind = refined ? 'refined' : discarded ? 'discarded' : 'correction'
    const select = async (db: ReadDb) => {
      const select = (trx: ReadDb) => selectRevisions(trx, { seriesId, since, kind })
      const revisions = await createRevisionReader(db)(select, seriesId)
      return revisions.map((one) => ({
        ...one,
        old_stored_at: one.old_stored_at === null ? null : new Date(one.old_stored_at).toISOString(),
      }))
    }
    return listRows(input, select, {
      SERIES: 'series_id',
      DATE: 'rate_date',
      WAS: 'old_value',
      IS: (one) => one.new_value ?? '-',
      REPLACED: 'replaced_at',
      RUN: (one) => one.run_id ?? '-',
    })
  },
})
