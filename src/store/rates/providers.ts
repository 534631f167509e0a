import type { Provider } from '../../providers/provider.ts'
import type { ReadDb, Row, WithBoolean, WriteDb } from '../tables.ts'
import { insertCatalogueChange, updateEnabled } from './change-log.ts'

// The API answers whole rows, so that no other column may be in them.
const COLUMNS = ['id', 'code', 'name', 'country', 'website', 'enabled'] as const

/** Public facts of a source with invented values, which name no institution (decisions#invented). */
export const INVENTED = {
  ...{ name: 'Valores inventados', website: null, attribution: 'Fuente: Valores inventados' },
  terms: undefined,
}

/** `invented`: its values are those of a demo, and no institution's. */
export type ProviderRow = WithBoolean<Pick<Row<'providers'>, (typeof COLUMNS)[number]>, 'enabled'> & {
  invented?: true
}

export async function selectProviders(db: ReadDb): Promise<ProviderRow[]> {
  const rows = await db
    .selectFrom('providers')
    .select([...COLUMNS, 'invented'])
    .orderBy('id')
    .execute()
  return rows.map(({ invented, ...row }) => ({
    ...{ ...row, enabled: row.enabled === 1 },
    ...(invented === 1 && { invented: true }),
  }))
}

/** Returns true for a store with invented values. */
export function hasInvented(rows: readonly Pick<ProviderRow, 'invented'>[]): boolean {
  return rows.some(({ invented }) => invented)
}

/** Returns the row of a provider that may sync. Values of a source never join invented ones. */
export function findSyncedRow(
  rows: readonly ProviderRow[],
  { code, isInvented }: Pick<Provider, 'code' | 'isInvented'>,
): ProviderRow | undefined {
  return rows.find((row) => row.code === code && row.invented === isInvented)
}

/**
 * Inserts the provider under its id, or updates its name, country and website. A row with invented values names no
 * institution. `at` returns the instant of an insertion, in milliseconds since 1970. Returns the id of its row, and
 * whether that changed.
 */
export async function upsertProvider(
  db: WriteDb,
  provider: Pick<Provider, 'id' | 'code' | 'name' | 'country' | 'website' | 'isInvented'>,
  at: () => Promise<number>,
): Promise<{ id: number; changed: boolean }> {
  const { code } = provider
  const row = await db.selectFrom('providers').selectAll().where('code', '=', code).executeTakeFirst()
  const invented = row?.invented ?? Number(provider.isInvented ?? false)
  const { name, country, website } = invented === 1 ? { ...provider, ...INVENTED } : provider
  if (!row) {
    const { id } = provider
    await db.insertInto('providers').values({ id, code, name, country, website, invented }).execute()
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

/** Marks the values of a stored provider as invented, or as those of its source, and names it so. */
export async function updateInvented(db: WriteDb, provider: Provider, isInvented: boolean): Promise<void> {
  const { id } = provider
  await db
    .updateTable('providers')
    .set({ invented: Number(isInvented) })
    .where('id', '=', id)
    .execute()
  await upsertProvider(db, provider, async () => 0)
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
