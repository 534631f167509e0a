// The mails that brought documents. A deletion of a document deletes its row. The texts are of strangers.

import { insertBatches } from '../rows.ts'
import type { ReadDb, Row, WriteDb } from '../tables.ts'

const PREFIX = 'mail:'

/** The mail of documents. */
export type MailOrigin = Omit<Row<'document_mail'>, 'document_id'>

/** The mail of a document, with the name of its mailbox. */
export type DocumentMail = Row<'document_mail'> & { mailbox: string }

/** Inserts the mail of some documents in their transaction. */
export async function insertDocumentMail(
  trx: WriteDb,
  documentIds: readonly number[],
  mail: MailOrigin,
): Promise<void> {
  const rows = documentIds.map((document_id) => ({ document_id, ...mail }))
  await insertBatches(trx, 'document_mail', rows)
}

/** Selects the mails of documents, by document. `documentIds`: at most as many as one statement takes. */
export async function selectDocumentMail(
  db: ReadDb,
  documentIds: readonly number[],
): Promise<Map<number, DocumentMail>> {
  if (documentIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('document_mail')
    .innerJoin('mailboxes', 'mailboxes.id', 'document_mail.mailbox_id')
    .selectAll('document_mail')
    .select('mailboxes.name as mailbox')
    .where('document_mail.document_id', 'in', documentIds)
    .execute()
  return new Map(rows.map((row) => [row.document_id, row]))
}

/** Adds the mailbox that brought a document as `created_by`, which is null in the row of such a document. */
export async function addMailboxes<T extends { id: number; created_by: string | null }>(
  db: ReadDb,
  documents: readonly T[],
): Promise<T[]> {
  const ids = documents.flatMap(({ id, created_by }) => (created_by === null ? [id] : []))
  const mails = await selectDocumentMail(db, ids)
  return documents.map((document) => {
    const mail = mails.get(document.id)
    return mail ? { ...document, created_by: mailCreator(mail.mailbox) } : document
  })
}

/** Creator of the documents of a mailbox, beside the names of tokens. */
export function mailCreator(mailbox: string): string {
  return `${PREFIX}${mailbox}`
}

export function isMailCreator(creator: string): boolean {
  return creator.startsWith(PREFIX)
}
