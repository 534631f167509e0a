// How Kysely's queries get to SQLite: over one connection, which one user has at a time. SQLite's own waiting for
// another process would hold up everything else in this one, so it is done here, between two tries. So would many
// queries in a row, such as those of a transaction, for nothing but the queries is waited for in between: every few
// milliseconds of them, what is not about the database has its turn.

import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type Sqlite from 'better-sqlite3'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  type TransactionSettings,
} from 'kysely'
import { createSemaphore } from '../../semaphore.ts'
import { isBusy } from '../../storage-error.ts'
import type { CarriesDialect } from '../engine.ts'
import type { Db, Tables } from '../tables.ts'
import { sqliteDialect } from './dialect.ts'

/** How long what another process blocks is tried, and how long is waited between two tries. */
export const PATIENCE_MS = 5000
export const TRY_AGAIN_MS = 20
const STATEMENTS_KEPT = 500
const MOST_HELD_MS = 2

/** The queries over an open database. What another process blocks is tried for so long. */
export function queriesOver(sqlite: Sqlite.Database, patienceMs = PATIENCE_MS): Db {
  sqlite.pragma('busy_timeout = 0')
  const dialect = dialectOf(withStatementCache(sqlite), () => sqlite.inTransaction, patienceMs)
  const db = new Kysely<Tables>({ dialect })
  const destroy = db.destroy.bind(db)
  db.destroy = async () => {
    await destroy()
    sqlite.close() // Kysely has not, if it was never asked anything
  }
  return db
}

function dialectOf(database: SqliteDatabase, inTransaction: () => boolean, patienceMs: number): Dialect {
  const plain = new SqliteDialect({ database })
  return {
    createAdapter: () => new ConcurrentAdapter(),
    createDriver: () => new SingleConnectionDriver(database, inTransaction, patienceMs),
    createIntrospector: (db) => plain.createIntrospector(db),
    createQueryCompiler: () => plain.createQueryCompiler(),
  }
}

/** Keeps prepared statements: Kysely's driver prepares anew for each query, which costs four times the query. */
function withStatementCache(sqlite: Sqlite.Database): SqliteDatabase {
  const kept = new Map<string, ReturnType<SqliteDatabase['prepare']>>()
  return {
    prepare(text) {
      const known = kept.get(text)
      if (known) return known
      if (kept.size >= STATEMENTS_KEPT) kept.clear()
      const statement = sqlite.prepare(text) as ReturnType<SqliteDatabase['prepare']>
      kept.set(text, statement)
      return statement
    },
    close: () => sqlite.close(),
  }
}

// Kysely would hold the connection for a query that waits for another process: the driver below gives the turns instead.
class ConcurrentAdapter extends SqliteAdapter implements CarriesDialect {
  readonly cambista = sqliteDialect

  override get supportsMultipleConnections() {
    return true
  }
}

class SingleConnectionDriver extends SqliteDriver {
  readonly #inTransaction: () => boolean
  readonly #patienceMs: number
  readonly #lock = createConnectionLock()
  #connection: DatabaseConnection | undefined

  constructor(database: SqliteDatabase, inTransaction: () => boolean, patienceMs: number) {
    super({ database })
    this.#inTransaction = inTransaction
    this.#patienceMs = patienceMs
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    await this.#lock.acquire()
    this.#connection ??= retrying(await super.acquireConnection(), {
      lock: this.#lock,
      inTransaction: this.#inTransaction,
      patienceMs: this.#patienceMs,
    })
    return this.#connection
  }

  override async releaseConnection(): Promise<void> {
    this.#lock.release()
  }

  // A transaction that reads before it writes would fail at once, without waiting its turn, when another
  // process wrote in between; one that begins as a writer waits (SQLite only). One that only reads needs no turn.
  override async beginTransaction(
    connection: DatabaseConnection,
    settings?: TransactionSettings,
  ): Promise<void> {
    const begin = settings?.accessMode === 'read only' ? 'begin' : 'begin immediate'
    await connection.executeQuery(CompiledQuery.raw(begin))
  }

  // On a full disk or an I/O error SQLite rolls back by itself; a second time would fail, and that would be all
  // that anybody hears of it.
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#inTransaction()) await super.rollbackTransaction(connection)
  }
}

type ConnectionLock = { acquire(): Promise<void>; release(): void }

function createConnectionLock(): ConnectionLock {
  const semaphore = createSemaphore(1)
  let held: Disposable | undefined
  return {
    async acquire() {
      held = await semaphore.acquire()
    },
    release: () => held?.[Symbol.dispose](),
  }
}

/** A connection that tries again what another process blocks, and between two tries lets others have their turn. */
function retrying(
  plain: DatabaseConnection,
  {
    lock,
    inTransaction,
    patienceMs,
  }: { lock: ConnectionLock; inTransaction: () => boolean; patienceMs: number },
): DatabaseConnection {
  let turnedAt = performance.now()
  return {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      let until: number | undefined
      while (true) {
        if (performance.now() - turnedAt > MOST_HELD_MS) {
          await nextTurn()
          turnedAt = performance.now()
        }
        try {
          return await plain.executeQuery<R>(query)
        } catch (error) {
          // Inside a transaction the lock is held already, and no other query may come between.
          if (!isBusy(error) || inTransaction()) throw error
          until ??= performance.now() + patienceMs
          if (performance.now() > until) throw error
        }
        lock.release()
        await wait(TRY_AGAIN_MS)
        await lock.acquire()
      }
    },
    streamQuery: (query, size) => plain.streamQuery(query, size),
  }
}
