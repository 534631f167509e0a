// Driver of Kysely's queries for PostgreSQL: named statements, errors with codes, and change counters for other nodes.
// The driver raises the counters itself, just before the commit, so that writers wait for one another only briefly.

import { hash } from 'node:crypto'
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult, TransactionSettings } from 'kysely'
import type { PoolClient } from 'pg'
import {
  type CounterName,
  type CounterValues,
  findCounters,
  pendingCounters,
  returnedCounters,
  type Written,
} from './change-counters.ts'
import { adaptToLostName, runsAlone } from './connection-settings.ts'
import type { ServerRow } from './expected-server.ts'
import type { Pool } from './pool.ts'
import {
  commitUnknownError,
  isConnectionLost,
  isPlanOutdated,
  isReadOnlyError,
  toDatabaseError,
} from './postgres-errors.ts'
import { withRetry } from './retry.ts'

const MAX_STATEMENTS = 500
const MAX_NAMED_LENGTH = 1000 // characters; only lists of many values are longer
const NAME_LENGTH = 32
type Statement = { name: string | undefined; written: Written }

export class PostgresDriver implements Driver {
  readonly #open: () => Promise<Pool>
  readonly #statements = new Map<string, Statement>()
  #pool: Pool | undefined

  constructor(open: () => Promise<Pool>) {
    this.#open = open
  }

  async init(): Promise<void> {
    this.#pool = await this.#open()
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const pool = this.#pool
    if (!pool) throw new Error('the database is closed')
    const client = await withRetry(() =>
      pool.connect().catch((error: unknown) => {
        throw toDatabaseError(error)
      }),
    )
    return new Connection(client, (query) => this.#statementOf(query), pool)
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    await (connection as Connection).begin(settings)
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await (connection as Connection).commit()
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await (connection as Connection).rollback()
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    ;(connection as Connection).release()
  }

  async destroy(): Promise<void> {
    const pool = this.#pool
    this.#pool = undefined
    await pool?.end()
  }

  // Lists of any length make any number of texts: long texts, and those beyond MAX_STATEMENTS, are sent without a name.
  // Each name is the hash of its text: behind a pooler, nodes prepare statements on the same connection.
  #statementOf({ sql: text, query }: CompiledQuery): Statement {
    const cachedStatement = this.#statements.get(text)
    if (cachedStatement) return cachedStatement
    const isUnnamed = text.length > MAX_NAMED_LENGTH || this.#statements.size >= MAX_STATEMENTS
    const name = isUnnamed ? undefined : `s${hash('sha256', text)}`.slice(0, NAME_LENGTH)
    const statement = { name, written: findCounters(query) }
    if (isUnnamed) return statement
    this.#statements.set(text, statement)
    return statement
  }
}

class Connection implements DatabaseConnection {
  readonly #client: PoolClient
  readonly #statementOf: (query: CompiledQuery) => Statement
  readonly #pool: Pool
  #written: Set<CounterName> | undefined // by this transaction; undefined outside of one
  #counters: CounterValues = {} // after this transaction
  #lost: unknown

  constructor(client: PoolClient, statementOf: (query: CompiledQuery) => Statement, pool: Pool) {
    this.#client = client
    this.#statementOf = statementOf
    this.#pool = pool
  }

  async begin({ isolationLevel, accessMode }: TransactionSettings): Promise<void> {
    const level = isolationLevel ? ` isolation level ${isolationLevel}` : ''
    const begin = `begin${level}${accessMode ? ` ${accessMode}` : ''}`
    const settings = this.#pool.transactionSettings()
    if (settings === undefined) await this.#send(begin)
    else await this.#beginWith(`${begin}; ${settings}`, accessMode)
    this.#written = new Set()
    this.#counters = {}
  }

  async commit(): Promise<void> {
    const raised = pendingCounters(this.#written ?? new Set())
    if (raised.length > 0) {
      const set = raised.map((name) => `${name} = ${name} + 1`)
      const { rows } = await this.#send(`update meta set ${set.join(', ')} returning ${raised.join(', ')}`)
      this.#counters = { ...this.#counters, ...rows[0] }
    }
    this.#written = undefined
    try {
      const { command } = await this.#send('commit')
      if (command === 'ROLLBACK') throw new Error('the transaction had failed and was rolled back')
    } catch (error) {
      throw isConnectionLost(error) ? commitUnknownError(error) : error
    }
    this.#pool.noteCommit(this.#counters)
  }

  async rollback(): Promise<void> {
    this.#written = undefined
    if (this.#lost === undefined) await this.#send('rollback')
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { sql, parameters } = query
    const statement = this.#statementOf(query)
    const { written } = statement
    const send = () => this.#rows<R>(sql, parameters, statement)
    if (this.#written) {
      for (const one of written) this.#written.add(one)
      const result = await send()
      if (written.size > 0) this.#counters = { ...this.#counters, ...returnedCounters(written, result.rows) }
      return result
    }
    const inTransaction = () => this.#inTransaction(written, send)
    if (pendingCounters(written).length > 0) return withRetry(inTransaction)
    const needsSettings = () => this.#pool.mode.isPerTransaction && !runsAlone(sql)
    return withRetry(() => (needsSettings() ? inTransaction() : send()))
  }

  // biome-ignore lint/correctness/useYield: nothing streams; large answers are read in pages
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('queries are not streamed')
  }

  release(): void {
    this.#client.release(this.#lost !== undefined)
  }

  /**
   * Begins and sets in one round trip. A pooler may have changed the server, which a transaction that may write compares.
   * After an error the transaction may be open: the connection is closed.
   */
  async #beginWith(statements: string, accessMode: TransactionSettings['accessMode']): Promise<void> {
    try {
      if (accessMode === 'read only') await this.#send(statements)
      else {
        const { query, check } = this.#pool.serverCheck()
        const results: unknown = await this.#send(`${statements}; ${query}`)
        check((results as { rows: ServerRow[] }[]).at(-1)?.rows[0])
      }
    } catch (error) {
      this.#lost ??= error
      throw error
    }
  }

  async #inTransaction<R>(written: Written, send: () => Promise<R>): Promise<R> {
    await this.begin({})
    try {
      this.#written = new Set(written)
      const result = await send()
      await this.commit()
      return result
    } catch (error) {
      await this.rollback().catch(() => {}) // the first error is more useful
      throw error
    }
  }

  async #rows<R>(text: string, values: readonly unknown[], statement: Statement): Promise<QueryResult<R>> {
    const { rows, command, rowCount } = await this.#send(text, values, statement)
    const writes = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE'
    return { rows, ...(writes && { numAffectedRows: BigInt(rowCount ?? 0) }) }
  }

  async #send(text: string, values: readonly unknown[] = [], statement?: Statement) {
    if (this.#lost !== undefined) throw this.#lost
    const name = statement?.name
    try {
      const isNamed = name !== undefined && this.#pool.mode.usesNames
      return await this.#client.query({ text, values: [...values], ...(isNamed && { name }) })
    } catch (thrown) {
      const error = toDatabaseError(thrown)
      if (isConnectionLost(error)) this.#lost = error
      if (isReadOnlyError(error)) this.#pool.renew()
      if (name !== undefined) adaptToLostName(this.#pool.mode, error)
      if (statement && isPlanOutdated(error)) statement.name = undefined
      throw error
    }
  }
}
