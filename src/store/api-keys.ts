// Keys of the rates API. `expires_at` is the last day, in Costa Rica, on which a key is valid.

import type { IsoDate } from '../dates.ts'
import { dialectOf } from './engine.ts'
import { portionsOf } from './portions.ts'
import type { Db, Row } from './tables.ts'

const PUBLIC = [
  ...(['id', 'name', 'expires_at', 'created_at', 'last_used_at', 'revoked_at'] as const),
  ...(['kind', 'side', 'network'] as const),
] as const
const CHECKED = ['id', 'name', 'hash', 'expires_at', 'kind', 'side', 'network'] as const

export type ActiveApiKey = Pick<Row<'api_keys'>, (typeof CHECKED)[number]>

export type ApiKeyRow = Pick<Row<'api_keys'>, (typeof PUBLIC)[number]>

export function selectApiKeys(db: Db): Promise<ApiKeyRow[]> {
  return db.selectFrom('api_keys').select(PUBLIC).orderBy('id').execute()
}

/** Hashes of keys that are not revoked; whether one has expired is for the caller to see. */
export function selectActiveApiKeyHashes(db: Db): Promise<ActiveApiKey[]> {
  return db.selectFrom('api_keys').select(CHECKED).where('revoked_at', 'is', null).execute()
}

export function findApiKey(db: Db, id: number): Promise<ApiKeyRow | undefined> {
  return db.selectFrom('api_keys').select(PUBLIC).where('id', '=', id).executeTakeFirst()
}

export function findActiveApiKeyByName(db: Db, name: string): Promise<ApiKeyRow | undefined> {
  return db
    .selectFrom('api_keys')
    .select(PUBLIC)
    .where('name', '=', name)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
}

/** The active key of this name, else the newest that is revoked. */
export function findApiKeyByName(db: Db, name: string): Promise<ApiKeyRow | undefined> {
  return db
    .selectFrom('api_keys')
    .select(PUBLIC)
    .where('name', '=', name)
    .orderBy('revoked_at', (order) => order.desc().nullsFirst())
    .executeTakeFirst()
}

/** Whether a key has this hash, revoked or not. */
export async function hasApiKeyHash(db: Db, hash: string): Promise<boolean> {
  const row = await db.selectFrom('api_keys').select('id').where('hash', '=', hash).executeTakeFirst()
  return row !== undefined
}

export async function insertApiKey(
  db: Db,
  key: {
    name: string
    hash: string
    createdAt: string
    expiresAt?: IsoDate | undefined
    kind?: ActiveApiKey['kind']
    side?: ActiveApiKey['side'] | undefined
    network?: string | undefined
  },
): Promise<number> {
  const row = await db
    .insertInto('api_keys')
    .values({
      name: key.name,
      hash: key.hash,
      created_at: key.createdAt,
      expires_at: key.expiresAt ?? null,
      kind: key.kind ?? 'header',
      side: key.side ?? 'venta',
      network: key.network ?? null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

/** Gives a key another hash and last day; returns the hash of before, and when that was last used. */
export async function replaceApiKeyHash(
  db: Db,
  id: number,
  next: { hash: string; expiresAt: IsoDate | null },
): Promise<Pick<Row<'api_keys'>, 'hash' | 'last_used_at'>> {
  const current = db.selectFrom('api_keys').select(['hash', 'last_used_at']).where('id', '=', id)
  const before = await dialectOf(db).locking(current, 'update', ['api_keys']).executeTakeFirstOrThrow()
  await db
    .updateTable('api_keys')
    .set({ hash: next.hash, expires_at: next.expiresAt, last_used_at: null })
    .where('id', '=', id)
    .execute()
  return before
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

/** By hash: what was used before a rotation is not the secret of after it. */
export async function updateApiKeysUsed(db: Db, hashes: readonly string[], usedAt: string): Promise<void> {
  for (const some of portionsOf([...hashes].sort(), 1000)) {
    await db.updateTable('api_keys').set({ last_used_at: usedAt }).where('hash', 'in', some).execute()
  }
}
