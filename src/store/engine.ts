// Contract of a database engine, and how a query finds the engine-specific SQL of its connection. Queries that every
// engine understands are in this folder's other files.

import type { DialectAdapter, Expression, SelectQueryBuilder, SqlBool } from 'kysely'
import type { Clock, IsoDate } from '../values/dates.ts'
import type { ServerSettings } from './server-address.ts'
import type { CoverageKind, LeaseEnd, ReadDb, WriteDb } from './tables.ts'
import { checkWritable } from './write-guard.ts'

/** Largest difference of a machine's clock, in milliseconds. Beyond it the node is not ready (`Engine.isReady`). */
export const MAX_CLOCK_OFFSET_MS = 60_000

/** An open database with its clock, locks and change counters, for one process or for many. */
export type Engine = {
  readonly kind: 'sqlite' | 'postgres'
  /** Location of the data, for messages: a directory, or host and database. Never has a user or a password. */
  readonly location: string
  /** Location as a line of a command's output: `data directory: /var/lib/cambista`. */
  readonly description: string
  readonly db: WriteDb
  /** For requests that only read: their queries never wait for a transaction that writes. */
  readonly reads: ReadDb
  /** For queries of whole series, so that short queries never wait for them. */
  readonly longReads: ReadDb
  /** Time of this machine, or of the database that several machines share. */
  readonly clock: Clock
  /** Locks a task that one process at a time may do. Undefined: another process has the lock. */
  takeLock(name: LockName): Promise<Lock | undefined>
  /**
   * Describes the holder of a lock: `on /var/lib/cambista` or `on host a, pid 7, since …`. Undefined: the lock is known
   * to be free.
   */
  findHolder(name: LockName): Promise<string | undefined>
  /**
   * Returns the change counters. Each commit of another process changes them; commits of this process may not.
   */
  poll(): Promise<ChangeCounters>
  /** How far this machine's clock is behind the database's; negative: ahead. Undefined: they are the same clock. */
  clockOffsetMs?(): number
  /** The history of a database that nodes share; undefined: a file has none. */
  readonly lineage?: Lineage
  /** Why this node must not use the database that nodes share. */
  blocks?(): Blocks
  /** Number of commits that have waited for a synchronous standby for more than a second, as of the last poll. */
  waitingCommits?(): number
  /** Examines the way to a shared database, for an administrator. */
  examineServer?(): Promise<ServerExamination>
  /** Returns whether the database answers and has the schema of this program. */
  isReady(): Promise<boolean>
  /** Translates a failure of the disk or of the connection to an AppError that names the location. */
  explain(error: unknown): unknown
  /** Publishes the address of the server for commands on the same machine. Returns a function that withdraws it. */
  publishServer(url: string, settings: ServerSettings): () => void
  close(): Promise<void>
}

/**
 * `program`: the schema is too new for this program. `server`: the last poll reached a former primary or a copy.
 * `lineage`: by the blob store, the database is one.
 */
export type Blocks = {
  program?: string | undefined
  server?: string | undefined
  lineage?: string | undefined
}

/** Returns the reason to name; undefined: the node may use the database. */
export function blockReason({ program, server, lineage }: Blocks): string | undefined {
  return program ?? server ?? lineage
}

/** `settingFaults`: settings that a transaction of this program lacks, as `lock_timeout is 0 and not 3000`. */
export type ServerExamination = { hosts: HostState[]; settingFaults: string[] }

/** `bytesBehind`: what a standby has not replayed yet; undefined: no host writes. */
export type HostState = { name: string } & (
  | { fault: string }
  | { role: 'primary' | 'standby'; timeline: number | undefined; bytesBehind: number | undefined }
)

/**
 * The history of a shared database, as a node sees it. A failover or a restore begins another. The blob store has a copy of
 * it, since it does not go back with the database.
 */
export type Lineage = {
  /** As of the last poll; undefined: none yet. `counters`: change counters, which only rise within an epoch. */
  current(): (LineageMark & { counters: readonly number[] }) | undefined
  /** Why a node would not use the database as it is; only for one that was opened in any state. */
  fault(): string | undefined
  /** Makes the generation greater than this one, for a database that is later than the record of its blob store. */
  raiseGeneration(above: number): Promise<void>
  /** Rejects all queries for this reason, and makes the node not ready; undefined: allows them again. */
  block(reason: string | undefined): void
}

/** `generation`: number of renewals of the epoch. `timeline`: of the server; undefined: not available. */
export type LineageMark = { epoch: string; generation: number; timeline?: number | undefined }

/**
 * `sync`: queries a provider and stores its values. `scheduler`: decides when to sync. `janitor`: collects garbage.
 * `migrate`: changes the schema. `hooks`: delivers messages. `invoices`: reads older documents. `mail`: takes mails. An engine of one process returns a lock without effect
 * where it needs none.
 */
export type LockName = 'sync' | 'scheduler' | 'janitor' | 'migrate' | 'hooks' | 'invoices' | 'mail'

export type Lock = {
  /**
   * Called inside each transaction of the task, before it writes; outside of one, before the task sends a request.
   * @throws AppError `busy` when another process has taken the lock over
   */
  check(trx: WriteDb): Promise<void>
  /** Milliseconds that it stays locked after its holder died; 0: unlocked at once. */
  readonly outlivesHolderMs: number
  /** Aborted when the lock is lost. */
  readonly lost: AbortSignal
  release(): Promise<void>
}

/**
 * Opaque texts, to be compared for equality alone. `data`: rates and catalogue; `access`: keys and tokens; `documents`:
 * documents.
 */
export type ChangeCounters = { readonly data: string; readonly access: string; readonly documents: string }

/** A database that is only read, such as by the doctor: an older, a damaged or a copied one. */
export type InspectedDatabase = {
  readonly db: ReadDb
  readonly schema: number
  /** Returns the findings of the engine's integrity check, a line each; none when it is sound. */
  faults(): Promise<string[]>
  /** Writes a snapshot into a new file and flushes it. The database may be in use. */
  writeCopy(target: string, signal?: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** Documents of a company and an agent; `last`: the greatest of their ids. */
export type Arrival = { companyId: number; agentId: number; last: number }

/** The leader's next sync of a provider, for the answers of the other nodes. */
export type ScheduleRow = { provider: string; cron: string; next_run: string | null }

/** The time of a server. `ticks`: monotonic milliseconds; undefined: those of the process. */
export type ServerTime = { clock: Clock; ticks?: (() => number) | undefined }

/** SQL of leases. Each expression is evaluated when its statement runs. */
export type LeaseSql = {
  /** New or claimed, as literals like the index documents_open: with parameters SQLite would not use it. */
  readonly isOpen: Expression<SqlBool>
  readonly now: () => Expression<LeaseEnd>
  /** End of a lease that begins now. `seconds` undefined: the length in the row. */
  end(seconds?: number): Expression<LeaseEnd>
  /** Returns the end of a lease as an instant of the clock. */
  toInstant(end: LeaseEnd): Date
  /** True when ends are valid for one run of one server: the next run cannot compare them. */
  readonly isPerProcess: boolean
}

/** SQL that differs between engines. Each function takes the database or a transaction on it. */
export type EngineSql = {
  /** `wasCommitted` as in `TransactionOptions`. */
  atomically<T>(
    db: WriteDb,
    work: (trx: WriteDb) => Promise<T>,
    wasCommitted?: TransactionOptions<T>['wasCommitted'],
  ): Promise<T>
  snapshot<T>(db: ReadDb, work: (trx: ReadDb) => Promise<T>): Promise<T>
  /** Like `atomically`; each query sees the data of one instant. */
  consistently<T>(db: WriteDb, work: (trx: WriteDb) => Promise<T>): Promise<T>
  /** True when all series are read in advance, because the database may be unreachable later. */
  readonly readsAhead: boolean
  /** True when nodes of an earlier version may use the database at the same time. */
  readonly mayHaveOlderNodes: boolean
  /** Like selectColumnsOfSeries of rates.ts, without the series that have no value. */
  columnsOfSeries(
    db: ReadDb,
    seriesIds: readonly number[],
  ): Promise<{ id: number; count: number; lines: string }[]>
  /**
   * Returns the number of stored rows. `sent`: JSON as upsertRates writes it: by `SERIES DECIMALS` (`317 `, `317 2`) a
   * list of dates and values.
   */
  upsertRates(db: WriteDb, sent: string, storedAt: number): Promise<number>
  /** Adds sums to those of rate_sums. `sent`: JSON, a list of `[series, part, count, first sum, second sum]`. */
  addSums(db: WriteDb, sent: string, revision: number): Promise<void>
  /** Like selectStoredAtRuns of stored-at.ts. */
  storedAtRuns(db: ReadDb, seriesId: number): Promise<{ from: IsoDate; storedAt: number }[]>
  /** Returns the number of stored rows. `sent`: JSON, a list of `[series, from, to]`. */
  insertCoverage(db: WriteDb, kind: CoverageKind, sent: string): Promise<number>
  /** Selects the SHA-256 of all attachments, without an index, which may be damaged. */
  selectReferencedHashes(db: ReadDb): Promise<Set<string>>
  /**
   * Allocates rising ids for documents to be inserted. Other transactions get ids only after this one has committed, so
   * that documents are committed in the order of ids. Undefined: the ids of the database already have that order.
   */
  allocateIds(trx: WriteDb, count: number): Promise<number[] | undefined>
  /** Raises the sequence above an id that the caller has inserted. */
  raiseIdSequence(db: WriteDb, table: 'companies' | 'agents' | 'owners', id: number): Promise<void>
  /** Measures leases by the time of the only server of a database, or by the database's clock. */
  leases(time: ServerTime): LeaseSql
  /**
   * Returns the query with a lock on its rows until the transaction ends. `share`: others may read-lock them too;
   * `update`: no other may; `update-skip-locked`: skips rows that another transaction has locked.
   */
  lockRows<From, Table extends keyof From, Row>(
    query: SelectQueryBuilder<From, Table, Row>,
    strength: 'share' | 'update' | 'update-skip-locked',
    tables: readonly (Table & string)[],
  ): SelectQueryBuilder<From, Table, Row>
  /**
   * Selects the documents of all nodes with greater ids. A process without other nodes announces its uploads itself,
   * and selects none.
   */
  selectArrivals(db: ReadDb, after: number): Promise<Arrival[]>
  /** Selects the schedules of the leader; none where there is no other node. */
  selectSchedules(db: ReadDb): Promise<ScheduleRow[]>
  /** Writes the schedules of the leader for the other nodes. */
  upsertSchedules(trx: WriteDb, rows: readonly ScheduleRow[]): Promise<void>
}

/** Options of a transaction; a Lock can be passed as one. */
export type TransactionOptions<T> = {
  /** Runs first, inside the transaction: nothing is written once another process has the lock of the task. */
  check?(trx: WriteDb): Promise<void>
  /**
   * Returns whether the result of `work` is in the database. Called when the connection was lost during the commit, and
   * only after that commit has ended.
   */
  wasCommitted?(db: WriteDb, result: T): Promise<boolean>
}

/**
 * Commits all of `work`, or nothing. The engine runs `work` again after a conflict with another transaction. So `work`
 * may change nothing but the database, and returns its findings as its result.
 * @throws AppError of a server that only reads (write-guard.ts)
 */
export async function atomically<T>(
  db: WriteDb,
  work: (trx: WriteDb) => Promise<T>,
  { check, wasCommitted }: TransactionOptions<T> = {},
): Promise<T> {
  checkWritable(db)
  const checked = async (trx: WriteDb) => {
    await check?.(trx)
    return work(trx)
  }
  return engineSql(db).atomically(db, check ? checked : work, wasCommitted)
}

/** Like `atomically`. Each query sees the data of one instant; a row that another transaction changed is a conflict. */
export async function consistently<T>(db: WriteDb, work: (trx: WriteDb) => Promise<T>): Promise<T> {
  checkWritable(db)
  return engineSql(db).consistently(db, work)
}

/** Runs queries that see the data of one instant, whatever is committed while they run. Queries must only read. */
export function snapshot<T>(db: ReadDb, work: (trx: ReadDb) => Promise<T>): Promise<T> {
  return engineSql(db).snapshot(db, work)
}

// Keyed by the adapter, which a connection shares with its transactions.
const sqlByAdapter = new WeakMap<DialectAdapter, EngineSql>()

/** Registers the SQL of the connections that Kysely makes with an adapter. */
export function withEngineSql(adapter: DialectAdapter, sql: EngineSql): DialectAdapter {
  sqlByAdapter.set(adapter, sql)
  return adapter
}

/** @throws TypeError for a database that was opened past the engines */
export function engineSql(db: ReadDb): EngineSql {
  const sql = sqlByAdapter.get(db.getExecutor().adapter)
  if (!sql) throw new TypeError('no engine opened this database')
  return sql
}
