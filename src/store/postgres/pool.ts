// Connections to PostgreSQL: how many, how long anything is waited for, and how numbers are read. The client library is
// loaded by the first, since who keeps the data in a file shall not pay for it.

import type { ClientConfig, Pool } from 'pg'
import type { Address } from './address.ts'
import { asDatabaseError } from './errors.ts'

export type PoolOptions = {
  size: number
  /** How long an answer is waited for; a little less is what the server is told. */
  answerMs: number
}

const CONNECT_MS = 2000
const SERVER_ENDS_BEFORE_MS = 1000
const LOCK_MS = 3000
const IDLE_IN_TRANSACTION_MS = 5000

const INT8 = 20
const NUMERIC = 1700

/** A pool whose lost connections are no error of anybody's, unless it is in the middle of a query. */
export async function openPool(address: Address, { size, answerMs }: PoolOptions): Promise<Pool> {
  const { default: pg } = await import('pg')
  const standard = pg.types.getTypeParser
  const getTypeParser = ((oid: number, format?: 'text') =>
    oid === INT8 || oid === NUMERIC ? wholeNumber : standard(oid, format)) as typeof standard
  const pool = new pg.Pool({
    ...withSettings(address, answerMs),
    max: size,
    query_timeout: answerMs,
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    types: { getTypeParser },
  })
  pool.on('error', ignore) // of an idle one: the pool has removed it
  pool.on('connect', (client) => client.on('error', ignore)) // of a lent one: its query fails, too
  return pool
}

/** The first connection says why there is none. @throws AppError, or an error with a code of `errors.ts` */
export async function tryPool(pool: Pool): Promise<void> {
  try {
    const client = await pool.connect()
    client.release()
  } catch (error) {
    throw asDatabaseError(error)
  }
}

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
