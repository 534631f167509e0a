// Scheduled syncs of a server, on the leader alone. Each active provider has its own scheduler. A single lock serves all,
// so one sync runs at a time. After a good run rounded values are refined in the background, and indicators are read. A
// new leader reads the state from the database, so a missed sync runs once.

import { setTimeout as wait } from 'node:timers/promises'
import { selectActiveProviders } from '../domain/rates/active-providers.ts'
import type { Provider } from '../providers/provider.ts'
import { errorReason } from '../runtime/errors.ts'
import { type LeaderTask, runAsLeader } from '../store/cluster/leader.ts'
import { atomically, engineSql, type Lock, type LockName } from '../store/engine.ts'
import type { SyncTrigger } from '../store/tables.ts'
import { readIndicators } from './indicators/indicator-run.ts'
import type { SecondOpinion } from './opinion-request.ts'
import { refine } from './refine.ts'
import { retryReason, type SyncDeps, syncAll } from './run.ts'
import { createRunQueue } from './run-queue.ts'
import { createScheduler, type Scheduler } from './scheduler.ts'
import { readStartFacts, type Timetable } from './start.ts'

/** Next sync of a provider. */
export type SyncTask = Timetable & { provider: string; nextRun: Date | undefined }

export type Schedulers = {
  /** Starts to compete for the lead. No run begins before this call. */
  start(): void
  state(): Promise<'running' | 'disabled' | 'stopped'>
  tasks(): Promise<SyncTask[]>
  /** Starts and ends schedulers of optional providers that were enabled or disabled. */
  refresh(): Promise<void>
  /** Resolves when the lead was decided, and no run or background work is queued or under way. */
  idle(): Promise<void>
  /** Stops, and waits until an open run has closed its row. */
  close(): Promise<void>
}

export type SchedulersOptions = {
  /** False for an external cron: this process never becomes the leader. */
  enabled: boolean
  syncCron: (provider: Provider) => string
  /** Milliseconds between two attempts to become the leader. */
  retryMs?: number | undefined
  /** Requested after a sync of a required provider whose due values are stored; undefined: never. */
  opinion?: Pick<SecondOpinion, 'request'> | undefined
}

const PUBLISH_EVERY_MS = 1000
const DEAD_RUN_POLL_MS = 250
const FIRST_ATTEMPT_MS = 1000
const INDICATORS_EVERY_MS = 60_000

export function openSchedulers(
  deps: SyncDeps,
  providers: readonly Provider[],
  { enabled, syncCron, retryMs, opinion }: SchedulersOptions,
): Schedulers {
  const { db, findHolder, log } = deps
  const events = { leads: 'this node has the scheduler', failed: 'the scheduler cannot be had' }
  const firstAttempt = Promise.withResolvers<void>()
  if (!enabled) firstAttempt.resolve()
  let local: LocalSchedulers | undefined
  let leader: LeaderTask | undefined
  let state: Awaited<ReturnType<Schedulers['state']>> = enabled ? 'running' : 'disabled'

  const begin = async (lock: Lock, stop: AbortSignal) => {
    await waitForDeadRun(deps, stop, lock.outlivesHolderMs)
    // A leader that was suspended past its lease may see a due sync before it notices the loss. This check leaves
    // that sync to the next leader.
    const takeLock = async (name: LockName) => {
      await lock.check(db)
      return deps.takeLock(name)
    }
    const started = await startSchedulers({ ...deps, takeLock }, providers, { syncCron, opinion })
    const publisher = publishSchedules(deps, started, lock)
    local = started
    await started.refresh() // for a change during the start, whose refresh found no schedulers
    return {
      async close() {
        local = undefined
        await started.close()
        await publisher.close()
      },
    }
  }
  return {
    start() {
      if (!enabled) return
      leader = runAsLeader(deps, 'scheduler', { begin, log, events, retryMs })
      const limit = wait(FIRST_ATTEMPT_MS, undefined, { ref: false }) // the attempt may wait for a run of a dead node
      void Promise.race([leader.attempted, limit]).then(firstAttempt.resolve)
    },
    async state() {
      // An outage does not change the state.
      if (!enabled) state = (await findHolder('scheduler').catch(() => state)) ? 'running' : 'disabled'
      return state
    },
    async tasks() {
      await firstAttempt.promise
      if (local) return local.tasks()
      const isRunning = enabled || (await findHolder('scheduler')) !== undefined
      const rows = isRunning ? await engineSql(db).selectSchedules(db) : []
      return (await selectActiveProviders(db, providers)).map((provider) => {
        const { code, timeZone } = provider
        const row = rows.find((one) => one.provider === code)
        const nextRun = row?.next_run ? new Date(row.next_run) : undefined
        return { provider: code, cron: row?.cron ?? syncCron(provider), timeZone, nextRun }
      })
    },
    async refresh() {
      await local?.refresh()
    },
    async idle() {
      await leader?.attempted
      await local?.idle()
    },
    async close() {
      state = 'stopped'
      firstAttempt.resolve()
      await leader?.close()
    },
  }
}

/**
 * Waits until the lease of a dead leader expires, at most `limitMs`. A sync before that would be rejected, and
 * retried only after 15 minutes.
 */
async function waitForDeadRun({ takeLock }: SyncDeps, stop: AbortSignal, limitMs: number): Promise<void> {
  const until = performance.now() + limitMs
  while (!stop.aborted && performance.now() < until) {
    const lock = await takeLock('sync')
    if (lock) return lock.release()
    await wait(DEAD_RUN_POLL_MS)
  }
}

/** Writes the next runs into the table that other nodes read. A failed write is retried after 1 second. */
function publishSchedules({ db }: SyncDeps, { tasks }: LocalSchedulers, lock: Lock) {
  let published = ''
  let writing: Promise<void> | undefined
  const write = async () => {
    const rows = tasks().map(({ provider, cron, nextRun }) => ({
      ...{ provider, cron },
      next_run: nextRun?.toISOString() ?? null,
    }))
    const text = JSON.stringify(rows)
    if (text === published) return
    await atomically(db, (trx) => engineSql(trx).upsertSchedules(trx, rows), lock)
    published = text
  }
  const publish = () => {
    writing ??= write()
      .catch(() => {}) // the next publication writes it again
      .finally(() => {
        writing = undefined
      })
  }
  publish()
  const timer = setInterval(publish, PUBLISH_EVERY_MS)
  return {
    async close() {
      clearInterval(timer)
      await writing
    },
  }
}

type LocalSchedulers = Pick<Schedulers, 'refresh' | 'idle' | 'close'> & { tasks(): SyncTask[] }

/** Starts the schedulers of the active providers in this process. */
async function startSchedulers(
  deps: SyncDeps,
  providers: readonly Provider[],
  { syncCron, opinion }: Pick<SchedulersOptions, 'syncCron' | 'opinion'>,
): Promise<LocalSchedulers> {
  const { db, clock, log } = deps
  const background = createBackground(deps)
  const { enqueue } = createRunQueue()
  const change = createSerialQueue()
  type Entry = { timetable: Omit<SyncTask, 'nextRun'>; scheduler: Scheduler | undefined }
  const entries = new Map<string, Entry>()
  const endings: (Promise<void> | undefined)[] = []
  let isClosed = false
  const prepare = async (provider: Provider): Promise<Entry & { wasOk: boolean }> => {
    const facts = await readStartFacts(db, provider, deps)
    const run = (trigger: SyncTrigger, signal: AbortSignal) =>
      enqueue(
        async (giveWay) => {
          if (signal.aborted) return undefined
          const stop = AbortSignal.any([signal, giveWay])
          const ends = await syncAll(deps, [provider], { trigger, signal: stop, range: undefined })
          if (ends.every(({ complete }) => complete)) background.begin(provider)
          if (!provider.isOptional && ends.some(({ current }) => current)) void opinion?.request(provider)
          return retryReason(ends)
        },
        { isFirst: !provider.isOptional },
      )
    const { code, timeZone } = provider
    const timetable = { provider: code, cron: syncCron(provider), timeZone }
    if (!facts) log.warn('its values are invented, so it is not synchronized', { provider: code })
    const scheduler = facts && createScheduler({ ...timetable, clock, log, facts, run })
    return { timetable, scheduler, wasOk: facts?.lastRun?.status === 'ok' }
  }
  const update = async () => {
    if (isClosed) return
    const active = await selectActiveProviders(db, providers)
    const endedEntries = [...entries].filter(([code]) => active.every((one) => one.code !== code))
    for (const [code, { scheduler }] of endedEntries) {
      entries.delete(code)
      endings.push(scheduler?.close()) // a queued run may wait for one of another provider
    }
    const added: { provider: Provider; entry: Awaited<ReturnType<typeof prepare>> }[] = []
    for (const provider of active) {
      if (entries.has(provider.code)) continue
      const entry = await prepare(provider)
      entries.set(provider.code, entry)
      added.push({ provider, entry })
    }
    for (const { entry } of added) entry.scheduler?.start()
    for (const { provider, entry } of added) if (entry.wasOk) background.begin(provider)
  }
  await change(update)
  const indicatorTimer = setInterval(() => {
    for (const provider of providers) if (entries.has(provider.code)) background.beginIndicators(provider)
  }, INDICATORS_EVERY_MS)
  return {
    tasks: () =>
      providers.flatMap(({ code }) => {
        const entry = entries.get(code)
        return entry ? { ...entry.timetable, nextRun: entry.scheduler?.nextRun() } : []
      }),
    refresh: () => change(update),
    async idle() {
      await change(async () => {})
      await Promise.all([...entries.values()].map(({ scheduler }) => scheduler?.idle()))
      await background.idle() // a run may have begun some
    },
    async close() {
      isClosed = true
      await Promise.all([...entries.values()].map(({ scheduler }) => scheduler?.close()))
      await change(async () => {})
      await Promise.all(endings)
      clearInterval(indicatorTimer)
      await background.close()
    },
  }
}

/** Returns a function that runs tasks one after the other, first in, first out. */
function createSerialQueue() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work)
    last = result.catch(() => undefined) // the caller gets the error
    return result
  }
}

/**
 * Work that gives way to the runs of the rates, one task after the other: refining, then indicators. Work of a provider
 * that is queued already is not added again.
 */
function createBackground(deps: SyncDeps) {
  const stop = new AbortController()
  const waiting = new Set<string>()
  const enqueue = createSerialQueue()
  const { signal } = stop
  const begin = (failed: string, { code }: Provider, work: () => Promise<unknown>) => {
    const key = `${failed} ${code}`
    if (waiting.has(key)) return
    waiting.add(key)
    enqueue(async () => {
      if (!signal.aborted) await work()
    })
      .catch((error: unknown) => deps.log.error(failed, { provider: code, reason: errorReason(error) }))
      .finally(() => waiting.delete(key))
  }
  const beginIndicators = (provider: Provider) => {
    if (!provider.indicators) return
    begin('reading indicators failed', provider, () =>
      readIndicators(deps, provider, { trigger: 'scheduler', signal }),
    )
  }
  return {
    begin(provider: Provider) {
      begin('refining failed', provider, () => refine(deps, [provider], { signal }))
      beginIndicators(provider)
    },
    /** Indicators alone: one was enabled, or their history may go on. */
    beginIndicators,
    /** Resolves after the work so far. */
    idle: () => enqueue(async () => {}),
    async close() {
      stop.abort()
      await enqueue(async () => {}) // after the current one
    },
  }
}
