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

type WatchedEngine = Pick<Engine, 'kind' | 'poll' | 'clock' | 'clockOffsetMs' | 'blocks' | 'waitingCommits'>

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
  engine: WatchedEngine,
  { log, staleForMs, repeatPoll = repeatEvery }: Options,
): Promise<Watch> {
  const watch = new DatabaseWatch(engine, { log, staleForMs }, await engine.poll())
  watch.repeat(repeatPoll)
  return watch
}

class DatabaseWatch implements Watch {
  readonly #engine: WatchedEngine
  readonly #isShared: boolean
  readonly #log: Log
  readonly #conditions: ConditionLog
  readonly #staleForMs: number
  #lastCounters: ChangeCounters
  #answeredAt = performance.now()
  #knownAt = performance.now()
  #accessAt = performance.now()
  #isAway = false
  #isKnown = true // cached data equal the stored data
  #isUnread = false // the database answers, but its changes cannot be read; this was logged
  #isClosed = false
  #onChange: ((what: ChangedParts) => Promise<void>) | undefined
  #currentPoll: Promise<void> | undefined
  #currentRead: Promise<void> | undefined
  #stopPolls = () => {}

  constructor(engine: WatchedEngine, { log, staleForMs }: Options, counters: ChangeCounters) {
    this.#engine = engine
    this.#isShared = engine.kind !== 'sqlite'
    this.#log = log
    this.#conditions = new ConditionLog(engine, log)
    this.#staleForMs = staleForMs
    this.#lastCounters = counters
  }

  repeat(repeatPoll: Repeat): void {
    this.#stopPolls = repeatPoll(() => this.#poll(), POLL_EVERY_MS)
  }

  isAway(): boolean {
    return this.#isShared && this.#isAway
  }

  servesFromMemory(): boolean {
    return this.#isShared && this.#memoryMs() <= this.#staleForMs
  }

  metrics(): DatabaseMetrics | undefined {
    if (!this.#isShared) return undefined
    return {
      silentSeconds: this.silentSeconds(),
      clockOffsetSeconds: this.clockOffsetSeconds(),
      waitingCommits: this.#engine.waitingCommits?.() ?? 0,
    }
  }

  blocks(): Blocks {
    return this.#engine.blocks?.() ?? {}
  }

  silentSeconds(): number {
    return this.isAway() ? (performance.now() - this.#answeredAt) / 1000 : 0
  }

  memoryAge(): number | undefined {
    if (!this.#isShared) return undefined
    const ms = this.#memoryMs()
    if (ms <= this.#staleForMs) return this.#isKnown ? undefined : Math.floor(ms / 1000)
    throw new AppError('unavailable', 'The database could not be read for too long: try again in a moment')
  }

  clockOffsetSeconds(): number | undefined {
    return this.#engine.clockOffsetMs && this.#engine.clockOffsetMs() / 1000
  }

  quiet(log: Log): Log {
    if (!this.#isShared) return log
    const unlessAway =
      (level: 'warn' | 'error'): Log['warn'] =>
      (event, fields) => {
        const write = () => log[level](event, fields)
        if (this.#isClosed) write()
        else if (!this.#isAway) void this.#poll().then(() => this.#isAway || write())
      }
    return { ...log, warn: unlessAway('warn'), error: unlessAway('error') }
  }

  start(onChange: (what: ChangedParts) => Promise<void>): void {
    this.#onChange = onChange
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#currentRead // polling continues: a failed poll ends code that waits for an unavailable database
    this.#stopPolls()
    await this.#currentPoll
  }

  // Checked without a failed poll too: a suspended process answers requests before it polls again.
  #memoryMs(): number {
    return performance.now() - this.#knownAt
  }

  #poll(): Promise<void> {
    this.#currentPoll ??= this.#pollOnce()
    return this.#currentPoll
  }

  async #pollOnce(): Promise<void> {
    const startTime = performance.now()
    try {
      const now = await this.#engine.poll()
      this.#answeredAt = startTime
      if (this.#isAway) this.#log.warn('the database answers again')
      this.#isAway = false
      this.#conditions.note()
      if (this.#isClosed) return
      this.#currentRead ??= this.#readChanges(now, startTime)
        .catch((error: unknown) => this.#noteUnread(error))
        .finally(() => {
          this.#currentRead = undefined
        })
    } catch (error) {
      if (!this.#isAway) this.#log.error('the database does not answer', { reason: errorReason(error) })
      this.#isAway = true
      this.#isKnown = false
    } finally {
      this.#currentPoll = undefined
    }
  }

  async #readChanges(now: ChangeCounters, startTime: number): Promise<void> {
    const isOld = this.#isShared && startTime - this.#accessAt > READ_ANYWAY_MS
    const what = { ...compareCounters(this.#lastCounters, now), ...(isOld && { access: true }) }
    if (this.#onChange && Object.values(what).includes(true)) {
      await this.#onChange(this.#isShared ? what : ALL)
      if (what.access) this.#accessAt = startTime
      this.#lastCounters = now
    }
    this.#knownAt = startTime
    this.#isKnown = true
    if (this.#isUnread) this.#log.warn('what changed in the database is read again')
    this.#isUnread = false
  }

  async #noteUnread(error: unknown): Promise<void> {
    this.#isKnown = false
    await this.#poll() // logs an outage as such
    if (this.#isAway || this.#isUnread || blockReason(this.blocks()) !== undefined) return
    this.#isUnread = true
    this.#log.error('what changed in the database cannot be read', { reason: errorReason(error) })
  }
}

/** Logs the begin and the end of what is unusual about a database that answers. */
class ConditionLog {
  readonly #engine: WatchedEngine
  readonly #log: Log
  #offLevel = 0
  #isBlocked = false
  #lastWaitTime: number | undefined // undefined: no commit waits, which was logged

  constructor(engine: WatchedEngine, log: Log) {
    this.#engine = engine
    this.#log = log
  }

  note(): void {
    this.#noteClock(Math.round(this.#engine.clockOffsetMs?.() ?? 0))
    this.#noteBlock(blockReason(this.#engine.blocks?.() ?? {}))
    this.#noteWaiting(this.#engine.waitingCommits?.() ?? 0)
  }

  #noteClock(behind: number): void {
    const before = this.#offLevel
    this.#offLevel = clockLevel(behind, before)
    if (this.#offLevel === before) return
    const log = this.#log
    const databaseTime = this.#engine.clock()
    const machine = new Date(databaseTime.getTime() - behind).toISOString()
    const fields = { machine, database: databaseTime.toISOString(), behind_ms: behind }
    if (this.#offLevel === 2) {
      log.error("this machine's clock is far off", { ...fields, hint: 'the node is not ready' })
    } else if (this.#offLevel === 1) {
      log.warn("this machine's clock is off", { ...fields, hint: 'the time of the database counts' })
    } else log.warn("this machine's clock is right again", fields)
  }

  #noteBlock(reason: string | undefined): void {
    if (reason !== undefined && !this.#isBlocked) this.#log.error('the node must not write', { reason })
    else if (reason === undefined && this.#isBlocked) this.#log.warn('the node may write again')
    this.#isBlocked = reason !== undefined
  }

  #noteWaiting(commits: number): void {
    const now = performance.now()
    if (commits > 0) {
      if (this.#lastWaitTime === undefined) {
        this.#log.warn('commits wait for a synchronous standby', { commits })
      }
      this.#lastWaitTime = now
    } else if (this.#lastWaitTime !== undefined && now - this.#lastWaitTime > WAITS_END_MS) {
      this.#log.warn('no commit waits for a standby any more')
      this.#lastWaitTime = undefined
    }
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
