// Removes stored rates of future days. A log line on stderr names the user.

import { AppError } from '../../../runtime/errors.ts'
import { countLaterRates, discardRates, type LaterRates } from '../../../sync/discard.ts'
import { lastTomorrow } from '../../../values/dates.ts'
import { command, printResult } from '../../command.ts'
import { canConfirm, isConfirmed } from '../../confirm.ts'
import { day } from '../../options/formats.ts'
import { option } from '../../options/names.ts'
import { STORAGE } from '../../options/storage.ts'
import { terminalLog } from '../../terminal-log.ts'
import { currentUser } from '../actor.ts'

export const ratesDiscard = command({
  name: 'rates discard',
  options: ['after', 'yes', ...STORAGE, 'log-format', 'json'],
  overrides: { after: option('DATE', day) },
  required: ['after'],
  changesData: true,
  async run({ options, terminal, withDatabase }) {
    const { after } = options
    const zones = terminal.providers.flatMap(({ timeZone, isOptional }) => (isOptional ? [] : timeZone))
    const tomorrow = lastTomorrow(() => new Date(), zones)
    if (after < tomorrow)
      throw new AppError(
        'usage',
        `--after must be tomorrow, ${tomorrow}, or a later day: rates of earlier days cannot be removed`,
      )
    if (!options.yes && !canConfirm(terminal))
      throw new AppError(
        'usage',
        'there is no terminal to confirm at: give --yes to remove them without confirmation',
      )
    const log = terminalLog(terminal, { level: 'info', format: options['log-format'] })
    const user = currentUser(terminal.env)
    return withDatabase({ mustExist: true }, async (db, engine) => {
      const print = (isDone: boolean, rates: LaterRates, line: string) =>
        printResult(terminal, options, { after, ...countFields(rates), discarded: isDone }, [line])
      const later = await countLaterRates(db, after)
      if (later.series === 0) {
        print(false, later, `no rates are stored after ${after}`)
        return 0
      }
      if (!options.yes && !(await isConfirmed(terminal, `Remove ${describeRates(later, after)}?`))) {
        print(false, later, 'nothing was changed')
        return 1
      }
      const discardedRates = await discardRates(engine, after)
      log.info('rates discarded', { after, ...countFields(discardedRates), ...user })
      log.flush()
      print(true, discardedRates, `removed ${describeRates(discardedRates, after)}`)
      return 0
    })
  },
})

function describeRates({ values, series, lastDay }: LaterRates, after: string): string {
  return `${values} values and the covered days of ${series} series after ${after}, up to ${lastDay}`
}

function countFields({ values, series, lastDay }: LaterRates) {
  return { values, series, last_day: lastDay ?? null }
}
