// Polls the database four times a second, instead of once for each request. Detects commits of other processes and an
// unavailable database within a second. An outage is logged at its begin and its end. Cached data are used for a
// limited time.

import { AppError, errorReason } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import {
  type Blocks,
  blockReason,
  type ChangeCounters,
  type Engine,
  MAX_CLOCK_OFFSET_MS,
} from '../../store/engine.ts'

export const POLL_EVERY_MS = 250

/** Parts of the data that other processes may have changed. */
export type ChangedParts = { [Part in keyof ChangeCounters]: boolean }

/**
 * Availability of the database. A file is always available: its `memoryAge` is undefined, and its log entries are
 * never delayed.
 */
export type DatabaseState = {
  isAway(): boolean
  /** Returns true if rates can be served from memory while the database is away; false for a file. */
  servesFromMemory(): boolean
  /** Metrics of a database that nodes share; undefined for a file. */
  metrics(): DatabaseMetrics | undefined
  /** Why this node must not use it. */
  blocks(): Blocks
  /** Seconds since its last answer; 0 while it answers. */
  silentSeconds(): number
  /**
   * Seconds since cached data were last verified, while the database cannot be read; otherwise undefined.
   * @throws AppError `unavailable` when they are older than `staleForMs`
   */
  memoryAge(): number | undefined
  /** Seconds by which this machine's clock is behind that of the database; undefined: they are the same clock. */
  clockOffsetSeconds(): number | undefined
  /** Wraps a log for code that queries the database: warnings and errors are dropped during an outage. */
  quiet(log: Log): Log
}

export type DatabaseMetrics = {
  /** Commits that wait for a synchronous standby. */
  waitingCommits: number
  silentSeconds: number
  clockOffsetSeconds: number | undefined
}

export type Watch = DatabaseState & {
  /**
   * Begins to call `onChange`, also for commits since the watch was opened. Calls never overlap; a failed call is
   * repeated. Polling continues during a call.
   */
  start(onChange: (what: ChangedParts) => Promise<void>): void
  close(): Promise<void>
}

/** Calls a function each `ms` milliseconds, until the returned function is called. */
export type Repeat = (work: () => void, ms: number) => () => void

type Options = {
  log: Log
  /** Timer of the polls; default `setInterval`. */
  repeatPoll?: Repeat | undefined
  /** For how long what is in memory is believed while the database is away. */
  staleForMs: number
}

const READ_ANYWAY_MS = 15_000 // for an administrator who changed keys or tokens with other tools, which raise no counter
const WAITS_END_MS = 5000 // a commit that was cut off may be followed by another one that waits
const CLOCK_LIMITS_MS = [2000, MAX_CLOCK_OFFSET_MS]
const ALL: ChangedParts = { data: true, access: true, documents: true }

export async function watchDatabase(
  engine: Pick<Engine, 'kind' | 'poll' | 'clock' | 'clockOffsetMs' | 'blocks' | 'waitingCommits'>,
  { log, staleForMs, repeatPoll = repeatEvery }: Options,
): Promise<Watch> {
  const isShared = engine.kind !== 'sqlite'
  let lastCounters = await engine.poll()
  let [answeredAt, knownAt, accessAt] = [performance.now(), performance.now(), performance.now()]
  let isAway = false
  let isKnown = true // cached data equal the stored data
  let isUnread = false // the database answers, but its changes cannot be read; this was logged
  let offLevel = 0
  let lastBlock: string | undefined
  let lastWaitTime: number | undefined // undefined: no commit waits, which was logged
  let isClosed = false
  let onChange: ((what: ChangedParts) => Promise<void>) | undefined
  let currentPoll: Promise<void> | undefined
  let currentRead: Promise<void> | undefined

  const noteAnswer = (startTime: number) => {
    answeredAt = startTime
    if (isAway) log.warn('the database answers again')
    isAway = false
    logClock(Math.round(engine.clockOffsetMs?.() ?? 0))
    logBlock()
    logWaiting(waitingCommits())
  }
  const blocks = () => engine.blocks?.() ?? {}
  const waitingCommits = () => engine.waitingCommits?.() ?? 0
  const logBlock = () => {
    const reason = blockReason(blocks())
    if (reason !== undefined && lastBlock === undefined) log.error('the node must not write', { reason })
    else if (reason === undefined && lastBlock !== undefined) log.warn('the node may write again')
    lastBlock = reason
  }
  const logWaiting = (commits: number) => {
    const now = performance.now()
    if (commits > 0) {
      if (lastWaitTime === undefined) log.warn('commits wait for a synchronous standby', { commits })
      lastWaitTime = now
    } else if (lastWaitTime !== undefined && now - lastWaitTime > WAITS_END_MS) {
      log.warn('no commit waits for a standby any more')
      lastWaitTime = undefined
    }
  }
  const logClock = (behind: number) => {
    const before = offLevel
    offLevel = clockLevel(behind, before)
    if (offLevel === before) return
    const databaseTime = engine.clock()
    const machine = new Date(databaseTime.getTime() - behind).toISOString()
    const fields = { machine, database: databaseTime.toISOString(), behind_ms: behind }
    if (offLevel === 2)
      log.error("this machine's clock is far off", { ...fields, hint: 'the node is not ready' })
    else if (offLevel === 1) {
      log.warn("this machine's clock is off", { ...fields, hint: 'the time of the database counts' })
    } else log.warn("this machine's clock is right again", fields)
  }
  const logOutage = (error: unknown) => {
    if (!isAway) log.error('the database does not answer', { reason: errorReason(error) })
    isAway = true
    isKnown = false
  }
  const readChanges = async (now: ChangeCounters, startTime: number) => {
    const isOld = isShared && startTime - accessAt > READ_ANYWAY_MS
    const what = { ...compareCounters(lastCounters, now), ...(isOld && { access: true }) }
    if (onChange && Object.values(what).includes(true)) {
      await onChange(isShared ? what : ALL)
      if (what.access) accessAt = startTime
      lastCounters = now
    }
    knownAt = startTime
    isKnown = true
    if (isUnread) log.warn('what changed in the database is read again')
    isUnread = false
  }
  const logUnread = async (error: unknown) => {
    isKnown = false
    await pollNow() // logs an outage as such
    if (isAway || isUnread || lastBlock !== undefined) return
    isUnread = true
    log.error('what changed in the database cannot be read', { reason: errorReason(error) })
  }
  const pollOnce = async () => {
    const startTime = performance.now()
    try {
      const now = await engine.poll()
      noteAnswer(startTime)
      if (isClosed) return
      currentRead ??= readChanges(now, startTime)
        .catch(logUnread)
        .finally(() => {
          currentRead = undefined
        })
    } catch (error) {
      logOutage(error)
    } finally {
      currentPoll = undefined
    }
  }
  const pollNow = () => {
    currentPoll ??= pollOnce()
    return currentPoll
  }
  const stopPolls = repeatPoll(pollNow, POLL_EVERY_MS)
  const silentSeconds = () => (isShared && isAway ? (performance.now() - answeredAt) / 1000 : 0)
  const clockOffsetSeconds = () => engine.clockOffsetMs && engine.clockOffsetMs() / 1000
  // Checked without a failed poll too: a suspended process answers requests before it polls again.
  const memoryMs = () => performance.now() - knownAt
  return {
    isAway: () => isShared && isAway,
    servesFromMemory: () => isShared && memoryMs() <= staleForMs,
    metrics: () =>
      isShared
        ? {
            silentSeconds: silentSeconds(),
            clockOffsetSeconds: clockOffsetSeconds(),
            waitingCommits: waitingCommits(),
          }
        : undefined,
    blocks,
    silentSeconds,
    memoryAge() {
      if (!isShared) return undefined
      const ms = memoryMs()
      if (ms <= staleForMs) return isKnown ? undefined : Math.floor(ms / 1000)
      throw new AppError('unavailable', 'The database could not be read for too long: try again in a moment')
    },
    clockOffsetSeconds,
    quiet(log) {
      if (!isShared) return log
      const unlessAway =
        (level: 'warn' | 'error'): Log['warn'] =>
        (event, fields) => {
          const write = () => log[level](event, fields)
          if (isClosed) write()
          else if (!isAway) void pollNow().then(() => isAway || write())
        }
      return { ...log, warn: unlessAway('warn'), error: unlessAway('error') }
    },
    start(listener) {
      onChange = listener
    },
    async close() {
      isClosed = true
      await currentRead // polling continues: a failed poll ends code that waits for an unavailable database
      stopPolls()
      await currentPoll
    },
  }
}

function repeatEvery(work: () => void, ms: number): () => void {
  const timer = setInterval(work, ms)
  return () => clearInterval(timer)
}

/**
 * Number of limits that a clock offset exceeds. Hysteresis: a level ends at half its limit, so that an offset near a
 * limit is logged once.
 */
function clockLevel(behind: number, before: number): number {
  return CLOCK_LIMITS_MS.filter((limit, at) => Math.abs(behind) > (at < before ? limit / 2 : limit)).length
}

function compareCounters(before: ChangeCounters, now: ChangeCounters): ChangedParts {
  return {
    data: now.data !== before.data,
    access: now.access !== before.access,
    documents: now.documents !== before.documents,
  }
}
