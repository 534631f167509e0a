// Runs a server in a process of its own. The only argument is `ServerProcessOptions` as JSON. Prints the URL.

import { startApp } from '../../../src/app.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { ensureHookKey } from '../../../src/store/hooks/key.ts'
import type { LeaseTimes } from '../../../src/store/postgres/lease.ts'
import { bundlePage } from '../bundle-page.ts'
import { TEST_PROVIDERS } from '../providers.ts'
import { createRandom } from '../rates/random-bank.ts'

export type ServerProcessOptions = {
  dataDir: string
  /** Address to listen on; by default 127.0.0.1. */
  host?: string
  /** Address of a PostgreSQL. */
  database?: string
  /** Factor of the speed of lease time: leases of seconds end in milliseconds. */
  leaseSpeed?: number
  /** Seed of random jumps of the clock, every 50 ms by up to 2 days. Absent: no jumps. */
  seed?: number
  leaseTimes?: LeaseTimes
}

const {
  dataDir,
  host = '127.0.0.1',
  database,
  leaseSpeed = 1,
  seed,
  leaseTimes,
}: ServerProcessOptions = JSON.parse(process.argv[2] ?? '')
const DAY_MS = 86_400_000

let clockOffsetMs = 0
if (seed !== undefined) {
  const random = createRandom(seed)
  setInterval(() => {
    clockOffsetMs = random.int(-2 * DAY_MS, 2 * DAY_MS)
  }, 50).unref()
}

const app = await startApp(
  {
    host,
    port: 0,
    dataDir,
    database,
    hookKey: database === undefined ? undefined : await ensureHookKey(dataDir),
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
    bundlePage,
    log: createLog({ level: 'warn', format: 'text', write: (text) => process.stderr.write(text) }),
  },
  {
    ...(seed !== undefined && { clock: () => new Date(Date.now() + clockOffsetMs) }),
    ...(leaseTimes && { leaseTimes }),
    ticks: () => performance.now() * leaseSpeed,
  },
)
process.stdout.write(`${app.url}\n`)
