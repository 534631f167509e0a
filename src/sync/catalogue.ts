// Brings the catalogue that the program is built with into the database.

import type { Clock } from '../dates.ts'
import type { Provider } from '../providers/provider.ts'
import { atomically } from '../store/engine.ts'
import { raiseRevision } from '../store/meta.ts'
import { upsertProvider } from '../store/rates/providers.ts'
import { insertSeries, selectSeriesOf } from '../store/rates/series.ts'
import type { Db } from '../store/tables.ts'
import { catalogueEntry } from './state.ts'

/**
 * Makes the providers and series that are missing, each under the next free id: in the order of the catalogue, which
 * therefore never changes (decisions 2.2). A series whose code must be learned is made by a sync.
 */
export async function ensureCatalogue(db: Db, providers: readonly Provider[], clock: Clock): Promise<void> {
  const at = clock().getTime()
  await atomically(db, async (trx) => {
    let changed = false
    for (const provider of providers) {
      const row = await upsertProvider(trx, provider, at)
      changed ||= row.changed
      const stored = await selectSeriesOf(trx, row.id)
      const made = new Set(stored.map((one) => catalogueEntry(provider, one)))
      for (const entry of provider.catalogue) {
        const { externalCode } = entry
        if (made.has(entry) || externalCode === undefined) continue
        await insertSeries(trx, row.id, { ...entry, externalCode }, at)
        changed = true
      }
    }
    if (changed) await raiseRevision(trx)
  })
}
