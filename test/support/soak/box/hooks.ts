// Receiver of the hooks of the soak, which refuses some messages at their first attempt. Each message has a valid
// signature, and one text in all attempts. Each stored document, and each outcome, is reported at least once.

import type { ReceivedMessage, Receiver } from '../../hooks/receiver.ts'
import { count, fault, type Soak } from '../world.ts'

export type ReceivedHooks = {
  /** Ids of documents by the type of a message. */
  documents: Map<string, Set<number>>
  /** Text by the id of a message. */
  texts: Map<string, string>
}

/** Answers messages from now on, and records them. */
export function receiveHooks(soak: Soak, receiver: Receiver, secret: string): ReceivedHooks {
  const hooks: ReceivedHooks = { documents: new Map(), texts: new Map() }
  receiver.answer = (response, message) => {
    receiver.received.length = 0 // the list would grow for hours
    const isFirst = !hooks.texts.has(message.id)
    take(soak, hooks, message)
    try {
      receiver.verify(secret, message)
    } catch (error) {
      fault(soak, `message ${message.id}: ${error}`)
    }
    const isRefused = isFirst && !soak.isOver && soak.random.chance(0.02)
    if (isRefused) count(soak, 'messages of hooks refused')
    response.writeHead(isRefused ? 503 : 204).end()
  }
  return hooks
}

function take(soak: Soak, { documents, texts }: ReceivedHooks, { id, text, body }: ReceivedMessage): void {
  const before = texts.get(id)
  if (before !== undefined && before !== text) fault(soak, `message ${id} has two texts: ${before}, ${text}`)
  texts.set(id, text)
  count(soak, `messages of ${body.type}`)
  const ids = documents.getOrInsertComputed(body.type, () => new Set())
  for (const document of (body.data.document_ids ?? []) as number[]) ids.add(document)
}

/** Checks that each stored document, and each of these outcomes, was reported. */
export function checkHooks(
  soak: Soak,
  { documents }: ReceivedHooks,
  rows: readonly { id: number; state: string }[],
): void {
  const missing = (type: string, ids: readonly number[]) => {
    const reportedIds = documents.get(type) ?? new Set()
    const unknownIds = ids.filter((id) => !reportedIds.has(id))
    if (unknownIds.length > 0)
      fault(soak, `${type} never arrived for ${unknownIds.length}: ${unknownIds.slice(0, 20)}`)
  }
  const listIds = (state: string) => rows.filter((row) => row.state === state).map(({ id }) => id)
  missing('document.created', [...rows.map(({ id }) => id)])
  missing('document.finished', listIds('done'))
  missing('document.failed', listIds('failed'))
}
