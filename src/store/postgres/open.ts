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
import { holderOfLease, LEASE_TIMES, type LeaseTimes, takeLease } from './lease.ts'
import { makeEpoch, makeSchema, versionsOf } from './make-schema.ts'
import { openPool, type PoolOptions } from './pool.ts'
import { queriesOver } from './queries.ts'

export type PostgresOptions = {
  leaseTimes?: LeaseTimes
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
        `select epoch, data_revision, access_revision, documents_revision, clock_timestamp() as told from meta`,
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
      const versions = await versionsOf(looks)
      return versions?.isKnown === true && Math.abs(clock.offsetMs()) <= MOST_OFF_MS
    },
    async close() {
      await Promise.all([db, reads, longReads, looks].map((one) => one.destroy()))
    },
  }
  try {
    await makeSchema(db)
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

/** What is asked goes to a pool of its own, which connects with the first query. */
function queriesTo(address: Address, options: PoolOptions): Db {
  return queriesOver(() => new PostgresDriver(() => openPool(address, options), address), postgresDialect)
}
