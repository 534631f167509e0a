// What a server tidies up at its start and once a day.

import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../dates.ts'
import { reasonOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { deleteEventsBefore } from '../store/events.ts'
import type { Db } from '../store/tables.ts'

const DAY_MS = 24 * 3_600_000
const AT_ONCE = 500 // a few milliseconds

export type Housekeeping = { close(): Promise<void> }

/** Removes events that are older than so many days, now and every day (decisions 1.9). */
export function startHousekeeping(deps: {
  db: Db
  clock: Clock
  log: Log
  keepEvents: number
}): Housekeeping {
  const { log } = deps
  const stop = new AbortController()
  let running = Promise.resolve()
  const tidy = () => {
    running = running
      .then(() => removeOldEvents(deps, stop.signal))
      .catch((error: unknown) =>
        log.warn('old events cannot be removed: tried again in a day', { reason: reasonOf(error) }),
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

async function removeOldEvents(
  { db, clock, log, keepEvents }: { db: Db; clock: Clock; log: Log; keepEvents: number },
  signal: AbortSignal,
): Promise<void> {
  const before = new Date(clock().getTime() - keepEvents * DAY_MS).toISOString()
  let events = 0
  while (!signal.aborted) {
    const removed = await deleteEventsBefore(db, before, AT_ONCE)
    events += removed
    if (removed < AT_ONCE) break
    await setImmediate() // others have their turn
  }
  if (events > 0) log.info('old events removed', { events, before })
}
