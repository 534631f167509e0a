// The mails that brought documents, as clients see them. The texts are of strangers.

import { type DocumentRow, isMailCreator } from '../../store/documents/documents.ts'
import { selectDocumentMail } from '../../store/mail/document-mail.ts'
import type { ReadDb } from '../../store/tables.ts'

export type MailView = {
  mailbox_id: number
  from: string | null
  subject: string | null
  received_at: string
  message_id: string | null
  /** Reason to leave a container whole. */
  note?: string
}

/** Adds the mail that brought each document. A page without documents of a mailbox is not queried. */
export async function addMail<T extends Pick<DocumentRow, 'id' | 'created_by'>>(
  db: ReadDb,
  documents: readonly T[],
): Promise<(T & { mail?: MailView })[]> {
  const ids = documents.flatMap(({ id, created_by }) => (isMailCreator(created_by ?? '') ? [id] : []))
  const mails = await selectDocumentMail(db, ids)
  if (mails.size === 0) return [...documents]
  return documents.map((document) => {
    const row = mails.get(document.id)
    if (!row) return document
    const { mailbox_id, from_text: from, subject, received_at, message_id, note } = row
    const mail = { mailbox_id, from, subject, received_at, message_id, ...(note !== null && { note }) }
    return { ...document, mail }
  })
}

/** Returns the mail that brought a document; undefined: it did not come by mail. */
export async function findMail(
  db: ReadDb,
  document: Pick<DocumentRow, 'id' | 'created_by'>,
): Promise<MailView | undefined> {
  const [described] = await addMail(db, [document])
  return described?.mail
}
