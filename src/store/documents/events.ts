// Audit log: changes of documents with their actor, and sign-ins by links (decisions#actions). An event is written in
// the transaction of the change, and outlives the document.

import { insertBatches } from '../rows.ts'
import type { ReadDb, Row, WriteDb } from '../tables.ts'

/** Actor of an event: a key or a token with its person, or a system user on the command line. */
export type Actor = Pick<EventRow, 'via' | 'actor'> & { person?: string | null | undefined }

export type EventRow = Row<'events'>
type OptionalColumn = 'created_at' | 'created_by' | 'person' | 'attempt' | 'note' | 'size'
/** A new event. For a deleted document it also has the creation time and creator of the row. */
export type NewEvent = Omit<EventRow, 'id' | OptionalColumn> & Partial<Pick<EventRow, OptionalColumn>>

export function insertEvents(db: WriteDb, events: readonly NewEvent[]): Promise<void> {
  return insertBatches(db, 'events', events)
}

/** Selects the newest events, oldest first. `before`: only smaller ids. */
export async function selectEvents(
  db: ReadDb,
  filter: { documentId?: number | undefined; before?: number | undefined; limit: number },
): Promise<EventRow[]> {
  let query = db.selectFrom('events').selectAll().orderBy('id', 'desc').limit(filter.limit)
  if (filter.documentId !== undefined) query = query.where('document_id', '=', filter.documentId)
  if (filter.before !== undefined) query = query.where('id', '<', filter.before)
  return (await query.execute()).reverse()
}

/** Removes the notes of deleted documents from their events. */
export async function removeNotes(db: WriteDb, documentIds: readonly number[]): Promise<void> {
  if (documentIds.length === 0) return
  await db
    .updateTable('events')
    .set({ note: null })
    .where('document_id', 'in', documentIds)
    .where('note', 'is not', null)
    .execute()
}

/** Deletes at most `limit` events from before an instant, and returns their number. Without any, writes nothing. */
export async function deleteOldEvents(db: WriteDb, instant: string, limit: number): Promise<number> {
  const rows = await db.selectFrom('events').select('id').where('at', '<', instant).limit(limit).execute()
  const ids = rows.map(({ id }) => id)
  if (ids.length > 0) await db.deleteFrom('events').where('id', 'in', ids).execute()
  return ids.length
}
