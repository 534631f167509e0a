// Results of documents: JSON that a worker returns with its outcome. A table of their own leaves the rows of documents
// small, for every list reads those.

import { invariantError } from '../invariant.ts'
import type { ReadDb, WriteDb } from '../tables.ts'

/** Replaces the result of a document; null: none. Returns by how many bytes it grew. */
export async function replaceResult(
  trx: WriteDb,
  documentId: number,
  result: string | null,
): Promise<number> {
  const sizes = await deleteResults(trx, [documentId])
  const size = result === null ? 0 : Buffer.byteLength(result)
  if (result !== null) {
    const query = trx.insertInto('document_results').values({ document_id: documentId, result, size })
    const { numInsertedOrUpdatedRows } = await query.executeTakeFirstOrThrow()
    if (numInsertedOrUpdatedRows !== 1n)
      throw invariantError('Claim', `the result of document ${documentId} is not stored`)
  }
  return size - (sizes.get(documentId) ?? 0)
}

/** Finds the result of a document, to the letter; null: none. */
export async function findResult(db: ReadDb, documentId: number): Promise<string | null> {
  const query = db.selectFrom('document_results').select('result').where('document_id', '=', documentId)
  return (await query.executeTakeFirst())?.result ?? null
}

/** Deletes the results of documents, and returns their bytes by document. */
export async function deleteResults(
  trx: WriteDb,
  documentIds: readonly number[],
): Promise<Map<number, number>> {
  const rows = await trx
    .deleteFrom('document_results')
    .where('document_id', 'in', documentIds)
    .returning(['document_id', 'size'])
    .execute()
  return new Map(rows.map(({ document_id, size }) => [document_id, size]))
}
