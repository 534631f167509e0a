// What the metrics say of the program's state, read when they are asked for. What takes a walk over all rows is kept, and
// walked again only after a hundred times as long as the walk took: at most a hundredth of the processor goes there.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../dates.ts'
import type { NightlyBackup } from '../../domain/backup/nightly.ts'
import { isJudged, sidesOfProviders } from '../../domain/rates/health.ts'
import type { CacheState, RateCache } from '../../domain/rates/rate-cache.ts'
import type { Provider } from '../../providers/provider.ts'
import type { Semaphore } from '../../semaphore.ts'
import { freeBytes } from '../../store/blobs/blobs.ts'
import { countDocuments, sumBlobs } from '../../store/documents.ts'
import { countFinishedRuns, selectLastGoodRunOf } from '../../store/sync-runs.ts'
import type { Db, SyncStatus } from '../../store/tables.ts'
import type { Schedulers } from '../../sync/schedulers.ts'

type Totals = {
  runs: { status: SyncStatus; count: number }[]
  documents: number
  blobs: number
  blobBytes: number
}

/** Undefined is what there is none of. */
export type MetricsSnapshot = Totals & {
  rates: number
  /** By side of each benchmark, 0: of today by the provider's clock; -1: of tomorrow. */
  benchmarkAgeDays: { provider: string; side: string; days: number | undefined }[]
  /** Of the provider whose last good sync is the oldest. */
  goodSyncAgeSeconds: number | undefined
  /** Seconds since 1970. */
  nextSync: number | undefined
  freeBytes: number
  uploads: { running: number; waiting: number }
  caches: Record<string, CacheState>
  backup: { ageSeconds: number; ok: boolean } | undefined
}

export type VitalsDeps = {
  db: Db
  cache: RateCache
  scheduler: Pick<Schedulers, 'tasks'>
  providers: readonly Provider[]
  backups: NightlyBackup | undefined
  clock: Clock
  blobsDir: string
  uploads: Pick<Semaphore, 'status'>
  caches: () => Record<string, CacheState>
}

const WALK_SHARE = 100
const LONG_WALK_MS = 1000
const BLOBS_AT_ONCE = 1000 // a few milliseconds

export function metricsSnapshotOf(deps: VitalsDeps): () => Promise<MetricsSnapshot> {
  const { db, cache, caches, scheduler, backups, clock, blobsDir, uploads } = deps
  const totals = kept(() => walk(db))
  const ageOf = (then: Date) => (clock().getTime() - then.getTime()) / 1000
  return async () => {
    const sides = await cache.read((snapshot) => sidesOfProviders(snapshot, deps))
    const good = await lastGoodSync(db, cache)
    const next = scheduler.tasks().flatMap(({ nextRun }) => nextRun?.getTime() ?? [])
    const { lastRun, lastStatus } = backups?.status() ?? {}
    return {
      ...(await totals()),
      rates: (await cache.snapshot().countRates()).all,
      benchmarkAgeDays: sides.flatMap(({ provider, sides }) =>
        sides.map(({ rateType, ageDays }) => ({ provider: provider.code, side: rateType, days: ageDays })),
      ),
      goodSyncAgeSeconds: good && ageOf(good),
      nextSync: next.length > 0 ? Math.min(...next) / 1000 : undefined,
      freeBytes: await freeBytes(blobsDir),
      uploads: uploads.status(),
      caches: caches(),
      backup: lastRun && { ageSeconds: ageOf(lastRun), ok: lastStatus === 'ok' },
    }
  }
}

/** When the provider that waits longest for one had its last good sync; undefined when one of them never had any. */
async function lastGoodSync(db: Db, cache: RateCache): Promise<Date | undefined> {
  const snapshot = cache.snapshot()
  const ends: number[] = []
  for (const row of snapshot.providers.filter((one) => isJudged(snapshot, one))) {
    const good = await selectLastGoodRunOf(db, row.id)
    if (!good?.finished_at) return undefined
    ends.push(new Date(good.finished_at).getTime())
  }
  return ends.length > 0 ? new Date(Math.min(...ends)) : undefined
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
