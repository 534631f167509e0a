// Former secrets of keys and tokens, which stay valid for a while after a rotation.

import type { ReadDb, Row, WriteDb } from '../tables.ts'

/** Key or token of a former secret. */
export type SecretOwner = { key_id: number } | { token_id: number }

/** A former secret for display, without its hash. */
export type FormerSecret = Pick<Row<'former_secrets'>, 'ends_at' | 'last_used_at'>

export async function insertFormerSecret(
  db: WriteDb,
  secret: SecretOwner & FormerSecret & { hash: string },
): Promise<void> {
  await db.insertInto('former_secrets').values(secret).execute()
}

/** Selects the valid former secrets of each key and of each token, by its id. The first one to end comes first. */
export async function selectFormerSecrets(
  db: ReadDb,
  now: string,
): Promise<{ keys: Map<number, FormerSecret[]>; tokens: Map<number, FormerSecret[]> }> {
  const rows = await db
    .selectFrom('former_secrets')
    .select(['key_id', 'token_id', 'ends_at', 'last_used_at'])
    .where('ends_at', '>', now)
    .orderBy('ends_at')
    .execute()
  const secrets = { keys: new Map<number, FormerSecret[]>(), tokens: new Map<number, FormerSecret[]>() }
  for (const { key_id, token_id, ...secret } of rows) {
    const of = key_id === null ? secrets.tokens : secrets.keys
    of.getOrInsertComputed(key_id ?? token_id ?? 0, () => []).push(secret)
  }
  return secrets
}

/** Selects all former hashes. The caller checks whether they have ended or their key or token is revoked. */
export function selectFormerHashes(db: ReadDb): Promise<Omit<Row<'former_secrets'>, 'last_used_at'>[]> {
  return db.selectFrom('former_secrets').select(['key_id', 'token_id', 'hash', 'ends_at']).execute()
}

/** Lets former secrets end at `endsAt`, unless they end before it. */
export async function endFormerSecrets(db: WriteDb, owner: SecretOwner, endsAt: string): Promise<void> {
  const later = db.updateTable('former_secrets').set({ ends_at: endsAt }).where('ends_at', '>', endsAt)
  await ('key_id' in owner
    ? later.where('key_id', '=', owner.key_id)
    : later.where('token_id', '=', owner.token_id)
  ).execute()
}

/** Deletes former secrets that have ended. */
export async function deleteEndedSecrets(db: WriteDb, now: string): Promise<void> {
  await db.deleteFrom('former_secrets').where('ends_at', '<=', now).execute()
}
