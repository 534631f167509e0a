// Which documents an upload that named an Idempotency-Key made (decisions 3.11): its client sends the names along again.

import type { Db } from './tables.ts'

/** Documents, in the order of their upload, whose ids rise by one, as do those of their attachments. */
export type Run = { id: number; attachmentId: number; count: number }

export type KeptAnswer = { fingerprint: string; runs: Run[] }

type CreatedDocuments = { created_documents: { id: number; attachment_id: number }[] }

/** What was answered to this token's request of this key, if that is not older than `since`. */
export async function findAnswer(
  db: Db,
  tokenId: number,
  key: string,
  since: string,
): Promise<KeptAnswer | undefined> {
  const row = await db
    .selectFrom('idempotency')
    .select(['fingerprint', 'answer'])
    .where('token_id', '=', tokenId)
    .where('key', '=', key)
    .where('created_at', '>=', since)
    .executeTakeFirst()
  return row && { fingerprint: row.fingerprint, runs: runsIn(row.answer) }
}

/** Keeps an answer, in place of one from before `since`. False: there is one that counts, of another request. */
export async function insertAnswer(
  db: Db,
  kept: KeptAnswer & { tokenId: number; key: string; createdAt: string },
  since: string,
): Promise<boolean> {
  const { fingerprint, runs } = kept
  const answer = JSON.stringify(runs.map(({ id, attachmentId, count }) => [id, attachmentId, count]))
  const row = { fingerprint, answer, created_at: kept.createdAt }
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('idempotency')
    .values({ token_id: kept.tokenId, key: kept.key, ...row })
    .onConflict((on) =>
      on.columns(['token_id', 'key']).doUpdateSet(row).where('idempotency.created_at', '<', since),
    )
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** Deletes about `limit` answers from before an instant, and returns how many; fewer than that: there are no more. */
export async function deleteAnswersBefore(db: Db, instant: string, limit: number): Promise<number> {
  const oldest = db.selectFrom('idempotency').select('created_at').where('created_at', '<', instant)
  const last = await oldest
    .orderBy('created_at')
    .offset(limit - 1)
    .limit(1)
    .executeTakeFirst()
  const { numDeletedRows } = await db
    .deleteFrom('idempotency')
    .where('created_at', '<', instant)
    .where('created_at', '<=', last?.created_at ?? instant)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Adds a document to those before it. */
export function addToRuns(runs: Run[], { id, attachment_id }: { id: number; attachment_id: number }): void {
  const last = runs.at(-1)
  const goesOn = last && id === last.id + last.count && attachment_id === last.attachmentId + last.count
  if (goesOn) last.count++
  else runs.push({ id, attachmentId: attachment_id, count: 1 })
}

/** Earlier versions kept the whole answer, in which each document is named. */
function runsIn(answer: string): Run[] {
  const kept: [number, number, number][] | CreatedDocuments = JSON.parse(answer)
  if (Array.isArray(kept)) return kept.map(([id, attachmentId, count]) => ({ id, attachmentId, count }))
  const runs: Run[] = []
  for (const document of kept.created_documents) addToRuns(runs, document)
  return runs
}
