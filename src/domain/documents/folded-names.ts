// Folds the names of documents that an earlier version stored, in the background. A search folds the others itself.

import { setTimeout as wait } from 'node:timers/promises'
import { selectUnfolded, updateFoldedNames } from '../../store/documents/names.ts'
import { atomically, type Lock } from '../../store/engine.ts'
import type { ReadDb, WriteDb } from '../../store/tables.ts'

const ROWS_AT_ONCE = 200 // a few milliseconds
const PAUSE_SHARE = 3 // times the duration of a batch, for the uploads and claims of others

export async function foldNames(
  { db, reads }: { db: WriteDb; reads: ReadDb },
  lock: Lock,
  signal: AbortSignal,
): Promise<void> {
  const isStopped = () => signal.aborted || lock.lost.aborted
  while (!isStopped()) {
    const start = performance.now()
    const rows = await selectUnfolded(reads, ROWS_AT_ONCE)
    if (rows.length === 0) return
    await atomically(db, (trx) => updateFoldedNames(trx, rows), lock)
    await wait(PAUSE_SHARE * (performance.now() - start), undefined, { signal }).catch(() => {}) // stopped
  }
}
