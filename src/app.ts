// Composition of a running cambista: its parts and their dependencies. `serve`, `demo` and the tests share it. Tests
// pass another clock, another provider or a failing file system.

import { createWaiters, openSharedWaiters } from './domain/documents/arrivals.ts'
import { failAbandoned } from './domain/documents/claims/claiming.ts'
import { openLeases } from './domain/documents/claims/leases.ts'
import { countUncounted, createCountMerger } from './domain/documents/counts.ts'
import { openServedBlobs } from './domain/documents/served-blobs.ts'
import { createInvoiceTally } from './domain/documents/uploads/uploaded-files.ts'
import { openHooks } from './domain/hooks/delivery.ts'
import { createIndicatorReader, indicatorOrigin } from './domain/indicators/reader.ts'
import { startOlderDocuments } from './domain/invoices/older-documents.ts'
import { startMailTask } from './domain/mail/task.ts'
import { type BackupPlan, openNightlyBackup } from './domain/operations/backup/nightly.ts'
import { type Repeat, watchDatabase } from './domain/operations/database-watch.ts'
import { logBallast, startWithRoom } from './domain/operations/full-disk.ts'
import { startHousekeeping } from './domain/operations/housekeeping.ts'
import { watchLineage } from './domain/operations/lineage-watch.ts'
import { readSamples } from './domain/operations/sample-reads.ts'
import { activeProviders } from './domain/rates/active-providers.ts'
import { createExportReader } from './domain/rates/export/export.ts'
import { sidesOfProviders } from './domain/rates/health.ts'
import { openPastRates } from './domain/rates/history/past.ts'
import { openRateCache } from './domain/rates/rate-cache.ts'
import { openKeyring } from './http/access/auth.ts'
import { createUploadTurns, type UploadLimits } from './http/documents/uploads/receive.ts'
import { ANY_ADDRESS, FORGEABLE_ADDRESS } from './http/listener/networks.ts'
import { type ServerOptions, startServer } from './http/server.ts'
import { createWaiting } from './http/waiting.ts'
import type { OpinionRequest } from './providers/opinion-source.ts'
import type { Provider, ProviderSettings } from './providers/provider.ts'
import { AppError, errorReason } from './runtime/errors.ts'
import { type Log, logFailures } from './runtime/log.ts'
import { giveUpBallast, makeBallast, makeRoom } from './store/ballast.ts'
import type { BlobFs } from './store/blobs/folder.ts'
import { findHookKey, mayHaveHookKey } from './store/hooks/key.ts'
import { type LeaseTimes, type LineageRenewal, openEngine, type Upgrade } from './store/open-engine.ts'
import type { StorageConfig } from './store/storage-config.ts'
import { guardWrites } from './store/write-guard.ts'
import { ensureCatalogue } from './sync/catalogue.ts'
import { openSecondOpinion } from './sync/opinion-request.ts'
import type { HistoryProgress } from './sync/progress.ts'
import { type SyncRequest, type SyncResult, syncAll } from './sync/run.ts'
import { openSchedulers } from './sync/schedulers.ts'
import { historyFloor } from './sync/windows/order.ts'
import { type Clock, type IsoDate, isoDate } from './values/dates.ts'

export type AppConfig = ServerOptions &
  StorageConfig & {
    scheduler: boolean
    /** Returns the cron pattern of a provider, in its time zone. */
    syncCron: (provider: Provider) => string
    backfillFrom: IsoDate
    /** Undefined: no nightly backups. */
    backup?: BackupPlan | undefined
    /** Creates and upgrades the tables of a database that nodes share; default true. */
    migrate?: boolean
    /** Milliseconds for which rates are served while the database is unavailable. */
    staleForMs: number
    /** Days after which blobs without a document are deleted from the blob store. */
    keepRemovedDays: number
    /** Days after which events are deleted. */
    keepEvents: number
    /** Number of unfinished claims after which a document fails. */
    maxAttempts: number
    /** Returns the current settings of a provider; called for each run. */
    providerSettings: (provider: Provider) => ProviderSettings
    /** Source of a second opinion on the dollar; undefined: none is requested. */
    secondOpinion?: OpinionRequest | undefined
    limits: UploadLimits
    /** Has files in the data directory that a full disk takes; false removes them. */
    ballast?: boolean | undefined
    log: Log
    /** Providers of rates. */
    providers: readonly Provider[]
    /** Aborts a start that waits for its database. */
    stop?: AbortSignal
    /** Resolves when the upgrade is confirmed: until then the server only reads. Undefined: there was no upgrade. */
    probation?: Promise<void> | undefined
  }

export type AppOverrides = {
  clock?: Clock
  blobFs?: BlobFs
  /** Returns milliseconds of a monotonic clock, for leases and for summaries of the queue. */
  ticks?: () => number
  /** Limit of waiting for the database (`OpenOptions`). */
  patienceMs?: number
  /** Times of the leases of leader tasks. */
  leaseTimes?: LeaseTimes
  /** Timer of the polls of the database; default four times a second. */
  repeatPoll?: Repeat
  /** Time-out of a webhook delivery; default 10 seconds. */
  hookTryMs?: number
  /** Milliseconds between two reads of the mailboxes that are due; default 5 seconds. */
  mailReadMs?: number
}

export type App = {
  url: string
  /** URLs of the additional addresses, in their order. */
  alsoUrls: string[]
  /** URL of the metrics, if they have their own port. */
  metricsUrl: string | undefined
  /** Location of the data (`Engine.place`). */
  place: string
  /** True when no key of the rates API exists yet. */
  hasNoKey: boolean
  /** Runs a sync over each enabled provider, in this process. */
  sync(request: SyncRequest): Promise<SyncResult[]>
  /** Returns the progress of a run that reads history; undefined: no such run. */
  historyProgress(): HistoryProgress | undefined
  /** Providers that were active at the start. */
  activeProviders: readonly Provider[]
  close(): Promise<void>
}

const GO_BACK_HINT =
  'cambista doctor names the contents that no document needs any more; keys and tokens that were revoked since are valid again'
const KEY_USE_EVERY_MS = 60_000
const ABANDONED_EVERY_MS = 30_000
const MERGE_COUNTS_EVERY_MS = 10_000
const READ_DOLLAR_AFTER_MS = 100 // the start itself does not wait for it

/** Starts the program, and retries while the database does not answer (`Waiting`). */
export async function startApp(config: AppConfig, overrides: AppOverrides = {}): Promise<App> {
  if (config.database === undefined) return openOnDisk(config, overrides) // a damaged file does not heal by waiting
  const waiting = createWaiting(config)
  try {
    return await waiting.until(() => openApp(config, overrides, { before: waiting }))
  } finally {
    await waiting.close()
  }
}

/** Opens an app over a data directory. On a full disk it only reads, and another one replaces it on the same port. */
async function openOnDisk(config: AppConfig, overrides: AppOverrides): Promise<App> {
  if (config.ballast === false) giveUpBallast(config.dataDir)
  let { port } = config
  const apps = await startWithRoom(config, async (onlyReads) => {
    const app = await openApp({ ...config, port }, overrides, { onlyReads })
    port = Number(new URL(app.url).port) || port
    return app
  })
  const app = apps.current()
  return {
    ...app,
    sync: (request) => apps.current().sync(request),
    historyProgress: () => apps.current().historyProgress(),
    close: apps.close,
  }
}

/** `before` is closed to free the port for the server. `onlyReads`: on a full disk. */
async function openApp(
  config: AppConfig,
  overrides: AppOverrides,
  { before, onlyReads = false }: { before?: { close(): Promise<void> }; onlyReads?: boolean },
): Promise<App> {
  const { providers } = config
  await using parts = new AsyncDisposableStack() // closed in reverse, also when a later part fails to start
  const closeLater = <P extends { close(): unknown }>(part: P): P =>
    parts.adopt(part, async (one) => void (await one.close()))

  const onUpgrade = (upgrade: Upgrade) => config.log.warn('database upgraded', upgrade)
  const { clock: ownClock, patienceMs, leaseTimes, ticks } = overrides
  let tidy = () => {} // the first run is at the start
  let isRenewed = false
  const onRenewal = (renewal: LineageRenewal) => {
    logRenewal(renewal, config.log)
    isRenewed = true
  }
  const onBallast = () => logBallast(config.dataDir, config.log)
  const openOptions = {
    server: true,
    ...{ onlyReads, onBallast },
    clock: ownClock,
    onUpgrade,
    patienceMs,
    onRenewal,
    leaseTimes,
  }
  const { probation } = config
  // The schema of a shared database is never put back, so an upgrade does not migrate it.
  const migrate = config.migrate !== false && probation === undefined
  const unguarded = closeLater(await openEngine(config, { ...openOptions, migrate }))
  const { reads, clock, takeLock, findHolder } = unguarded
  const database = closeLater(await watchDatabase(unguarded, { ...config, repeatPoll: overrides.repeatPoll }))
  const log = database.quiet(config.log)
  if (!onlyReads) {
    await ensureCatalogue(unguarded.db, providers, clock)
    await countUncounted(unguarded.db, clock)
  }
  const waiters = createWaiters()
  const leases = closeLater(await openLeases(unguarded.db, waiters, { clock, ticks, onlyReads }))
  const guardReason = onlyReads ? 'full-disk' : probation && 'probation'
  const guard = guardReason && guardWrites(unguarded.db, guardReason)
  const engine = guard ? { ...unguarded, db: guard.db } : unguarded
  const { db } = engine
  const cache = await openRateCache(engine.longReads, providers, ({ name, days }) => {
    const first = isoDate(days[0]?.first ?? 0)
    log.error('stored values are damaged', { of: name, first, intervals: days.length })
  })
  const readExportAhead = createExportReader(reads, cache)
  readExportAhead()
  const past = openPastRates(engine.longReads)
  const keyring = await openKeyring(engine, clock, () => database.memoryAge())
  const local = config.proxies === ANY_ADDRESS ? keyring.keyWithNetwork() : undefined
  if (local !== undefined) {
    throw new AppError('usage', `${FORGEABLE_ADDRESS}, or revoke the key ${local}, which has a network`)
  }

  const retryMs = leaseTimes?.renewMs
  const hookKey = { key: () => findHookKey(config), mayHaveKey: mayHaveHookKey(config) }
  const hooks = openHooks({ db, ...hookKey, clock, log, takeLock, retryMs, attemptMs: overrides.hookTryMs })
  const claiming = { db, waiters, leases, clock, maxAttempts: config.maxAttempts, wakeHooks: hooks.wake }
  const announceCommits = await openSharedWaiters(reads, waiters)
  database.start(async ({ data, access, documents }) => {
    if (isRenewed) tidy() // not before queries are allowed again
    isRenewed = false
    if (documents) hooks.wake()
    if (documents) await announceCommits()
    if (data) await cache.refresh()
    if (data) readExportAhead()
    if (data) await scheduler.refresh()
    if (access) await keyring.refresh()
    if (documents) leases.wake() // a lease may have been renewed
  })

  let readingHistory: (() => HistoryProgress) | undefined
  const historyProgress = () => readingHistory?.()
  const syncDeps = {
    ...{ db, clock, takeLock, findHolder, log },
    backfillFrom: config.backfillFrom,
    settings: config.providerSettings,
    onCommit: () => cache.refresh(),
    onClose: hooks.wake,
    onHistory: (progress: (() => HistoryProgress) | undefined) => {
      readingHistory = progress
    },
  }
  const sync = (request: SyncRequest) => syncAll(syncDeps, providers, request)
  const { scheduler: enabled, syncCron, secondOpinion } = config
  const opinion = secondOpinion && closeLater(openSecondOpinion({ db, clock, log }, secondOpinion))
  const scheduler = closeLater(openSchedulers(syncDeps, providers, { enabled, syncCron, retryMs, opinion }))
  const { dataDir } = config
  const backups = config.backup && (await openNightlyBackup({ ...config.backup, dataDir, clock, log }))
  parts.defer(async () => backups?.close())

  const hasBallast = config.ballast === true && config.database === undefined
  const onFailure = (error: unknown) => {
    if (hasBallast && makeRoom(dataDir, error)) onBallast()
  }
  const opening = { log, fs: overrides.blobFs, collects: !guard, onFailure }
  const blobStore = parts.use(await openServedBlobs(config, unguarded, opening))
  const { blobs } = blobStore
  let samples = probation && (await readSamples({ cache, reads, blobs }))
  closeLater(await watchLineage(engine, blobStore))
  const { limits, keepEvents, keepRemovedDays } = config
  const findHistoryStart = ({ groups: [first] }: Provider) =>
    first ? historyFloor(first, config.backfillFrom) : config.backfillFrom
  const [turns, invoices] = [createUploadTurns(limits), createInvoiceTally()]
  const knownMails = new Map<number, number>()
  await before?.close()
  const server = closeLater(
    await startServer(
      {
        ...{ engine, database, keyring, scheduler, backups, log, defects: config.log },
        rates: { cache, past, indicators: createIndicatorReader(reads, indicatorOrigin(providers)) },
        health: {
          clock,
          providers,
          findHistoryStart,
          reading: historyProgress,
          hasSecondOpinion: !!secondOpinion,
        },
        documents: { blobs, claiming, limits, turns, invoices, knownMails, wakeHooks: hooks.wake, ticks },
        samples: () => samples,
        onlyReads,
      },
      config,
    ),
  )
  const readDollar = async () => {
    await cache.read((snapshot) => sidesOfProviders(snapshot, { clock, providers }))
  }
  const readDollarAhead = () =>
    readDollar().then(
      () => log.debug('the dollar is read ahead'),
      () => {}, // a request reports the error
    )
  parts.adopt(setTimeout(readDollarAhead, READ_DOLLAR_AFTER_MS), clearTimeout)
  parts.defer(engine.publishServer(server.url, { minFree: limits.minFree, backup: config.backup }))
  const work = parts.use(new AsyncDisposableStack()) // tasks that write without a request
  const beginWork = () => {
    const repeat = (task: () => unknown, ms: number) => work.adopt(setInterval(task, ms), clearInterval)
    const recordUse = logFailures(log, 'the last use of keys and tokens is not stored', keyring.recordUse)
    work.defer(recordUse)
    repeat(recordUse, KEY_USE_EVERY_MS)
    const fail = () => failAbandoned(claiming)
    repeat(logFailures(log, 'documents with too many claims are not failed yet', fail), ABANDONED_EVERY_MS)
    const mergeCounts = logFailures(log, 'counters are not merged yet', createCountMerger(db, clock))
    repeat(mergeCounts, MERGE_COUNTS_EVERY_MS)
    scheduler.start()
    backups?.start()
    work.adopt(hooks, (one) => one.close()).start()
    const housekeeping = startHousekeeping({
      ...{ db, reads, clock, takeLock, log, keepEvents, blobStore, keepRemovedDays },
      makeBallast: hasBallast ? () => makeBallast(dataDir, limits.minFree) : undefined,
    })
    work.adopt(startOlderDocuments({ db, reads, takeLock, blobs, log }), (one) => one.close())
    const storage = {
      ...{ db, blobs, clock, waiters, wakeHooks: hooks.wake, turns, minFree: limits.minFree, invoices },
    }
    const mail = { reads, takeLock, log, storage, knownMails }
    work.adopt(startMailTask(mail, overrides.mailReadMs), (one) => one.close())
    ;({ tidy } = work.adopt(housekeeping, (one) => one.close()))
  }
  if (!guard) beginWork()
  else {
    if (!onlyReads) log.warn('on probation after an upgrade: it only reads', samples)
    const end = async () => {
      await probation
      if (work.disposed) return
      samples = undefined
      if (onlyReads) return
      guard.lift()
      beginWork()
      log.warn('the upgrade is confirmed: it writes')
    }
    end().catch((error: unknown) => log.error('probation cannot be ended', { reason: errorReason(error) }))
  }
  const openParts = parts.move()
  const { url, alsoUrls, metricsUrl } = server
  return {
    ...{ url, alsoUrls, metricsUrl, place: engine.location, hasNoKey: keyring.hasNoKey() },
    sync,
    historyProgress,
    activeProviders: activeProviders(providers, cache.snapshot().providers),
    close: () => openParts.disposeAsync(),
  }
}

/** Logs what happened to the database, and what to do. */
function logRenewal({ cause, timelines, gap, ids }: LineageRenewal, log: Log): void {
  const event =
    cause === 'timeline'
      ? 'the database failed over: its data have a new epoch'
      : 'the database lost what clients know: its data have a new epoch'
  const [unknown_from, unknown_to] = gap ? [gap.from, gap.to].map((ms) => new Date(ms).toISOString()) : []
  const facts = { timeline_before: timelines.from, timeline: timelines.to, unknown_from, unknown_to }
  log.error(event, { ...facts, next_document: (ids.documents ?? 0) + 1, hint: GO_BACK_HINT })
}
