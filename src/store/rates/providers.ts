import type { ReadDb, Row, WithBoolean, WriteDb } from '../tables.ts'
import { insertCatalogueChange, updateEnabled } from './change-log.ts'

// The API answers whole rows, so that no other column may be in them.
const COLUMNS = ['id', 'code', 'name', 'country', 'website', 'enabled'] as const

export type ProviderRow = WithBoolean<Pick<Row<'providers'>, (typeof COLUMNS)[number]>, 'enabled'>

export async function selectProviders(db: ReadDb): Promise<ProviderRow[]> {
  const rows = await db.selectFrom('providers').select(COLUMNS).orderBy('id').execute()
  return rows.map((row) => ({ ...row, enabled: row.enabled === 1 }))
}

/**
 * Inserts the provider under its id, or updates its name, country and website. `at` returns the instant of an insertion,
 * in milliseconds since 1970. Returns the id of its row, and whether that changed.
 */
export async function upsertProvider(
  db: WriteDb,
  provider: { id: number; code: string; name: string; country: string; website: string },
  at: () => Promise<number>,
): Promise<{ id: number; changed: boolean }> {
  const { code, name, country, website } = provider
  const row = await db.selectFrom('providers').selectAll().where('code', '=', code).executeTakeFirst()
  if (!row) {
    const { id } = provider
    await db.insertInto('providers').values({ id, code, name, country, website }).execute()
    const added = { changed_at: await at(), kind: 'added', provider_id: id, series_id: null } as const
    await insertCatalogueChange(db, added)
    return { id, changed: true }
  }
  const isChanged = row.name !== name || row.country !== country || row.website !== website
  if (isChanged) {
    await db.updateTable('providers').set({ name, country, website }).where('id', '=', row.id).execute()
  }
  return { id: row.id, changed: isChanged }
}

/** Enables or disables a provider. Returns whether it exists. */
export function updateProviderEnabled(
  db: WriteDb,
  code: string,
  enabled: boolean,
  at: number,
): Promise<boolean> {
  return updateEnabled(db, 'providers', { code }, { enabled, at })
}
