import type { Db } from './tables.ts'

export type ApiKeyRow = {
  id: number
  name: string
  created_at: string
  last_used_at: string | null
  revoked_at: string | null
}

const PUBLIC = ['id', 'name', 'created_at', 'last_used_at', 'revoked_at'] as const

export function selectApiKeys(db: Db): Promise<ApiKeyRow[]> {
  return db.selectFrom('api_keys').select(PUBLIC).orderBy('id').execute()
}

export function selectActiveApiKeyHashes(db: Db): Promise<{ id: number; hash: string }[]> {
  return db.selectFrom('api_keys').select(['id', 'hash']).where('revoked_at', 'is', null).execute()
}

export function findActiveApiKeyByName(db: Db, name: string): Promise<ApiKeyRow | undefined> {
  return db
    .selectFrom('api_keys')
    .select(PUBLIC)
    .where('name', '=', name)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
}

export async function insertApiKey(
  db: Db,
  key: { name: string; hash: string; createdAt: string },
): Promise<number> {
  const row = await db
    .insertInto('api_keys')
    .values({ name: key.name, hash: key.hash, created_at: key.createdAt })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

/** Returns the key as it is now, or undefined when there is none of this id. Revoking twice keeps the first time. */
export function revokeApiKey(db: Db, id: number, revokedAt: string): Promise<ApiKeyRow | undefined> {
  return db
    .updateTable('api_keys')
    .set((of) => ({ revoked_at: of.fn.coalesce('revoked_at', of.val(revokedAt)) }))
    .where('id', '=', id)
    .returning(PUBLIC)
    .executeTakeFirst()
}

export async function updateApiKeysUsed(db: Db, ids: readonly number[], usedAt: string): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ last_used_at: usedAt })
    .where('id', 'in', [...ids])
    .execute()
}
