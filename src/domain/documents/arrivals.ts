// Clients that wait for a document (decisions 3.14). The commit of an upload wakes those that it concerns: while they wait,
// nothing asks the database. No other process adds documents: one server holds a data directory.

import { AppError } from '../../errors.ts'

/** Documents of a greater id than `after`; of one company, or for one agent, where they are given. */
export type Wanted = { after: number; companyId?: number | undefined; agentId?: number | undefined }

export type Arrivals = {
  /** To be called after each commit of documents. `last`: the greatest of their ids. */
  announce(committed: Committed): void
  /** Notices from now on what is wanted, and waits for it at most so long; until it is disposed of. */
  begin(wanted: Wanted, ms: number): Wait
  /** How many wait. */
  waiting(): number
  /** Ends all waits, and those that begin later at once. */
  close(): void
}

export type Wait = Disposable & {
  /**
   * Waits for documents that are wanted. What was committed since the wait began, or since this was last called, counts;
   * so what is read between the two is not missed. False: the time is over, or the wait was ended.
   * @throws AppError `busy` when too many wait already
   */
  next(): Promise<boolean>
  end(): void
}

type Committed = { companyId: number; agentId: number; last: number }
type Noticing = Wait & { notice(committed: Committed): void }

const PLACES = 256

export function createArrivals(places = PLACES): Arrivals {
  const noticing = new Set<Noticing>()
  let waiting = 0
  let isClosed = false
  const takePlace = () => {
    if (waiting >= places) {
      throw new AppError('busy', `${places} clients wait for documents already: try again in a moment`)
    }
    waiting++
  }
  return {
    announce(committed) {
      for (const one of noticing) one.notice(committed)
    },
    begin(wanted, ms) {
      const one = createWait(wanted, ms, takePlace, (hadPlace) => {
        noticing.delete(one)
        if (hadPlace) waiting--
      })
      noticing.add(one)
      if (isClosed) one.end()
      return one
    },
    waiting: () => waiting,
    close() {
      isClosed = true
      for (const one of noticing) one.end()
    },
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
  return {
    notice(committed) {
      if (!isWanted(committed, wanted)) return
      hasArrived = true
      wake?.()
    },
    async next() {
      if (!hasArrived && !isOver) {
        if (!hasPlace) takePlace()
        hasPlace = true
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      const found = hasArrived
      hasArrived = false
      return found
    },
    end,
    [Symbol.dispose]() {
      clearTimeout(timer)
      left(hasPlace)
    },
  }
}

function isWanted({ last, ...of }: Committed, { after, companyId, agentId }: Wanted): boolean {
  return (
    last > after &&
    (companyId === undefined || companyId === of.companyId) &&
    (agentId === undefined || agentId === of.agentId)
  )
}
