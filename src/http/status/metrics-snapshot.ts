// State of the program for the metrics, read at each scrape.

import { EVERYTHING } from '../../domain/documents/access.ts'
import type { DocumentWaiters } from '../../domain/documents/arrivals.ts'
import type { Summaries } from '../../domain/documents/summary.ts'
import type { InvoiceCount, InvoiceTally } from '../../domain/documents/uploads/uploaded-files.ts'
import { selectIndicatorStates } from '../../domain/indicators/indicator-freshness.ts'
import type { NightlyBackup } from '../../domain/operations/backup/nightly.ts'
import type { DatabaseMetrics, DatabaseState } from '../../domain/operations/database-watch.ts'
import { type HealthQuery, isJudged, sidesOfProviders } from '../../domain/rates/health.ts'
import type { CacheState, RateCache } from '../../domain/rates/rate-cache.ts'
import type { Semaphore } from '../../runtime/semaphore.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import { countHooks } from '../../store/hooks/hooks.ts'
import { selectMailboxes } from '../../store/mail/mailboxes.ts'
import { selectLastSuccessfulRun } from '../../store/rates/sync-runs.ts'
import type { ReadDb } from '../../store/tables.ts'
import type { Schedulers } from '../../sync/schedulers.ts'
import type { Clock } from '../../values/dates.ts'
import type { Totals } from './totals.ts'

type DatabaseValues = Totals & {
  /** Age of the oldest last good sync among the providers; Infinity: a provider had none. */
  goodSyncAgeSeconds: number
  /** Seconds since 1970. */
  nextSync: number | undefined
  hooks: { failing: number; waiting: number; givenUp: number }
  /** Queues of the first 200 agents. */
  agents: { id: number; waiting: number; oldestWaitingSeconds: number; failed: number }[]
  /** Seconds since 1970 of the last round that succeeded; null: none did. `waiting`: mails, null: unknown. */
  mailboxes: {
    name: string
    taken: number
    refused: number
    knownCount: number
    lastSuccess: number | null
    waiting: number | null
  }[]
  /** Days since the newest value of each enabled indicator; null: it has none. */
  indicators: { code: string; days: number | null }[]
}

/** Undefined: does not exist, or is in the database, which does not answer. */
export type MetricsSnapshot = Partial<DatabaseValues> & {
  rates: number
  roundedRates: number
  damagedRates: number
  /** By side of each benchmark. 0: today in the provider's time zone; -1: tomorrow. */
  benchmarkAgeDays: { provider: string; side: string; days: number | undefined }[]
  freeBytes: number | undefined
  uploads: { running: number; waiting: number }
  documentWaits: number
  /** Invoices among the uploads since the start. */
  invoices: InvoiceCount[]
  /** Database of a cluster: seconds without an answer, and how far this machine's clock is behind it. */
  shared: DatabaseMetrics | undefined
  caches: Record<string, CacheState>
  backup: { ageSeconds: number; ok: boolean } | undefined
  /** Infinity: backups are made, but none is verified. */
  verifiedBackupAgeSeconds: number | undefined
}

type VitalsDeps = {
  db: ReadDb
  cache: RateCache
  scheduler: Pick<Schedulers, 'tasks'>
  backups: NightlyBackup | undefined
  health: Pick<HealthQuery, 'clock' | 'providers'>
  blobs: Pick<Blobs, 'freeBytes'>
  uploads: Pick<Semaphore, 'status'>
  invoices: Pick<InvoiceTally, 'counts'>
  /** Mails that were stored already, since the start, by id of the mailbox. */
  knownMails: ReadonlyMap<number, number>
  waiters: Pick<DocumentWaiters, 'waiting'>
  caches: () => Record<string, CacheState>
  totals: () => Promise<Totals>
  summaries: Pick<Summaries, 'byAgent'>
  database: DatabaseState
}

/** Age of something that does not exist, so that alerts on the age fire. */
export const NEVER = Number.POSITIVE_INFINITY

export function metricsSnapshotOf(deps: VitalsDeps): () => Promise<MetricsSnapshot> {
  const { cache, caches, backups, health, blobs, uploads, waiters, database } = deps
  const { clock } = health
  return async () => {
    const sides = await cache.read((snapshot) => sidesOfProviders(snapshot, health))
    const { lastRun, lastStatus, lastVerified } = backups?.status() ?? {}
    const { all, rounded } = await cache.snapshot().countRates()
    return {
      ...(database.isAway() ? {} : await readDatabaseValues(deps)),
      rates: all,
      roundedRates: rounded,
      damagedRates: cache
        .snapshot()
        .listDamage()
        .flatMap(({ days }) => days).length,
      benchmarkAgeDays: sides.flatMap(({ provider, sides }) =>
        sides.map(({ rateType, ageDays }) => ({ provider: provider.code, side: rateType, days: ageDays })),
      ),
      freeBytes: await blobs.freeBytes?.(),
      uploads: uploads.status(),
      documentWaits: waiters.waiting(),
      invoices: deps.invoices.counts(),
      shared: database.metrics(),
      caches: caches(),
      backup: lastRun && { ageSeconds: elapsedSeconds(lastRun, clock), ok: lastStatus === 'ok' },
      verifiedBackupAgeSeconds: backups && (lastVerified ? elapsedSeconds(lastVerified, clock) : NEVER),
    }
  }
}

/** Reads the values that need a query at each scrape. */
async function readDatabaseValues({
  db,
  cache,
  health: { clock },
  scheduler,
  totals,
  summaries,
  knownMails,
}: VitalsDeps): Promise<DatabaseValues> {
  const { agents } = await summaries.byAgent(EVERYTHING, {})
  const good = await lastGoodSync(db, cache)
  const next = (await scheduler.tasks()).flatMap(({ nextRun }) => nextRun?.getTime() ?? [])
  return {
    ...(await totals()),
    goodSyncAgeSeconds: good ? elapsedSeconds(good, clock) : NEVER,
    nextSync: next.length > 0 ? Math.min(...next) / 1000 : undefined,
    hooks: await countHooks(db),
    agents: agents.map(({ agent_id, waiting, oldest_waiting_at: oldest, failed }) => ({
      ...{ id: agent_id, waiting, failed },
      oldestWaitingSeconds: oldest === null ? 0 : elapsedSeconds(new Date(oldest), clock),
    })),
    mailboxes: (await selectMailboxes(db)).map(({ id, name, taken, refused, last_success_at, waiting }) => ({
      ...{ name, taken, refused, waiting, knownCount: knownMails.get(id) ?? 0 },
      lastSuccess: last_success_at === null ? null : new Date(last_success_at).getTime() / 1000,
    })),
    indicators: (await selectIndicatorStates(db, clock)).map(({ code, age_days: days }) => ({ code, days })),
  }
}

function elapsedSeconds(then: Date, clock: Clock): number {
  return (clock().getTime() - then.getTime()) / 1000
}

/** Returns the end of the oldest last good sync among the providers; undefined if a provider never had one. */
async function lastGoodSync(db: ReadDb, cache: RateCache): Promise<Date | undefined> {
  const snapshot = cache.snapshot()
  const ends: number[] = []
  for (const row of snapshot.providers.filter((one) => isJudged(snapshot, one))) {
    const good = await selectLastSuccessfulRun(db, row.id)
    if (!good?.finished_at) return undefined
    ends.push(new Date(good.finished_at).getTime())
  }
  return ends.length > 0 ? new Date(Math.min(...ends)) : undefined
}
