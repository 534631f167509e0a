// What the metrics say of the program's state, read when they are asked for.

import type { Clock } from '../../dates.ts'
import type { NightlyBackup } from '../../domain/backup/nightly.ts'
import type { DatabaseState } from '../../domain/database-watch.ts'
import type { Arrivals } from '../../domain/documents/arrivals.ts'
import { isJudged, sidesOfProviders } from '../../domain/rates/health.ts'
import type { CacheState, RateCache } from '../../domain/rates/rate-cache.ts'
import type { Provider } from '../../providers/provider.ts'
import type { Semaphore } from '../../semaphore.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import { countHooks } from '../../store/hooks/hooks.ts'
import { selectLastGoodRunOf } from '../../store/sync-runs.ts'
import type { Db } from '../../store/tables.ts'
import type { Schedulers } from '../../sync/schedulers.ts'
import type { Totals } from './totals.ts'

type Stored = Totals & {
  /** Of the provider whose last good sync is the oldest; Infinity: there was none. */
  goodSyncAgeSeconds: number
  /** Seconds since 1970. */
  nextSync: number | undefined
  hooks: { failing: number; waiting: number; givenUp: number }
}

/** Undefined is what there is none of, and what only the database knows while it is away. */
export type MetricsSnapshot = (Stored | typeof UNKNOWN) & {
  rates: number
  roundedRates: number
  /** By side of each benchmark, 0: of today by the provider's clock; -1: of tomorrow. */
  benchmarkAgeDays: { provider: string; side: string; days: number | undefined }[]
  freeBytes: number | undefined
  uploads: { running: number; waiting: number }
  documentWaits: number
  /** Of a database that nodes share: since when it does not answer, and how far this machine's clock is behind its own. */
  shared: { silentSeconds: number; clockOffsetSeconds: number | undefined } | undefined
  caches: Record<string, CacheState>
  backup: { ageSeconds: number; ok: boolean } | undefined
  /** Infinity: backups are made, and none is known to be good. */
  verifiedBackupAgeSeconds: number | undefined
}

export type VitalsDeps = {
  db: Db
  cache: RateCache
  scheduler: Pick<Schedulers, 'tasks'>
  providers: readonly Provider[]
  backups: NightlyBackup | undefined
  clock: Clock
  blobs: Pick<Blobs, 'freeBytes'>
  uploads: Pick<Semaphore, 'status'>
  arrivals: Pick<Arrivals, 'waiting'>
  caches: () => Record<string, CacheState>
  totals: () => Promise<Totals>
  database: DatabaseState
}

/** So that an alert on an age goes off where there is nothing at all. */
export const NEVER = Number.POSITIVE_INFINITY
const UNKNOWN = {
  runs: undefined,
  documents: undefined,
  blobs: undefined,
  blobBytes: undefined,
  goodSyncAgeSeconds: undefined,
  nextSync: undefined,
  hooks: undefined,
}

export function metricsSnapshotOf(deps: VitalsDeps): () => Promise<MetricsSnapshot> {
  const { cache, caches, backups, clock, blobs, uploads, arrivals, database } = deps
  return async () => {
    const sides = await cache.read((snapshot) => sidesOfProviders(snapshot, deps))
    const { lastRun, lastStatus, lastVerified } = backups?.status() ?? {}
    const { all, rounded } = await cache.snapshot().countRates()
    return {
      ...(database.isAway() ? UNKNOWN : await storedOf(deps)),
      rates: all,
      roundedRates: rounded,
      benchmarkAgeDays: sides.flatMap(({ provider, sides }) =>
        sides.map(({ rateType, ageDays }) => ({ provider: provider.code, side: rateType, days: ageDays })),
      ),
      freeBytes: await blobs.freeBytes?.(),
      uploads: uploads.status(),
      documentWaits: arrivals.waiting(),
      shared: database.isShared
        ? { silentSeconds: database.silentSeconds(), clockOffsetSeconds: database.clockOffsetSeconds() }
        : undefined,
      caches: caches(),
      backup: lastRun && { ageSeconds: secondsSince(lastRun, clock), ok: lastStatus === 'ok' },
      verifiedBackupAgeSeconds: backups && (lastVerified ? secondsSince(lastVerified, clock) : NEVER),
    }
  }
}

/** What is asked of the database each time. */
async function storedOf({ db, cache, clock, scheduler, totals }: VitalsDeps): Promise<Stored> {
  const good = await lastGoodSync(db, cache)
  const next = (await scheduler.tasks()).flatMap(({ nextRun }) => nextRun?.getTime() ?? [])
  return {
    ...(await totals()),
    goodSyncAgeSeconds: good ? secondsSince(good, clock) : NEVER,
    nextSync: next.length > 0 ? Math.min(...next) / 1000 : undefined,
    hooks: await countHooks(db),
  }
}

function secondsSince(then: Date, clock: Clock): number {
  return (clock().getTime() - then.getTime()) / 1000
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
