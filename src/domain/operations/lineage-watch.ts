// Compares the lineage of a shared database with the record of its blob store each second. While a
// node sees a former primary or a copy, it rejects all queries and is not ready. Each ten seconds, and at start and end, it
// compares the change counters. A database that went back while no node ran is renewed.

import { AppError } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import type { BlobStore } from '../../store/blobs/open-blobs.ts'
import type { Engine } from '../../store/engine.ts'
import type { LineageRenewal } from '../../store/open-engine.ts'

const EVERY_MS = 1000
const GO_BACK_HINT =
  'cambista doctor names the contents that no document needs any more; keys and tokens that were revoked since are valid again'
const COUNTERS_EVERY_MS = 10_000
const UNREACHABLE = Symbol('unreachable')

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
  let countersTime = Number.NEGATIVE_INFINITY
  const settleCounters = async () => {
    if (await store.findsEarlierCounters()) {
      await poll() // another node may have recorded later counters than those of the last poll
      const { generation } = lineage.current() ?? {}
      if (generation !== undefined && (await store.findsEarlierCounters()))
        await lineage.raiseGeneration(generation)
    }
    countersTime = performance.now()
  }
  const firstFault = await findFault().catch(() => UNREACHABLE) // uploads are rejected
  if (typeof firstFault === 'string') throw new AppError('unavailable', firstFault)
  if (firstFault === undefined) await settleCounters()
  let pendingCheck: Promise<void> | undefined
  const check = async () => {
    const fault = await findFault()
    lineage.block(fault)
    if (fault === undefined && performance.now() - countersTime >= COUNTERS_EVERY_MS) await settleCounters()
  }
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
      await poll()
        .then(findFault)
        .then((fault) => (fault === undefined ? settleCounters() : undefined))
        .catch(() => {}) // unreachable: the record stays as it is
    },
  }
}

/** Logs what happened to the database, and what to do. */
export function logRenewal({ cause, timelines, gap, ids }: LineageRenewal, log: Log): void {
  const event =
    cause === 'timeline'
      ? 'the database failed over: its data have a new epoch'
      : 'the database lost what clients know: its data have a new epoch'
  const [unknown_from, unknown_to] = gap ? [gap.from, gap.to].map((ms) => new Date(ms).toISOString()) : []
  const facts = { timeline_before: timelines.from, timeline: timelines.to, unknown_from, unknown_to }
  log.error(event, { ...facts, next_document: (ids.documents ?? 0) + 1, hint: GO_BACK_HINT })
}
