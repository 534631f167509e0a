// Connections to PostgreSQL: how many, how long anything is waited for, and how numbers are read. The client library is
// loaded by the first, since who keeps the data in a file shall not pay for it.

import { setTimeout as wait } from 'node:timers/promises'
import type { ClientConfig, PoolClient } from 'pg'
import { AppError } from '../../errors.ts'
import { createSemaphore } from '../../semaphore.ts'
import type { Address } from './address.ts'

export type PoolOptions = {
  size: number
  /** How long an answer is waited for; a little less is what the server is told. */
  answerMs: number
  /** Whether what is under way is cut off when the gate is closed: nobody has to ask what became of it. */
  onlyReads?: true
  /** How long a connection is waited for; two seconds unless told. */
  connectMs?: number
}

export type Connections = {
  /** @throws AppError `unavailable` at once while the gate is closed, `busy` when no turn comes */
  connect(): Promise<PoolClient>
  /** After an error that says that the connections lead to the wrong server. */
  renew(): void
  /** Waits for what is under way, and not for a server that says nothing. */
  end(): Promise<void>
}

/** What all pools of a node have in common: whether the database answers, and which connections are of now. */
export type Gate = {
  /** @throws AppError `unavailable` while it is closed */
  check(): void
  open(): void
  close(): void
  /** Connections of before are not used again. */
  renew(): void
  /** Rises with each renewal. */
  generation(): number
  /** Is called each time that it is closed. */
  onClose(cut: () => void): void
}

const END_MS = 1000
const CONNECT_MS = 2000
const TURN_MS = 10_000
const BUSY = 'The database is in use: try again in a moment'
const AWAY = 'The database does not answer: try again in a moment'
const SERVER_ENDS_BEFORE_MS = 500
const LOCK_MS = 3000
const IDLE_IN_TRANSACTION_MS = 5000

const INT8 = 20
const NUMERIC = 1700

export function createGate(): Gate {
  let isClosed = false
  let generation = 0
  const closing: (() => void)[] = []
  const renew = () => {
    generation += 1
  }
  return {
    check() {
      if (isClosed) throw new AppError('unavailable', AWAY)
    },
    open() {
      isClosed = false
    },
    close() {
      if (isClosed) return
      isClosed = true
      renew() // of another server, or one that has forgotten them
      for (const cut of closing) cut()
    },
    renew,
    onClose(cut) {
      closing.push(cut)
    },
    generation: () => generation,
  }
}

/**
 * A pool whose lost connections are no error of anybody's, unless it is in the middle of a query. `gate`: without one it is
 * never closed.
 */
export async function openPool(
  address: Address,
  { size, answerMs, onlyReads, connectMs = CONNECT_MS }: PoolOptions,
  gate: Gate = createGate(),
): Promise<Connections> {
  const { default: pg } = await import('pg')
  const standard = pg.types.getTypeParser
  const getTypeParser = ((oid: number, format?: 'text') =>
    oid === INT8 || oid === NUMERIC ? wholeNumber : standard(oid, format)) as typeof standard
  // What the library gives up itself, such as for want of a password, it leaves open until the server closes it, a minute later.
  class Client extends pg.Client {
    constructor(config?: ClientConfig) {
      super(config)
      this.connection.on('error', () => this.connection.stream.destroy())
    }
  }
  const pool = new pg.Pool({
    ...withSettings(address, answerMs),
    Client,
    max: size,
    query_timeout: answerMs,
    connectionTimeoutMillis: connectMs,
    verify: refuseReadOnly,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    types: { getTypeParser },
  })
  pool.on('error', ignore) // of an idle one: the pool has removed it
  const open = new Map<PoolClient, number>()
  pool.on('connect', (client) => {
    open.set(client, gate.generation())
    client.on('error', ignore) // of a lent one: its query fails, too
  })
  pool.on('remove', (client) => open.delete(client))
  const cut = () => {
    for (const client of open.keys()) (client as unknown as WithStream).connection.stream.destroy()
  }
  if (onlyReads) gate.onClose(cut)
  // The library would count the wait for others, too, by which it sees that a server does not answer.
  const turns = createSemaphore(size, { ms: TURN_MS, message: BUSY })
  const connectNow = async () => {
    while (true) {
      gate.check()
      const client = await pool.connect()
      if (open.get(client) === gate.generation()) return client
      client.release(true)
    }
  }
  return {
    async connect() {
      gate.check()
      const turn = await turns.acquire()
      try {
        const client = await connectNow()
        const release = client.release.bind(client)
        client.release = (lost) => {
          release(lost)
          turn[Symbol.dispose]()
        }
        return client
      } catch (error) {
        turn[Symbol.dispose]()
        throw error
      }
    },
    renew: gate.renew,
    async end() {
      const gone = Promise.withResolvers<void>()
      pool.on('remove', () => open.size === 0 && gone.resolve())
      await within(answerMs, pool.end())
      if (open.size > 0) await within(END_MS, gone.promise)
      cut()
    },
  }
}

/** After a fail-over the address may be that of a server which is a copy by now. */
function refuseReadOnly(client: PoolClient, done: (error?: Error) => void): void {
  client.query('show transaction_read_only').then(({ rows }) => {
    const [row] = rows as { transaction_read_only?: string }[]
    done(row?.transaction_read_only === 'on' ? readOnly() : undefined)
  }, done)
}

function readOnly(): Error {
  return Object.assign(new Error('the server is a copy that only reads'), { code: 'PG_25006' })
}

async function within(ms: number, done: Promise<void>): Promise<void> {
  const late = new AbortController()
  const waited = wait(ms, undefined, { signal: late.signal }).catch(() => {})
  await Promise.race([done, waited])
  late.abort()
}

/** A client says good-bye and waits until the server has hung up: nothing it offers ends it at once. */
type WithStream = { connection: { stream: { destroy(): void } } }

// What a session is told in its first packet, so that it costs no round trip. A pooler that shares sessions refuses such
// settings: there the administrator gives them to the role.
function withSettings({ config, prepare }: Address, answerMs: number): ClientConfig {
  if (!prepare) return config
  const settings = {
    synchronous_commit: 'on', // acknowledged means on disk, whatever the server's default is
    statement_timeout: Math.max(answerMs - SERVER_ENDS_BEFORE_MS, answerMs / 2),
    lock_timeout: LOCK_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    TimeZone: 'UTC',
  }
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`)
  return { ...config, options: [...options, config.options ?? ''].join(' ').trim() }
}

/** The library gives 64 bits as text: a sum of such would be text, one behind the other. */
function wholeNumber(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) {
    throw new RangeError(`the database answered ${text}, which is not a whole number below 2^53`)
  }
  return number
}

function ignore(): void {}
