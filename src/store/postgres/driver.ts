// How Kysely's queries get to PostgreSQL: named statements, errors with codes, and the counters by which other nodes notice
// what was changed. Who changes keys, tokens or documents need not think of them: the driver sees which table is written.

import type { CompiledQuery, DatabaseConnection, Driver, QueryResult, TransactionSettings } from 'kysely'
import type { PoolClient } from 'pg'
import { asDatabaseError, commitUnknown, isConnectionLost, isReadOnly } from './errors.ts'
import type { Connections } from './pool.ts'
import { tried } from './retry.ts'

const STATEMENTS_KEPT = 500
const WRITES = /^(?:insert into|update|delete from) "(\w+)"(?: set "(\w+)" = (?:"\w+" \+ )?\$\d+ where)?/

type Counter = 'access_revision' | 'documents_revision'

// A node keeps keys, tokens and whom they are of in memory, and waits for documents and messages.
const COUNTERS: Record<string, Counter> = {
  api_keys: 'access_revision',
  tokens: 'access_revision',
  former_secrets: 'access_revision',
  companies: 'access_revision',
  agents: 'access_revision',
  owners: 'access_revision',
  documents: 'documents_revision',
  hooks: 'documents_revision',
  hook_messages: 'documents_revision',
}
// Columns that nobody keeps in memory, written by an upload or by the minute.
const NOT_KEPT = new Set(['last_used_at', 'used'])
// What an upload adds is counted where its ids are taken, which saves it a statement.
const COUNTED = /^insert into "documents"/

type Statement = { name: string | undefined; counter: Counter | undefined }

export class PostgresDriver implements Driver {
  readonly #open: () => Promise<Connections>
  readonly #prepare: boolean
  readonly #statements = new Map<string, Statement>()
  #pool: Connections | undefined

  constructor(open: () => Promise<Connections>, { prepare }: { prepare: boolean }) {
    this.#open = open
    this.#prepare = prepare
  }

  async init(): Promise<void> {
    this.#pool = await this.#open()
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const pool = this.#pool
    if (!pool) throw new Error('the database is closed')
    const client = await tried(() =>
      pool.connect().catch((error: unknown) => {
        throw asDatabaseError(error)
      }),
    )
    return new Connection(client, (text) => this.#statementOf(text), pool.renew)
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

  // Lists of any length make texts without end: what is over so many is sent without a name.
  #statementOf(text: string): Statement {
    const known = this.#statements.get(text)
    if (known) return known
    const named = this.#prepare && this.#statements.size < STATEMENTS_KEPT
    const statement = { name: named ? `s${this.#statements.size}` : undefined, counter: counterOf(text) }
    if (this.#statements.size < STATEMENTS_KEPT) this.#statements.set(text, statement)
    return statement
  }
}

class Connection implements DatabaseConnection {
  readonly #client: PoolClient
  readonly #statementOf: (text: string) => Statement
  readonly #renewPool: () => void
  #counters: Set<Counter> | undefined // of the transaction
  #lost: unknown

  constructor(client: PoolClient, statementOf: (text: string) => Statement, renewPool: () => void) {
    this.#client = client
    this.#statementOf = statementOf
    this.#renewPool = renewPool
  }

  async begin({ isolationLevel, accessMode }: TransactionSettings): Promise<void> {
    const level = isolationLevel ? ` isolation level ${isolationLevel}` : ''
    await this.#send(`begin${level}${accessMode ? ` ${accessMode}` : ''}`)
    this.#counters = new Set()
  }

  async commit(): Promise<void> {
    const raised = [...(this.#counters ?? [])].map((name) => `${name} = ${name} + 1`)
    if (raised.length > 0) await this.#send(`update meta set ${raised.join(', ')}`)
    this.#counters = undefined
    try {
      const { command } = await this.#send('commit')
      if (command === 'ROLLBACK') throw new Error('the transaction had failed and was rolled back')
    } catch (error) {
      throw isConnectionLost(error) ? commitUnknown(error) : error
    }
  }

  async rollback(): Promise<void> {
    this.#counters = undefined
    if (this.#lost === undefined) await this.#send('rollback')
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { name, counter } = this.#statementOf(sql)
    const send = () => this.#rows<R>(sql, parameters, name)
    if (this.#counters) {
      if (counter) this.#counters.add(counter)
      return send()
    }
    return tried(counter ? () => this.#withCounter(counter, send) : send)
  }

  // biome-ignore lint/correctness/useYield: nothing streams; an answer of any size is asked for in parts
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('queries are not streamed')
  }

  release(): void {
    this.#client.release(this.#lost !== undefined)
  }

  async #withCounter<R>(counter: Counter, send: () => Promise<R>): Promise<R> {
    await this.begin({})
    try {
      this.#counters = new Set([counter])
      const result = await send()
      await this.commit()
      return result
    } catch (error) {
      await this.rollback().catch(() => {}) // the first error says more
      throw error
    }
  }

  async #rows<R>(text: string, values: readonly unknown[], name?: string): Promise<QueryResult<R>> {
    const { rows, command, rowCount } = await this.#send(text, values, name)
    const writes = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE'
    return { rows, ...(writes && { numAffectedRows: BigInt(rowCount ?? 0) }) }
  }

  async #send(text: string, values: readonly unknown[] = [], name?: string) {
    if (this.#lost !== undefined) throw this.#lost
    try {
      return await this.#client.query({ text, values: [...values], ...(name !== undefined && { name }) })
    } catch (thrown) {
      const error = asDatabaseError(thrown)
      if (isConnectionLost(error)) this.#lost = error
      if (isReadOnly(error)) this.#renewPool()
      throw error
    }
  }
}

function counterOf(text: string): Counter | undefined {
  const [, table = '', onlyColumn = ''] = WRITES.exec(text) ?? []
  return NOT_KEPT.has(onlyColumn) || COUNTED.test(text) ? undefined : COUNTERS[table]
}
