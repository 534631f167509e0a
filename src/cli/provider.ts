import { AppError } from '../errors.ts'
import { raiseRevision } from '../store/meta.ts'
import { selectProviders, updateProviderEnabled } from '../store/providers.ts'
import { type Command, printResult, table } from './command.ts'
import { withDatabase } from './data-dir.ts'

export const providerList: Command = {
  name: 'provider list',
  takes: [],
  summary: 'list the sources of rates',
  options: ['data-dir', 'json'],
  example: 'cambista provider list',
  run({ values, terminal }) {
    return withDatabase(values, { mustExist: true }, async (db) => {
      const providers = await selectProviders(db)
      const rows = providers.map((one) => [
        one.code,
        one.name,
        one.country,
        one.enabled ? 'enabled' : 'disabled',
      ])
      printResult(terminal, values, providers, table([['CODE', 'NAME', 'COUNTRY', 'STATE'], ...rows]))
      return 0
    })
  },
}

export const providerEnable = toggle('enable', 'sync this provider again', true)
export const providerDisable = toggle(
  'disable',
  'stop syncing this provider; what is stored is still served',
  false,
)

function toggle(verb: string, summary: string, enabled: boolean): Command {
  return {
    name: `provider ${verb}`,
    takes: ['CODE'],
    summary,
    options: ['data-dir', 'json'],
    example: `cambista provider ${verb} bccr`,
    run({ values, words: [code = ''], terminal }) {
      return withDatabase(values, { mustExist: true }, async (db) => {
        const known = await db.transaction().execute(async (trx) => {
          const found = await updateProviderEnabled(trx, code, enabled)
          if (found) await raiseRevision(trx)
          return found
        })
        if (!known)
          throw new AppError('not-found', `there is no provider ${code}: see cambista provider list`)
        printResult(terminal, values, { code, enabled }, [`provider ${code} is ${verb}d`])
        return 0
      })
    },
  }
}
