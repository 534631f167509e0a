// A whole cambista in this process for one test: real SQLite, real HTTP on both sides. The bank and the clock are
// fakes. Everything is closed and removed when the test ends.

import { mkdirSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { type App, startApp } from '../../src/app.ts'
import { type Bank, type BankOptions, startBank } from '../../src/demo/bank.ts'
import { hashOfSecret, makeSecret } from '../../src/domain/access/secrets.ts'
import type { BackupPlan } from '../../src/domain/operations/backup/nightly.ts'
import type { Repeat } from '../../src/domain/operations/database-watch.ts'
import type { UploadLimits } from '../../src/http/documents/uploads/receive.ts'
import type { ServerOptions } from '../../src/http/server.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { createLog } from '../../src/runtime/log.ts'
import { insertApiKey } from '../../src/store/access/api-keys.ts'
import type { BlobFs } from '../../src/store/blobs/folder.ts'
import { ensureHookKey } from '../../src/store/hooks/key.ts'
import type { LeaseTimes } from '../../src/store/postgres/lease.ts'
import type { SyncResult } from '../../src/sync/run.ts'
import type { IsoDate } from '../../src/values/dates.ts'
import { bundlePage } from './bundle-page.ts'
import { TEST_PROVIDERS } from './providers.ts'
import { fixedClock, openTestDatabase, postgres, type TestClock, temporaryDirectory } from './temporary.ts'

export {
  fixedClock,
  ofSqlite,
  postgres,
  type TestClock,
  temporaryDatabase,
  temporaryDirectory,
} from './temporary.ts'

export type TestApp = {
  app: App
  bank: Bank
  clock: TestClock
  dataDir: string
  key: string
  /** Log lines of the program. */
  logLines: string[]
  /** GET with the key. */
  get(path: string, headers?: Record<string, string>): Promise<Response>
  /** GET with the key, the JSON body of a 200. */
  json<T = unknown>(path: string): Promise<T>
  /** Syncs a range, or everything since `backfillFrom`. */
  sync(range?: { from: IsoDate; to: IsoDate }): Promise<SyncResult>
}

export type TestAppOptions = {
  now?: string
  dataDir?: string
  backfillFrom?: IsoDate
  scheduler?: boolean
  /** `null`: no token, so that the website API is read. A function is called for each run. */
  token?: string | null | (() => string | undefined)
  /** A clock that outlives this app, instead of `now`. */
  clock?: TestClock
  /** Replaces the central bank, which reads the fake bank. */
  providers?: readonly Provider[]
  /** Address and token of each provider other than the central bank, by code. */
  sources?: Record<string, () => { url: string; token: string | undefined }>
  bank?: Partial<BankOptions>
  limits?: Partial<UploadLimits>
  blobFs?: BlobFs
  maxAttempts?: number
  /** Monotonic milliseconds of leases and summaries, instead of those of the process. */
  ticks?: () => number
  /** Milliseconds to wait for a database that another process locks. */
  patienceMs?: number
  /** Timer of the polls of the database (events/timer.ts). */
  repeatPoll?: Repeat
  /** Times of the leases of leader tasks. */
  leaseTimes?: LeaseTimes
  /** `null`: no key of hooks is configured. */
  hookKey?: null
  /** Database address for this node alone. */
  database?: string
  /** Milliseconds for which rates are served while the database is unreachable. */
  staleForMs?: number
  listen?: Partial<ServerOptions>
  backup?: BackupPlan
  probation?: Promise<void>
  ballast?: boolean
  /** Milliseconds between two reads of the mailboxes. */
  mailReadMs?: number
  /** URL of the source of a second opinion. */
  opinionUrl?: string
  /** `false`: the first housekeeping, which sweeps the contents, may still run. */
  isIdle?: false
}

export async function startTestApp(t: TestContext, options: TestAppOptions = {}): Promise<TestApp> {
  const clock = options.clock ?? fixedClock(options.now)
  const dataDir = options.dataDir ?? temporaryDirectory(t)
  const bank = await startBank({ token: 'test-token', today: clock.today, ...options.bank })
  t.after(() => bank.close())
  const logLines: string[] = []
  if (postgres) mkdirSync(dataDir, { recursive: true }) // the database makes none; contents and the hook key go there
  const key = await makeKey(dataDir, clock)
  const { token: tokenOption = 'test-token' } = options
  const token = typeof tokenOption === 'function' ? tokenOption : () => tokenOption ?? undefined
  const app = await startApp(
    {
      host: '127.0.0.1',
      port: 0,
      ...options.listen,
      dataDir,
      database: options.database ?? (await postgres?.postgresAddress(dataDir)),
      hookKey: postgres && options.hookKey !== null ? await ensureHookKey(dataDir) : undefined,
      scheduler: options.scheduler ?? false,
      syncCron: ({ settings }) => settings.schedule.fallback,
      backfillFrom: options.backfillFrom ?? '2026-01-01',
      providerSettings: ({ code }) => {
        const shared = { paceMs: 0, userAgent: 'cambista/test' }
        return { ...shared, ...(options.sources?.[code]?.() ?? { url: bank.url, token: token() }) }
      },
      limits: {
        maxBody: 64 * 1024 ** 2,
        minFree: 0,
        maxUploads: 16,
        waitMs: 60_000, // long, so that a stall of the machine causes no time-out
        idleMs: 60_000,
        ...options.limits,
      },
      backup: options.backup,
      probation: options.probation,
      ballast: options.ballast,
      secondOpinion: options.opinionUrl
        ? { url: options.opinionUrl, userAgent: 'cambista/test', timeoutMs: 60_000 }
        : undefined,
      staleForMs: options.staleForMs ?? 300_000,
      keepRemovedDays: 8,
      keepEvents: 730,
      maxAttempts: options.maxAttempts ?? 5,
      log: createLog({ level: 'debug', format: 'json', write: (text) => logLines.push(text) }),
      providers: options.providers ?? TEST_PROVIDERS,
      bundlePage,
    },
    {
      clock: clock.read,
      ...(options.blobFs && { blobFs: options.blobFs }),
      ...(options.patienceMs && { patienceMs: options.patienceMs }),
      ...(options.ticks && { ticks: options.ticks }),
      ...(options.repeatPoll && { repeatPoll: options.repeatPoll }),
      ...(options.leaseTimes && { leaseTimes: options.leaseTimes }),
      ...(options.mailReadMs && { mailReadMs: options.mailReadMs }),
    },
  )
  t.after(() => app.close())
  if (options.isIdle !== false) await app.idle() // tests write contents as another process, which no program does
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(app.url + path, { headers: { 'x-api-key': key, ...headers } })
  return {
    app,
    bank,
    clock,
    dataDir,
    key,
    logLines,
    get,
    async json<T>(path: string) {
      const response = await get(path)
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`)
      return (await response.json()) as T
    },
    async sync(range) {
      const [end] = await app.sync({ trigger: 'cli', range, signal: new AbortController().signal })
      if (!end) throw new Error('no provider is enabled')
      return end
    },
  }
}

async function makeKey(dataDir: string, clock: TestClock): Promise<string> {
  const db = openTestDatabase(dataDir)
  const key = makeSecret('cbk_')
  await insertApiKey(db, {
    name: `test ${key.slice(-6)}`,
    hash: hashOfSecret(key),
    createdAt: clock.read().toISOString(),
  })
  await db.destroy()
  return key
}
