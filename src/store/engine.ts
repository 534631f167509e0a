// What the program asks of a database engine: the one type, and how a query that only has `db` finds what its engine
// says in its own way. Queries that every engine understands are in this folder's other files.

import type { SelectQueryBuilder } from 'kysely'
import type { Clock, IsoDate } from '../dates.ts'
import type { SharedClaims } from './claims.ts'
import type { CoverageKind, Db } from './tables.ts'

/** Milliseconds that the clock of a machine may be off: one that is more is not ready (`Engine.isReady`). */
export const MOST_OFF_MS = 60_000

/** An open database with what belongs to it. It is right with one process and with many. */
export type Engine = {
  readonly kind: 'sqlite' | 'postgres'
  /** Where its data are, for messages: a directory, or host and name of a database, never a user or a password. */
  readonly place: string
  readonly db: Db
  /** For queries of a request that only reads: none of them waits for a transaction that writes. */
  readonly reads: Db
  /** For what reads whole series: nothing else waits for it. */
  readonly longReads: Db
  /** The time that counts: of this machine, or of a database that several machines share. */
  readonly clock: Clock
  /** A task that one process at a time may do. Undefined: another has it. */
  takeLock(name: LockName): Promise<Lock | undefined>
  /**
   * Where a task is done, in words such as `on /var/lib/cambista` or `on host a, pid 7, since …`. Undefined: nowhere, where
   * that can be told.
   */
  holderOf(name: LockName): Promise<string | undefined>
  /** What changes by the commits of others; those of this process may change it or not. */
  look(): Promise<Look>
  /** How far the clock of this machine is behind that of the database; negative: ahead. Without one they are the same. */
  clockOffsetMs?(): number
  /** Whether the database answers and has the schema of this program. */
  isReady(): Promise<boolean>
  close(): Promise<void>
}

/**
 * `sync`: asks a provider and stores what it says. `scheduler`: decides when. `janitor`: removes what is left over.
 * `migrate`: changes the schema. `hooks`: tells them. An engine of one process answers with a lock that is nothing where it needs none.
 */
export type LockName = 'sync' | 'scheduler' | 'janitor' | 'migrate' | 'hooks'

export type Lock = {
  /**
   * Inside each transaction of the task, before it writes.
   * @throws AppError `busy` when another has the lock by now
   */
  check(trx: Db): Promise<void>
  /** Aborted when the lock could not be kept. */
  readonly lost: AbortSignal
  release(): Promise<void>
}

/** Texts that say nothing but whether they are the same: of rates and catalogue, of keys and tokens, of documents. */
export type Look = { readonly data: string; readonly access: string; readonly documents: string }

/** A database that is only looked at, such as by the doctor: it may be older, damaged, or a copy. */
export type Examined = {
  readonly db: Db
  readonly schema: number
  /** What the engine finds wrong with it, a line each; none when it is sound. */
  faults(): Promise<string[]>
  /** Copies it, which may be in use, into a new file, as it is at one instant, and flushes that. */
  copyTo(target: string, signal?: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** What SQL cannot say alike. Each takes the database or a transaction on it. */
export type Dialect = {
  /** `isThere` as in `Together`. */
  atomically<T>(db: Db, work: (trx: Db) => Promise<T>, isThere?: Together<T>['isThere']): Promise<T>
  snapshot<T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T>
  /** Whether all series are read before they are asked for: the database may be away by then. */
  readonly readsAhead: boolean
  /** As selectColumnsOfSeries of rates.ts, but for those without a value. */
  columnsOfSeries(
    db: Db,
    seriesIds: readonly number[],
  ): Promise<{ id: number; count: number; lines: string }[]>
  /** `sent`: JSON, by `SERIES DECIMALS` (`317 `, `317 2`) a list of dates each with its value, as upsertRates writes it. */
  upsertRates(db: Db, sent: string, storedAt: number): Promise<void>
  /** As selectStoredAtRuns of stored-at.ts. */
  storedAtRuns(db: Db, seriesId: number): Promise<{ from: IsoDate; storedAt: number }[]>
  /** `sent`: JSON, a list of `[series, from, to]`. */
  insertCoverage(db: Db, kind: CoverageKind, sent: string): Promise<void>
  /** The SHA-256 that attachments name, not by an index, which may be damaged. */
  namedBlobs(db: Db): Promise<Set<string>>
  /** Whether the table is there: a database that is only looked at may be older than the table. */
  hasTable(db: Db, name: string): Promise<boolean>
  /**
   * Ids for documents to be inserted, rising. From then until the commit no other transaction gets any, so that documents
   * are committed in the order of their ids. Undefined: those that the database gives rise in the order of the rows and of
   * the commits.
   */
  newIds(trx: Db, count: number): Promise<number[] | undefined>
  /** After a row was inserted with an id of the caller's: the next one that is given is greater. */
  moveIds(db: Db, table: 'companies' | 'agents' | 'owners', id: number): Promise<void>
  /** Undefined: one process has the database, and measures leases itself. */
  readonly sharedClaims?: SharedClaims
  /** The query, whose rows stay as they are until the transaction ends; `update`: and no other one may rely on them. */
  locking<From, Table extends keyof From, Row>(
    query: SelectQueryBuilder<From, Table, Row>,
    strength: 'share' | 'update',
    tables: readonly (Table & string)[],
  ): SelectQueryBuilder<From, Table, Row>
  orderContent(trx: Db, sha256: string): Promise<void>
}

/** The adapter of an engine's Kysely dialect carries its Dialect; transactions have the same adapter. */
export type CarriesDialect = { readonly cambista: Dialect }

/** What goes with the work of a transaction. A lock is such. */
export type Together<T> = {
  /** First, inside of it: with the lock of a task nothing is written once another has that. */
  check?(trx: Db): Promise<void>
  /**
   * Whether what `work` returned is in the database. Asked when the connection was lost while it was committed, and only
   * once that has ended in one way or the other.
   */
  isThere?(db: Db, result: T): Promise<boolean>
}

/**
 * All of `work` is committed, or nothing of it. It may run twice, where the engine had to give it up because of others:
 * it touches nothing but the database, and what it finds out it returns.
 */
export function atomically<T>(
  db: Db,
  work: (trx: Db) => Promise<T>,
  { check, isThere }: Together<T> = {},
): Promise<T> {
  const checked = async (trx: Db) => {
    await check?.(trx)
    return work(trx)
  }
  return dialectOf(db).atomically(db, check ? checked : work, isThere)
}

/** Queries that see the data of one moment, whatever is committed while they run. They only read. */
export function snapshot<T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T> {
  return dialectOf(db).snapshot(db, work)
}

/**
 * Inside a transaction that lets go of a content, first: an upload of the same content has committed the rows that name it,
 * or makes them afterwards. What names it is looked for in a statement after this one.
 */
export function orderContent(trx: Db, sha256: string): Promise<void> {
  return dialectOf(trx).orderContent(trx, sha256)
}

export function dialectOf(db: Db): Dialect {
  return (db.getExecutor().adapter as unknown as CarriesDialect).cambista
}
