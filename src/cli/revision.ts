import { selectRevisions } from '../store/revisions.ts'
import { type Command, printResult, table } from './command.ts'
import { withDatabase } from './data-dir.ts'

export const revisionList: Command = {
  name: 'revision list',
  takes: [],
  summary: 'list published values that the bank replaced: which, when, from what to what',
  options: ['data-dir', 'series', 'since', 'json'],
  example: 'cambista revision list --series 2 --since 2026-01-01',
  run({ values, terminal }) {
    return withDatabase(values, { mustExist: true }, async (db) => {
      const series = values.given('series')
      const revisions = await selectRevisions(db, {
        seriesId: series === undefined ? undefined : Number(series),
        since: values.given('since'),
      })
      const rows = revisions.map((one) => [
        String(one.series_id),
        one.rate_date,
        one.old_value,
        one.new_value,
        one.replaced_at,
        String(one.run_id),
      ])
      const head = ['SERIES', 'DATE', 'WAS', 'IS', 'REPLACED', 'RUN']
      printResult(terminal, values, revisions, table([head, ...rows]))
      return 0
    })
  },
}
