// Blobs that documents reference, each once, from the table of attachments. blob-rows.ts has the rows of stored
// blobs.

import { engineSql } from '../engine.ts'
import type { ReadDb, Row } from '../tables.ts'

export type BlobInfo = Pick<Row<'attachments'>, 'sha256' | 'size'>

/** A blob of an upload. For an object of a bucket: its name, and the instant from which it may exist. */
export type UploadedBlob = { sha256: string; size: number; object?: string; startedAt?: string }

/** Name of a blob in its store: its SHA-256 for a file, or the name of its object. */
export type StoredName = string

const PAGE = 1000

/** Yields every referenced blob by SHA-256, read in pages. */
export async function* selectBlobs(db: ReadDb): AsyncGenerator<BlobInfo> {
  let after = ''
  while (true) {
    const page = await db
      .selectFrom('attachments')
      .select((of) => ['sha256', of.fn.max<number>('size').as('size')])
      .where('sha256', '>', after)
      .groupBy('sha256')
      .orderBy('sha256')
      .limit(PAGE)
      .execute()
    yield* page
    const last = page.at(-1)
    if (!last) return
    after = last.sha256
  }
}

export async function countBlobs(db: ReadDb): Promise<number> {
  const { count } = await db
    .selectFrom('attachments')
    .select((of) => of.fn.count<number>('sha256').distinct().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** Returns those of the hashes that attachments reference. */
export async function selectReferencedHashes(db: ReadDb, hashes: readonly string[]): Promise<Set<string>> {
  const query = db.selectFrom('attachments').select('sha256').distinct().where('sha256', 'in', hashes)
  return new Set((await query.execute()).map(({ sha256 }) => sha256))
}

export type BlobDocument = Pick<
  Row<'documents'>,
  'id' | 'name' | 'company_id' | 'agent_id' | 'owner_id' | 'created_at'
>

/** Selects the documents of a blob by id: all, or the first `limit`. */
export function selectBlobDocuments(db: ReadDb, sha256: string, limit?: number): Promise<BlobDocument[]> {
  const query = db
    .selectFrom('documents')
    .innerJoin('attachments', 'attachments.id', 'documents.attachment_id')
    .select([
      'documents.id',
      'documents.name',
      'documents.company_id',
      'documents.agent_id',
      'documents.owner_id',
      'documents.created_at',
    ])
    .where('attachments.sha256', '=', sha256)
    .orderBy('documents.id')
  return (limit === undefined ? query : query.limit(limit)).execute()
}

/** Returns all referenced hashes, read from the table itself: an index may be damaged. */
export function scanReferencedHashes(db: ReadDb): Promise<Set<string>> {
  return engineSql(db).selectReferencedHashes(db)
}
