// Removes what is stored of days to come. It is a log line on stderr that says who did it.

import { AppError } from '../../../errors.ts'
import type { LaterRates } from '../../../sync/discard.ts'
import { call } from '../../call-options.ts'
import { command, printResult } from '../../command.ts'
import { day } from '../../option-formats.ts'
import { PLACE } from '../../place/options.ts'
import { terminalLog } from '../../terminal-log.ts'
import { whoRuns } from '../actor.ts'

export const ratesDiscard = command({
  name: 'rates discard',
  positionals: [],
  summary: 'remove stored values and covered days of the future, which cambista doctor names',
  about: `What is stored of days after DATE goes, of every series, in one step. The values stay in the record: cambista revision
list --discarded and /api/v1/revisions?kind=discarded list them, and an older as_of answers as it did. A server may run
meanwhile, and sees it within a second; a sync may not. It asks first; where there is no terminal it needs --yes.`,
  options: ['after', 'yes', ...PLACE, 'log-format', 'json'],
  own: { after: call('DATE', 'last day that stays: tomorrow or a later day', day) },
  required: ['after'],
  changesData: true,
  example: 'cambista rates discard --after 2026-03-25',
  async run({ options, terminal, withDatabase }) {
    const { countLaterRates, discardRates, earliestDiscard } = await import('../../../sync/discard.ts')
    const { canAsk, isConfirmed } = await import('../../confirm.ts')
    const { after } = options
    const tomorrow = earliestDiscard(() => new Date(), terminal.providers)
    if (after < tomorrow)
      throw new AppError(
        'usage',
        `--after must be tomorrow, ${tomorrow}, or a later day: what is stored of earlier days stays`,
      )
    if (!options.yes && !canAsk(terminal))
      throw new AppError('usage', 'there is no terminal to ask at: give --yes to remove it without asking')
    const log = terminalLog(terminal, { level: 'info', format: options['log-format'] })
    const who = whoRuns(terminal.env)
    return withDatabase({ mustExist: true }, async (db, engine) => {
      const print = (isDone: boolean, found: LaterRates, line: string) =>
        printResult(terminal, options, { after, ...jsonOf(found), discarded: isDone }, [line])
      const found = await countLaterRates(db, after)
      if (found.series === 0) {
        print(false, found, `nothing is stored of days after ${after}`)
        return 0
      }
      if (!options.yes && !(await isConfirmed(terminal, `Remove ${inWords(found, after)}?`))) {
        print(false, found, 'nothing was changed')
        return 1
      }
      const gone = await discardRates(engine, after)
      log.info('rates discarded', { after, ...jsonOf(gone), ...who })
      log.flush()
      print(true, gone, `removed ${inWords(gone, after)}`)
      return 0
    })
  },
})

function inWords({ values, series, lastDay }: LaterRates, after: string): string {
  return `${values} values and the covered days of ${series} series after ${after}, up to ${lastDay}`
}

function jsonOf({ values, series, lastDay }: LaterRates) {
  return { values, series, last_day: lastDay ?? null }
}
