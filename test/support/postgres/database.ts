// A database that a test gets without waiting: the first query creates its schema.

import type { TestContext } from 'node:test'
import type { DatabaseConnection, Driver, TransactionSettings } from 'kysely'
import type { Engine } from '../../../src/store/engine.ts'
import { SHARED_MIGRATIONS } from '../../../src/store/migrations.ts'
import { parseAddress } from '../../../src/store/postgres/address.ts'
import { PostgresDriver } from '../../../src/store/postgres/driver.ts'
import { postgresSql } from '../../../src/store/postgres/engine-sql.ts'
import { openPostgres, type PostgresOptions } from '../../../src/store/postgres/open-postgres.ts'
import { openPool } from '../../../src/store/postgres/pool.ts'
import { createKysely } from '../../../src/store/postgres/queries.ts'
import { leasesTable } from '../../../src/store/postgres/schema.ts'
import { migrationSteps } from '../../../src/store/postgres/steps.ts'
import type { WriteDb } from '../../../src/store/tables.ts'
import { createPostgresSchema, queryOnce } from './server.ts'

const POOL = { size: 5, answerMs: 30_000 }

// Tests name a database by its data directory; the same directory is the same database.
const addresses = new Map<string, Promise<string>>()

/** Address of the schema for a data directory, in this process. */
export function postgresAddress(dataDir: string): Promise<string> {
  return addresses.getOrInsertComputed(dataDir, createSchema)
}

export function postgresDatabase(dataDir: string): WriteDb {
  return createKysely(() => new LazyDriver(() => postgresAddress(dataDir)), postgresSql)
}

/** Ends the leases of claims `seconds` earlier. */
export async function shortenLeases(dataDir: string, seconds: number): Promise<void> {
  const earlier = `lease_ends - interval '${seconds} seconds'`
  await queryOnce(await postgresAddress(dataDir), `update documents set lease_ends = ${earlier}`)
}

/** A node of a test, which is closed when the test ends. */
export async function openNode(t: TestContext, url: string, options: PostgresOptions = {}): Promise<Engine> {
  const engine = await openPostgres(url, options)
  t.after(() => engine.close())
  return engine
}

async function createSchema(): Promise<string> {
  // A single transaction, where `makeSchema` has one for each step: a quarter of the work.
  const steps = [{ statement: leasesTable() }, ...migrationSteps(undefined, SHARED_MIGRATIONS)]
  return createPostgresSchema(steps.map(({ statement }) => statement))
}

class LazyDriver implements Driver {
  readonly #addressOf: () => Promise<string>
  #driver!: PostgresDriver

  constructor(find: () => Promise<string>) {
    this.#addressOf = find
  }

  async init(): Promise<void> {
    const address = parseAddress(await this.#addressOf())
    this.#driver = new PostgresDriver(() => openPool(address, POOL))
    await this.#driver.init()
  }

  acquireConnection = () => this.#driver.acquireConnection()
  beginTransaction = (connection: DatabaseConnection, settings: TransactionSettings) =>
    this.#driver.beginTransaction(connection, settings)
  commitTransaction = (connection: DatabaseConnection) => this.#driver.commitTransaction(connection)
  rollbackTransaction = (connection: DatabaseConnection) => this.#driver.rollbackTransaction(connection)
  releaseConnection = (connection: DatabaseConnection) => this.#driver.releaseConnection(connection)
  destroy = () => this.#driver.destroy()
}
