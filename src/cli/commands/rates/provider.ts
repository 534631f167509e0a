import { atomically } from '../../../store/engine.ts'
import { raiseRevision } from '../../../store/meta.ts'
import { selectProviders, updateProviderEnabled } from '../../../store/rates/providers.ts'
import { takeInstant } from '../../../store/rates/record.ts'
import { command } from '../../command.ts'
import { STORAGE } from '../../options/storage.ts'
import { changeRow, listRows } from '../rows.ts'

export const providerList = command({
  name: 'provider list',
  options: [...STORAGE, 'json'],
  run: (input) =>
    listRows(input, selectProviders, {
      CODE: 'code',
      NAME: 'name',
      COUNTRY: 'country',
      STATE: (one) => (one.enabled ? 'enabled' : 'disabled'),
    }),
})

export const providerEnable = toggle('enable', true)
export const providerDisable = toggle('disable', false)

function toggle(verb: string, enabled: boolean) {
  return command({
    name: `provider ${verb}`,
    positionals: ['CODE'],
    options: [...STORAGE, 'json'],
    changesData: true,
    run: (input) =>
      changeRow(
        input,
        { noun: 'provider', parse: (word = '') => word },
        (db, code, { clock }) =>
          atomically(db, async (trx) => {
            const at = await takeInstant(trx, clock())
            if (!(await updateProviderEnabled(trx, code, enabled, at.getTime()))) return undefined
            await raiseRevision(trx, at)
            return { code, enabled }
          }),
        ({ code }) => `provider ${code} is ${verb}d`,
      ),
  })
}
