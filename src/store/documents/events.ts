// What was done to documents and by which token or user, and which links signed a browser in, for an auditor (decisions
// 1.9). An event is written in the transaction that it tells of, and outlives the document.

import type { Db, Row } from './tables.ts'

/** Who acts: a key or a token, by its name, or a user of the system on the command line. */
export type Actor = Pick<EventRow, 'via' | 'actor'>

export type EventRow = Row<'events'>
/** Of a document that is deleted with what its row said of its making. */
export type NewEvent = Omit<EventRow, 'id' | 'created_at' | 'created_by'> &
  Partial<Pick<EventRow, 'created_at' | 'created_by'>>

const ROWS_AT_ONCE = 500 // SQLite takes at most 32,766 parameters

export async function insertEvents(db: Db, events: readonly NewEvent[]): Promise<void> {
  for (let at = 0; at < events.length; at += ROWS_AT_ONCE) {
    await db
      .insertInto('events')
      .values(events.slice(at, at + ROWS_AT_ONCE))
      .execute()
  }
}

/** The newest events, in the order in which they happened; with `before` the newest of a smaller id. */
export async function selectEvents(
  db: Db,
  filter: { documentId?: number | undefined; before?: number | undefined; limit: number },
): Promise<EventRow[]> {
  let query = db.selectFrom('events').selectAll().orderBy('id', 'desc').limit(filter.limit)
  if (filter.documentId !== undefined) query = query.where('document_id', '=', filter.documentId)
  if (filter.before !== undefined) query = query.where('id', '<', filter.before)
  return (await query.execute()).reverse()
}

/** Deletes at most `limit` events from before an instant, and returns how many. Where there are none nothing is written. */
export async function deleteEventsBefore(db: Db, instant: string, limit: number): Promise<number> {
  const rows = await db.selectFrom('events').select('id').where('at', '<', instant).limit(limit).execute()
  const ids = rows.map(({ id }) => id)
  if (ids.length > 0) await db.deleteFrom('events').where('id', 'in', ids).execute()
  return ids.length
}
