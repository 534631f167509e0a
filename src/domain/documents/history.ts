// What happened to a document, from its arrival on. That it was created stands in its row, and when it is gone in the
// event of its deletion; the rest are events (decisions 1.9).

import { findDocument } from '../../store/documents.ts'
import { type EventRow, selectEvents } from '../../store/events.ts'
import type { Db } from '../../store/tables.ts'

/** An event as it is listed. A creation has no id, and of older documents it is not known who sent them. */
export type HistoryEvent = Omit<EventRow, 'id' | 'via' | 'actor' | 'created_at' | 'created_by'> & {
  id: number | null
  via: EventRow['via'] | null
  actor: string | null
}

/** The newest events of all documents and sign-ins, of smaller ids than `before`, in the order of their ids. */
export async function newestEvents(
  db: Db,
  filter: { before?: number | undefined; limit: number },
): Promise<HistoryEvent[]> {
  return (await selectEvents(db, filter)).map(shown)
}

/** The newest events of one document; where they reach back to the first, its creation comes before it. */
export async function historyOf(
  db: Db,
  documentId: number,
  filter: { before?: number | undefined; limit: number },
): Promise<HistoryEvent[]> {
  const events = await selectEvents(db, { ...filter, documentId })
  if (events.length >= filter.limit) return events.map(shown)
  const created = await creationOf(db, documentId)
  return [...(created ? [created] : []), ...events.map(shown)]
}

async function creationOf(db: Db, documentId: number): Promise<HistoryEvent | undefined> {
  const there = await findDocument(db, documentId)
  const [newest] = there ? [] : await selectEvents(db, { documentId, limit: 1 })
  const { created_at: at, created_by: actor, company_id } = there ?? newest ?? {}
  if (!at || company_id === undefined) return undefined
  const shared = { id: null, at, kind: 'created', document_id: documentId, company_id, sha256: null } as const
  return actor ? { ...shared, via: 'token', actor } : { ...shared, via: null, actor: null }
}

function shown({ created_at: _at, created_by: _by, ...event }: EventRow): HistoryEvent {
  return event
}
