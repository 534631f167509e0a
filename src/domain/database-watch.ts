// Looks at the database a few times a second, instead of once for each request: what other processes committed is noticed
// within a second, and so is a database that does not answer. That is told once when it begins and once when it is over;
// what was read before is good for a time.

import { AppError, reasonOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { type Engine, type Look, MOST_OFF_MS } from '../store/engine.ts'

export const LOOK_EVERY_MS = 250

/** What may have changed by the commits of others. */
export type Changed = { [Part in keyof Look]: boolean }

/** Whether the database answers. A file always does: its `memoryAge` is undefined, and its log waits for nothing. */
export type DatabaseState = {
  /** Whether several nodes share it. */
  readonly isShared: boolean
  isAway(): boolean
  /** Seconds since it last answered; 0 while it does. */
  silentSeconds(): number
  /**
   * Seconds since what is in memory was last known to be what is stored, while that cannot be read; else undefined.
   * @throws AppError `unavailable` when it is longer than that may be believed
   */
  memoryAge(): number | undefined
  /** How far this machine's clock is behind that of the database; undefined: they are the same. */
  clockOffsetSeconds(): number | undefined
  /** The log for what asks the database: of a failure while it is away nothing more is said. */
  quiet(log: Log): Log
}

export type Watch = DatabaseState & {
  /**
   * Begins to call `changed`, also for what was committed since the watch was opened: never twice at once, and anew if it
   * fails. The looks go on meanwhile.
   */
  start(changed: (what: Changed) => Promise<void>): void
  close(): Promise<void>
}

type Options = {
  log: Log
  /** For how long what is in memory is believed while the database is away. */
  staleForMs: number
}

const READ_ANYWAY_MS = 15_000 // for an administrator who changed keys or tokens by other means than ours
const OFF_MS = [2000, MOST_OFF_MS]
const ALL: Changed = { data: true, access: true, documents: true }

export async function watchDatabase(
  engine: Pick<Engine, 'kind' | 'look' | 'clock' | 'clockOffsetMs'>,
  { log, staleForMs }: Options,
): Promise<Watch> {
  const isShared = engine.kind !== 'sqlite'
  let seen = await engine.look()
  let [answeredAt, knownAt, accessAt] = [performance.now(), performance.now(), performance.now()]
  let isAway = false
  let isKnown = true // that what is in memory is what is stored
  let isUnread = false // it was told that the database answers, and what changed in it cannot be read
  let off = 0
  let isClosed = false
  let changed: ((what: Changed) => Promise<void>) | undefined
  let looking: Promise<void> | undefined
  let reading: Promise<void> | undefined

  const answered = (begun: number) => {
    answeredAt = begun
    if (isAway) log.warn('the database answers again')
    isAway = false
    tellClock(Math.round(engine.clockOffsetMs?.() ?? 0))
  }
  const tellClock = (behind: number) => {
    const before = off
    off = howFarOff(behind, before)
    if (off === before) return
    const told = engine.clock()
    const machine = new Date(told.getTime() - behind).toISOString()
    const fields = { machine, database: told.toISOString(), behind_ms: behind }
    if (off === 2) log.error("this machine's clock is far off: the node is not ready", fields)
    else if (off === 1) log.warn("this machine's clock is off: the time of the database counts", fields)
    else log.warn("this machine's clock is right again", fields)
  }
  const failed = (error: unknown) => {
    if (!isAway) log.error('the database does not answer', { reason: reasonOf(error) })
    isAway = true
    isKnown = false
  }
  const readChanges = async (now: Look, begun: number) => {
    const isOld = isShared && begun - accessAt > READ_ANYWAY_MS
    const what = { ...changesOf(seen, now), ...(isOld && { access: true }) }
    if (changed && Object.values(what).includes(true)) {
      await changed(isShared ? what : ALL)
      if (what.access) accessAt = begun
      seen = now
    }
    knownAt = begun
    isKnown = true
    if (isUnread) log.warn('what changed in the database is read again')
    isUnread = false
  }
  const notRead = async (error: unknown) => {
    isKnown = false
    await lookNow() // an outage is told as such
    if (isAway || isUnread) return
    isUnread = true
    log.error('what changed in the database cannot be read', { reason: reasonOf(error) })
  }
  const look = async () => {
    const begun = performance.now()
    try {
      const now = await engine.look()
      answered(begun)
      if (isClosed) return
      reading ??= readChanges(now, begun)
        .catch(notRead)
        .finally(() => {
          reading = undefined
        })
    } catch (error) {
      failed(error)
    } finally {
      looking = undefined
    }
  }
  const lookNow = () => {
    looking ??= look()
    return looking
  }
  const timer = setInterval(lookNow, LOOK_EVERY_MS)
  return {
    isShared,
    isAway: () => isShared && isAway,
    silentSeconds: () => (isShared && isAway ? (performance.now() - answeredAt) / 1000 : 0),
    memoryAge() {
      if (!isShared) return undefined
      const ms = performance.now() - knownAt
      // Though no look has failed: a process that stood still answers before it looks again.
      if (ms <= staleForMs) return isKnown ? undefined : Math.floor(ms / 1000)
      throw new AppError('unavailable', 'The database could not be read for too long: try again in a moment')
    },
    clockOffsetSeconds: () => engine.clockOffsetMs && engine.clockOffsetMs() / 1000,
    quiet(own) {
      if (!isShared) return own
      const unlessAway =
        (level: 'warn' | 'error'): Log['warn'] =>
        (event, fields) => {
          const write = () => own[level](event, fields)
          if (isClosed) write()
          else if (!isAway) void lookNow().then(() => isAway || write())
        }
      return { ...own, warn: unlessAway('warn'), error: unlessAway('error') }
    },
    start(told) {
      changed = told
    },
    async close() {
      isClosed = true
      await reading // the looks go on: one that fails ends what waits for a database that is away
      clearInterval(timer)
      await looking
    },
  }
}

/** How many of the limits a clock is beyond; one that lies near a limit is told of once, for it is within at half of it. */
function howFarOff(behind: number, before: number): number {
  return OFF_MS.filter((limit, at) => Math.abs(behind) > (at < before ? limit / 2 : limit)).length
}

function changesOf(before: Look, now: Look): Changed {
  return {
    data: now.data !== before.data,
    access: now.access !== before.access,
    documents: now.documents !== before.documents,
  }
}
