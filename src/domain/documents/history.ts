// History of a document. Its creation is in its row, and after its deletion in the event of the deletion. Everything
// else is an event (decisions#actions).

import { findDocument, isMailCreator } from '../../store/documents/documents.ts'
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

/** An event as clients see it. */
export type ShownEvent = {
  at: string
  event: 'created' | 'claimed' | 'released' | 'expired' | 'done' | 'failed' | 'retried'
  by: string | null
  via: HistoryEvent['via']
  person?: string
  attempt?: number
  note?: string
  /** Result that a worker returned: its bytes in UTF-8, and their SHA-256. */
  result?: { size: number; sha256: string }
}

const MOST_EVENTS = 1000

/** Newest events of an existing document, oldest first. A claim that follows an open one shows that its lease expired. */
export async function documentEvents(db: ReadDb, documentId: number): Promise<ShownEvent[]> {
  const events = await documentHistory(db, documentId, { limit: MOST_EVENTS })
  let openAttempt: number | null | undefined
  return events.flatMap(({ at, kind, actor, via, person, attempt, note, size, sha256 }) => {
    if (kind === 'deleted' || kind === 'login') return []
    const expired = {
      at,
      event: 'expired',
      by: 'cambista',
      via: 'server',
      ...facts({ attempt: openAttempt }),
    } as const
    const hasExpired = kind === 'claimed' && openAttempt !== undefined
    openAttempt = kind === 'claimed' ? attempt : undefined
    const result = size === null || sha256 === null ? undefined : { size, sha256 }
    const event = {
      at,
      event: kind,
      by: actor,
      via,
      ...facts({ person, attempt, note }),
      ...(result && { result }),
    }
    return hasExpired ? [expired, event] : [event]
  })
}

/** Removes absent facts. */
function facts(event: {
  person?: string | null | undefined
  attempt?: number | null | undefined
  note?: string | null | undefined
}): Pick<ShownEvent, 'person' | 'attempt' | 'note'> {
  const { person, attempt, note } = event
  return {
    ...(person && { person }),
    ...(typeof attempt === 'number' && { attempt }),
    ...(note && { note }),
  }
}

async function findCreation(db: ReadDb, documentId: number): Promise<HistoryEvent | undefined> {
  const row = await findDocument(db, documentId)
  const [newest] = row ? [] : await selectEvents(db, { documentId, limit: 1 })
  const { created_at: at, created_by: actor, company_id } = row ?? newest ?? {}
  if (!at || company_id === undefined) return undefined
  const creation = { id: null, at, kind: 'created', document_id: documentId, company_id } as const
  const shared = { ...creation, sha256: null, person: null, attempt: null, note: null, size: null }
  if (!actor) return { ...shared, via: null, actor: null }
  return { ...shared, via: isMailCreator(actor) ? 'server' : 'token', actor }
}

function toListedEvent({ created_at: _at, created_by: _by, ...event }: EventRow): HistoryEvent {
  return event
}
