// Polls a database that other nodes write to: change counters, time, reachability, and whether it went back (lineage.ts).
// While polling fails, other queries fail at once instead of timing out.

import { setTimeout as wait } from 'node:timers/promises'
import { VERSION } from '../../runtime/assets.ts'
import { AppError } from '../../runtime/errors.ts'
import type { ChangeCounters } from '../engine.ts'
import type { WriteDb } from '../tables.ts'
import { COUNTER_NAMES, type CounterValues } from './change-counters.ts'
import type { SharedClock } from './clock.ts'
import {
  ALWAYS_KNOWN,
  changedAgainError,
  judgeLineage,
  type LineageReading,
  type LineageSql,
  type Verdict,
} from './lineage.ts'
import type { CircuitBreaker } from './pool.ts'
import { isConnectionLost } from './postgres-errors.ts'
import { rawQuery } from './raw-query.ts'

export type PollerOptions = {
  /** Has a connection of its own, which ignores the circuit breaker. */
  db: WriteDb
  breaker: CircuitBreaker
  clock: SharedClock
  lineage: LineageSql
  /** Schema of this program. */
  schema: number
  /** True: a copy and an earlier state are polled too, and never renewed. */
  anyServer?: boolean | undefined
  /** Acts on a database that went back, or whose server is not recorded. Queries are rejected until it has resolved. */
  settle(verdict: Settled, reading: LineageReading, last: LineageReading | undefined): Promise<void>
}

export type Settled = Extract<Verdict, { kind: 'renew' | 'record' }>

/** `reading`: of the last good poll. */
export type Poller = {
  poll(): Promise<ChangeCounters>
  reading(): LineageReading | undefined
  /** With `anyServer`: why a node would not use the database as it is. */
  fault(): string | undefined
  waitingCommits(): number
}

/** Timeout of a poll. */
export const POLL_MS = 1000
const QUICK_FAILURE_MS = 500
const POLL_TICKS = 10
// Sessions of the own role alone: others do not show their state.
const WAITING_COMMITS = `(select count(*)::int from pg_stat_activity
  where wait_event = 'SyncRep' and usename = current_user and query_start < clock_timestamp() - interval '1 second')`

type MetaRow = Required<CounterValues> & {
  epoch: string
  generation: number
  last_id: number | null
  known_timeline: number | null
  known_server: string | null
  timeline: number | null
  server_id: string | null
  server_time: Date
  schema_version: number
  oldest_program: number
  waiting_commits: number
}
/** `before`: counters that this node knew when it sent the query. */
type PollResult = { row: MetaRow; before: CounterValues }

/**
 * Returns the poller. Simultaneous polls share one query. A failed poll trips the circuit breaker, and the next
 * good one resets it.
 * @throws AppError `unavailable` after a second without an answer, or the error of the database
 */
export function createPoller(options: PollerOptions): Poller {
  return new DatabasePoller(options)
}

class DatabasePoller implements Poller {
  readonly #options: PollerOptions
  #lastReading: LineageReading | undefined
  #pendingQuery: Promise<PollResult> | undefined
  #pendingPoll: Promise<ChangeCounters> | undefined
  #fault: string | undefined
  #waitingCommits = 0

  constructor(options: PollerOptions) {
    this.#options = options
  }

  reading(): LineageReading | undefined {
    return this.#lastReading
  }

  fault(): string | undefined {
    return this.#fault
  }

  waitingCommits(): number {
    return this.#waitingCommits
  }

  poll(): Promise<ChangeCounters> {
    this.#pendingPoll ??= this.#poll().finally(() => {
      this.#pendingPoll = undefined
    })
    return this.#pendingPoll
  }

  async #poll(): Promise<ChangeCounters> {
    const { breaker } = this.#options
    try {
      const counters = await this.#pollOnce()
      breaker.reset()
      return counters
    } catch (error) {
      breaker.trip()
      throw error
    }
  }

  async #pollOnce(isSettled = false): Promise<ChangeCounters> {
    const { breaker, schema, anyServer, settle } = this.#options
    const { row, before } = await this.#queryOnce()
    const reading = toReading(row)
    const verdict = judgeLineage(withCounters(this.#lastReading, before), reading)
    const outdated = row.oldest_program > schema ? outdatedReason(row) : undefined
    breaker.block('program', outdated)
    this.#waitingCommits = row.waiting_commits
    const isRefused = verdict.kind === 'refuse' && !anyServer && outdated === undefined
    breaker.block('server', isRefused ? verdict.message : undefined)
    if (outdated !== undefined) return toCounters(row) // a node of the newer program settles it
    if (anyServer) this.#fault = describeVerdict(verdict)
    else if (verdict.kind === 'refuse') {
      throw new AppError(verdict.isCopy ? 'failed' : 'unavailable', verdict.message)
    } else if (verdict.kind !== 'same') {
      if (isSettled) throw changedAgainError()
      if (verdict.kind === 'renew') breaker.trip()
      await settle(verdict, reading, this.#lastReading)
      return this.#pollOnce(true)
    }
    this.#lastReading = reading
    breaker.setServer({ timeline: reading.server.timeline, epoch: reading.epoch, counters: row })
    return toCounters(row)
  }

  #queryOnce(): Promise<PollResult> {
    this.#pendingQuery ??= queryAgain(this.#options).finally(() => {
      this.#pendingQuery = undefined
    })
    return withinTime(this.#pendingQuery)
  }
}

async function queryAgain(options: PollerOptions): Promise<PollResult> {
  const { breaker } = options
  const startTime = performance.now()
  const generation = breaker.generation()
  try {
    return await queryMeta(options)
  } catch (error) {
    // An idle connection may have been closed although the server is up. A late poll cuts its own connection, and the
    // next poll waits for the same query. A new connection decides.
    const isCut = breaker.generation() !== generation
    const isQuick = performance.now() - startTime <= QUICK_FAILURE_MS
    if (!isConnectionLost(error) || !(isQuick || isCut)) throw error
    return await queryMeta(options)
  }
}

async function queryMeta({ db, breaker, clock, lineage }: PollerOptions): Promise<PollResult> {
  const before = breaker.server.counters ?? {}
  const sendTime = clock.ticks()
  const { rows } = await rawQuery<MetaRow>(
    db,
    `select epoch, generation, data_revision, access_revision, documents_revision, turn,
       ${lineage.lastId} as last_id, timeline as known_timeline, server_id as known_server,
       ${lineage.timeline} as timeline, ${lineage.serverId} as server_id, clock_timestamp() as server_time,
       schema_version, oldest_program, ${WAITING_COMMITS} as waiting_commits
     from meta, document_order`,
  )
  const [row] = rows
  if (!row) throw new AppError('unavailable', 'The database has no data')
  clock.compare(sendTime, clock.ticks(), row.server_time)
  return { row, before }
}

function describeVerdict(verdict: Verdict): string | undefined {
  if (verdict.kind === 'refuse') return verdict.message
  return verdict.kind === 'renew'
    ? 'the database failed over or went back: the next node that starts gives it a new epoch'
    : undefined
}

function toCounters(row: MetaRow): ChangeCounters {
  return {
    data: `${row.epoch} ${row.data_revision}`,
    access: String(row.access_revision),
    documents: String(row.documents_revision + row.turn),
  }
}

function outdatedReason({ schema_version: schema }: MetaRow): string {
  return `the database has schema ${schema}, which is too new for cambista ${VERSION}: upgrade this node`
}

function toReading(row: MetaRow): LineageReading {
  const { epoch, generation, last_id } = row
  return {
    epoch,
    generation,
    known: { timeline: row.known_timeline ?? undefined, serverId: row.known_server ?? undefined },
    server: { timeline: row.timeline ?? undefined, serverId: row.server_id ?? undefined },
    counters: [...COUNTER_NAMES.map((name) => row[name]), last_id ?? 0],
  }
}

/** Adds what this node knows to the last poll: its commits since, and what new connections found. */
function withCounters(last: LineageReading | undefined, before: CounterValues): LineageReading | undefined {
  if (!last) return undefined
  const counters = COUNTER_NAMES.map((name, at) => Math.max(before[name] ?? 0, last.counters[at] ?? 0))
  return { ...last, counters: [...counters, ...last.counters.slice(ALWAYS_KNOWN)] }
}

async function withinTime<T>(query: Promise<T>): Promise<T> {
  const over = new AbortController()
  const { signal } = over
  // Many short waits: a busy or suspended process counts each of its stalls once, for the answer may be there.
  const waitAwake = async () => {
    for (let tick = 0; tick < POLL_TICKS; tick++) await wait(POLL_MS / POLL_TICKS, undefined, { signal })
    throw new AppError('unavailable', `the database did not answer within ${POLL_MS} ms`)
  }
  const late = waitAwake()
  for (const one of [late, query]) one.catch(() => {}) // the slower one may fail unhandled
  try {
    return await Promise.race([query, late])
  } finally {
    over.abort()
  }
}
