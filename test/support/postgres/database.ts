// A database for a test that asks for one at once: its schema is made when it is first asked something.

import type { TestContext } from 'node:test'
import { type DatabaseConnection, type Driver, Kysely, type TransactionSettings } from 'kysely'
import { addressOf } from '../../../src/store/postgres/address.ts'
import { PostgresDriver } from '../../../src/store/postgres/driver.ts'
import { makeSchema } from '../../../src/store/postgres/make-schema.ts'
import { dialectOver, queriesTo } from '../../../src/store/postgres/open.ts'
import { openPool } from '../../../src/store/postgres/pool.ts'
import type { Db, Tables } from '../../../src/store/tables.ts'
import { postgresSchemaFor } from './server.ts'

const POOL = { size: 5, answerMs: 30_000 }

// Tests name a database by its data directory: one that is opened twice is the same.
const addresses = new Map<string, Promise<string>>()

/** The address of the schema that stands for a data directory, in this process and until the test ends. */
export function postgresAddressOf(t: TestContext, dataDir: string): Promise<string> {
  const made = addresses.getOrInsertComputed(dataDir, () => madeSchema(t))
  return made
}

export function postgresDatabase(t: TestContext, dataDir: string): Db {
  const db = new Kysely<Tables>({
    dialect: dialectOver(() => new LateDriver(() => postgresAddressOf(t, dataDir))),
  })
  t.after(() => db.destroy())
  return db
}

async function madeSchema(t: TestContext): Promise<string> {
  const url = await postgresSchemaFor(t)
  const db = queriesTo(addressOf(url), POOL)
  await makeSchema(db)
  await db.destroy()
  return url
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
