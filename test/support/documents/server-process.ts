// A server of its own process as a test needs it. Its one argument is JSON (`Facts`); it prints its URL.

import { startApp } from '../../../src/app.ts'
import { createLog } from '../../../src/log.ts'
import { needHookKey } from '../../../src/store/hooks/key.ts'
import type { LeaseTimes } from '../../../src/store/postgres/lease.ts'
import { TEST_PROVIDERS } from '../providers.ts'
import { randomOf } from '../rates/random-bank.ts'

export type Facts = {
  dataDir: string
  /** The address of a PostgreSQL. */
  database?: string
  /** How many times faster time passes by which leases of claims are measured: those of seconds end in milliseconds. */
  faster?: number
  /** Of the jumps of its clock, which makes none without it. */
  seed?: number
  leaseTimes?: LeaseTimes
}

const { dataDir, database, faster = 1, seed, leaseTimes }: Facts = JSON.parse(process.argv[2] ?? '')
const DAY_MS = 86_400_000

let jumped = 0
if (seed !== undefined) {
  const random = randomOf(seed)
  setInterval(() => {
    jumped = random.int(-2 * DAY_MS, 2 * DAY_MS)
  }, 50).unref()
}

const app = await startApp(
  {
    host: '127.0.0.1',
    port: 0,
    dataDir,
    database,
    hookKey: database === undefined ? undefined : await needHookKey(dataDir),
    scheduler: false,
    syncCron: ({ settings }) => settings.schedule.fallback,
    backfillFrom: '2026-01-01',
    providerSettings: () => ({
      url: 'http://127.0.0.1:1',
      token: undefined,
      paceMs: 0,
      userAgent: 'cambista/test',
    }),
    limits: { maxBody: 64 * 1024 ** 2, minFree: 0, maxUploads: 16, waitMs: 60_000, idleMs: 60_000 },
    staleForMs: 300_000,
    keepRemovedDays: 8,
    keepEvents: 36_500,
    maxAttempts: 4,
    providers: TEST_PROVIDERS,
    log: createLog({ level: 'warn', format: 'text', write: (text) => process.stderr.write(text) }),
  },
  {
    ...(seed !== undefined && { clock: () => new Date(Date.now() + jumped) }),
    ...(leaseTimes && { leaseTimes }),
    ticks: () => performance.now() * faster,
  },
)
process.stdout.write(`${app.url}\n`)
