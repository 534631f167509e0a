import { AppError } from '../../../errors.ts'
import { atomically } from '../../../store/engine.ts'
import { raiseRevision } from '../../../store/meta.ts'
import { selectSeries, updateSeriesEnabled } from '../../../store/rates/series.ts'
import { command, printResult, table } from '../../command.ts'
import { PLACE } from '../../place/options.ts'
import { parseId } from '../positionals.ts'

export const seriesList = command({
  name: 'series list',
  positionals: [],
  summary: 'list the series: pair, side, code at the bank, first day stored',
  options: [...PLACE, 'json'],
  changesData: false,
  example: 'cambista series list',
  run({ options, terminal, withDatabase }) {
    return withDatabase({ mustExist: true }, async (db) => {
      const series = (await selectSeries(db)).map(({ revision: _, ...shown }) => shown)
      const rows = series.map((one) => [
        String(one.id),
        `${one.base_currency}/${one.quote_currency}`,
        one.rate_type,
        one.external_code,
        one.first_data_date ?? '-',
        one.enabled ? 'enabled' : 'disabled',
        one.name,
      ])
      const head = ['ID', 'PAIR', 'SIDE', 'CODE', 'SINCE', 'STATE', 'NAME']
      printResult(terminal, options, series, table([head, ...rows]))
      return 0
    })
  },
})

export const seriesEnable = toggle('enable', 'sync this series again; the days it missed are fetched', true)
export const seriesDisable = toggle(
  'disable',
  'stop syncing this series; what is stored is still served',
  false,
)

function toggle<const Verb extends string>(verb: Verb, summary: string, enabled: boolean) {
  return command({
    name: `series ${verb}` as const,
    positionals: ['ID'],
    summary,
    options: [...PLACE, 'json'],
    changesData: true,
    example: `cambista series ${verb} 12`,
    run({ options, positionals, terminal, withDatabase }) {
      const id = parseId(positionals[0])
      return withDatabase({ mustExist: true }, async (db, { clock }) => {
        const known = await atomically(db, async (trx) => {
          const found = await updateSeriesEnabled(trx, id, enabled, clock().getTime())
          if (found) await raiseRevision(trx)
          return found
        })
        if (!known)
          throw new AppError('not-found', `there is no series ${id}`, { advice: { about: 'series' } })
        printResult(terminal, options, { id, enabled }, [`series ${id} is ${verb}d`])
        return 0
      })
    },
  })
}
