// Clients that wait for a document (decisions#waiting). The commit of an upload wakes the clients that wait for it, so
// waiting needs no queries. Nodes of a cluster poll for the uploads of the others.

import { AppError } from '../../runtime/errors.ts'
import { findNewestId } from '../../store/documents/context.ts'
import type { DocumentFilter } from '../../store/documents/filter.ts'
import { type Arrival, engineSql } from '../../store/engine.ts'
import type { ReadDb } from '../../store/tables.ts'

/** Selects documents with an id greater than `after`, optionally of a company or for agents. */
export type WaitFilter = Pick<DocumentFilter, 'companyId'> & {
  after: number
  agentIds?: readonly number[] | undefined
  /** Token of a worker that waits to claim. Also wakes the waiter when a document may be free again. */
  worker?: number | undefined
}

export type DocumentWaiters = {
  /** Wakes the clients that wait for these documents. Call it after each commit. `last`: greatest id of them. */
  announce(committed: Arrival): void
  /** Wakes the workers of an agent. Call it when a document may be free again. */
  wakeWorkers(agentId: number): void
  /** Registers a waiter for at most `ms`, until it is disposed of. */
  begin(filter: WaitFilter, ms: number): Wait
  /** Agents for which workers wait. */
  waitingAgents(): number[]
  /** Number of waiting clients. */
  waiting(): number
  /** Ends all waits, also those that begin later. */
  close(): void
}

export type Wait = Disposable & {
  /**
   * Waits for matching documents. Counts commits since the start of the wait or the last call, so that none is
   * missed. False: the time is over, or the wait was ended.
   * @throws AppError `busy` when too many clients wait, in all or with one token of a worker
   */
  next(): Promise<boolean>
  end(): void
}

type Waiter = Wait & {
  readonly filter: WaitFilter
  /** True if the client really had to wait. */
  hasSlot(): boolean
  notice(committed: Arrival): void
  wakeWorker(agentId: number): void
}

const MAX_WAITERS = 256
const MAX_WAITERS_PER_TOKEN = 64 // decisions#claims

export function createWaiters(): DocumentWaiters {
  const waiters = new Set<Waiter>()
  let isClosed = false
  const waiting = () => [...waiters].filter((one) => one.hasSlot())
  const checkLimits = ({ worker }: WaitFilter) => {
    const clients = waiting()
    if (clients.length >= MAX_WAITERS) {
      throw new AppError('busy', `${MAX_WAITERS} clients wait for documents already: try again in a moment`)
    }
    const own = clients.filter(({ filter }) => worker !== undefined && filter.worker === worker).length
    if (own >= MAX_WAITERS_PER_TOKEN) {
      throw new AppError('busy', `${own} clients wait with this token already: try again in a moment`)
    }
  }
  return {
    announce(committed) {
      for (const one of waiters) one.notice(committed)
    },
    wakeWorkers(agentId) {
      for (const one of waiters) one.wakeWorker(agentId)
    },
    begin(filter, ms) {
      const checkSlots = () => checkLimits(filter)
      const waiter = createWait(filter, ms, checkSlots, () => waiters.delete(waiter))
      waiters.add(waiter)
      if (isClosed) waiter.end()
      return waiter
    },
    waitingAgents() {
      const workers = [...waiters].filter(({ filter }) => filter.worker !== undefined)
      return [...new Set(workers.flatMap(({ filter }) => filter.agentIds ?? []))]
    },
    waiting: () => waiting().length,
    close() {
      isClosed = true
      for (const one of waiters) one.end()
    },
  }
}

/**
 * Returns a function that announces the commits of other nodes since its last call. Documents are committed in the
 * order of their ids, so later ones have greater ids.
 */
export async function openSharedWaiters(db: ReadDb, waiters: DocumentWaiters): Promise<() => Promise<void>> {
  let lastId = await findNewestId(db)
  return async () => {
    for (const arrival of await engineSql(db).selectArrivals(db, lastId)) {
      lastId = Math.max(lastId, arrival.last)
      waiters.announce(arrival)
    }
  }
}

/** Creates a waiter. `checkLimits` is called once, and only if the client really has to wait. */
function createWait(filter: WaitFilter, ms: number, checkLimits: () => void, onEnd: () => void): Waiter {
  let hasArrived = false
  let hasEnded = false
  let hasSlot = false
  let wake: (() => void) | undefined
  const end = () => {
    hasEnded = true
    wake?.()
  }
  const timer = setTimeout(end, ms)
  const noteArrival = () => {
    hasArrived = true
    wake?.()
  }
  return {
    filter,
    hasSlot: () => hasSlot,
    notice(committed) {
      if (matches(committed, filter)) noteArrival()
    },
    wakeWorker(agentId) {
      if (filter.worker !== undefined && filter.agentIds?.includes(agentId)) noteArrival()
    },
    async next() {
      if (!hasArrived && !hasEnded) {
        if (!hasSlot) checkLimits()
        hasSlot = true
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      const result = hasArrived
      hasArrived = false
      return result
    },
    end,
    [Symbol.dispose]() {
      clearTimeout(timer)
      onEnd()
    },
  }
}

function matches({ last, ...parties }: Arrival, { after, companyId, agentIds }: WaitFilter): boolean {
  return (
    last > after &&
    (companyId === undefined || companyId === parties.companyId) &&
    (agentIds === undefined || agentIds.includes(parties.agentId))
  )
}
