// The data revision: a number that rises with every transaction that changes rates or the catalogue.

import { invariantError } from './invariant.ts'
import type { ReadDb, Row, WriteDb } from './tables.ts'

export async function selectMeta(db: ReadDb): Promise<{ revision: number; epoch: string }> {
  const row = await db.selectFrom('meta').select(['data_revision', 'epoch']).executeTakeFirstOrThrow()
  return { revision: row.data_revision, epoch: row.epoch }
}

export function selectMetaRow(db: ReadDb): Promise<Row<'meta'>> {
  return db.selectFrom('meta').selectAll().executeTakeFirstOrThrow()
}

/**
 * Raises the data revision, inside the transaction that changed the data, and returns the new one. `at`: the instant of
 * that transaction, as takeInstant returned it.
 */
export async function raiseRevision(db: WriteDb, at?: Date): Promise<number> {
  const row = await db
    .updateTable('meta')
    .set((of) => ({ data_revision: of('data_revision', '+', 1) }))
    .returning('data_revision')
    .executeTakeFirstOrThrow()
  const revision = row.data_revision
  if (at) {
    const query = db.updateTable('record_end').set({ recorded_at: at.getTime(), revision })
    const { numUpdatedRows } = await query.executeTakeFirstOrThrow()
    if (numUpdatedRows !== 1n)
      throw invariantError('Counter', `revision ${revision} is not in the change log`)
  }
  return revision
}
