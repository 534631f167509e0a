// The composition: which parts a running cambista has and how they hang together. Shared by `serve`, `demo`
// and the tests, which hand in another clock, another provider or a file system that fails.

import type { Clock, IsoDate } from './dates.ts'
import { type BackupPlan, openNightlyBackup } from './domain/backup/nightly.ts'
import { watchDatabase } from './domain/database-watch.ts'
import { createArrivals, openSharedArrivals } from './domain/documents/arrivals.ts'
import { failAbandoned, openLeases } from './domain/documents/claims/claims.ts'
import { openServedContents } from './domain/documents/served-contents.ts'
import { startHousekeeping } from './domain/housekeeping.ts'
import { keptExportable } from './domain/rates/export.ts'
import { openPastRates } from './domain/rates/past.ts'
import { openRateCache } from './domain/rates/rate-cache.ts'
import { AppError } from './errors.ts'
import { openHooks } from './hooks/hooks.ts'
import { openKeyring } from './http/api/auth.ts'
import type { UploadLimits } from './http/documents/uploads/receive.ts'
import { ANY_ADDRESS, FORGEABLE_ADDRESS } from './http/listener/networks.ts'
import { type ServerOptions, startServer } from './http/server.ts'
import { type Log, loggingFailures } from './log.ts'
import type { Provider, ProviderSettings } from './providers/provider.ts'
import type { BlobFs } from './store/blobs/folder.ts'
import { hookKeyOf } from './store/hooks/key.ts'
import { openEngine } from './store/open-engine.ts'
import type { Place } from './store/place.ts'
import type { LeaseTimes } from './store/postgres/lease.ts'
import { forgetServerAddress, removeServerAddress, writeServerAddress } from './store/server-address.ts'
import type { Upgrade } from './store/sqlite/database.ts'
import { ensureCatalogue } from './sync/catalogue.ts'
import { floorOf } from './sync/order.ts'
import type { HistoryProgress } from './sync/progress.ts'
import { type SyncEnd, type SyncRequest, syncAll } from './sync/run.ts'
import { openSchedulers } from './sync/schedulers.ts'

export type AppConfig = ServerOptions &
  Place & {
    scheduler: boolean
    /** When a provider is synced, in the time of its zone. */
    syncCron: (provider: Provider) => string
    backfillFrom: IsoDate
    /** Undefined: no backups by itself. */
    backup?: BackupPlan | undefined
    /** Of a database that nodes share: whether its tables may be made and changed; true unless told. */
    migrate?: boolean
    /** For how long rates are answered while it is away. */
    staleForMs: number
    /** For how many days what documents no longer need stays in the place for contents. */
    keepRemovedDays: number
    /** For how many days events are kept. */
    keepEvents: number
    /** After so many claims that nobody finished a document is failed. */
    maxAttempts: number
    /** A provider's own settings, read anew for each run of it. */
    providerSettings: (provider: Provider) => ProviderSettings
    limits: UploadLimits
    log: Log
    /** Sources of rates. */
    providers: readonly Provider[]
    /** Ends a start that waits for its database. */
    stop?: AbortSignal
  }

export type AppOverrides = {
  clock?: Clock
  blobFs?: BlobFs
  /** Milliseconds that never go back, by which leases are measured. */
  ticks?: () => number
  /** Of the database (`OpenOptions`). */
  patienceMs?: number
  /** Of the tasks that one of several nodes has. */
  leaseTimes?: LeaseTimes
  /** How long a hook is waited for; ten seconds unless told. */
  hookTryMs?: number
}

export type App = {
  url: string
  /** The further addresses, in their order. */
  alsoUrls: string[]
  /** Where the metrics are, if they have a port of their own. */
  metricsUrl: string | undefined
  /** Where its data are (`Engine.place`). */
  place: string
  /** Whether no key of the rates API has been made yet. */
  hasNoKey: boolean
  /** One run over every enabled provider, in this process. */
  sync(request: SyncRequest): Promise<SyncEnd[]>
  /** How far a run of this process is that reads history; undefined when there is none under way. */
  historyProgress(): HistoryProgress | undefined
  close(): Promise<void>
}

const KEY_USE_EVERY_MS = 60_000
const ABANDONED_EVERY_MS = 30_000

/** What is wrong with a database that nodes share is waited for, wherever the start is by then (`Waiting`). */
export async function startApp(config: AppConfig, overrides: AppOverrides = {}): Promise<App> {
  if (config.database === undefined) return openApp(config, overrides)
  const { createWaiting } = await import('./http/waiting.ts')
  const waiting = createWaiting(config)
  try {
    return await waiting.until(() => openApp(config, overrides, waiting))
  } finally {
    await waiting.close()
  }
}

/** `before`: has the port until then. */
async function openApp(
  config: AppConfig,
  overrides: AppOverrides,
  before?: { close(): Promise<void> },
): Promise<App> {
  const { providers } = config
  await using parts = new AsyncDisposableStack() // closed in reverse, also when a later part fails to start

  const upgraded = (upgrade: Upgrade) => config.log.warn('database upgraded', upgrade)
  const { clock: ownClock, patienceMs, leaseTimes } = overrides
  const wentBack = () => config.log.error('the database lost what clients know: its data have a new epoch')
  const openOptions = { server: true, clock: ownClock, upgraded, patienceMs, wentBack, leaseTimes }
  const engine = await openEngine(config, { ...openOptions, migrate: config.migrate })
  parts.defer(() => engine.close())
  const { db, reads, clock, takeLock, holderOf, isReady } = engine
  const database = await watchDatabase(engine, config)
  parts.defer(() => database.close())
  const log = database.quiet(config.log)
  const isAlone = engine.kind === 'sqlite'
  if (isAlone) removeServerAddress(config.dataDir) // of a server that was killed
  await ensureCatalogue(db, providers, clock)
  const cache = await openRateCache(engine.longReads, providers)
  const keepExportable = isAlone ? undefined : keptExportable(reads, cache)
  keepExportable?.()
  const past = openPastRates(engine.longReads)
  const keyring = await openKeyring(engine, clock, database.memoryAge)
  const local = config.proxies === ANY_ADDRESS ? keyring.keyWithNetwork() : undefined
  if (local !== undefined) {
    throw new AppError('usage', `${FORGEABLE_ADDRESS}, or revoke the key ${local}, which has a network`)
  }
  const recordUse = loggingFailures(log, 'the last use of keys and tokens is not stored', keyring.recordUse)
  parts.defer(recordUse)

  const arrivals = createArrivals()
  const leases = await openLeases(db, arrivals, { clock, ticks: overrides.ticks })
  parts.defer(() => leases.close())
  const claiming = { db, arrivals, leases, clock, maxAttempts: config.maxAttempts }
  const sending = { db, key: () => hookKeyOf(config), clock, log, tryMs: overrides.hookTryMs }
  const hooks = isAlone
    ? openHooks(sending)
    : (await import('./hooks/shared-hooks.ts')).openSharedHooks({ ...sending, takeLock }, leaseTimes?.renewMs)
  const announceArrivals = isAlone ? undefined : await openSharedArrivals(reads, arrivals)
  database.start(async ({ data, access, documents }) => {
    if (documents) hooks.wake()
    if (documents) await announceArrivals?.()
    if (data) await cache.refresh()
    if (data) keepExportable?.()
    if (access) await keyring.refresh()
    if (documents) leases.wake() // one may have been made new again
  })
  const keyUse = setInterval(recordUse, KEY_USE_EVERY_MS)
  parts.defer(() => clearInterval(keyUse))
  const fail = () => failAbandoned(claiming)
  const failing = loggingFailures(log, 'documents with too many claims are not failed yet', fail)
  const abandoned = setInterval(failing, ABANDONED_EVERY_MS)
  parts.defer(() => clearInterval(abandoned))

  let readingHistory: (() => HistoryProgress) | undefined
  const historyProgress = () => readingHistory?.()
  const syncDeps = {
    ...{ db, clock, takeLock, holderOf },
    log,
    backfillFrom: config.backfillFrom,
    settings: config.providerSettings,
    changed: () => cache.refresh(),
    ended: hooks.wake,
    readsHistory: (progress: (() => HistoryProgress) | undefined) => {
      readingHistory = progress
    },
  }
  const sync = (request: SyncRequest) => syncAll(syncDeps, providers, request)
  const { scheduler: enabled, syncCron: cronOf } = config
  const scheduler = isAlone
    ? await openSchedulers(syncDeps, providers, { enabled, cronOf })
    : (await import('./sync/shared-schedulers.ts')).openSharedSchedulers(syncDeps, providers, {
        ...{ enabled, cronOf },
        everyMs: leaseTimes?.renewMs,
      })
  parts.defer(() => scheduler.close())
  const { dataDir } = config
  const backups = config.backup && (await openNightlyBackup({ ...config.backup, dataDir, clock, log }))
  parts.defer(async () => backups?.close())

  const contents = await openServedContents(config, engine, { log, fs: overrides.blobFs })
  parts.use(contents)
  const { blobs } = contents
  const { limits, keepEvents, keepRemovedDays } = config
  const historyFrom = ({ groups: [first] }: Provider) =>
    first ? floorOf(first, config.backfillFrom) : config.backfillFrom
  const health = { providers, historyFrom, reading: historyProgress }
  const stores = { db, reads, isReady, blobs, arrivals, claiming }
  const sharing = isAlone ? undefined : await import('./http/page/shared-sessions.ts')
  const { wake: wakeHooks } = hooks
  const deps = {
    ...stores,
    sharedSessions: sharing?.openSharedSessions(engine),
    cache,
    past,
    keyring,
    scheduler,
    backups,
    wakeHooks,
    clock,
    log,
    limits,
    ...health,
    database,
    defects: config.log,
  }
  await before?.close()
  const server = await startServer(deps, config)
  parts.defer(() => server.close())
  if (isAlone) {
    writeServerAddress(dataDir, server.url, { minFree: limits.minFree, backup: config.backup })
    parts.defer(() => forgetServerAddress(dataDir))
  }
  scheduler.start()
  backups?.start()
  hooks.start()
  parts.defer(() => hooks.close())
  const { shared } = contents
  const housekeeping = startHousekeeping({ db, clock, takeLock, log, keepEvents, shared, keepRemovedDays })
  parts.defer(() => housekeeping.close())
  const opened = parts.move()
  const { url, alsoUrls, metricsUrl } = server
  return {
    ...{ url, alsoUrls, metricsUrl, place: engine.place, hasNoKey: keyring.hasNoKey() },
    sync,
    historyProgress,
    close: () => opened.disposeAsync(),
  }
}
