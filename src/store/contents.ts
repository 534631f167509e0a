// The contents that the rows need, each once.

import type { Db } from './tables.ts'

export type Content = { sha256: string; size: number }

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

/** The first documents that need a content, by id. */
export async function selectDocumentsOf(
  db: Db,
  sha256: string,
  limit: number,
): Promise<{ id: number; name: string }[]> {
  return db
    .selectFrom('documents')
    .innerJoin('attachments', 'attachments.id', 'documents.attachment_id')
    .select(['documents.id', 'documents.name'])
    .where('attachments.sha256', '=', sha256)
    .orderBy('documents.id')
    .limit(limit)
    .execute()
}
