// Documents that an upload with an Idempotency-Key created (decisions#idempotency). Their names are not stored: a retry
// sends them again.

import { engineSql } from '../engine.ts'
import type { ReadDb, WriteDb } from '../tables.ts'

/** Rows with consecutive ids. */
export type IdRun = { id: number; count: number }

/** Documents in the order of their upload. Their ids, and those of their attachments, are consecutive. */
export type IdRange = IdRun & { attachmentId: number }

export type StoredAnswer = { fingerprint: string; ranges: IdRange[] }

type CreatedDocuments = { created_documents: { id: number; attachment_id: number }[] }

/** Returns the stored answer to a token's request with this key, unless it is older than `since`. */
export async function findAnswer(
  db: ReadDb,
  tokenId: number,
  key: string,
  since: string,
): Promise<StoredAnswer | undefined> {
  const row = await buildQuery(db, tokenId, key, since).executeTakeFirst()
  return row && toAnswer(row)
}

/**
 * Like `findAnswer`, for an answer that is sent. Locks its row: the commit of a lock waits for the same synchronous
 * standby as the commit of the row. Until then the answer is not sent (decisions#idempotency).
 */
export async function lockAnswer(
  db: WriteDb,
  tokenId: number,
  key: string,
  since: string,
): Promise<StoredAnswer | undefined> {
  const query = buildQuery(db, tokenId, key, since)
  const row = await engineSql(db).lockRows(query, 'update', ['idempotency']).executeTakeFirst()
  return row && toAnswer(row)
}

/** An answer to store. `cutoff`: instant before which it replaces another one of its key. */
export type NewAnswer = StoredAnswer & { tokenId: number; key: string; createdAt: string; cutoff: string }

/** Stores answers of different keys. False: another request has a newer answer to one of them. */
export async function insertAnswers(db: WriteDb, answers: readonly NewAnswer[]): Promise<boolean> {
  const rows = answers.map(({ tokenId, key, fingerprint, ranges, createdAt }) => {
    const answer = JSON.stringify(ranges.map(({ id, attachmentId, count }) => [id, attachmentId, count]))
    return { token_id: tokenId, key, fingerprint, answer, created_at: createdAt }
  })
  const [cutoff = ''] = answers.map((answer) => answer.cutoff).sort()
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('idempotency')
    .values(rows)
    .onConflict((on) =>
      on
        .columns(['token_id', 'key'])
        .doUpdateSet((of) => ({
          fingerprint: of.ref('excluded.fingerprint'),
          answer: of.ref('excluded.answer'),
          created_at: of.ref('excluded.created_at'),
        }))
        .where('idempotency.created_at', '<', cutoff),
    )
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === BigInt(answers.length)
}

/**
 * Deletes about `limit` answers from before an instant. Returns their number; fewer than `limit`: there are no more.
 */
export async function deleteOldAnswers(db: WriteDb, instant: string, limit: number): Promise<number> {
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

/** Appends a document to the ranges. */
export function appendId(
  runs: IdRange[],
  { id, attachment_id }: { id: number; attachment_id: number },
): void {
  const last = runs.at(-1)
  const isNext = last && id === last.id + last.count && attachment_id === last.attachmentId + last.count
  if (isNext) last.count++
  else runs.push({ id, attachmentId: attachment_id, count: 1 })
}

/** Yields the ids of the ranges. */
export function* rangeIds(runs: readonly IdRun[]): Generator<number, undefined> {
  for (const { id, count } of runs) for (let at = 0; at < count; at++) yield id + at
}

function buildQuery(db: ReadDb, tokenId: number, key: string, since: string) {
  return db
    .selectFrom('idempotency')
    .select(['fingerprint', 'answer'])
    .where('token_id', '=', tokenId)
    .where('key', '=', key)
    .where('created_at', '>=', since)
}

function toAnswer({ fingerprint, answer }: { fingerprint: string; answer: string }): StoredAnswer {
  return { fingerprint, ranges: parseRanges(answer) }
}

/** Reads ranges; also the answers of earlier versions, which list each document. */
function parseRanges(answer: string): IdRange[] {
  const value: [number, number, number][] | CreatedDocuments = JSON.parse(answer)
  if (Array.isArray(value)) return value.map(([id, attachmentId, count]) => ({ id, attachmentId, count }))
  const runs: IdRange[] = []
  for (const document of value.created_documents) appendId(runs, document)
  return runs
}
