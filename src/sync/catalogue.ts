// Inserts the built-in catalogue into the database.

import type { Provider } from '../providers/provider.ts'
import { atomically } from '../store/engine.ts'
import { raiseRevision } from '../store/meta.ts'
import { upsertProvider } from '../store/rates/providers.ts'
import { takeInstant } from '../store/rates/record.ts'
import { insertSeries, selectProviderSeries } from '../store/rates/series.ts'
import type { WriteDb } from '../store/tables.ts'
import type { Clock } from '../values/dates.ts'
import { catalogueEntry } from './state.ts'

/**
 * Inserts missing providers and series under the next free ids. Ids follow the order of the catalogue, so that order
 * never changes (decisions 2.2). A sync inserts the series whose codes come from an answer.
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
    let isChanged = false
    for (const provider of providers) {
      const row = await upsertProvider(trx, provider, at)
      isChanged ||= row.changed
      const rows = await selectProviderSeries(trx, row.id)
      const entries = new Set(rows.map((one) => catalogueEntry(provider, one)))
      for (const entry of provider.catalogue) {
        const { externalCode } = entry
        if (entries.has(entry) || externalCode === undefined) continue
        await insertSeries(trx, row.id, { ...entry, externalCode }, await at())
        isChanged = true
      }
    }
    if (isChanged) await raiseRevision(trx, new Date(await at()))
  })
}
