// Opens a PostgreSQL, which several nodes may share: the connections of this node, and the schema if it is missing.

import { AppError, errorReason } from '../../runtime/errors.ts'
import { lostDatabaseError } from '../../runtime/storage-error.ts'
import { blockReason, type Engine, MAX_CLOCK_OFFSET_MS } from '../engine.ts'
import { SHARED_MIGRATIONS, schemaVersion } from '../migrations.ts'
import type { ReadDb, WriteDb } from '../tables.ts'
import { type Address, parseAddress } from './address.ts'
import { createSharedClock } from './clock.ts'
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
  const breaker = createCircuitBreaker()
  const db = createPostgresDb(address, POOLS.db, breaker)
  const reads = createPostgresDb(address, POOLS.reads, breaker)
  const longReads = createPostgresDb(address, POOLS.longReads, breaker)
  const leases = createPostgresDb(address, POOLS.leases, breaker)
  const ownBreaker = { ...breaker, check: () => {}, server: {} } // the poller compares the servers itself
  const pollDb = createPostgresDb(address, POOLS.polls, ownBreaker)
  const { leaseTimes = LEASE_TIMES } = options
  const clock = createSharedClock(options.machine)
  let poller: Poller | undefined
  const poll = () => {
    if (!poller) throw new AppError('unavailable', 'the database is not open yet')
    return poller.poll()
  }
  const findReady = async () => {
    await poll()
    const versions = await selectVersions(pollDb, options.migrations)
    return (
      versions?.isKnown === true &&
      blockReason(breaker.blocks()) === undefined &&
      Math.abs(clock.offsetMs()) <= MAX_CLOCK_OFFSET_MS
    )
  }
  // The breaker rejects queries of the pools until the poll of a renewal has ended.
  const onOwnConnection = async <T>(work: (own: WriteDb) => Promise<T>): Promise<T> => {
    const own = createPostgresDb(address, SINGLE)
    try {
      return await work(own)
    } finally {
      await own.destroy()
    }
  }
  let lineageSql: LineageSql | undefined
  const renew = async (work: (own: WriteDb, sql: LineageSql) => Promise<LineageRenewal | undefined>) => {
    const sql = lineageSql
    const renewal = sql && (await onOwnConnection((own) => work(own, sql)))
    if (renewal) options.onRenewal?.(renewal)
  }
  let ready: Promise<boolean> | undefined
  const engine: Engine = {
    kind: 'postgres',
    location: address.name,
    description: `database: ${address.name}`,
    db,
    reads,
    longReads,
    clock: clock.read,
    takeLock: (name) => takeLease(leases, name, leaseTimes),
    findHolder: (name) => findLeaseHolder(reads, name),
    poll,
    clockOffsetMs: clock.offsetMs,
    lineage: {
      current() {
        const reading = poller?.reading()
        if (!reading) return undefined
        const { epoch, generation, server, counters } = reading
        return { epoch, generation, timeline: server.timeline, counters: counters.slice(0, ALWAYS_KNOWN) }
      },
      fault: () => poller?.fault(),
      async raiseGeneration(above) {
        const reading = poller?.reading()
        if (reading) await renew((own, sql) => renewAbove(own, sql, above, reading))
        await poll()
      },
      block: (reason) => breaker.block('lineage', reason),
    },
    blocks: breaker.blocks,
    waitingCommits: () => poller?.waitingCommits() ?? 0,
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
      await Promise.all([db, reads, longReads, leases, pollDb].map((one) => one.destroy()))
    },
  }
  try {
    const lineage = await prepareDatabase(address, options)
    lineageSql = lineage
    breaker.server.timelineSql = lineage.timeline
    breaker.server.isAny = options.anyServer
    poller = createPoller({
      ...{ db: pollDb, breaker, clock, lineage, anyServer: options.anyServer },
      schema: schemaVersion(options.migrations ?? SHARED_MIGRATIONS),
      async settle(verdict, reading, last) {
        if (verdict.kind === 'record') await recordServer(pollDb, lineage, reading)
        else await renew((own, sql) => renewLineage(own, sql, verdict.cause, reading, last))
      },
    })
    await poll().catch(poll) // a new connection on a busy machine may take longer than a second
    return engine
  } catch (error) {
    await engine.close()
    if (error instanceof AppError && error.code !== 'unavailable') throw error
    const reason = errorReason(error)
    throw new AppError('failed', `cannot open the database ${address.name}: ${reason}`, { cause: error })
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
