// Pools of connections to PostgreSQL: sizes, timeouts, and the parsing of numbers.

import { setTimeout as wait } from 'node:timers/promises'
import pg, { type ClientConfig, type PoolClient } from 'pg'
import { AppError } from '../../runtime/errors.ts'
import { createSemaphore, type Semaphore } from '../../runtime/semaphore.ts'
import { type Blocks, blockReason } from '../engine.ts'
import type { Address, Host } from './address.ts'
import { type CounterValues, greatestCounters } from './change-counters.ts'
import {
  type ConnectionMode,
  type ConnectionSettings,
  checkConnection,
  connectionSettings,
  createConnectionMode,
  isOptionsRefusal,
  startupOptions,
  transactionSettings,
} from './connection-settings.ts'
import {
  checkServerRow,
  type ExpectedServer,
  isLater,
  type ServerRow,
  selectServerRow,
} from './expected-server.ts'
import { createHostChoice, createProbe, destroySocket, findWriter, type HostChoice } from './hosts.ts'
import { isConnectionLost, toDatabaseError } from './postgres-errors.ts'

export type PoolOptions = {
  size: number
  /** Timeout of an answer. The server's own timeout is up to 500 ms shorter. */
  answerMs: number
  /** True: running queries are cut off when the circuit breaker trips, because reads have no result to check. */
  onlyReads?: true
  /** Timeout of a connection; undefined: two seconds. */
  connectMs?: number
}

export type Pool = {
  /**
   * @throws AppError `unavailable` at once while the circuit breaker is tripped, `busy` after ten seconds in the queue
   */
  connect(): Promise<PoolClient>
  /** Replaces the connections, after an error that shows that they lead to the wrong server. */
  renew(): void
  mode: ConnectionMode
  /** Statements that follow `begin`; undefined: the connection has the settings. */
  transactionSettings(): string | undefined
  serverCheck(): ServerCheck
  /** Records the counters of a commit of this node. */
  noteCommit(counters: CounterValues): void
  /** Ends the pool. Waits for running queries, at most for their timeout. */
  end(): Promise<void>
}

/** Comparison of the server behind a connection with what this node knows before the query. */
export type ServerCheck = {
  query: string
  /** @throws an error for another server than that of the last poll, and for one that only reads */
  check(row: ServerRow | undefined): void
}

/**
 * State that all pools of a node share: whether the database answers, and which connections are valid. Also the host
 * that they lead to, and the abilities of a pooler in between.
 */
export type CircuitBreaker = {
  hosts: HostChoice
  mode: ConnectionMode
  /** @throws AppError `unavailable` while it is tripped */
  check(): void
  /** Allows queries again. */
  reset(): void
  /** Rejects queries until the next reset, and replaces all connections. */
  trip(): void
  /** Invalidates all present connections. */
  renew(): void
  /** Number of renewals. */
  generation(): number
  /** Sets what a poll found. Another server or epoch than before cuts all connections, with what runs on them. */
  setServer(server: Pick<ExpectedServer, 'timeline' | 'epoch' | 'counters'>): void
  noteCommit(counters: CounterValues): void
  /** Registers a function that cuts connections. */
  onCut(cut: (cause: CutCause) => void): void
  /** Rejects queries for this reason, whatever polls return; undefined: not for this cause any more. */
  block(cause: keyof Blocks, reason: string | undefined): void
  blocks(): Blocks
  /** The server whose connections are valid. */
  readonly server: ExpectedServer
}

/** `outage`: it tripped. `server`: the connections may lead to another server than the last poll. */
type CutCause = 'outage' | 'server'

const END_MS = 1000
const CONNECT_MS = 2000
const TURN_MS = 10_000
const BUSY = 'The database is in use: try again in a moment'
const AWAY = 'The database does not answer: try again in a moment'

const INT8 = 20
const NUMERIC = 1700

export function createCircuitBreaker(): CircuitBreaker {
  let isTripped = false
  let generation = 0
  const blocks: Blocks = {}
  const cuts: ((cause: CutCause) => void)[] = []
  const server: ExpectedServer = {}
  const mode = createConnectionMode()
  const hosts = createHostChoice(() => {
    generation += 1 // connections to the previous host
  })
  const renew = () => {
    generation += 1
    hosts.forget()
  }
  const noteCommit = (counters: CounterValues) => {
    server.counters = greatestCounters(server.counters ?? {}, counters)
  }
  return {
    hosts,
    mode,
    check() {
      const reason = blockReason(blocks)
      if (reason !== undefined) throw new AppError('unavailable', reason)
      if (isTripped) throw new AppError('unavailable', AWAY)
    },
    reset() {
      isTripped = false
    },
    trip() {
      if (isTripped) return
      isTripped = true
      renew() // the next server may be another one, or a restarted one without these connections
      for (const cut of cuts) cut('outage')
    },
    renew,
    noteCommit,
    setServer({ timeline, epoch, counters = {} }) {
      const isOther = server.epoch !== undefined && (server.timeline !== timeline || server.epoch !== epoch)
      if (server.epoch !== epoch) server.counters = undefined
      Object.assign(server, { timeline, epoch })
      noteCommit(counters)
      if (!isOther) return
      renew()
      for (const cut of cuts) cut('server')
    },
    onCut(cut) {
      cuts.push(cut)
    },
    block(cause, reason) {
      blocks[cause] = reason
    },
    blocks: () => blocks,
    generation: () => generation,
    server,
  }
}

/**
 * Opens a pool. Losses of idle connections are ignored; a running query fails. The default `breaker` never trips.
 */
export async function openPool(
  address: Address,
  options: PoolOptions,
  breaker: CircuitBreaker = createCircuitBreaker(),
): Promise<Pool> {
  return new BreakerPool(address, options, breaker)
}

class BreakerPool implements Pool {
  readonly mode: ConnectionMode
  readonly #address: Address
  readonly #breaker: CircuitBreaker
  readonly #answerMs: number
  readonly #settings: ConnectionSettings
  readonly #pool: pg.Pool
  readonly #generations = new Map<PoolClient, number>()
  // A queue of our own: the connection timeout of the library would include the wait for other queries.
  readonly #slots: Semaphore
  readonly #chooseHost: () => Promise<Host>
  // Another server may be behind another pooler: settings are compared once a generation.
  #checkedGeneration: number | undefined

  constructor(
    address: Address,
    { size, answerMs, onlyReads, connectMs = address.connectMs ?? CONNECT_MS }: PoolOptions,
    breaker: CircuitBreaker,
  ) {
    this.mode = breaker.mode
    this.#address = address
    this.#breaker = breaker
    this.#answerMs = answerMs
    this.#settings = connectionSettings(answerMs)
    if (!address.prepare) this.mode.usesNames = false
    this.#slots = createSemaphore(size, { ms: TURN_MS, message: BUSY })
    const probe = createProbe(pg.Client, address, connectMs)
    this.#chooseHost = () => breaker.hosts.choose(() => findWriter(address.hosts, probe))
    this.#pool = new pg.Pool({
      ...address.config,
      Client: clientClass(this.#settings, address, breaker),
      max: size,
      query_timeout: answerMs,
      connectionTimeoutMillis: connectMs,
      verify: (client, done) => this.#verifyServer(client).then(() => done(), done),
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      types: { getTypeParser },
    })
    this.#pool.on('error', ignore) // idle connections: the pool has removed them
    this.#pool.on('connect', (client) => {
      this.#generations.set(client, breaker.generation())
      client.on('error', ignore) // connections in use: their query fails too
    })
    this.#pool.on('remove', (client) => this.#generations.delete(client))
    // A write that runs during an outage may still end well.
    breaker.onCut((cause) => (onlyReads || cause === 'server') && this.#cut())
  }

  async connect(): Promise<PoolClient> {
    this.#breaker.check()
    const slot = await this.#slots.acquire()
    try {
      const client = await this.#connectNow()
      const release = client.release.bind(client)
      client.release = (lost) => {
        release(lost)
        slot[Symbol.dispose]()
      }
      return client
    } catch (error) {
      slot[Symbol.dispose]()
      throw error
    }
  }

  renew(): void {
    this.#breaker.renew()
  }

  transactionSettings(): string | undefined {
    return this.mode.isPerTransaction
      ? transactionSettings(this.#settings, this.#address.config.options)
      : undefined
  }

  // Commits that end after the query is sent may not be in its answer.
  serverCheck(hasTables = true): ServerCheck {
    const breaker = this.#breaker
    const expected = { ...breaker.server }
    return {
      query: selectServerRow(expected, hasTables),
      check(row) {
        if (row && expected.epoch !== undefined && isLater(row, expected)) breaker.trip() // until the next poll
        checkServerRow(row, expected)
      },
    }
  }

  noteCommit(counters: CounterValues): void {
    this.#breaker.noteCommit(counters)
  }

  async end(): Promise<void> {
    const allClosed = Promise.withResolvers<void>()
    this.#pool.on('remove', () => this.#generations.size === 0 && allClosed.resolve())
    await waitAtMost(this.#answerMs, this.#pool.end())
    if (this.#generations.size > 0) await waitAtMost(END_MS, allClosed.promise)
    this.#cut()
  }

  #cut(): void {
    for (const client of this.#generations.keys()) destroySocket(client)
  }

  async #verifyServer(client: PoolClient): Promise<void> {
    const { query, check } = this.serverCheck(!this.mode.isPerTransaction)
    const { rows } = await client.query<ServerRow>(query)
    check(rows[0])
  }

  async #connectNow(): Promise<PoolClient> {
    while (true) {
      this.#breaker.check()
      const client = await this.#connectWithSettings()
      const generation = this.#breaker.generation()
      if (this.#generations.get(client) !== generation) client.release(true)
      else if (this.#checkedGeneration === generation) return client
      else {
        await this.#checkSettings(client)
        this.#checkedGeneration = generation
        return client
      }
    }
  }

  async #connectWithSettings(): Promise<PoolClient> {
    const { isPerTransaction } = this.mode
    try {
      return await this.#connectToHost()
    } catch (error) {
      if (isPerTransaction || !isOptionsRefusal(error)) throw error
      this.mode.isPerTransaction = true
      return this.#connectToHost()
    }
  }

  // A failed connection shows that a choice is out of date, unless it is new.
  async #connectToHost(): Promise<PoolClient> {
    if (this.#address.hosts.length === 1) return this.#pool.connect()
    const { hosts } = this.#breaker
    const isRemembered = hosts.isKnown()
    const host = await this.#chooseHost()
    try {
      return await this.#pool.connect()
    } catch (error) {
      if (!isConnectionLost(toDatabaseError(error))) throw error
      hosts.forget(host)
      if (!isRemembered) throw error
    }
    await this.#chooseHost()
    return this.#pool.connect()
  }

  async #checkSettings(client: PoolClient): Promise<void> {
    try {
      await checkConnection(this.mode, client, this.#settings)
    } catch (error) {
      client.release(true)
      throw error
    }
  }
}

/** Returns the connections of a pool, to the chosen host and with the settings of this node. */
function clientClass(
  settings: ConnectionSettings,
  { config: { options } }: Address,
  breaker: CircuitBreaker,
) {
  const { hosts, mode } = breaker
  return class extends pg.Client {
    constructor(config?: ClientConfig) {
      const ownOptions = mode.isPerTransaction ? undefined : startupOptions(settings, options)
      // The pool hides the password, which the spread then omits.
      super({ ...config, password: config?.password, ...hosts.last()?.config, options: ownOptions })
      // The library leaves a failed connection open, such as one without a password. The server closes it only after a
      // minute.
      this.connection.on('error', () => this.connection.stream.destroy())
    }
  }
}

const standardParser = pg.types.getTypeParser
const getTypeParser = ((oid: number, format?: 'text') =>
  oid === INT8 || oid === NUMERIC ? wholeNumber : standardParser(oid, format)) as typeof standardParser

async function waitAtMost(ms: number, done: Promise<void>): Promise<void> {
  const late = new AbortController()
  const timeout = wait(ms, undefined, { signal: late.signal }).catch(() => {}) // aborted below
  await Promise.race([done, timeout])
  late.abort()
}

/** Parses a number of 64 bits, which the library returns as text: `+` would concatenate them. */
function wholeNumber(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) {
    throw new RangeError(`the database answered ${text}, which is not a whole number below 2^53`)
  }
  return number
}

function ignore(): void {}
