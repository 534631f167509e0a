// Opens a PostgreSQL that several nodes may share: the connections of this one, the schema if there is none yet, and what
// the program asks of an engine.

import { AppError, reasonOf } from '../../errors.ts'
import type { Engine } from '../engine.ts'
import type { Db } from '../tables.ts'
import { type Address, addressOf } from './address.ts'
import { ask } from './ask.ts'
import { createSharedClock } from './clock.ts'
import { postgresDialect } from './dialect.ts'
import { PostgresDriver } from './driver.ts'
import { holderOfLease, LEASE_TIMES, takeLease } from './lease.ts'
import { makeSchema, type SchemaOptions, versionsOf } from './make-schema.ts'
import { openPool, type PoolOptions } from './pool.ts'
import { queriesOver } from './queries.ts'
import { makeEpoch } from './steps.ts'

export type PostgresOptions = SchemaOptions & {
  /** Milliseconds since 1970 of this machine. */
  machine?: () => number
  /** A database that lost what it had answered already, such as a replica that lagged. */
  wentBack?: () => void
}

// Ten connections for a node: what writes, what a request reads, whole series, and the looks, which are short or fail.
const POOLS = {
  db: { size: 5, answerMs: 6000 },
  reads: { size: 3, answerMs: 6000 },
  longReads: { size: 1, answerMs: 60_000 },
  looks: { size: 1, answerMs: 1000 },
} satisfies Record<string, PoolOptions>
// An index over millions of rows takes its time.
const CHANGES = { size: 1, answerMs: 3_600_000 }
const MOST_OFF_MS = 60_000

/**
 * @throws AppError `usage` for an address that is not one, `failed` when the database does not answer, belongs to another
 *   program or has a schema that this program does not know
 */
export async function openPostgres(url: string, options: PostgresOptions = {}): Promise<Engine> {
  const address = addressOf(url)
  const db = queriesTo(address, POOLS.db)
  const reads = queriesTo(address, POOLS.reads)
  const longReads = queriesTo(address, POOLS.longReads)
  const looks = queriesTo(address, POOLS.looks)
  const { leaseTimes = LEASE_TIMES, machine = Date.now } = options
  const clock = createSharedClock(machine)
  let seen: { epoch: string; revision: number } | undefined
  const engine: Engine = {
    kind: 'postgres',
    place: address.name,
    db,
    reads,
    longReads,
    clock: clock.read,
    takeLock: (name) => takeLease(db, name, leaseTimes),
    holderOf: (name) => holderOfLease(reads, name),
    async look() {
      const sentAt = machine()
      const { rows } = await ask<MetaRow>(
        looks,
        `select epoch, data_revision, access_revision, documents_revision + turn as documents_revision,
           clock_timestamp() as told
         from meta, document_order`,
      )
      const [row] = rows
      if (!row) throw new AppError('unavailable', 'The database has no data')
      clock.compare(sentAt, machine(), row.told)
      let { epoch } = row
      // The next commit would have a number that clients know for other data.
      if (seen?.epoch === epoch && row.data_revision < seen.revision) {
        const next = makeEpoch()
        await ask(db, 'update meta set epoch = $1 where epoch = $2', [next, epoch])
        options.wentBack?.()
        epoch = next
      }
      seen = { epoch, revision: row.data_revision }
      const [access, documents] = [String(row.access_revision), String(row.documents_revision)]
      return { data: `${epoch} ${row.data_revision}`, access, documents }
    },
    async isReady() {
      const versions = await versionsOf(looks, options.migrations)
      return versions?.isKnown === true && Math.abs(clock.offsetMs()) <= MOST_OFF_MS
    },
    async close() {
      await Promise.all([db, reads, longReads, looks].map((one) => one.destroy()))
    },
  }
  try {
    await bringToSchema(address, db, options)
    await engine.look()
    return engine
  } catch (error) {
    await engine.close()
    if (error instanceof AppError) throw error
    const reason = reasonOf(error)
    throw new AppError('failed', `cannot open the database ${address.name}: ${reason}`, { cause: error })
  }
}

type MetaRow = {
  epoch: string
  data_revision: number
  access_revision: number
  documents_revision: number
  told: Date
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
export function queriesTo(address: Address, options: PoolOptions): Db {
  return queriesOver(() => new PostgresDriver(() => openPool(address, options), address), postgresDialect)
}
