// The contents that the rows need, each once.

import { dialectOf } from './engine.ts'
import type { Db, Row } from './tables.ts'

export type Content = Pick<Row<'attachments'>, 'sha256' | 'size'>

const PAGE = 1000

/** Every content that a row names, by SHA-256, read a page at a time. */
export async function* selectContents(db: Db): AsyncGenerator<Content> {
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

/** The SHA-256 that rows name and that begin with these digits. */
export async function selectNamedBlobs(db: Db, digits: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('attachments')
    .select('sha256')
    .distinct()
    .where('sha256', '>=', digits)
    .where('sha256', '<', `${digits}g`) // the digit after f
    .execute()
  return new Set(rows.map(({ sha256 }) => sha256))
}

export type DocumentOf = Pick<
  Row<'documents'>,
  'id' | 'name' | 'company_id' | 'agent_id' | 'owner_id' | 'created_at'
>

/** The documents that need a content, by id; all of them, or the first so many. */
export function selectDocumentsOf(db: Db, sha256: string, limit?: number): Promise<DocumentOf[]> {
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

/** The blobs that rows need, read off the table itself: an index may be damaged. */
export function scanNamedBlobs(db: Db): Promise<Set<string>> {
  return dialectOf(db).namedBlobs(db)
}
