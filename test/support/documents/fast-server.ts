// A server of its own process for which time passes faster, and whose clock jumps: leases of seconds end in milliseconds.
// Arguments: data directory, how many times faster, seed; the address of a PostgreSQL, whose clock measures leases then. It
// prints its URL.

import { startApp } from '../../../src/app.ts'
import { createLog } from '../../../src/log.ts'
import { randomOf } from '../rates/random-bank.ts'

const [dataDir = '', faster = '1', seed = '1', database] = process.argv.slice(2)
const random = randomOf(Number(seed))
const DAY_MS = 86_400_000

let jumped = 0
setInterval(() => {
  jumped = random.int(-2 * DAY_MS, 2 * DAY_MS)
}, 50).unref()

const app = await startApp(
  {
    host: '127.0.0.1',
    port: 0,
    dataDir,
    database,
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
    staleForMs: 0,
    keepRemovedDays: 8,
    keepEvents: 36_500,
    maxAttempts: 4,
    log: createLog({ level: 'warn', format: 'text', write: (text) => process.stderr.write(text) }),
  },
  {
    clock: () => new Date(Date.now() + jumped),
    ticks: () => performance.now() * Number(faster),
  },
)
process.stdout.write(`${app.url}\n`)
