// Which schema a database has, and making that of a new one: by one node, while others that start at the same time wait.
// What belongs to another program is left as it is.

import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { AppError, codeOf } from '../../errors.ts'
import { SCHEMA_VERSION } from '../sqlite/migrations.ts'
import type { Db } from '../tables.ts'
import { ask } from './ask.ts'
import { LEASE_TIMES, takeLease } from './lease.ts'
import { leasesTable, postgresSchema } from './schema.ts'

const PATIENCE_MS = 60_000
const TRY_AGAIN_MS = 50
// Even `if not exists` finds that another session made it meanwhile: as a row that is there, or as a table.
const MADE_MEANWHILE = /^PG_(23505|42P07|42710)$/

export type Versions = { schema: number; isKnown: boolean }

/** Undefined: no schema has been made, or not the whole of it. */
export async function versionsOf(db: Db): Promise<Versions | undefined> {
  if (!(await tablesOf(db)).includes('meta')) return undefined
  const columns = await ask(
    db,
    `select 1 from information_schema.columns
     where table_schema = current_schema() and table_name = 'meta' and column_name = 'oldest_program'`,
  )
  if (columns.rows.length === 0) return undefined
  const { rows } = await ask<{ schema_version: number; oldest_program: number }>(
    db,
    'select schema_version, oldest_program from meta',
  )
  const [row] = rows
  if (!row) return undefined
  const { schema_version: schema, oldest_program: oldest } = row
  return {
    schema,
    isKnown: schema === SCHEMA_VERSION || (schema > SCHEMA_VERSION && oldest <= SCHEMA_VERSION),
  }
}

/** @throws AppError `failed` for a database of another program, or of a schema that this one does not know */
export async function makeSchema(db: Db): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  while (true) {
    const versions = await versionsOf(db)
    if (versions?.isKnown) return
    if (versions) throw unknownSchema(versions.schema)
    await refuseForeign(db)
    if (await madeAlone(db)) return
    if (performance.now() > until) {
      throw new AppError(
        'failed',
        'another node makes the tables of the database, and does not end: try again',
      )
    }
    await wait(TRY_AGAIN_MS)
  }
}

/** Names what the data are: a number of a revision means something only with it. */
export function makeEpoch(): string {
  return randomBytes(8).toString('hex')
}

async function tablesOf(db: Db): Promise<string[]> {
  const { rows } = await ask<{ table_name: string }>(
    db,
    'select table_name from information_schema.tables where table_schema = current_schema()',
  )
  return rows.map(({ table_name }) => table_name)
}

async function refuseForeign(db: Db): Promise<void> {
  const tables = await tablesOf(db)
  if (tables.length === 0 || tables.includes('leases')) return
  throw new AppError(
    'failed',
    `the database has tables of another program (${tables.slice(0, 3).join(', ')}): give cambista one of its own`,
  )
}

/** Whether the schema is made now; false: another node makes it. */
async function madeAlone(db: Db): Promise<boolean> {
  if (!(await made(db, leasesTable()))) return false
  const lock = await takeLease(db, 'migrate', LEASE_TIMES)
  if (!lock) return false
  try {
    if (await versionsOf(db)) return false // by the holder before: it is looked at again
    for (const statement of postgresSchema()) await ask(db, statement)
    await ask(
      db,
      `insert into meta (id, data_revision, epoch, schema_version, oldest_program)
       values (1, 1, $1, $2, $2) on conflict do nothing`,
      [makeEpoch(), SCHEMA_VERSION],
    )
    return true
  } finally {
    await lock.release()
  }
}

async function made(db: Db, statement: string): Promise<boolean> {
  try {
    await ask(db, statement)
    return true
  } catch (error) {
    if (MADE_MEANWHILE.test(codeOf(error))) return false
    throw error
  }
}

function unknownSchema(version: number): AppError {
  const which = version > SCHEMA_VERSION ? 'newer' : 'older'
  const advice =
    version > SCHEMA_VERSION ? 'use a newer cambista' : 'this cambista cannot bring it up to date'
  const message = `the database has schema ${version}, which is ${which} than ${SCHEMA_VERSION}: ${advice}`
  return new AppError('failed', message)
}
