// Upkeep of the counters of documents: counts documents that were never counted, and merges the rows of the counters.

import { areUncounted, countCountRows, mergeCounts, recountDocuments } from '../../store/documents/counts.ts'
import { engineSql } from '../../store/engine.ts'
import type { WriteDb } from '../../store/tables.ts'
import { type Clock, currentDay } from '../../values/dates.ts'

const MERGED_AT_LEAST = 100 // rows; a sum over 100 rows takes less than 0.1 ms

/** Counts documents that were never counted, after an upgrade. Call it before requests are answered. */
export async function countUncounted(db: WriteDb, clock: Clock): Promise<void> {
  if (await areUncounted(db)) await recountDocuments(db, currentDay(clock))
}

/** Counts all documents anew where nodes of an earlier version may run, which change documents and no counters. */
export async function countForOlderNodes(db: WriteDb, clock: Clock): Promise<void> {
  if (engineSql(db).mayHaveOlderNodes) await recountDocuments(db, currentDay(clock))
}

/** Returns a task that merges the rows of the counters when there are many new ones. */
export function createCountMerger(db: WriteDb, clock: Clock): () => Promise<void> {
  let least = 0
  return async () => {
    if ((await countCountRows(db)) < least + MERGED_AT_LEAST) return
    least = await mergeCounts(db, currentDay(clock))
  }
}
