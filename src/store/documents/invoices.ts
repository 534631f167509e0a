// Facts of documents that are invoices. A deletion of a document deletes them with it.

import { preparedByIds, preparedInsert } from '../prepared.ts'
import type { ReadDb, Row, WriteDb } from '../tables.ts'

/** Version of the reader of this program. Documents that an earlier one read are read again in the background. */
export const READER_VERSION = 4

export type StoredInvoice = Row<'invoices'>

/** Facts without their document. */
export type NewInvoice = Omit<StoredInvoice, 'document_id' | 'company_id'>

const insertRows = preparedInsert((trx, rows: readonly StoredInvoice[]) =>
  trx.insertInto('invoices').values(rows),
)

/** Inserts facts in the transaction of their documents. `rows`: at most as many as one statement takes. */
export async function insertInvoices(trx: WriteDb, rows: readonly StoredInvoice[]): Promise<void> {
  await insertRows(trx, rows)
}

const selectRows = preparedByIds((db, ids) =>
  db.selectFrom('invoices').selectAll().where('document_id', 'in', ids),
)

/** Finds the facts of documents, by document. `documentIds`: at most as many as one statement takes. */
export async function selectInvoices(
  db: ReadDb,
  documentIds: readonly number[],
): Promise<Map<number, StoredInvoice>> {
  const rows = await selectRows(db, documentIds)
  return new Map(rows.map((row) => [row.document_id, row]))
}
