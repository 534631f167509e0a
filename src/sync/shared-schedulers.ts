// The schedulers of several nodes over one database: one node has them, the others wait for its end and answer with what it
// wrote down. A node that takes over reads what the database knows by then, so that what was due meanwhile runs, once.

import { setTimeout as wait } from 'node:timers/promises'
import { reasonOf } from '../errors.ts'
import type { Provider } from '../providers/provider.ts'
import { atomically, type Lock, type LockName } from '../store/engine.ts'
import { type HeldTask, holdTask } from '../store/nodes/held-task.ts'
import { type ScheduleRow, selectSchedules, upsertSchedules } from '../store/nodes/schedules.ts'
import type { SyncDeps } from './run.ts'
import type { SchedulerStatus } from './scheduler.ts'
import { openSchedulers, type Schedulers, type SyncTask } from './schedulers.ts'

export type SharedOptions = {
  /** Whether this node may have them. */
  enabled: boolean
  cronOf: (provider: Provider) => string
  /** Between two tries to get them. */
  everyMs?: number | undefined
}

const WRITE_EVERY_MS = 1000
const DEAD_RUN_MS = 20_000
const LOOK_AGAIN_MS = 250
const FIRST_TRY_MS = 1000

export function openSharedSchedulers(
  deps: SyncDeps,
  providers: readonly Provider[],
  { enabled, cronOf, everyMs }: SharedOptions,
): Schedulers {
  const { db, holderOf, log } = deps
  let own: Schedulers | undefined
  let firstTry: Promise<unknown> | undefined
  let task: HeldTask | undefined
  let state: SchedulerStatus['state'] = enabled ? 'running' : 'disabled'

  const begin = async (lock: Lock, over: AbortSignal) => {
    await waitForDeadRun(deps, over)
    // A node that slept past the lease may see what is due before it sees that: another node has done it.
    const takeIfHeld = async (name: LockName) => {
      await atomically(db, async () => {}, lock)
      return deps.takeLock(name)
    }
    const held = { ...deps, takeLock: takeIfHeld }
    const schedulers = await openSchedulers(held, providers, { enabled, cronOf })
    schedulers.start()
    log.info('this node has the scheduler')
    own = schedulers
    const writing = keepWritten(deps, schedulers, lock)
    await writing.written
    return {
      async close() {
        own = undefined
        await schedulers.close()
        await writing.close()
      },
    }
  }
  // While the database is away no node can have them: the look at it says so, once.
  const failed = (error: unknown) => log.debug('the scheduler cannot be had', { reason: reasonOf(error) })
  return {
    start() {
      if (!enabled) return
      task = holdTask(deps, 'scheduler', { begin, failed, everyMs })
      firstTry = Promise.race([task.asked, wait(FIRST_TRY_MS, undefined, { ref: false })])
    },
    async state() {
      if (!enabled) state = (await holderOf('scheduler').catch(() => state)) ? 'running' : 'disabled'
      return state
    },
    async tasks() {
      await firstTry // which waits for a run of a node that died
      if (own) return own.tasks()
      const isRunning = enabled || (await holderOf('scheduler')) !== undefined
      const rows = isRunning ? await selectSchedules(db) : []
      return providers.map((provider) => taskOf(provider, cronOf(provider), rows))
    },
    async close() {
      state = 'stopped'
      await task?.close()
    },
  }
}

function taskOf({ code, timeZone }: Provider, ownCron: string, rows: readonly ScheduleRow[]): SyncTask {
  const row = rows.find(({ provider }) => provider === code)
  const nextRun = row?.next_run ? new Date(row.next_run) : undefined
  return { provider: code, cron: row?.cron ?? ownCron, timeZone, nextRun }
}

/**
 * A node that died in a run may hold the lease of that for some seconds longer. A run that began now would be refused, and
 * tried again much later.
 */
async function waitForDeadRun({ takeLock }: SyncDeps, over: AbortSignal): Promise<void> {
  const until = performance.now() + DEAD_RUN_MS
  while (!over.aborted && performance.now() < until) {
    const lock = await takeLock('sync')
    if (lock) return lock.release()
    await wait(LOOK_AGAIN_MS)
  }
}

/** Keeps the rows as the schedulers are. What could not be written is tried again a second later. */
function keepWritten({ db }: SyncDeps, schedulers: Schedulers, lock: Lock) {
  let written = ''
  const write = async () => {
    const tasks = await schedulers.tasks()
    const rows = tasks.map(({ provider, cron, nextRun }) => ({
      ...{ provider, cron },
      next_run: nextRun?.toISOString() ?? null,
    }))
    const text = JSON.stringify(rows)
    if (text === written) return
    await atomically(db, (trx) => upsertSchedules(trx, rows), lock)
    written = text
  }
  let writing: Promise<void> | undefined
  const begin = () => {
    writing ??= write()
      .catch(() => {})
      .finally(() => {
        writing = undefined
      })
    return writing
  }
  const timer = setInterval(begin, WRITE_EVERY_MS)
  return {
    written: begin(),
    async close() {
      clearInterval(timer)
      await writing
    },
  }
}
