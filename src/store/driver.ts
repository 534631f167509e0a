// How Kysely's queries get to SQLite: over one connection, which one user has at a time. SQLite's own waiting for
// another process would hold up everything else in this one, so it is done here, between two tries.

import { setTimeout as wait } from 'node:timers/promises'
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
} from 'kysely'
import { createTurns } from '../turns.ts'
import { isBusy } from './storage-error.ts'
import type { Db, Tables } from './tables.ts'

/** How long what another process blocks is tried, and how long is waited between two tries. */
export const PATIENCE_MS = 5000
export const TRY_AGAIN_MS = 20
const STATEMENTS_KEPT = 500

/** The queries over an open database. What another process blocks is tried for five seconds. */
export function queriesOver(sqlite: Sqlite.Database): Db {
  sqlite.pragma('busy_timeout = 0')
  const db = new Kysely<Tables>({ dialect: dialectOf(sqlite) })
  const destroy = db.destroy.bind(db)
  db.destroy = async () => {
    await destroy()
    sqlite.close() // Kysely has not, if it was never asked anything
  }
  return db
}

function dialectOf(sqlite: Sqlite.Database): Dialect {
  const database = remembering(sqlite)
  const plain = new SqliteDialect({ database })
  return {
    createAdapter: () => new TurnlessAdapter(),
    createDriver: () => new CarefulDriver(database, () => sqlite.inTransaction),
    createIntrospector: (db) => plain.createIntrospector(db),
    createQueryCompiler: () => plain.createQueryCompiler(),
  }
}

/** Keeps prepared statements: Kysely's driver prepares anew for each query, which costs four times the query. */
function remembering(sqlite: Sqlite.Database): SqliteDatabase {
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

// Kysely would hold the connection for who waits for another process: the driver below gives the turns instead.
class TurnlessAdapter extends SqliteAdapter {
  override get supportsMultipleConnections() {
    return true
  }
}

class CarefulDriver extends SqliteDriver {
  readonly #inTransaction: () => boolean
  readonly #turn = createTurn()
  #connection: DatabaseConnection | undefined

  constructor(database: SqliteDatabase, inTransaction: () => boolean) {
    super({ database })
    this.#inTransaction = inTransaction
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    await this.#turn.take()
    this.#connection ??= patient(await super.acquireConnection(), this.#turn, this.#inTransaction)
    return this.#connection
  }

  override async releaseConnection(): Promise<void> {
    this.#turn.leave()
  }

  // A transaction that reads before it writes would fail at once, without waiting its turn, when another
  // process wrote in between; one that begins as a writer waits (SQLite only).
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }

  // On a full disk or an I/O error SQLite rolls back by itself; a second time would fail, and that would be all
  // that anybody hears of it.
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#inTransaction()) await super.rollbackTransaction(connection)
  }
}

type Turn = { take(): Promise<void>; leave(): void }

function createTurn(): Turn {
  const turns = createTurns(1)
  let held: Disposable | undefined
  return {
    async take() {
      held = await turns.take()
    },
    leave: () => held?.[Symbol.dispose](),
  }
}

/** A connection that tries again what another process blocks, and between two tries lets others have their turn. */
function patient(plain: DatabaseConnection, turn: Turn, inTransaction: () => boolean): DatabaseConnection {
  return {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      let until: number | undefined
      while (true) {
        try {
          return await plain.executeQuery<R>(query)
        } catch (error) {
          // Inside a transaction the lock is held already, and nobody else may come between.
          if (!isBusy(error) || inTransaction()) throw error
          until ??= performance.now() + PATIENCE_MS
          if (performance.now() > until) throw error
        }
        turn.leave()
        await wait(TRY_AGAIN_MS)
        await turn.take()
      }
    },
    streamQuery: (query, size) => plain.streamQuery(query, size),
  }
}
