// Counts stored rows. A count over all rows is cached for 100 times its duration, to use at most 1 % of the processor.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { sumBlobs } from '../../store/documents/documents.ts'
import { countCorrections } from '../../store/rates/change-log.ts'
import { countFinishedRuns } from '../../store/rates/sync-runs.ts'
import { countRows } from '../../store/rows.ts'
import type { ReadDb, SyncStatus } from '../../store/tables.ts'

export type Totals = {
  runs: { status: SyncStatus; count: number }[]
  /** Values that the sources corrected. */
  corrections: number
  documents: number
  blobs: number
  blobBytes: number
}

const WALK_SHARE = 100
const LONG_WALK_MS = 1000
const BLOBS_AT_ONCE = 1000 // a few milliseconds

/**
 * Returns a function for the totals, cached for 100 times the duration of their count. A count over 1 s runs in the
 * background: callers get the old result.
 */
export function cachedTotals(db: ReadDb): () => Promise<Totals> {
  let before: { result: Totals; tookMs: number; until: number } | undefined
  let working: Promise<Totals> | undefined
  const begin = async () => {
    const start = performance.now()
    try {
      const result = await countTotals(db)
      const tookMs = performance.now() - start
      before = { result, tookMs, until: start + tookMs * WALK_SHARE }
      return result
    } finally {
      working = undefined
    }
  }
  return async () => {
    if (before && performance.now() < before.until) return before.result
    working ??= begin()
    if (!before || before.tookMs < LONG_WALK_MS) return working
    working.catch(() => {}) // the next caller gets the error
    return before.result
  }
}

async function countTotals(db: ReadDb): Promise<Totals> {
  const runs = await countFinishedRuns(db)
  const corrections = await countCorrections(db)
  const totals = { runs, corrections, documents: await countRows(db, 'documents'), blobs: 0, blobBytes: 0 }
  for (let after: string | undefined = ''; after !== undefined; ) {
    const { count, bytes, last } = await sumBlobs(db, after, BLOBS_AT_ONCE)
    totals.blobs += count
    totals.blobBytes += bytes
    after = last
    await nextTurn() // lets requests run first
  }
  return totals
}
