// Pools of connections to PostgreSQL: sizes, timeouts, and the parsing of numbers.

import { setTimeout as wait } from 'node:timers/promises'
import pg, { type ClientConfig, type PoolClient } from 'pg'
import { AppError } from '../../runtime/errors.ts'
import { createSemaphore } from '../../runtime/semaphore.ts'
import { type Blocks, blockReason } from '../engine.ts'
import type { Address } from './address.ts'
import { type CounterValues, greatestCounters } from './change-counters.ts'
import {
  type ConnectionMode,
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
  { size, answerMs, onlyReads, connectMs = address.connectMs ?? CONNECT_MS }: PoolOptions,
  breaker: CircuitBreaker = createCircuitBreaker(),
): Promise<Pool> {
  const { hosts, mode } = breaker
  const settings = connectionSettings(answerMs)
  const fromAddress = address.config.options
  if (!address.prepare) mode.usesNames = false
  const standard = pg.types.getTypeParser
  const getTypeParser = ((oid: number, format?: 'text') =>
    oid === INT8 || oid === NUMERIC ? wholeNumber : standard(oid, format)) as typeof standard
  // The library leaves a failed connection open, such as one without a password. The server closes it only after a
  // minute.
  class Client extends pg.Client {
    constructor(config?: ClientConfig) {
      const options = mode.isPerTransaction ? undefined : startupOptions(settings, fromAddress)
      // The pool hides the password, which the spread then omits.
      super({ ...config, password: config?.password, ...hosts.last()?.config, options })
      this.connection.on('error', () => this.connection.stream.destroy())
    }
  }
  // Commits that end after the query is sent may not be in its answer.
  const serverCheck = (hasTables = true): ServerCheck => {
    const expected = { ...breaker.server }
    return {
      query: selectServerRow(expected, hasTables),
      check(row) {
        if (row && expected.epoch !== undefined && isLater(row, expected)) breaker.trip() // until the next poll
        checkServerRow(row, expected)
      },
    }
  }
  const verifyServer = async (client: PoolClient) => {
    const { query, check } = serverCheck(!mode.isPerTransaction)
    const { rows } = await client.query<ServerRow>(query)
    check(rows[0])
  }
  const pool = new pg.Pool({
    ...address.config,
    Client,
    max: size,
    query_timeout: answerMs,
    connectionTimeoutMillis: connectMs,
    verify: (client, done) => verifyServer(client).then(() => done(), done),
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    types: { getTypeParser },
  })
  pool.on('error', ignore) // idle connections: the pool has removed them
  const generations = new Map<PoolClient, number>()
  pool.on('connect', (client) => {
    generations.set(client, breaker.generation())
    client.on('error', ignore) // connections in use: their query fails too
  })
  pool.on('remove', (client) => generations.delete(client))
  const cut = () => {
    for (const client of generations.keys()) destroySocket(client)
  }
  // A write that runs during an outage may still end well.
  breaker.onCut((cause) => (onlyReads || cause === 'server') && cut())
  // A queue of our own: the connection timeout of the library would include the wait for other queries.
  const slots = createSemaphore(size, { ms: TURN_MS, message: BUSY })
  const probe = createProbe(pg.Client, address, connectMs)
  const chooseHost = () => hosts.choose(() => findWriter(address.hosts, probe))
  // A failed connection shows that a choice is out of date, unless it is new.
  const connectToHost = async () => {
    if (address.hosts.length === 1) return pool.connect()
    const isRemembered = hosts.isKnown()
    const host = await chooseHost()
    try {
      return await pool.connect()
    } catch (error) {
      if (!isConnectionLost(toDatabaseError(error))) throw error
      hosts.forget(host)
      if (!isRemembered) throw error
    }
    await chooseHost()
    return pool.connect()
  }
  const connectWithSettings = async () => {
    const { isPerTransaction } = mode
    try {
      return await connectToHost()
    } catch (error) {
      if (isPerTransaction || !isOptionsRefusal(error)) throw error
      mode.isPerTransaction = true
      return connectToHost()
    }
  }
  const connectNow = async () => {
    while (true) {
      breaker.check()
      const client = await connectWithSettings()
      const generation = breaker.generation()
      if (generations.get(client) !== generation) client.release(true)
      else if (checkedGeneration === generation) return client
      else {
        await check(client)
        checkedGeneration = generation
        return client
      }
    }
  }
  // Another server may be behind another pooler: settings are compared once a generation.
  let checkedGeneration: number | undefined
  const check = async (client: PoolClient) => {
    try {
      await checkConnection(mode, client, settings)
    } catch (error) {
      client.release(true)
      throw error
    }
  }
  return {
    async connect() {
      breaker.check()
      const slot = await slots.acquire()
      try {
        const client = await connectNow()
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
    },
    renew: breaker.renew,
    mode,
    transactionSettings: () =>
      mode.isPerTransaction ? transactionSettings(settings, fromAddress) : undefined,
    serverCheck,
    noteCommit: breaker.noteCommit,
    async end() {
      const allClosed = Promise.withResolvers<void>()
      pool.on('remove', () => generations.size === 0 && allClosed.resolve())
      await waitAtMost(answerMs, pool.end())
      if (generations.size > 0) await waitAtMost(END_MS, allClosed.promise)
      cut()
    },
  }
}

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
