// What a server tidies up at its start and every hour; of several servers over one database the one that has the lock.

import { setImmediate } from 'node:timers/promises'
import { reasonOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { SharedContents } from '../store/blobs/open.ts'
import { atomically, type Engine, type Lock } from '../store/engine.ts'
import { deleteEventsBefore } from '../store/events.ts'
import { deleteAnswersBefore } from '../store/idempotency.ts'
import type { Db } from '../store/tables.ts'
import { keptSince } from './documents/accept.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const AT_ONCE = 500 // a few milliseconds

export type Housekeeping = { close(): Promise<void> }

type Deps = Pick<Engine, 'db' | 'clock' | 'takeLock'> & {
  log: Log
  /** For how many days events are kept (decisions 1.9). */
  keepEvents: number
  /** A store that several nodes share, which no start sweeps. */
  shared?: SharedContents | undefined
  /** For how many days contents stay there that no document needs any more. */
  keepRemovedDays: number
}

/** Removes old events, answers that no client may ask for again, and what is left over in a shared store of contents. */
export function startHousekeeping(deps: Deps): Housekeeping {
  const { log } = deps
  const stop = new AbortController()
  let running = Promise.resolve()
  const tidy = () => {
    running = running
      .then(() => tidyUp(deps, stop.signal))
      .catch((error: unknown) =>
        log.warn('housekeeping failed: tried again in an hour', { reason: reasonOf(error) }),
      )
  }
  tidy()
  const timer = setInterval(tidy, HOUR_MS)
  return {
    async close() {
      clearInterval(timer)
      stop.abort()
      await running
    },
  }
}

async function tidyUp(deps: Deps, stopped: AbortSignal): Promise<void> {
  const { db, clock, log, keepEvents, keepRemovedDays, shared: contents } = deps
  if (stopped.aborted) return
  const lock = await deps.takeLock('janitor')
  if (!lock) return // another server does it
  try {
    const before = new Date(clock().getTime() - keepEvents * DAY_MS).toISOString()
    const events = await inPortions((trx) => deleteEventsBefore(trx, before, AT_ONCE), db, lock, stopped)
    if (events > 0) log.info('old events removed', { events, before })
    const answered = keptSince(clock())
    await inPortions((trx) => deleteAnswersBefore(trx, answered, AT_ONCE), db, lock, stopped)
    if (!contents) return
    const { sweepContents } = await import('./documents/janitor.ts')
    const swept = await sweepContents({ db, clock, contents, keepRemovedDays }, lock, stopped)
    if (swept.kept > 0) log.warn('contents swept, but for some that cannot be removed', swept)
    else if (Object.values(swept).some(Boolean)) log.info('contents swept', swept)
  } finally {
    await lock.release()
  }
}

/** Runs what removes at most a portion until there is no more; how many it removed. */
async function inPortions(
  remove: (trx: Db) => Promise<number>,
  db: Db,
  lock: Lock,
  stopped: AbortSignal,
): Promise<number> {
  let all = 0
  while (!stopped.aborted && !lock.lost.aborted) {
    const removed = await atomically(db, remove, lock)
    all += removed
    if (removed < AT_ONCE) break
    await setImmediate() // others have their turn
  }
  return all
}
