// A database for a test that asks for one at once: its schema is made when it is first asked something.

import type { TestContext } from 'node:test'
import type { DatabaseConnection, Driver, TransactionSettings } from 'kysely'
import type { Engine } from '../../../src/store/engine.ts'
import { SHARED_MIGRATIONS } from '../../../src/store/migrations.ts'
import { addressOf } from '../../../src/store/postgres/address.ts'
import { postgresDialect } from '../../../src/store/postgres/dialect.ts'
import { PostgresDriver } from '../../../src/store/postgres/driver.ts'
import { openPostgres, type PostgresOptions } from '../../../src/store/postgres/open.ts'
import { openPool } from '../../../src/store/postgres/pool.ts'
import { queriesOver } from '../../../src/store/postgres/queries.ts'
import { leasesTable } from '../../../src/store/postgres/schema.ts'
import { stepsFrom } from '../../../src/store/postgres/steps.ts'
import type { Db } from '../../../src/store/tables.ts'
import { ask, postgresSchemaFor } from './server.ts'

const POOL = { size: 5, answerMs: 30_000 }

// Tests name a database by its data directory: one that is opened twice is the same.
const addresses = new Map<string, Promise<string>>()

/** The address of the schema that stands for a data directory, in this process; `t`: it goes when that test ends. */
export function postgresAddressOf(dataDir: string, t?: TestContext): Promise<string> {
  return addresses.getOrInsertComputed(dataDir, () => madeSchema(t))
}

export function postgresDatabase(dataDir: string, t?: TestContext): Db {
  return queriesOver(() => new LateDriver(() => postgresAddressOf(dataDir, t)), postgresDialect)
}

/** Lets the leases of claims end so much earlier. */
export async function passLeases(dataDir: string, seconds: number): Promise<void> {
  const earlier = `lease_ends - interval '${seconds} seconds'`
  await ask(await postgresAddressOf(dataDir), `update documents set lease_ends = ${earlier}`)
}

/** A node of a test, which is closed when the test ends. */
export async function openNode(t: TestContext, url: string, options: PostgresOptions = {}): Promise<Engine> {
  const engine = await openPostgres(url, options)
  t.after(() => engine.close())
  return engine
}

async function madeSchema(t?: TestContext): Promise<string> {
  // What `makeSchema` says one by one, in one transaction: it is a quarter of the work, for each test.
  const steps = [{ statement: leasesTable() }, ...stepsFrom(undefined, SHARED_MIGRATIONS)]
  return postgresSchemaFor(
    t,
    steps.map(({ statement }) => statement),
  )
}

class LateDriver implements Driver {
  readonly #addressOf: () => Promise<string>
  #driver!: PostgresDriver

  constructor(find: () => Promise<string>) {
    this.#addressOf = find
  }

  async init(): Promise<void> {
    const address = addressOf(await this.#addressOf())
    this.#driver = new PostgresDriver(() => openPool(address, POOL), address)
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
