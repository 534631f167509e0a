// What a server tidies up at its start and once a day.

import { setImmediate } from 'node:timers/promises'
import { reasonOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { atomically, type Engine } from '../store/engine.ts'
import { deleteEventsBefore } from '../store/events.ts'
import { deleteAnswersBefore } from '../store/idempotency.ts'
import type { Db } from '../store/tables.ts'
import { keptSince } from './documents/accept.ts'

const DAY_MS = 24 * 3_600_000
const AT_ONCE = 500 // a few milliseconds

export type Housekeeping = { close(): Promise<void> }

type Deps = Pick<Engine, 'db' | 'clock' | 'takeLock'> & { log: Log; keepEvents: number }

/**
 * Removes events that are older than so many days (decisions 1.9), and answers of uploads that are not given again (3.11),
 * now and every day.
 */
export function startHousekeeping(deps: Deps): Housekeeping {
  const { log } = deps
  const stop = new AbortController()
  let running = Promise.resolve()
  const tidy = () => {
    running = running
      .then(() => removeOld(deps, stop.signal))
      .catch((error: unknown) =>
        log.warn('old events and answers cannot be removed: tried again in a day', {
          reason: reasonOf(error),
        }),
      )
  }
  tidy()
  const timer = setInterval(tidy, DAY_MS)
  return {
    async close() {
      clearInterval(timer)
      stop.abort()
      await running
    },
  }
}

async function removeOld(deps: Deps, stopped: AbortSignal): Promise<void> {
  const { db, clock, log, keepEvents } = deps
  const lock = await deps.takeLock('janitor')
  if (!lock) return // another server does it
  const before = new Date(clock().getTime() - keepEvents * DAY_MS).toISOString()
  const removeAll = async (removeSome: (trx: Db) => Promise<number>) => {
    let all = 0
    while (!stopped.aborted && !lock.lost.aborted) {
      const removed = await atomically(db, removeSome, lock)
      all += removed
      if (removed < AT_ONCE) break
      await setImmediate() // others have their turn
    }
    return all
  }
  let events = 0
  try {
    events = await removeAll((trx) => deleteEventsBefore(trx, before, AT_ONCE))
    await removeAll((trx) => deleteAnswersBefore(trx, keptSince(clock()), AT_ONCE))
  } finally {
    await lock.release()
  }
  if (events > 0) log.info('old events removed', { events, before })
}
