// States of documents as people see them, and changes of an open list. A claim whose lease is over counts as waiting.

import { costaRicaDay } from '../days.ts'
import type { QueueGroup } from '../fragment.ts'

export type QueueState = 'new' | 'claimed' | 'done' | 'failed'

export type QueuedDocument = {
  id: number
  state: QueueState
  finished_at: string | null
  /** End of the lease, while the document is claimed. */
  lease_until?: string
}

/** Minutes after which a waiting document is conspicuous. */
export const LONG_WAIT_MINUTES = 15

const GROUP_STATES: Record<QueueGroup, readonly QueueState[]> = {
  waiting: ['new', 'claimed'],
  working: ['claimed'],
  failed: ['failed'],
  done: ['done'],
  today: ['done'],
}
const ABANDONED = /^Given up: claimed (\d+) times and never finished$/

/** States that the API searches for a group; empty: all. */
export function groupStates(group: QueueGroup | ''): readonly QueueState[] {
  return group === '' ? [] : GROUP_STATES[group]
}

/** Returns true if documents of the group have a condition that the API does not search. */
export function isNarrower(group: QueueGroup | ''): boolean {
  return group === 'waiting' || group === 'working' || group === 'today'
}

export function isInGroup(document: QueuedDocument, group: QueueGroup | '', now: number): boolean {
  if (group === '') return true
  if (!GROUP_STATES[group].includes(document.state)) return false
  if (group === 'waiting') return document.state === 'new' || hasExpiredLease(document, now)
  if (group === 'working') return !hasExpiredLease(document, now)
  if (group === 'today') return isOnDay(document.finished_at, costaRicaDay(now))
  return true
}

export function hasExpiredLease({ state, lease_until }: QueuedDocument, now: number): boolean {
  return state === 'claimed' && lease_until !== undefined && Date.parse(lease_until) <= now
}

/** Returns true if the document can wait for an agent again. */
export function canRetry(document: QueuedDocument, now: number): boolean {
  return document.state === 'failed' || hasExpiredLease(document, now)
}

/** Number of attempts in the note of a document that the server failed; undefined: the note is a worker's. */
export function abandonedAttempts(note: string | null): number | undefined {
  const [, count] = ABANDONED.exec(note ?? '') ?? []
  return count === undefined ? undefined : Number(count)
}

/** Adds rows to a list, newest first. A row of the same id is replaced. */
export function mergeDocuments<Row extends { id: number }>(
  rows: readonly Row[],
  newer: readonly Row[],
): Row[] {
  const byId = new Map([...rows, ...newer].map((row) => [row.id, row]))
  return [...byId.values()].sort((one, other) => other.id - one.id)
}

function isOnDay(instant: string | null, day: string): boolean {
  return instant !== null && costaRicaDay(Date.parse(instant)) === day
}
