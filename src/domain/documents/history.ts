// History of a document. Its creation is in its row, and after its deletion in the event of the deletion. Everything
// else is an event (decisions 1.9).

import { findDocument } from '../../store/documents/documents.ts'
import { type EventRow, selectEvents } from '../../store/documents/events.ts'
import type { ReadDb } from '../../store/tables.ts'

/** An event in a list. A creation has no id; the sender of older documents is unknown. */
export type HistoryEvent = Omit<EventRow, 'id' | 'via' | 'actor' | 'created_at' | 'created_by'> & {
  id: number | null
  via: EventRow['via'] | null
  actor: string | null
}

/** Newest events of all documents and sign-ins with ids below `before`, ascending by id. */
export async function newestEvents(
  db: ReadDb,
  filter: { before?: number | undefined; limit: number },
): Promise<HistoryEvent[]> {
  return (await selectEvents(db, filter)).map(toListedEvent)
}

/** Newest events of a document, preceded by its creation if they reach back to the first. */
export async function documentHistory(
  db: ReadDb,
  documentId: number,
  filter: { before?: number | undefined; limit: number },
): Promise<HistoryEvent[]> {
  const events = await selectEvents(db, { ...filter, documentId })
  if (events.length >= filter.limit) return events.map(toListedEvent)
  const creation = await findCreation(db, documentId)
  return [...(creation ? [creation] : []), ...events.map(toListedEvent)]
}

async function findCreation(db: ReadDb, documentId: number): Promise<HistoryEvent | undefined> {
  const row = await findDocument(db, documentId)
  const [newest] = row ? [] : await selectEvents(db, { documentId, limit: 1 })
  const { created_at: at, created_by: actor, company_id } = row ?? newest ?? {}
  if (!at || company_id === undefined) return undefined
  const shared = { id: null, at, kind: 'created', document_id: documentId, company_id, sha256: null } as const
  return actor ? { ...shared, via: 'token', actor } : { ...shared, via: null, actor: null }
}

function toListedEvent({ created_at: _at, created_by: _by, ...event }: EventRow): HistoryEvent {
  return event
}
