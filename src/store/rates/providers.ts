import type { Db, Row, WithBoolean } from '../tables.ts'
import { insertCatalogueChange } from './record.ts'

export type ProviderRow = WithBoolean<Row<'providers'>, 'enabled'>

export async function selectProviders(db: Db): Promise<ProviderRow[]> {
  const rows = await db.selectFrom('providers').selectAll().orderBy('id').execute()
  return rows.map((row) => ({ ...row, enabled: row.enabled === 1 }))
}

/**
 * Makes the provider, as of the instant `at` (milliseconds since 1970), or brings its name and website up to date. Returns
 * its id, and whether a row changed.
 */
export async function upsertProvider(
  db: Db,
  provider: { code: string; name: string; country: string; website: string },
  at: number,
): Promise<{ id: number; changed: boolean }> {
  const { code, name, country, website } = provider
  const known = await db.selectFrom('providers').selectAll().where('code', '=', code).executeTakeFirst()
  if (!known) {
    const values = { code, name, country, website }
    const row = await db.insertInto('providers').values(values).returning('id').executeTakeFirstOrThrow()
    const added = { changed_at: at, kind: 'added', provider_id: row.id, series_id: null } as const
    await insertCatalogueChange(db, added)
    return { id: row.id, changed: true }
  }
  const changed = known.name !== name || known.country !== country || known.website !== website
  if (changed) {
    await db.updateTable('providers').set({ name, country, website }).where('id', '=', known.id).execute()
  }
  return { id: known.id, changed }
}

/** Returns whether there is such a provider. */
export async function updateProviderEnabled(
  db: Db,
  code: string,
  enabled: boolean,
  at: number,
): Promise<boolean> {
  const known = await db.selectFrom('providers').selectAll().where('code', '=', code).executeTakeFirst()
  if (!known || (known.enabled === 1) === enabled) return known !== undefined
  await db
    .updateTable('providers')
    .set({ enabled: enabled ? 1 : 0 })
    .where('id', '=', known.id)
    .execute()
  const kind = enabled ? 'enabled' : 'disabled'
  await insertCatalogueChange(db, { changed_at: at, kind, provider_id: known.id, series_id: null })
  return true
}
