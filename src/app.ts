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
import { type Housekeeping, startHousekeeping } from './domain/operations/housekeeping.ts'
import { logRenewal, watchLineage } from './domain/operations/lineage-watch.ts'
import { readSamples } from './domain/operations/sample-reads.ts'
import { activeProviders } from './domain/rates/active-providers.ts'
import { createExportReader } from './domain/rates/export/export.ts'
import { sidesOfProviders } from './domain/rates/health.ts'
import { openPastRates } from './domain/rates/history/past.ts'
import { openRateCache } from './domain/rates/rate-cache.ts'
import { openKeyring } from './http/access/auth.ts'
import { createUploadTurns, type UploadLimits } from './http/documents/uploads/receive.ts'
import { requireRealAddresses } from './http/listener/networks.ts'
import { type ServerOptions, startServer } from './http/server.ts'
import { createWaiting } from './http/waiting.ts'
import type { PageBundler } from './http/web/assets.ts'
import type { OpinionRequest } from './providers/opinion-source.ts'
import type { Provider, ProviderSettings } from './providers/provider.ts'
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
import { providerFloor } from './sync/windows/order.ts'
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
    providers: readonly Provider[]
    bundlePage?: PageBundler | undefined
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
  /** Resolves after the housekeeping so far. */
  idle(): Promise<void>
  close(): Promise<void>
}

const KEY_USE_EVERY_MS = 60_000
const ABANDONED_EVERY_MS = 30_000
const COUNTS_EVERY_MS = 10_000
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
  return {
    ...apps.current(),
    sync: (request) => apps.current().sync(request),
    historyProgress: () => apps.current().historyProgress(),
    idle: () => apps.current().idle(),
    close: apps.close,
  }
}

/** `before` is closed to free the port for the server. `onlyReads`: on a full disk. */
async function openApp(
  config: AppConfig,
  overrides: AppOverrides,
  { before, onlyReads = false }: { before?: { close(): Promise<void> }; onlyReads?: boolean },
): Promise<App> {
  await using parts = new AsyncDisposableStack() // closed in reverse, also when a later part fails to start
  const start: Start = { config, overrides, onlyReads, parts }
  const store = await openStore(start)
  const memory = await openMemory(start, store)
  const documents = await openDocuments(start, store)
  const syncs = await openSyncs(start, store, memory, documents)
  const app: Parts = { store, memory, documents, syncs }
  const work = createWork(start, app)
  store.database.start(async ({ data, access, documents: hasDocuments }) => {
    if (store.renewal.isNew) work.tidy() // not before queries are allowed again
    store.renewal.isNew = false
    if (hasDocuments) documents.hooks.wake()
    if (hasDocuments) await documents.announceCommits()
    if (data) await memory.cache.refresh()
    if (data) memory.readExportAhead()
    if (data) await syncs.scheduler.refresh()
    if (access) await memory.keyring.refresh()
    if (hasDocuments) documents.leases.wake() // a lease may have been renewed
  })
  const sources = { cache: memory.cache, reads: store.engine.reads, blobs: documents.served.blobs }
  const samples = { current: config.probation && (await readSamples(sources)) }
  await before?.close()
  const { url, alsoUrls, metricsUrl } = await openServer(start, app, samples)
  parts.use(work.parts)
  if (store.guard === undefined) work.begin()
  else {
    const end = () => endProbation(start, store, work, samples)
    void logFailures(store.log, 'probation cannot be ended', end)()
  }
  const openParts = parts.move()
  const { sync, historyProgress } = syncs
  return {
    ...{ url, alsoUrls, metricsUrl, sync, historyProgress, place: store.engine.location },
    ...{ hasNoKey: memory.keyring.hasNoKey(), idle: work.idle },
    activeProviders: activeProviders(config.providers, memory.cache.snapshot().providers),
    close: () => openParts.disposeAsync(),
  }
}

type Start = { config: AppConfig; overrides: AppOverrides; onlyReads: boolean; parts: AsyncDisposableStack }
type Opened<Open extends (...args: never[]) => unknown> = Awaited<ReturnType<Open>>
type Store = Opened<typeof openStore>
type Memory = Opened<typeof openMemory>
type DocumentParts = Opened<typeof openDocuments>
type Parts = { store: Store; memory: Memory; documents: DocumentParts; syncs: Opened<typeof openSyncs> }
type ProbationSamples = { current: Awaited<ReturnType<typeof readSamples>> | undefined }

function closeLater<P extends { close(): unknown }>({ parts }: Start, part: P): P {
  return parts.adopt(part, async (one) => void (await one.close()))
}

/** Opens the database. `engine` rejects writes while the app only reads; `renewal` is for `work`. */
async function openStore(start: Start) {
  const { config, onlyReads } = start
  const { clock, patienceMs, leaseTimes, repeatPoll } = start.overrides
  const { probation, providers, dataDir } = config
  const renewal = { isNew: false }
  const onBallast = () => logBallast(dataDir, config.log)
  const options = {
    ...{ server: true, onlyReads, onBallast, clock, patienceMs, leaseTimes },
    onUpgrade: (upgrade: Upgrade) => config.log.warn('database upgraded', upgrade),
    onRenewal(facts: LineageRenewal) {
      logRenewal(facts, config.log)
      renewal.isNew = true
    },
    // The schema of a shared database is never put back, so an upgrade does not migrate it.
    migrate: config.migrate !== false && probation === undefined,
  }
  const unguarded = closeLater(start, await openEngine(config, options))
  const database = closeLater(start, await watchDatabase(unguarded, { ...config, repeatPoll }))
  if (!onlyReads) {
    await ensureCatalogue(unguarded.db, providers, unguarded.clock)
    await countUncounted(unguarded.db, unguarded.clock)
  }
  const reason = onlyReads ? 'full-disk' : probation && 'probation'
  const guard = reason && guardWrites(unguarded.db, reason)
  return {
    ...{ unguarded, database, guard, onBallast, renewal, log: database.quiet(config.log) },
    engine: guard ? { ...unguarded, db: guard.db } : unguarded,
  }
}

/** Loads what requests read from memory: rates and keys. */
async function openMemory({ config }: Start, { engine, database, log }: Store) {
  const cache = await openRateCache(engine.longReads, config.providers, ({ name, days }) => {
    const first = isoDate(days[0]?.first ?? 0)
    log.error('stored values are damaged', { of: name, first, intervals: days.length })
  })
  const readExportAhead = createExportReader(engine.reads, cache)
  readExportAhead()
  const keyring = await openKeyring(engine, engine.clock, () => database.memoryAge())
  requireRealAddresses(config.proxies, keyring.keyWithNetwork())
  return { cache, readExportAhead, past: openPastRates(engine.longReads), keyring }
}

/** Opens what accepts and hands out documents. */
async function openDocuments(start: Start, { unguarded, engine, guard, log, onBallast }: Store) {
  const { config, overrides, onlyReads } = start
  const { db, reads, clock, takeLock } = engine
  const { ticks, leaseTimes, hookTryMs, blobFs } = overrides
  const waiters = createWaiters()
  const leases = closeLater(start, await openLeases(unguarded.db, waiters, { clock, ticks, onlyReads }))
  const hookKey = { key: () => findHookKey(config), mayHaveKey: mayHaveHookKey(config) }
  const hookTimes = { retryMs: leaseTimes?.renewMs, attemptMs: hookTryMs }
  const hooks = openHooks({ db, ...hookKey, clock, log, takeLock, ...hookTimes })
  const announceCommits = await openSharedWaiters(reads, waiters)
  const onFailure = (error: unknown) => {
    if (hasBallast(config) && makeRoom(config.dataDir, error)) onBallast()
  }
  const blobOptions = { log, fs: blobFs, restores: !guard, onFailure }
  const blobStore = start.parts.use(await openServedBlobs(config, unguarded, blobOptions))
  closeLater(start, await watchLineage(engine, blobStore))
  return {
    ...{ waiters, leases, hooks, announceCommits, blobStore },
    served: {
      ...{ blobs: blobStore.blobs, limits: config.limits, wakeHooks: hooks.wake, ticks },
      claiming: { db, waiters, leases, clock, maxAttempts: config.maxAttempts, wakeHooks: hooks.wake },
      turns: createUploadTurns(config.limits),
      invoices: createInvoiceTally(),
      knownMails: new Map<number, number>(),
    },
  }
}

/** Opens the schedulers of syncs and backups, without a run before `createWork` begins. */
async function openSyncs(start: Start, { engine, log }: Store, { cache }: Memory, { hooks }: DocumentParts) {
  const { config, overrides } = start
  const { db, clock, takeLock, findHolder } = engine
  const { providers, backfillFrom, scheduler: enabled, syncCron, secondOpinion, dataDir } = config
  let readingHistory: (() => HistoryProgress) | undefined
  const deps = {
    ...{ db, clock, takeLock, findHolder, log, backfillFrom },
    settings: config.providerSettings,
    onCommit: () => cache.refresh(),
    onClose: hooks.wake,
    onHistory(progress: (() => HistoryProgress) | undefined) {
      readingHistory = progress
    },
  }
  const opinion = secondOpinion && closeLater(start, openSecondOpinion({ db, clock, log }, secondOpinion))
  const options = { enabled, syncCron, retryMs: overrides.leaseTimes?.renewMs, opinion }
  const scheduler = closeLater(start, openSchedulers(deps, providers, options))
  const backups = config.backup && (await openNightlyBackup({ ...config.backup, dataDir, clock, log }))
  start.parts.defer(async () => backups?.close())
  return {
    ...{ scheduler, backups },
    sync: (request: SyncRequest) => syncAll(deps, providers, request),
    historyProgress: () => readingHistory?.(),
  }
}

/** Starts the server, publishes its address, and reads the dollar ahead. */
async function openServer(
  start: Start,
  { store, memory, documents, syncs }: Parts,
  samples: ProbationSamples,
) {
  const { config, onlyReads, parts } = start
  const { engine, database, log } = store
  const { clock, reads } = engine
  const { cache, past, keyring } = memory
  const { providers, limits, backfillFrom, secondOpinion, bundlePage } = config
  const findHistoryStart = providerFloor(backfillFrom)
  const { scheduler, backups, historyProgress: reading } = syncs
  const deps = {
    ...{ engine, database, keyring, scheduler, backups, log, defects: config.log },
    rates: { cache, past, indicators: createIndicatorReader(reads, indicatorOrigin(providers)) },
    health: { clock, providers, findHistoryStart, reading, hasSecondOpinion: !!secondOpinion },
    documents: documents.served,
    ...{ samples: () => samples.current, onlyReads, bundlePage },
  }
  const server = closeLater(start, await startServer(deps, config))
  const readDollarAhead = async () => {
    try {
      await cache.read((snapshot) => sidesOfProviders(snapshot, { clock, providers }))
      log.debug('the dollar is read ahead')
    } catch {} // a request reports the error
  }
  parts.adopt(setTimeout(readDollarAhead, READ_DOLLAR_AFTER_MS), clearTimeout)
  parts.defer(engine.publishServer(server.url, { minFree: limits.minFree, backup: config.backup }))
  return server
}

/** Tasks that write without a request. `tidy` does nothing before `begin`, which tidies. */
function createWork({ config, overrides }: Start, { store, memory: { keyring }, documents, syncs }: Parts) {
  const { log, engine } = store
  const { db, reads, clock, takeLock } = engine
  const { dataDir, keepEvents, keepRemovedDays, limits, outgoing } = config
  const { blobStore, waiters, hooks, served } = documents
  const { blobs, turns, invoices, knownMails, claiming, wakeHooks } = served
  const parts = new AsyncDisposableStack()
  const repeat = (task: () => unknown, ms: number) => parts.adopt(setInterval(task, ms), clearInterval)
  const closePart = (part: { close(): Promise<void> }) => part.close()
  let housekeeping: Housekeeping | undefined
  return {
    parts,
    tidy: () => housekeeping?.tidy(),
    idle: async () => housekeeping?.idle(),
    begin() {
      const recordUse = logFailures(log, 'the last use of keys and tokens is not stored', keyring.recordUse)
      parts.defer(recordUse)
      repeat(recordUse, KEY_USE_EVERY_MS)
      const fail = () => failAbandoned(claiming)
      repeat(logFailures(log, 'documents with too many claims are not failed yet', fail), ABANDONED_EVERY_MS)
      repeat(logFailures(log, 'counters are not merged yet', createCountMerger(db, clock)), COUNTS_EVERY_MS)
      syncs.scheduler.start()
      syncs.backups?.start()
      parts.adopt(hooks, closePart).start()
      parts.adopt(startOlderDocuments({ db, reads, takeLock, blobs, log }), closePart)
      const storage = { db, blobs, clock, waiters, wakeHooks, turns, minFree: limits.minFree, invoices }
      const mail = { reads, takeLock, log, storage, knownMails, outgoing }
      parts.adopt(startMailTask(mail, overrides.mailReadMs), closePart)
      housekeeping = startHousekeeping({
        ...{ db, reads, clock, takeLock, log, keepEvents, blobStore, keepRemovedDays },
        makeBallast: hasBallast(config) ? () => makeBallast(dataDir, limits.minFree) : undefined,
      })
      parts.adopt(housekeeping, closePart)
    },
  }
}

/** Begins the work when the upgrade is confirmed; never on a full disk. */
async function endProbation(
  { config, onlyReads }: Start,
  { guard, log }: Store,
  work: ReturnType<typeof createWork>,
  samples: ProbationSamples,
): Promise<void> {
  if (!onlyReads) log.warn('on probation after an upgrade: it only reads', samples.current)
  await config.probation
  if (work.parts.disposed) return
  samples.current = undefined
  if (onlyReads) return
  guard?.lift()
  work.begin()
  log.warn('the upgrade is confirmed: it writes')
}

function hasBallast({ ballast, database }: AppConfig): boolean {
  return ballast === true && database === undefined
}
