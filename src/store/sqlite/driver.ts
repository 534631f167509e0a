// Driver of Kysely's queries for SQLite, over one connection that one caller at a time uses. SQLite's own wait for
// another process would block this whole process, so the driver waits between two attempts. A long transaction would
// block it too: every 2 ms the driver yields to the event loop.

import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type Sqlite from 'better-sqlite3'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  type LimitNode,
  type OffsetNode,
  type QueryResult,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  SqliteQueryCompiler,
  type TransactionSettings,
} from 'kysely'
import { createSemaphore } from '../../runtime/semaphore.ts'
import { isBusy } from '../../runtime/storage-error.ts'
import { withEngineSql } from '../engine.ts'
import type { Tables, WriteDb } from '../tables.ts'
import { sqliteSql } from './engine-sql.ts'

/** Time to retry statements that another process blocks, and the wait between two attempts. */
export const PATIENCE_MS = 5000
export const TRY_AGAIN_MS = 20
const MAX_STATEMENTS = 500
const MAX_TURN_MS = 2

/** Makes room for a failed statement. Returns whether a retry may succeed. */
export type RoomMaker = (error: unknown) => boolean

/** Creates a Kysely over an open database, which retries blocked statements for `patienceMs`. */
export function createSqliteDb(
  sqlite: Sqlite.Database,
  patienceMs = PATIENCE_MS,
  makeRoom: RoomMaker = () => false,
): WriteDb {
  sqlite.pragma('busy_timeout = 0')
  const options = { inTransaction: () => sqlite.inTransaction, patienceMs, makeRoom }
  const dialect = createDialect(withStatementCache(sqlite), options)
  const db = new Kysely<Tables>({ dialect })
  const destroy = db.destroy.bind(db)
  db.destroy = async () => {
    await destroy()
    sqlite.close() // Kysely does not close a database without queries
  }
  return db
}

type RetryOptions = { inTransaction: () => boolean; patienceMs: number; makeRoom: RoomMaker }

function createDialect(database: SqliteDatabase, options: RetryOptions): Dialect {
  const plain = new SqliteDialect({ database })
  return {
    createAdapter: () => withEngineSql(new ConcurrentAdapter(), sqliteSql),
    createDriver: () => new SingleConnectionDriver(database, options),
    createIntrospector: (db) => plain.createIntrospector(db),
    createQueryCompiler: () => new PlanOnceCompiler(),
  }
}

/**
 * Caches prepared statements: Kysely's driver prepares each query again, which takes four times as long as the query.
 */
function withStatementCache(sqlite: Sqlite.Database): SqliteDatabase {
  const statements = new Map<string, ReturnType<SqliteDatabase['prepare']>>()
  return {
    prepare(text) {
      const cachedStatement = statements.get(text)
      if (cachedStatement) return cachedStatement
      if (statements.size >= MAX_STATEMENTS) statements.clear()
      const statement = sqlite.prepare(text) as ReturnType<SqliteDatabase['prepare']>
      statements.set(text, statement)
      return statement
    },
    close: () => sqlite.close(),
  }
}

// Disables the mutex of Kysely, which stays locked while a query waits for another process. The driver below has its
// own lock.
class ConcurrentAdapter extends SqliteAdapter {
  override get supportsMultipleConnections() {
    return true
  }
}

// SQLite plans a statement anew at each execution if the value of a parameter may change its plan. Its planner does not
// see the value of an expression, `+?`. In a limit it removes the sign alone.
class PlanOnceCompiler extends SqliteQueryCompiler {
  protected override getCurrentParameterPlaceholder(): string {
    return '+?'
  }

  protected override visitLimit(node: LimitNode): void {
    super.visitLimit(node)
    this.append('+0')
  }

  protected override visitOffset(node: OffsetNode): void {
    super.visitOffset(node)
    this.append('+0')
  }
}

class SingleConnectionDriver extends SqliteDriver {
  readonly #options: RetryOptions
  readonly #lock = createConnectionLock()
  #connection: DatabaseConnection | undefined

  constructor(database: SqliteDatabase, options: RetryOptions) {
    super({ database })
    this.#options = options
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    await this.#lock.acquire()
    this.#connection ??= withBusyRetry(await super.acquireConnection(), {
      lock: this.#lock,
      ...this.#options,
    })
    return this.#connection
  }

  override async releaseConnection(): Promise<void> {
    this.#lock.release()
  }

  // A transaction that reads before it writes fails at once if another process wrote in between. With BEGIN IMMEDIATE
  // it waits for the write lock first. A read-only transaction needs no write lock.
  override async beginTransaction(
    connection: DatabaseConnection,
    settings?: TransactionSettings,
  ): Promise<void> {
    const begin = settings?.accessMode === 'read only' ? 'begin' : 'begin immediate'
    await connection.executeQuery(CompiledQuery.raw(begin))
  }

  // On a full disk or an I/O error SQLite rolls back itself. A second rollback would fail, and its error would hide the
  // first one.
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#options.inTransaction()) await super.rollbackTransaction(connection)
  }
}

type ConnectionLock = { acquire(): Promise<void>; release(): void }

function createConnectionLock(): ConnectionLock {
  const semaphore = createSemaphore(1)
  let permit: Disposable | undefined
  return {
    async acquire() {
      permit = await semaphore.acquire()
    },
    release: () => permit?.[Symbol.dispose](),
  }
}

/** Wraps a connection: retries statements that another process blocks, and unlocks it between two attempts. */
function withBusyRetry(
  plain: DatabaseConnection,
  { lock, inTransaction, patienceMs, makeRoom }: RetryOptions & { lock: ConnectionLock },
): DatabaseConnection {
  let lastTurn = performance.now()
  return {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      let until: number | undefined
      while (true) {
        if (performance.now() - lastTurn > MAX_TURN_MS) {
          await nextTurn()
          lastTurn = performance.now()
        }
        const isInside = inTransaction()
        try {
          return await plain.executeQuery<R>(query)
        } catch (error) {
          const hasRoom = makeRoom(error)
          if (hasRoom && !isInside) continue // `atomically` runs a whole transaction again
          // A transaction already has the write lock, and no other query may run inside it.
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
