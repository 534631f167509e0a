import { AppError } from '../../../errors.ts'
import { DEFAULT_PROVIDER } from '../../../providers/list.ts'
import { atomically } from '../../../store/engine.ts'
import { raiseRevision } from '../../../store/meta.ts'
import { selectProviders, updateProviderEnabled } from '../../../store/rates/providers.ts'
import { command, printResult, table } from '../../command.ts'
import { PLACE } from '../../place/options.ts'

export const providerList = command({
  name: 'provider list',
  positionals: [],
  summary: 'list the sources of rates',
  options: [...PLACE, 'json'],
  changesData: false,
  example: 'cambista provider list',
  run({ options, terminal, withDatabase }) {
    return withDatabase({ mustExist: true }, async (db) => {
      const providers = await selectProviders(db)
      const rows = providers.map((one) => [
        one.code,
        one.name,
        one.country,
        one.enabled ? 'enabled' : 'disabled',
      ])
      printResult(terminal, options, providers, table([['CODE', 'NAME', 'COUNTRY', 'STATE'], ...rows]))
      return 0
    })
  },
})

export const providerEnable = toggle('enable', 'sync this provider again', true)
export const providerDisable = toggle(
  'disable',
  'stop syncing this provider; what is stored is still served',
  false,
)

function toggle<const Verb extends string>(verb: Verb, summary: string, enabled: boolean) {
  return command({
    name: `provider ${verb}` as const,
    positionals: ['CODE'],
    summary,
    options: [...PLACE, 'json'],
    changesData: true,
    example: `cambista provider ${verb} ${DEFAULT_PROVIDER.code}`,
    run({ options, positionals: [code = ''], terminal, withDatabase }) {
      return withDatabase({ mustExist: true }, async (db, { clock }) => {
        const known = await atomically(db, async (trx) => {
          const found = await updateProviderEnabled(trx, code, enabled, clock().getTime())
          if (found) await raiseRevision(trx)
          return found
        })
        if (!known)
          throw new AppError('not-found', `there is no provider ${code}`, { advice: { about: 'providers' } })
        printResult(terminal, options, { code, enabled }, [`provider ${code} is ${verb}d`])
        return 0
      })
    },
  })
}
