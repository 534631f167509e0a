// The syncs that a server makes by itself: of each provider by a scheduler of its own, one at a time, because a data
// directory has one lock for all of them. After a good run rounded values are read again, beside everything else.

import { reasonOf } from '../errors.ts'
import type { Provider } from '../providers/provider.ts'
import { refine } from './refine.ts'
import { retryReason, type SyncDeps, syncAll } from './run.ts'
import { createScheduler, disabledScheduler, type Scheduler, type SchedulerStatus } from './scheduler.ts'
import { readStartFacts, type Timetable } from './start.ts'

/** When a provider is synced. */
export type SyncTask = Timetable & { provider: string; nextRun: Date | undefined }

export type Schedulers = {
  /** Begins to look at the clock; before that nothing runs. */
  start(): void
  state(): Promise<SchedulerStatus['state']>
  tasks(): Promise<SyncTask[]>
  /** Stops, and waits until a run that is under way has closed its record. */
  close(): Promise<void>
}

type Scheduled = { provider: Provider; scheduler: Scheduler; refinesAtStart: boolean }

/** `enabled` is false for an external cron. */
export async function openSchedulers(
  deps: SyncDeps,
  providers: readonly Provider[],
  { enabled, cronOf }: { enabled: boolean; cronOf: (provider: Provider) => string },
): Promise<Schedulers> {
  const { db, clock, log } = deps
  const refining = createRefining(deps)
  const inTurn = createTurns()
  const all: Scheduled[] = []
  for (const provider of providers) {
    const cron = cronOf(provider)
    const facts = enabled ? await readStartFacts(db, provider, deps) : undefined
    if (!facts) {
      all.push({ provider, scheduler: disabledScheduler(cron), refinesAtStart: false })
      continue
    }
    const run = (trigger: Parameters<typeof syncAll>[2]['trigger'], signal: AbortSignal) =>
      inTurn(async () => {
        if (signal.aborted) return undefined
        const ends = await syncAll(deps, [provider], { trigger, signal, range: undefined })
        if (ends.every(({ run }) => run.status === 'ok')) refining.begin(provider)
        return retryReason(ends)
      })
    const { code, timeZone } = provider
    const scheduler = createScheduler({ provider: code, cron, timeZone, clock, log, facts, run })
    all.push({ provider, scheduler, refinesAtStart: facts.lastRun?.status === 'ok' })
  }
  return {
    start() {
      for (const { scheduler } of all) scheduler.start()
      for (const { provider, refinesAtStart } of all) if (refinesAtStart) refining.begin(provider)
    },
    state: async () => all[0]?.scheduler.status().state ?? 'disabled',
    tasks: async () =>
      all.map(({ provider: { code, timeZone }, scheduler }) => {
        const { schedule, nextRun } = scheduler.status()
        return { provider: code, cron: schedule, timeZone, nextRun }
      }),
    async close() {
      await Promise.all(all.map(({ scheduler }) => scheduler.close()))
      await refining.close()
    },
  }
}

/** One piece of work after the other, in the order in which they came. */
function createTurns() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }
}

/** Reads the rounded values of providers again, one provider after the other; one that waits already is not added. */
function createRefining(deps: SyncDeps) {
  const stop = new AbortController()
  const waiting = new Set<string>()
  const inTurn = createTurns()
  let last: Promise<unknown> = Promise.resolve()
  return {
    begin(provider: Provider) {
      const { code } = provider
      if (waiting.has(code)) return
      waiting.add(code)
      last = inTurn(async () => {
        if (!stop.signal.aborted) await refine(deps, [provider], { signal: stop.signal })
      })
        .catch((error: unknown) =>
          deps.log.error('refining failed', { provider: code, reason: reasonOf(error) }),
        )
        .finally(() => waiting.delete(code))
    },
    async close() {
      stop.abort()
      await last
    },
  }
}
