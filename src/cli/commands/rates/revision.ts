import { AppError } from '../../../errors.ts'
import { selectRevisions } from '../../../store/rates/record.ts'
import { command, printResult, table } from '../../command.ts'
import { PLACE } from '../../place/options.ts'

export const revisionList = command({
  name: 'revision list',
  positionals: [],
  summary: 'list published values that the bank replaced: which, when, from what to what',
  options: [...PLACE, 'series', 'since', 'refined', 'discarded', 'json'],
  changesData: false,
  example: 'cambista revision list --series 2 --since 2026-01-01',
  run({ options, terminal, withDatabase }) {
    if (options.refined && options.discarded)
      throw new AppError('usage', '--refined and --discarded are two lists: give one of them')
    const kind = options.refined ? 'refined' : options.discarded ? 'discarded' : 'correction'
    return withDatabase({ mustExist: true }, async (db) => {
      const { series } = options
      const revisions = await selectRevisions(db, {
        seriesId: series === undefined ? undefined : Number(series),
        since: options.since,
        kind,
      })
      const rows = revisions.map((one) => [
        String(one.series_id),
        one.rate_date,
        one.old_value,
        one.new_value ?? '-',
        one.replaced_at,
        String(one.run_id ?? '-'),
      ])
      const head = ['SERIES', 'DATE', 'WAS', 'IS', 'REPLACED', 'RUN']
      const shown = revisions.map((one) => ({
        ...one,
        old_stored_at: one.old_stored_at === null ? null : new Date(one.old_stored_at).toISOString(),
      }))
      printResult(terminal, options, shown, table([head, ...rows]))
      return 0
    })
  },
})
