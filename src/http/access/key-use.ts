// Counts the requests of keys in memory, with the newest networks of their clients. A task of each minute stores them: no
// request writes a row.

import { addKeyUse, type KeyUse, MOST_NETWORKS } from '../../store/access/key-use.ts'
import { splitBatches } from '../../store/batches.ts'
import { atomically } from '../../store/engine.ts'
import type { WriteDb } from '../../store/tables.ts'
import { type Clock, currentDay } from '../../values/dates.ts'

export type KeyUseCounter = {
  /** Counts a request with a valid key. */
  count(keyId: number, network: string): void
  /** Stores the requests since the previous call. After a failure the next call stores them too. */
  store(): Promise<void>
}

/** `networks`: the newest, oldest first. */
type KeyCount = { requests: number; networks: Set<string> }

export function createKeyUse(db: WriteDb, clock: Clock): KeyUseCounter {
  let counts = new Map<number, KeyCount>()
  const add = (keyId: number, requests: number, network: string) => {
    const count = counts.getOrInsertComputed(keyId, () => ({ requests: 0, networks: new Set() }))
    count.requests += requests
    count.networks.delete(network)
    count.networks.add(network)
    const [oldest = ''] = count.networks
    if (count.networks.size > MOST_NETWORKS) count.networks.delete(oldest)
  }
  return {
    count: (keyId, network) => add(keyId, 1, network),
    async store() {
      if (counts.size === 0) return
      const snapshot = counts
      counts = new Map()
      const now = clock()
      const uses = [...snapshot].map(summarize).sort((one, other) => one.keyId - other.keyId)
      const moment = { at: now.toISOString(), day: currentDay(() => now) }
      try {
        await atomically(db, async (trx) => {
          for (const some of splitBatches(uses, 1000)) await addKeyUse(trx, some, moment)
        })
      } catch (error) {
        for (const { keyId, requests, networks } of uses) {
          for (const [at, network] of networks.entries()) add(keyId, at === 0 ? requests : 0, network)
        }
        throw error
      }
    },
  }
}

function summarize([keyId, { requests, networks }]: [number, KeyCount]): KeyUse {
  return { keyId, requests, networks: [...networks] }
}
