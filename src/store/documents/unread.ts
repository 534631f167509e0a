// Documents that the present reader of invoices has not read: those of earlier versions of the program.

import { engineSql } from '../engine.ts'
import type { ReadDb, WriteDb } from '../tables.ts'
import type { StoredInvoice } from './invoices.ts'

/** `unreadBefore`: id before which documents wait for the reader; 0: none does. */
export type ReaderProgress = { reader: number; unreadBefore: number }

/** Returns how far a reader is; undefined: none has begun. */
export async function findReaderProgress(db: ReadDb): Promise<ReaderProgress | undefined> {
  const row = await db
    .selectFrom('meta')
    .select(['invoice_reader', 'unread_before'])
    .executeTakeFirstOrThrow()
  if (row.invoice_reader === null) return undefined
  return { reader: row.invoice_reader, unreadBefore: row.unread_before ?? 0 }
}

/** Records how far the reader is, and returns the stored `unreadBefore`: another process may be further. */
export async function updateReaderProgress(
  trx: WriteDb,
  { reader, unreadBefore }: ReaderProgress,
): Promise<number> {
  await trx
    .updateTable('meta')
    .set({ invoice_reader: reader, unread_before: unreadBefore })
    .where((of) =>
      of.or([
        of('invoice_reader', 'is', null),
        of('invoice_reader', '<', reader),
        of.and([of('invoice_reader', '=', reader), of('unread_before', '>', unreadBefore)]),
      ]),
    )
    .execute()
  return (await findReaderProgress(trx))?.unreadBefore ?? unreadBefore
}

export type UnreadDocument = { id: number; company_id: number; name: string; sha256: string }

/** Selects documents before an id, newest first. `reader`: only those whose facts are of no or of an earlier reader. */
export function selectUnread(
  db: ReadDb,
  options: {
    before: number
    limit: number
    companyId?: number | undefined
    reader?: number | undefined
  },
): Promise<UnreadDocument[]> {
  const { before, limit, companyId, reader } = options
  let query = db
    .selectFrom('documents')
    .innerJoin('attachments', 'attachments.id', 'documents.attachment_id')
    .leftJoin('invoices', 'invoices.document_id', 'documents.id')
    .select(['documents.id', 'documents.company_id', 'attachments.name', 'attachments.sha256'])
    .where('documents.id', '<', before)
  if (companyId !== undefined) query = query.where('documents.company_id', '=', companyId)
  if (reader !== undefined) {
    query = query.where((of) =>
      of.or([of('invoices.reader', 'is', null), of('invoices.reader', '<', reader)]),
    )
  }
  return query.orderBy('documents.id', 'desc').limit(limit).execute()
}

/**
 * Replaces the facts of documents. Deleted documents get none. Without new facts those of a mail
 * remain, since the blob does not have them.
 */
export async function replaceInvoices(
  trx: WriteDb,
  documentIds: readonly number[],
  rows: readonly StoredInvoice[],
): Promise<void> {
  if (documentIds.length === 0) return
  const documents = trx.selectFrom('documents').select('id').where('id', 'in', documentIds).orderBy('id')
  const existing = await engineSql(trx).lockRows(documents, 'share', ['documents']).execute()
  const ids = new Set(existing.map(({ id }) => id))
  const newRows = rows.filter((row) => ids.has(row.document_id))
  const replacedIds = newRows.map((row) => row.document_id)
  await trx
    .deleteFrom('invoices')
    .where('document_id', 'in', documentIds)
    .where((of) =>
      of.or([
        of('source', '!=', 'mail'),
        ...(replacedIds.length > 0 ? [of('document_id', 'in', replacedIds)] : []),
      ]),
    )
    .execute()
  if (newRows.length > 0) await trx.insertInto('invoices').values(newRows).execute()
}
