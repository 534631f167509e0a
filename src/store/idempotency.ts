// Answers of uploads that named an Idempotency-Key (decisions 3.11).

import type { Db, Row } from './tables.ts'

export type KeptAnswer = Pick<Row<'idempotency'>, 'fingerprint' | 'answer'>

/** The answer that was given to this token's request of this key, if it is not older than `since`. */
export function findAnswer(
  db: Db,
  tokenId: number,
  key: string,
  since: string,
): Promise<KeptAnswer | undefined> {
  return db
    .selectFrom('idempotency')
    .select(['fingerprint', 'answer'])
    .where('token_id', '=', tokenId)
    .where('key', '=', key)
    .where('created_at', '>=', since)
    .executeTakeFirst()
}

/** Keeps an answer, in place of one that was too old to count. */
export async function insertAnswer(
  db: Db,
  kept: KeptAnswer & { tokenId: number; key: string; createdAt: string },
): Promise<void> {
  const { fingerprint, answer } = kept
  const row = { fingerprint, answer, created_at: kept.createdAt }
  await db
    .insertInto('idempotency')
    .values({ token_id: kept.tokenId, key: kept.key, ...row })
    .onConflict((on) => on.columns(['token_id', 'key']).doUpdateSet(row))
    .execute()
}

export async function deleteAnswersBefore(db: Db, day: string): Promise<void> {
  await db.deleteFrom('idempotency').where('created_at', '<', day).execute()
}
