// Compares the lineage of a shared database with the record of its blob store each second. While a
// node sees a former primary or a copy, it rejects all queries and is not ready.

import { AppError } from '../../runtime/errors.ts'
import type { BlobStore } from '../../store/blobs/open.ts'
import type { Engine } from '../../store/engine.ts'

const EVERY_MS = 1000

export type LineageWatch = { close(): Promise<void> }

/** Compares once before it resolves. @throws AppError `unavailable` for a former primary or a copy */
export async function watchLineage(
  { lineage, poll }: Pick<Engine, 'lineage' | 'poll'>,
  { lineage: store }: Pick<BlobStore, 'lineage'>,
): Promise<LineageWatch> {
  if (!lineage || !store) return { close: async () => {} }
  const findFault = async () => {
    if ((await store.settleLineage()) === undefined) return undefined
    // Another node may have renewed the database since the last poll.
    await poll().catch(() => {}) // the last reading decides
    return store.settleLineage()
  }
  const firstFault = await findFault().catch(() => undefined) // an unreachable store: uploads are rejected
  if (firstFault !== undefined) throw new AppError('unavailable', firstFault)
  let pendingCheck: Promise<void> | undefined
  const check = async () => lineage.block(await findFault())
  const timer = setInterval(() => {
    pendingCheck ??= check()
      .catch(() => {}) // the store or the database is unreachable: nothing is written, and the next check decides
      .finally(() => {
        pendingCheck = undefined
      })
  }, EVERY_MS)
  return {
    async close() {
      clearInterval(timer)
      await pendingCheck
    },
  }
}
