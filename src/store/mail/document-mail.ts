// The mails that brought documents, a row for each document, which is deleted with it. Strangers wrote the texts.

import { insertBatches } from '../rows.ts'
import type { ReadDb, Row, WriteDb } from '../tables.ts'

/** Inserts the mail of some documents in their transaction. */
export async function insertDocumentMail(trx: WriteDb, rows: readonly Row<'document_mail'>[]): Promise<void> {
  await insertBatches(trx, 'document_mail', rows)
}

/** Selects the mails of documents, by document. `documentIds`: at most as many as one statement takes. */
export async function selectDocumentMail(
  db: ReadDb,
  documentIds: readonly number[],
): Promise<Map<number, Row<'document_mail'>>> {
  if (documentIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('document_mail')
    .selectAll()
    .where('document_id', 'in', documentIds)
    .execute()
  return new Map(rows.map((row) => [row.document_id, row]))
}
