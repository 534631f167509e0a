// Clients that wait for a document (decisions 3.14). The commit of an upload wakes those that it concerns: while they wait,
// nothing asks the database. Where several nodes share one, each looks for what the others have kept.

import { AppError } from '../../errors.ts'
import type { Db } from '../../store/tables.ts'
import { type Arrival, findNewestId, selectArrivals } from '../../store/uploads/look.ts'

/** Documents of a greater id than `after`; of one company, or for one agent, where they are given. */
export type Wanted = {
  after: number
  companyId?: number | undefined
  agentId?: number | undefined
  /** The token of a worker that waits to claim: it is awake as well when a document may be free again. */
  worker?: number | undefined
}

export type Arrivals = {
  /** To be called after each commit of documents. `last`: the greatest of their ids. */
  announce(committed: Arrival): void
  /** To be called when a document may be free again for the workers of an agent, or of any. */
  wakeWorkers(agentId?: number): void
  /** Notices from now on what is wanted, and waits for it at most so long; until it is disposed of. */
  begin(wanted: Wanted, ms: number): Wait
  /** The agents for which workers wait. */
  agentsAwaited(): number[]
  /** How many wait. */
  waiting(): number
  /** Ends all waits, and those that begin later at once. */
  close(): void
}

export type Wait = Disposable & {
  /**
   * Waits for documents that are wanted. What was committed since the wait began, or since this was last called, counts;
   * so what is read between the two is not missed. False: the time is over, or the wait was ended.
   * @throws AppError `busy` when too many wait already, or too many of one worker's token
   */
  next(): Promise<boolean>
  end(): void
}

type Noticing = Wait & {
  readonly wanted: Wanted
  notice(committed: Arrival): void
  wakeWorker(agentId?: number): void
}

const PLACES = 256
const PLACES_OF_WORKER = 64 // decisions 3.16

export function createArrivals(places = PLACES): Arrivals {
  const noticing = new Set<Noticing>()
  let waiting = 0
  let isClosed = false
  const workers = new Map<number, number>() // how many wait with each token
  const takePlace = ({ worker }: Wanted) => {
    if (waiting >= places) {
      throw new AppError('busy', `${places} clients wait for documents already: try again in a moment`)
    }
    if (worker !== undefined) {
      const of = workers.get(worker) ?? 0
      if (of >= PLACES_OF_WORKER) {
        throw new AppError('busy', `${of} clients wait with this token already: try again in a moment`)
      }
      workers.set(worker, of + 1)
    }
    waiting++
  }
  const leavePlace = ({ worker }: Wanted) => {
    waiting--
    if (worker === undefined) return
    const others = (workers.get(worker) ?? 1) - 1
    if (others > 0) workers.set(worker, others)
    else workers.delete(worker)
  }
  return {
    announce(committed) {
      for (const one of noticing) one.notice(committed)
    },
    wakeWorkers(agentId) {
      for (const one of noticing) one.wakeWorker(agentId)
    },
    begin(wanted, ms) {
      const take = () => takePlace(wanted)
      const one = createWait(wanted, ms, take, (hadPlace) => {
        noticing.delete(one)
        if (hadPlace) leavePlace(wanted)
      })
      noticing.add(one)
      if (isClosed) one.end()
      return one
    },
    agentsAwaited() {
      const workers = [...noticing].filter(({ wanted }) => wanted.worker !== undefined)
      return [...new Set(workers.flatMap(({ wanted }) => wanted.agentId ?? []))]
    },
    waiting: () => waiting,
    close() {
      isClosed = true
      for (const one of noticing) one.end()
    },
  }
}

/**
 * Announces what any node has kept since this was last called. Documents are committed in the order of their ids, so what
 * comes later has a greater one.
 */
export async function openSharedArrivals(db: Db, arrivals: Arrivals): Promise<() => Promise<void>> {
  let seen = await findNewestId(db)
  return async () => {
    const found = await selectArrivals(db, seen)
    for (const one of found) {
      seen = Math.max(seen, one.last)
      arrivals.announce(one)
    }
  }
}

/** `takePlace` is called once, and only if there is something to wait for. */
function createWait(
  wanted: Wanted,
  ms: number,
  takePlace: () => void,
  left: (hadPlace: boolean) => void,
): Noticing {
  let hasArrived = false
  let isOver = false
  let hasPlace = false
  let wake: (() => void) | undefined
  const end = () => {
    isOver = true
    wake?.()
  }
  const timer = setTimeout(end, ms)
  const found = () => {
    hasArrived = true
    wake?.()
  }
  return {
    wanted,
    notice(committed) {
      if (isWanted(committed, wanted)) found()
    },
    wakeWorker(agentId) {
      if (wanted.worker !== undefined && (agentId ?? wanted.agentId) === wanted.agentId) found()
    },
    async next() {
      if (!hasArrived && !isOver) {
        if (!hasPlace) takePlace()
        hasPlace = true
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      const has = hasArrived
      hasArrived = false
      return has
    },
    end,
    [Symbol.dispose]() {
      clearTimeout(timer)
      left(hasPlace)
    },
  }
}

function isWanted({ last, ...of }: Arrival, { after, companyId, agentId }: Wanted): boolean {
  return (
    last > after &&
    (companyId === undefined || companyId === of.companyId) &&
    (agentId === undefined || agentId === of.agentId)
  )
}
