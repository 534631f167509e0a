// Keys of the rates API. `expires_at` is the last day, in Costa Rica, on which a key is valid.

import type { IsoDate } from '../../values/dates.ts'
import { hasRow } from '../rows.ts'
import type { ReadDb, Row, WriteDb } from '../tables.ts'

const PUBLIC = [
  ...(['id', 'name', 'expires_at', 'created_at', 'last_used_at', 'revoked_at'] as const),
  ...(['kind', 'side', 'network', 'origins', 'provider'] as const),
] as const
const CHECKED = [
  ...(['id', 'name', 'hash', 'expires_at'] as const),
  ...(['kind', 'side', 'network', 'origins', 'provider'] as const),
] as const

export type ActiveApiKey = Pick<Row<'api_keys'>, (typeof CHECKED)[number]>

export type ApiKeyRow = Pick<Row<'api_keys'>, (typeof PUBLIC)[number]>

export function selectApiKeys(db: ReadDb): Promise<ApiKeyRow[]> {
  return selectKeys(db).orderBy('id').execute()
}

/** Selects the hashes of keys that are not revoked. The caller checks whether they have expired. */
export function selectActiveApiKeyHashes(db: ReadDb): Promise<ActiveApiKey[]> {
  return db.selectFrom('api_keys').select(CHECKED).where('revoked_at', 'is', null).execute()
}

export function findApiKey(db: ReadDb, id: number): Promise<ApiKeyRow | undefined> {
  return selectKeys(db).where('id', '=', id).executeTakeFirst()
}

export function findActiveApiKeyByName(db: ReadDb, name: string): Promise<ApiKeyRow | undefined> {
  return selectKeys(db).where('name', '=', name).where('revoked_at', 'is', null).executeTakeFirst()
}

/** The active key of this name, else the newest that is revoked. */
export function findApiKeyByName(db: ReadDb, name: string): Promise<ApiKeyRow | undefined> {
  return selectKeys(db)
    .where('name', '=', name)
    .orderBy('revoked_at', (order) => order.desc().nullsFirst())
    .executeTakeFirst()
}

/** Returns whether a key has this hash, revoked or not. */
export function hasApiKeyHash(db: ReadDb, hash: string): Promise<boolean> {
  return hasRow(selectKeys(db).where('hash', '=', hash))
}

export async function insertApiKey(
  db: WriteDb,
  key: {
    name: string
    hash: string
    createdAt: string
    expiresAt?: IsoDate | undefined
    kind?: ActiveApiKey['kind']
    side?: ActiveApiKey['side'] | undefined
    network?: string | undefined
    origins?: string | undefined
    provider?: string | undefined
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
      origins: key.origins ?? null,
      provider: key.provider ?? null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

/** Revokes a key and returns it; undefined without a key of this id. A second revocation does not change the time. */
export function revokeApiKey(db: WriteDb, id: number, revokedAt: string): Promise<ApiKeyRow | undefined> {
  return db
    .updateTable('api_keys')
    .set((of) => ({ revoked_at: of.fn.coalesce('revoked_at', of.val(revokedAt)) }))
    .where('id', '=', id)
    .returning(PUBLIC)
    .executeTakeFirst()
}

function selectKeys(db: ReadDb) {
  return db.selectFrom('api_keys').select(PUBLIC)
}
