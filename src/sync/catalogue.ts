// Inserts the built-in catalogue into the database.

import type { Provider } from '../providers/provider.ts'
import { atomically } from '../store/engine.ts'
import { raiseRevision } from '../store/meta.ts'
import { takeInstant } from '../store/rates/change-log.ts'
import { selectProviders, updateProviderEnabled, upsertProvider } from '../store/rates/providers.ts'
import { insertSeries, selectProviderSeries } from '../store/rates/series.ts'
import type { WriteDb } from '../store/tables.ts'
import type { Clock } from '../values/dates.ts'
import { catalogueEntry } from './state.ts'

/**
 * Inserts missing providers, and missing series under the next free ids. Ids follow the order of the catalogue, so that
 * order never changes (decisions#series). A sync inserts the series whose codes come from an answer. An optional
 * provider is inserted by `enableProvider` alone; later series of one that is stored are inserted here.
 */
export async function ensureCatalogue(
  db: WriteDb,
  providers: readonly Provider[],
  clock: Clock,
): Promise<void> {
  await atomically(db, async (trx) => {
    let instant: Promise<Date> | undefined
    // Only a change waits for the transactions of others: most starts change nothing.
    const at = async () => {
      instant ??= takeInstant(trx, clock())
      return (await instant).getTime()
    }
    const storedCodes = new Set((await selectProviders(trx)).map(({ code }) => code))
    let isChanged = false
    for (const provider of providers) {
      if (provider.isOptional && !storedCodes.has(provider.code)) continue
      isChanged = (await writeCatalogue(trx, provider, at)) || isChanged
    }
    if (isChanged) await raiseRevision(trx, new Date(await at()))
  })
}

/** Enables an optional provider. The first time this inserts its row and its series, after all that are stored. */
export async function enableProvider(db: WriteDb, provider: Provider, clock: Clock): Promise<void> {
  await atomically(db, async (trx) => {
    const instant = await takeInstant(trx, clock())
    await writeCatalogue(trx, provider, async () => instant.getTime())
    await updateProviderEnabled(trx, provider.code, true, instant.getTime())
    await raiseRevision(trx, instant)
  })
}

/** Writes the row of a provider and its missing series. Returns true when something changed. */
async function writeCatalogue(trx: WriteDb, provider: Provider, at: () => Promise<number>): Promise<boolean> {
  const row = await upsertProvider(trx, provider, at)
  let isChanged = row.changed
  const rows = await selectProviderSeries(trx, row.id)
  const entries = new Set(rows.map((one) => catalogueEntry(provider, one)))
  for (const entry of provider.catalogue) {
    const { externalCode } = entry
    if (entries.has(entry) || externalCode === undefined) continue
    await insertSeries(trx, row.id, { ...entry, externalCode }, await at())
    isChanged = true
  }
  return isChanged
}
