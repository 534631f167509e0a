// Opens a PostgreSQL, which several nodes may share: the connections of this node, and the schema if it is missing.

import { AppError, errorReason } from '../../runtime/errors.ts'
import { lostDatabaseError } from '../../runtime/storage-error.ts'
import { blockReason, type Engine, MAX_CLOCK_OFFSET_MS } from '../engine.ts'
import { SHARED_MIGRATIONS, schemaVersion } from '../migrations.ts'
import type { ReadDb, WriteDb } from '../tables.ts'
import { type Address, parseAddress } from './address.ts'
import { createSharedClock, type SharedClock } from './clock.ts'
import { connectionSettings, selectSettings, wrongSettings } from './connection-settings.ts'
import { PostgresDriver } from './driver.ts'
import { postgresSql } from './engine-sql.ts'
import { examineHosts } from './hosts.ts'
import { findLeaseHolder, LEASE_TIMES, takeLease } from './lease.ts'
import { ALWAYS_KNOWN, findLineageSql, type LineageSql } from './lineage.ts'
import { type LineageRenewal, recordServer, renewAbove, renewLineage } from './maintenance/failover.ts'
import { makeSchema, type SchemaOptions, selectVersions } from './make-schema.ts'
import { createPoller, POLL_MS, type Poller } from './poller.ts'
import { type CircuitBreaker, createCircuitBreaker, openPool, type PoolOptions } from './pool.ts'
import { createKysely } from './queries.ts'
import { rawQuery } from './raw-query.ts'

export type PostgresOptions = SchemaOptions & {
  /** Milliseconds since 1970 of this machine. */
  machine?: () => number
  /** Called when this node has renewed the epoch of a database that went back, or may have (lineage.ts). */
  onRenewal?: ((renewal: LineageRenewal) => void) | undefined
  /** True: opens a copy or an earlier state of the database too, for commands that examine or mend it. */
  anyServer?: boolean | undefined
}

// Eleven connections a node: for writes, for requests that read, for whole series, for leases and for polls. Leases
// have their own, so that many uploads cannot delay a renewal. The poller limits a poll to a second. Its
// connection has three: in a busy process a timer comes first, though the answer may have arrived.
const POOLS = {
  db: { size: 5, answerMs: 5500 },
  reads: { size: 3, answerMs: 5500, onlyReads: true },
  longReads: { size: 1, answerMs: 60_000, onlyReads: true },
  leases: { size: 1, answerMs: 5500 },
  polls: { size: 1, answerMs: 3 * POLL_MS, onlyReads: true, connectMs: 2 * POLL_MS },
} satisfies Record<string, PoolOptions>
// For the start, and for a renewal of the epoch.
const SINGLE = { size: 1, answerMs: 5500 }
// Timeout of each host that is examined.
const HOST_MS = 2000
// An index over millions of rows may take an hour.
const CHANGES = { size: 1, answerMs: 3_600_000 }

/**
 * @throws AppError `usage` for an invalid address, `failed` when the database does not answer, belongs to another
 *   program or has a schema that this program does not know
 */
export async function openPostgres(url: string, options: PostgresOptions = {}): Promise<Engine> {
  const address = parseAddress(url)
  try {
    return await openNode(address, await prepareDatabase(address, options), options)
  } catch (error) {
    if (error instanceof AppError && error.code !== 'unavailable') throw error
    const reason = errorReason(error)
    throw new AppError('failed', `cannot open the database ${address.name}: ${reason}`, { cause: error })
  }
}

/** Opens the connections of a node to a database that has the schema of this program. */
async function openNode(address: Address, lineage: LineageSql, options: PostgresOptions): Promise<Engine> {
  const breaker = createCircuitBreaker()
  breaker.server.timelineSql = lineage.timeline
  breaker.server.isAny = options.anyServer
  const ownBreaker = { ...breaker, check: () => {}, server: {} } // the poller compares the servers itself
  const pools = {
    db: createPostgresDb(address, POOLS.db, breaker),
    reads: createPostgresDb(address, POOLS.reads, breaker),
    longReads: createPostgresDb(address, POOLS.longReads, breaker),
    leases: createPostgresDb(address, POOLS.leases, breaker),
    polls: createPostgresDb(address, POOLS.polls, ownBreaker),
  }
  const clock = createSharedClock(options.machine)
  const renew = async (work: (own: WriteDb) => Promise<LineageRenewal | undefined>) => {
    const renewal = await onOwnConnection(address, work)
    if (renewal) options.onRenewal?.(renewal)
  }
  const poller = createPoller({
    ...{ db: pools.polls, breaker, clock, lineage, anyServer: options.anyServer },
    schema: schemaVersion(options.migrations ?? SHARED_MIGRATIONS),
    async settle(verdict, reading, last) {
      if (verdict.kind === 'record') await recordServer(pools.polls, lineage, reading)
      else await renew((own) => renewLineage(own, lineage, verdict.cause, reading, last))
    },
  })
  const engine: Engine = {
    ...createNodeEngine(address, { pools, breaker, clock, poller }, options),
    lineage: {
      current() {
        const reading = poller.reading()
        if (!reading) return undefined
        const { epoch, generation, server, counters } = reading
        return { epoch, generation, timeline: server.timeline, counters: counters.slice(0, ALWAYS_KNOWN) }
      },
      fault: () => poller.fault(),
      async raiseGeneration(above) {
        const reading = poller.reading()
        if (reading) await renew((own) => renewAbove(own, lineage, above, reading))
        await poller.poll()
      },
      block: (reason) => breaker.block('lineage', reason),
    },
  }
  try {
    await poller.poll().catch(() => poller.poll()) // a new connection on a busy machine may take longer than a second
    return engine
  } catch (error) {
    await engine.close()
    throw error
  }
}

type NodeParts = {
  pools: Record<keyof typeof POOLS, WriteDb>
  breaker: CircuitBreaker
  clock: SharedClock
  poller: Poller
}

function createNodeEngine(
  address: Address,
  { pools, breaker, clock, poller }: NodeParts,
  { leaseTimes = LEASE_TIMES, migrations }: PostgresOptions,
): Omit<Engine, 'lineage'> {
  const { db, reads, longReads, leases, polls } = pools
  const findReady = async () => {
    await poller.poll()
    const versions = await selectVersions(polls, migrations)
    return (
      versions?.isKnown === true &&
      blockReason(breaker.blocks()) === undefined &&
      Math.abs(clock.offsetMs()) <= MAX_CLOCK_OFFSET_MS
    )
  }
  let ready: Promise<boolean> | undefined
  return {
    kind: 'postgres',
    location: address.name,
    description: `database: ${address.name}`,
    ...{ db, reads, longReads },
    clock: clock.read,
    takeLock: (name) => takeLease(leases, name, leaseTimes),
    findHolder: (name) => findLeaseHolder(reads, name),
    poll: () => poller.poll(),
    clockOffsetMs: clock.offsetMs,
    blocks: breaker.blocks,
    waitingCommits: () => poller.waitingCommits(),
    // Simultaneous probes share one query: probes need no key, and a thousand of them would delay a poll.
    isReady() {
      ready ??= findReady().finally(() => {
        ready = undefined
      })
      return ready
    },
    async examineServer() {
      const settings = connectionSettings(POOLS.db.answerMs)
      const { rows } = await db
        .transaction()
        .execute((trx) => rawQuery<Record<string, unknown>>(trx, selectSettings(settings)))
      const hosts = await examineHosts(address, address.connectMs ?? HOST_MS)
      return { hosts, settingFaults: wrongSettings(settings, rows[0] ?? {}) }
    },
    explain: (error) => lostDatabaseError(error, address.name),
    publishServer: () => () => {}, // commands find nodes by --url
    async close() {
      await Promise.all(Object.values(pools).map((one) => one.destroy()))
    },
  }
}

/** Calls it beside the pools, whose breaker rejects queries until the poll of a renewal has ended. */
async function onOwnConnection<T>(address: Address, work: (own: WriteDb) => Promise<T>): Promise<T> {
  const own = createPostgresDb(address, SINGLE)
  try {
    return await work(own)
  } finally {
    await own.destroy()
  }
}

/**
 * Rejects REPEATABLE READ. A transaction must see the commits of others (READ COMMITTED) or fail (SERIALIZABLE). Else
 * the garbage collection removes a blob that an upload has just referenced.
 */
async function refuseIsolation(db: ReadDb, { name }: Address): Promise<void> {
  const { rows } = await rawQuery<{ level: string }>(
    db,
    `select current_setting('default_transaction_isolation') as level`,
  )
  if (rows[0]?.level !== 'repeatable read') return
  throw new AppError(
    'failed',
    `transactions of the database ${name} are repeatable read: for the role of cambista, alter role … set default_transaction_isolation = 'read committed'`,
  )
}

/**
 * Brings the database to the schema of this program. Its connections end with it: the pools of the node verify the
 * server of theirs, which needs the returned SQL.
 */
async function prepareDatabase(address: Address, options: SchemaOptions): Promise<LineageSql> {
  const [db, changes] = [createPostgresDb(address, SINGLE), createPostgresDb(address, CHANGES)]
  try {
    await refuseIsolation(db, address)
    await makeSchema(db, changes, options)
    return await findLineageSql(db)
  } finally {
    await Promise.all([db.destroy(), changes.destroy()])
  }
}

/** Creates a Kysely over a pool of its own, which connects with the first query. */
export function createPostgresDb(address: Address, options: PoolOptions, breaker?: CircuitBreaker): WriteDb {
  return createKysely(() => new PostgresDriver(() => openPool(address, options, breaker)), postgresSql)
}
