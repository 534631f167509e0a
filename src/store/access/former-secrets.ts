// Secrets of keys and tokens from before a rotation, as long as they still open what the key or token opens.

import { portionsOf } from '../portions.ts'
import type { Db, Row } from '../tables.ts'

/** Whose secret it was. */
export type SecretOwner = { key_id: number } | { token_id: number }

/** As people see it: without the hash. */
export type FormerSecret = Pick<Row<'former_secrets'>, 'ends_at' | 'last_used_at'>

export async function insertFormerSecret(
  db: Db,
  secret: SecretOwner & FormerSecret & { hash: string },
): Promise<void> {
  await db.insertInto('former_secrets').values(secret).execute()
}

/** Those that have not ended, of each key and of each token, by its id; the one that ends first comes first. */
export async function selectFormerSecrets(
  db: Db,
  now: string,
): Promise<{ keys: Map<number, FormerSecret[]>; tokens: Map<number, FormerSecret[]> }> {
  const rows = await db
    .selectFrom('former_secrets')
    .select(['key_id', 'token_id', 'ends_at', 'last_used_at'])
    .where('ends_at', '>', now)
    .orderBy('ends_at')
    .execute()
  const found = { keys: new Map<number, FormerSecret[]>(), tokens: new Map<number, FormerSecret[]>() }
  for (const { key_id, token_id, ...secret } of rows) {
    const of = key_id === null ? found.tokens : found.keys
    of.getOrInsertComputed(key_id ?? token_id ?? 0, () => []).push(secret)
  }
  return found
}

/** Whether one has ended, and whether its key or token is revoked, is for the caller to see. */
export function selectFormerHashes(db: Db): Promise<Omit<Row<'former_secrets'>, 'last_used_at'>[]> {
  return db.selectFrom('former_secrets').select(['key_id', 'token_id', 'hash', 'ends_at']).execute()
}

/** Lets former secrets end earlier than they would; what ends before stays as it is. */
export async function endFormerSecrets(db: Db, owner: SecretOwner, endsAt: string): Promise<void> {
  const later = db.updateTable('former_secrets').set({ ends_at: endsAt }).where('ends_at', '>', endsAt)
  await ('key_id' in owner
    ? later.where('key_id', '=', owner.key_id)
    : later.where('token_id', '=', owner.token_id)
  ).execute()
}

/** Removes what has ended. */
export async function deleteEndedSecrets(db: Db, now: string): Promise<void> {
  await db.deleteFrom('former_secrets').where('ends_at', '<=', now).execute()
}

export async function updateFormerSecretsUsed(
  db: Db,
  hashes: readonly string[],
  usedAt: string,
): Promise<void> {
  for (const some of portionsOf([...hashes].sort(), 1000)) {
    await db.updateTable('former_secrets').set({ last_used_at: usedAt }).where('hash', 'in', some).execute()
  }
}
