// The composition: which parts a running cambista has and how they hang together. Shared by `serve`, `demo`
// and the tests, which hand in another clock, another provider or a file system that fails.

import { join } from 'node:path'
import { type Clock, type IsoDate, todayIn } from './dates.ts'
import { type BackupPlan, openNightlyBackup } from './domain/nightly-backup.ts'
import { AppError, reasonOf } from './errors.ts'
import { openKeyring } from './http/auth.ts'
import { type ServerOptions, startServer } from './http/server.ts'
import type { UploadLimits } from './http/uploads.ts'
import type { Log } from './log.ts'
import { PROVIDERS } from './providers/list.ts'
import type { Provider, ProviderSettings } from './providers/provider.ts'
import { type BlobFs, openBlobs } from './store/blobs.ts'
import { makeDataDir, openDatabase, type Upgrade } from './store/database.ts'
import { isBlobNamed, scanNamedBlobs } from './store/documents.ts'
import { type Lock, takeLock } from './store/lock.ts'
import { openRateBook } from './store/rate-book.ts'
import { diskError } from './store/storage-error.ts'
import { selectRuns } from './store/sync-runs.ts'
import type { Db } from './store/tables.ts'
import { watchDatabase } from './store/watch.ts'
import { ensureCatalogue } from './sync/catalogue.ts'
import { hasDollarOf, type SyncEnd, type SyncRequest, syncAll } from './sync/run.ts'
import { createScheduler, disabledScheduler } from './sync/scheduler.ts'

export type AppConfig = ServerOptions & {
  dataDir: string
  scheduler: boolean
  syncCron: string
  backfillFrom: IsoDate
  /** Undefined: no backups by itself. */
  backup?: BackupPlan | undefined
  /** Read anew for each sync run. */
  providerSettings: () => ProviderSettings
  limits: UploadLimits
  log: Log
}

export type AppOverrides = { clock?: Clock; providers?: readonly Provider[]; blobFs?: BlobFs }

export type App = {
  url: string
  /** Where the metrics are, if they have a port of their own. */
  metricsUrl: string | undefined
  /** Whether no key of the rates API has been made yet. */
  hasNoKey: boolean
  /** One run over every enabled provider, in this process. */
  sync(request: SyncRequest): Promise<SyncEnd[]>
  close(): Promise<void>
}

const KEY_USE_EVERY_MS = 60_000

export async function startApp(config: AppConfig, overrides: AppOverrides = {}): Promise<App> {
  const { log } = config
  const clock = overrides.clock ?? (() => new Date())
  const providers = overrides.providers ?? PROVIDERS
  await using parts = new AsyncDisposableStack() // closed in reverse, also when a later part fails to start

  // The lock first: to open an older database is to bring it up to date, which no living server may see.
  const lock = takeServeLock(config.dataDir)
  parts.defer(() => lock.release())
  const upgraded = (upgrade: Upgrade) => log.warn('database upgraded', upgrade)
  const db = openDatabase(config.dataDir, { upgraded })
  parts.defer(() => db.destroy())
  await ensureCatalogue(db, providers)
  const book = await openRateBook(db)
  const keyring = await openKeyring(db, clock)
  const failed = (error: unknown) => log.error('database look failed', { reason: reasonOf(error) })
  parts.defer(() => keyring.recordUse().catch(failed))

  const refresh = async () => {
    await book.refresh()
    await keyring.refresh()
  }
  const watch = await watchDatabase(db, refresh, failed)
  parts.defer(() => watch.close())
  await refresh()
  const keyUse = setInterval(() => keyring.recordUse().catch(failed), KEY_USE_EVERY_MS)
  parts.defer(() => clearInterval(keyUse))

  const syncDeps = {
    db,
    dataDir: config.dataDir,
    clock,
    log,
    backfillFrom: config.backfillFrom,
    settings: config.providerSettings,
    changed: () => book.refresh(),
  }
  const sync = (request: SyncRequest) => syncAll(syncDeps, providers, request)
  const scheduler = config.scheduler
    ? createScheduler({
        cron: config.syncCron,
        clock,
        log,
        lastRun: (await selectRuns(db, { limit: 1 }))[0],
        current: await hasDollarOf(db, todayIn(clock)),
        run: async (trigger, signal) => {
          const ends = await sync({ trigger, signal, range: undefined })
          return ends.every(({ run, current }) => run.status === 'ok' && current)
        },
      })
    : disabledScheduler(config.syncCron)
  parts.defer(() => scheduler.close())
  const { dataDir } = config
  const backups = config.backup && (await openNightlyBackup({ ...config.backup, dataDir, clock, log }))
  parts.defer(async () => backups?.close())

  const { blobs, blobsDir } = await openSweptBlobs(db, config.dataDir, log, overrides.blobFs)
  const { limits } = config
  const deps = { db, book, keyring, scheduler, backups, clock, log, blobs, blobsDir, limits }
  const server = await startServer(deps, config)
  parts.defer(() => server.close())
  scheduler.start()
  backups?.start()
  const open = parts.move()
  const { url, metricsUrl } = server
  return { url, metricsUrl, hasNoKey: keyring.hasNoKey(), sync, close: () => open.disposeAsync() }
}

function takeServeLock(dataDir: string): Lock {
  let lock: Lock | undefined
  try {
    makeDataDir(dataDir)
    lock = takeLock(dataDir, 'serve.lock')
  } catch (error) {
    if (error instanceof AppError) throw error
    const reason = reasonOf(diskError(error, dataDir))
    throw new AppError('failed', `cannot use the data directory ${dataDir}: ${reason}`, {
      cause: error,
    })
  }
  if (!lock) throw new AppError('failed', `the data directory is in use by another server: ${dataDir}`)
  return lock
}

/** Opens the folder of blobs and removes what a crash left in it. The caller holds the serve lock. */
async function openSweptBlobs(db: Db, dataDir: string, log: Log, fs?: BlobFs) {
  const blobsDir = join(dataDir, 'blobs')
  const blobs = await openBlobs(blobsDir, fs)
  let named: Set<string> | undefined
  const swept = await blobs.sweep(async (sha256) => {
    if (await isBlobNamed(db, sha256)) return true
    // Before the first is removed, all rows are asked: a document must not go because an index is damaged.
    named ??= await scanNamedBlobs(db)
    return named.has(sha256)
  })
  if (swept.temporary + swept.unnamed > 0) log.info('swept what a crash left', swept)
  return { blobs, blobsDir }
}
