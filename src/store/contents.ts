// The contents that the rows need, each once; and the rows that say which contents there are and where, beside a folder or a
// bucket that several nodes share.

import { dialectOf } from './engine.ts'
import type { Db, Row } from './tables.ts'

export type Content = Pick<Row<'attachments'>, 'sha256' | 'size'>

/** A content of an upload; where it is an object: its name, which its row must say, and since when it may be there. */
export type KeptContent = { sha256: string; size: number; object?: string; begunAt?: string }

/** The name of a content in its store: its SHA-256 as a file, or that of its object. */
export type StoredName = string

/** What an engine offers for a store of several nodes: it puts uploads and deletions of a content in order. */
export type ContentRows = {
  /** The object of a content; null: a file by its hash; undefined: there is no such content. */
  objectOf(sha256: string): Promise<string | null | undefined>
  /** Whether any content is an object, or any is a file. */
  has(kind: 'objects' | 'files'): Promise<boolean>
  /**
   * In the transaction of an upload: each of its contents has a row, which no deletion takes before the commit. Where a
   * content has an object already the upload's own is one to be removed, and where it is known to be lost the other one.
   * @throws AppError `busy` when deletions of them come again and again
   */
  claim(trx: Db, contents: Iterable<KeptContent>): Promise<void>
  /** In a transaction that locked the content and saw that nothing names it: what it was in the store is to be removed. */
  release(trx: Db, sha256: string): Promise<boolean>
  /** Which of these names belong to no content and are not to be removed yet. */
  unknownAmong(names: readonly StoredName[]): Promise<StoredName[]>
  /** Makes them ones to be removed, but those that a content has by now. */
  remove(trx: Db, names: readonly StoredName[]): Promise<void>
  /** What is to be removed for so many days, of greater names than `after`, by name. */
  due(days: number, after: StoredName, limit: number): Promise<StoredName[]>
  /** Which of these still belong to no content. */
  freeAmong(trx: Db, names: readonly StoredName[]): Promise<StoredName[]>
  /**
   * In a transaction: calls `unlink` if the file belongs to no content. Uploads of the same content wait for the end of the
   * transaction, and then find the file gone. Whether it was called.
   */
  unlinkFree(trx: Db, sha256: string, unlink: () => Promise<unknown>): Promise<boolean>
  /** They are removed, or belong to a content again. */
  forget(trx: Db, names: readonly StoredName[]): Promise<void>
  /** What the store of this database's contents says that it is; undefined: none has been used yet. */
  mark(db: Db): Promise<string | undefined>
  /** In a transaction, of which there is one at a time: the mark that is known, or what `make` returns from now on. */
  setMark(trx: Db, make: () => Promise<string>): Promise<string>
  /** Whether the store was not compared with the rows for a day. */
  isListingDue(): Promise<boolean>
  noteListing(trx: Db): Promise<void>
}

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

export async function countContents(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('attachments')
    .select((of) => of.fn.count<number>('sha256').distinct().as('count'))
    .executeTakeFirstOrThrow()
  return count
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
