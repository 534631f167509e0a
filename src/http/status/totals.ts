// How much is stored. What takes a walk over all rows is kept, and walked again only after a hundred times as long as the
// walk took: at most a hundredth of the processor goes there.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { countDocuments, sumBlobs } from '../../store/documents.ts'
import { countFinishedRuns } from '../../store/sync-runs.ts'
import type { Db, SyncStatus } from '../../store/tables.ts'

export type Totals = {
  runs: { status: SyncStatus; count: number }[]
  documents: number
  blobs: number
  blobBytes: number
}

const WALK_SHARE = 100
const LONG_WALK_MS = 1000
const BLOBS_AT_ONCE = 1000 // a few milliseconds

/** The totals of now, or of a moment ago where it takes long to count. */
export function keptTotals(db: Db): () => Promise<Totals> {
  return kept(() => walk(db))
}

async function walk(db: Db): Promise<Totals> {
  const runs = await countFinishedRuns(db)
  const totals = { runs, documents: await countDocuments(db), blobs: 0, blobBytes: 0 }
  for (let after: string | undefined = ''; after !== undefined; ) {
    const { count, bytes, last } = await sumBlobs(db, after, BLOBS_AT_ONCE)
    totals.blobs += count
    totals.blobBytes += bytes
    after = last
    await nextTurn() // requests go first
  }
  return totals
}

/** Does the work at most for its share of the time. A caller meanwhile gets the result of before, if the work is long. */
function kept<T>(work: () => Promise<T>): () => Promise<T> {
  let before: { result: T; tookMs: number; until: number } | undefined
  let working: Promise<T> | undefined
  const begin = async () => {
    const begun = performance.now()
    try {
      const result = await work()
      const tookMs = performance.now() - begun
      before = { result, tookMs, until: begun + tookMs * WALK_SHARE }
      return result
    } finally {
      working = undefined
    }
  }
  return async () => {
    if (before && performance.now() < before.until) return before.result
    working ??= begin()
    if (!before || before.tookMs < LONG_WALK_MS) return working
    working.catch(() => {}) // the next caller hears of it
    return before.result
  }
}
