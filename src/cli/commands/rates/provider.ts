import { sourceTerms } from '../../../domain/rates/active-providers.ts'
import type { Provider } from '../../../providers/provider.ts'
import { atomically, type Engine } from '../../../store/engine.ts'
import { raiseRevision } from '../../../store/meta.ts'
import { takeInstant } from '../../../store/rates/change-log.ts'
import { type ProviderRow, selectProviders, updateProviderEnabled } from '../../../store/rates/providers.ts'
import { selectSeries } from '../../../store/rates/series.ts'
import type { ReadDb, WriteDb } from '../../../store/tables.ts'
import { enableProvider } from '../../../sync/catalogue.ts'
import { command } from '../../command.ts'
import { STORAGE } from '../../options/storage.ts'
import { listRows, rowCommand } from '../rows.ts'

/** Row of the list. `off`: an optional provider that was never enabled, without a row in the database. */
type ListedProvider = ProviderRow & { attribution?: string | undefined; terms: string | null; off?: true }

export const providerList = command({
  name: 'provider list',
  options: [...STORAGE, 'json'],
  run: (input) =>
    listRows(input, (db) => listProviderRows(db, input.terminal.providers), {
      CODE: 'code',
      NAME: 'name',
      COUNTRY: 'country',
      STATE: ({ off, enabled }) => (off ? 'off' : enabled ? 'enabled' : 'disabled'),
      ATTRIBUTION: ({ attribution = '' }) => attribution,
      TERMS: 'terms',
    }),
})

export const providerEnable = toggle('enable', true)
export const providerDisable = toggle('disable', false)

function toggle(verb: 'enable' | 'disable', enabled: boolean) {
  return rowCommand({
    name: `provider ${verb}`,
    positionals: ['CODE'],
    parse: (word = '') => word,
    async change(db, code, engine, { providers, err }) {
      const optional = providers.find((one) => one.code === code && one.isOptional)
      if (optional && enabled) await enable(db, optional, engine, err)
      else if (!(await update(db, code, enabled, engine))) {
        return optional && { code, enabled, off: true as const }
      }
      return { code, enabled }
    },
    line: ({ code, off }) =>
      off ? `provider ${code} was never enabled: nothing was changed` : `provider ${code} is ${verb}d`,
  })
}

/** Lists the stored providers and the optional ones that are off, by id. */
async function listProviderRows(db: ReadDb, providers: readonly Provider[]): Promise<ListedProvider[]> {
  const rows = await selectProviders(db)
  const off = providers.filter(({ code, isOptional }) => isOptional && rows.every((row) => row.code !== code))
  return [
    ...rows,
    ...off.map(({ id, code, name, country, website }) => ({
      ...{ id, code, name, country, website },
      ...{ enabled: false, off: true as const },
    })),
  ]
    .toSorted((a, b) => a.id - b.id)
    .map((row) => ({ ...row, ...sourceTerms(row, providers) }))
}

/**
 * Enables an optional provider. Before its first series `print` gets a warning about requests without `provider`, and
 * the flag of its token.
 */
async function enable(
  db: WriteDb,
  provider: Provider,
  { clock }: Pick<Engine, 'clock'>,
  print: (text: string) => void,
): Promise<void> {
  const { code, catalogue, settings } = provider
  const rows = await selectProviders(db)
  if (rows.every((row) => row.code !== code)) {
    const seriesCount = (await selectSeries(db)).length
    print(
      `${code} adds ${catalogue.length} series to the ${seriesCount} of this database: /api/v1/rates and /api/v1/series ` +
        'without provider= list them too\n',
    )
    const token = settings.token?.option
    if (token) print(`${code} requires a token, in the file of --${token} (cambista manual sources)\n`)
  }
  await enableProvider(db, provider, clock)
}

/** Changes a stored provider. Returns false if it has no row. */
function update(
  db: WriteDb,
  code: string,
  enabled: boolean,
  { clock }: Pick<Engine, 'clock'>,
): Promise<boolean> {
  return atomically(db, async (trx) => {
    const at = await takeInstant(trx, clock())
    if (!(await updateProviderEnabled(trx, code, enabled, at.getTime()))) return false
    await raiseRevision(trx, at)
    return true
  })
}
