// Opens a PostgreSQL that several nodes may share: the connections of this one, the schema if there is none yet, and what
// the program asks of an engine.

import { AppError, reasonOf } from '../../errors.ts'
import { type Engine, MOST_OFF_MS } from '../engine.ts'
import type { Db } from '../tables.ts'
import { type Address, addressOf } from './address.ts'
import { ask } from './ask.ts'
import { createSharedClock } from './clock.ts'
import { postgresDialect } from './dialect.ts'
import { PostgresDriver } from './driver.ts'
import { holderOfLease, LEASE_TIMES, takeLease } from './lease.ts'
import { createLooks, LOOK_MS } from './looks.ts'
import { makeSchema, type SchemaOptions, versionsOf } from './make-schema.ts'
import { createGate, type Gate, openPool, type PoolOptions } from './pool.ts'
import { queriesOver } from './queries.ts'

export type PostgresOptions = SchemaOptions & {
  /** Milliseconds since 1970 of this machine. */
  machine?: () => number
  /** A database that lost what it had answered already, such as a replica that lagged. */
  wentBack?: () => void
}

// Eleven connections for a node: what writes, what a request reads, whole series, the leases, which no crowd of uploads may
// keep from being renewed, and the looks, which are short or fail.
const POOLS = {
  db: { size: 5, answerMs: 5500 },
  reads: { size: 3, answerMs: 5500, onlyReads: true },
  longReads: { size: 1, answerMs: 60_000, onlyReads: true },
  leases: { size: 1, answerMs: 5500 },
  looks: { size: 1, answerMs: LOOK_MS, connectMs: LOOK_MS },
} satisfies Record<string, PoolOptions>
// An index over millions of rows takes its time.
const CHANGES = { size: 1, answerMs: 3_600_000 }

/**
 * @throws AppError `usage` for an address that is not one, `failed` when the database does not answer, belongs to another
 *   program or has a schema that this program does not know
 */
export async function openPostgres(url: string, options: PostgresOptions = {}): Promise<Engine> {
  const address = addressOf(url)
  const gate = createGate()
  const db = queriesTo(address, POOLS.db, gate)
  const reads = queriesTo(address, POOLS.reads, gate)
  const longReads = queriesTo(address, POOLS.longReads, gate)
  const leases = queriesTo(address, POOLS.leases, gate)
  const looks = queriesTo(address, POOLS.looks, { ...gate, check: () => {} })
  const { leaseTimes = LEASE_TIMES } = options
  const clock = createSharedClock(options.machine)
  const look = createLooks({ db: looks, gate, clock, wentBack: options.wentBack })
  const findReady = async () => {
    await look()
    const versions = await versionsOf(looks, options.migrations)
    return versions?.isKnown === true && Math.abs(clock.offsetMs()) <= MOST_OFF_MS
  }
  let ready: Promise<boolean> | undefined
  const engine: Engine = {
    kind: 'postgres',
    place: address.name,
    db,
    reads,
    longReads,
    clock: clock.read,
    takeLock: (name) => takeLease(leases, name, leaseTimes),
    holderOf: (name) => holderOfLease(reads, name),
    look,
    clockOffsetMs: clock.offsetMs,
    // Once for all that ask meanwhile: a probe is open to everybody, and behind a thousand of them a look would be late.
    isReady() {
      ready ??= findReady().finally(() => {
        ready = undefined
      })
      return ready
    },
    async close() {
      await Promise.all([db, reads, longReads, leases, looks].map((one) => one.destroy()))
    },
  }
  try {
    await refuseIsolation(db, address)
    await bringToSchema(address, db, options)
    await engine.look()
    return engine
  } catch (error) {
    await engine.close()
    if (error instanceof AppError && error.code !== 'unavailable') throw error
    const reason = reasonOf(error)
    throw new AppError('failed', `cannot open the database ${address.name}: ${reason}`, { cause: error })
  }
}

/**
 * Of what others committed during a transaction its later statements must see everything (READ COMMITTED), or it must be given
 * up (SERIALIZABLE): else a content is let go of that an upload names by then.
 */
async function refuseIsolation(db: Db, { name }: Address): Promise<void> {
  const { rows } = await ask<{ level: string }>(
    db,
    `select current_setting('default_transaction_isolation') as level`,
  )
  if (rows[0]?.level !== 'repeatable read') return
  throw new AppError(
    'failed',
    `transactions of the database ${name} are repeatable read: for the role of cambista, alter role … set default_transaction_isolation = 'read committed'`,
  )
}

async function bringToSchema(address: Address, db: Db, options: SchemaOptions): Promise<void> {
  const changes = queriesTo(address, CHANGES)
  try {
    await makeSchema(db, changes, options)
  } finally {
    await changes.destroy()
  }
}

/** What is asked goes to a pool of its own, which connects with the first query. */
export function queriesTo(address: Address, options: PoolOptions, gate?: Gate): Db {
  return queriesOver(
    () => new PostgresDriver(() => openPool(address, options, gate), address),
    postgresDialect,
  )
}
