// When leases end, as the one process of a database measures it: by the time that it saw pass, so that a clock that jumps
// neither ends a lease nor stretches one (decisions 3.16).

/** A claim of a document, for its agent, and the how manieth it is. */
export type Claim = { documentId: number; agentId: number; claimId: string; attempts: number }

export type LeaseTimers = {
  /** Begins the lease of a claim, or begins it anew. */
  begin(claim: Claim, seconds: number): void
  /** Forgets the lease of a document; with a claim only if it is that one's. */
  end(documentId: number, claimId?: string): void
  /** Documents of an agent, or of all, whose lease is over, by id. */
  endedOf(agentId?: number): Claim[]
  /** How many are held. */
  count(): number
  close(): void
}

type Held = Claim & { endsAt: number }

const LONGEST_TIMER_MS = 3_600_000
const TOGETHER_MS = 50 // leases that end at about the same time are one wake

/**
 * `ended` is called with an agent when leases of it are over. `ticks`: milliseconds that never go back, such as
 * `performance.now`.
 */
export function createLeaseTimers({
  ended,
  ticks,
}: {
  ended: (agentId: number) => void
  ticks: () => number
}): LeaseTimers {
  const live = new Map<number, Held>()
  const over = new Map<number, Held>()
  let earliest = Number.POSITIVE_INFINITY // no lease ends before it
  let timer: NodeJS.Timeout | undefined
  let timerAt = Number.POSITIVE_INFINITY
  let isClosed = false
  const arm = () => {
    if (isClosed || earliest >= timerAt) return
    clearTimeout(timer)
    timerAt = earliest
    timer = setTimeout(
      () => {
        timerAt = Number.POSITIVE_INFINITY
        look()
      },
      Math.min(Math.max(0, earliest - ticks()) + TOGETHER_MS, LONGEST_TIMER_MS),
    )
  }
  const look = () => {
    const now = ticks()
    if (now >= earliest) {
      const agents = new Set<number>()
      earliest = Number.POSITIVE_INFINITY
      for (const [id, held] of live) {
        if (held.endsAt > now) {
          earliest = Math.min(earliest, held.endsAt)
          continue
        }
        live.delete(id)
        over.set(id, held)
        agents.add(held.agentId)
      }
      for (const agentId of agents) ended(agentId)
    }
    arm()
  }
  const end = (documentId: number, claimId?: string) => {
    for (const held of [live, over]) {
      if (claimId === undefined || held.get(documentId)?.claimId === claimId) held.delete(documentId)
    }
  }
  return {
    begin(claim, seconds) {
      end(claim.documentId)
      const endsAt = ticks() + seconds * 1000
      live.set(claim.documentId, { ...claim, endsAt })
      earliest = Math.min(earliest, endsAt)
      arm()
    },
    end,
    endedOf(agentId) {
      look()
      const found = [...over.values()].filter((held) => agentId === undefined || held.agentId === agentId)
      return found.sort((one, other) => one.documentId - other.documentId)
    },
    count: () => live.size + over.size,
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
