// Which schema a database has, and bringing it to that of this program: by one node, while others that start at the same
// time wait, and others of the version before go on. What belongs to another program is left as it is.

import { setTimeout as wait } from 'node:timers/promises'
import { AppError, codeOf } from '../../errors.ts'
import { atomically } from '../engine.ts'
import { type Migration, SHARED_MIGRATIONS, schemaOf } from '../migrations.ts'
import type { Db } from '../tables.ts'
import { ask } from './ask.ts'
import { LEASE_TIMES, type LeaseTimes, takeLease } from './lease.ts'
import { leasesTable } from './schema.ts'
import { runStatement, type Step, stepsFrom } from './steps.ts'

const PATIENCE_MS = 60_000
const TRY_AGAIN_MS = 50
// Without one of them it was not made to its end, or before that column came: what is missing is made.
const COLUMNS = ['moving_from', 'contents_mark']
// Even `if not exists` finds that another session made it meanwhile: as a row that is there, or as a table.
const MADE_MEANWHILE = /^PG_(23505|42P07|42710)$/

export type Versions = {
  schema: number
  isKnown: boolean
  /** The epoch of the data directory whose data are not all here yet. */
  movingFrom: string | null
}

export type SchemaOptions = {
  migrations?: readonly Migration[]
  /** False: what is not as this program needs it is left so, and refused. */
  migrate?: boolean
  /** The epoch of a data directory whose data are to be moved into the database. */
  movingFrom?: string
  leaseTimes?: LeaseTimes
}

/** Undefined: no schema has been made, or not the whole of it. */
export async function versionsOf(db: Db, migrations = SHARED_MIGRATIONS): Promise<Versions | undefined> {
  if (!(await tablesOf(db)).includes('meta')) return undefined
  const columns = await ask(
    db,
    `select 1 from information_schema.columns
     where table_schema = current_schema() and table_name = 'meta' and column_name = any($1)`,
    [COLUMNS],
  )
  if (columns.rows.length < COLUMNS.length) return undefined
  const { rows } = await ask<{ schema_version: number; oldest_program: number; moving_from: string | null }>(
    db,
    'select schema_version, oldest_program, moving_from from meta',
  )
  const [row] = rows
  if (!row) return undefined
  const { schema_version: schema, oldest_program: oldest, moving_from: movingFrom } = row
  const own = schemaOf(migrations)
  return { schema, isKnown: schema === own || (schema > own && oldest <= own), movingFrom }
}

/**
 * `changes`: for what takes its time.
 * @throws AppError `failed` for a database of another program, of a schema that this one does not know, or that it may not
 *   change
 */
export async function makeSchema(db: Db, changes: Db, options: SchemaOptions = {}): Promise<void> {
  const { migrations = SHARED_MIGRATIONS, migrate = true, movingFrom } = options
  const until = performance.now() + PATIENCE_MS
  while (true) {
    const versions = await versionsOf(db, migrations)
    refuseMoving(versions, movingFrom)
    if (versions?.isKnown) return
    await refuseForeign(db, versions, migrations)
    if (!migrate) throw notMigrated(versions, migrations)
    await madeAlone(db, changes, options)
    if (performance.now() > until) {
      throw new AppError(
        'failed',
        'another node makes the tables of the database, and has not ended yet: try again',
      )
    }
    await wait(TRY_AGAIN_MS)
  }
}

/**
 * What `makeSchema` would say; empty: nothing.
 * @throws AppError like it
 */
export async function pendingSteps(db: Db, migrations = SHARED_MIGRATIONS): Promise<Step[]> {
  const versions = await versionsOf(db, migrations)
  if (versions?.isKnown) return []
  await refuseForeign(db, versions, migrations)
  const steps = stepsFrom(versions?.schema, migrations)
  return versions ? steps : [{ statement: leasesTable() }, ...steps]
}

async function tablesOf(db: Db): Promise<string[]> {
  const { rows } = await ask<{ table_name: string }>(
    db,
    'select table_name from information_schema.tables where table_schema = current_schema()',
  )
  return rows.map(({ table_name }) => table_name)
}

async function refuseForeign(
  db: Db,
  versions: Versions | undefined,
  migrations: readonly Migration[],
): Promise<void> {
  const own = schemaOf(migrations)
  if (versions && versions.schema > own) {
    const advice = `which is newer than ${own}: use a newer cambista`
    throw new AppError('failed', `the database has schema ${versions.schema}, ${advice}`)
  }
  if (versions && versions.schema < schemaOf([])) {
    throw new AppError(
      'failed',
      `the database has schema ${versions.schema}, which is older than ${schemaOf([])}, the first of any PostgreSQL`,
    )
  }
  if (versions) return
  const tables = await tablesOf(db)
  if (tables.length === 0 || tables.includes('leases')) return
  throw new AppError(
    'failed',
    `the database has tables of another program (${tables.slice(0, 3).join(', ')}): give cambista one of its own`,
  )
}

function refuseMoving(versions: Versions | undefined, movingFrom: string | undefined): void {
  if (!versions || versions.movingFrom === (movingFrom ?? null)) return
  throw new AppError(
    'failed',
    movingFrom === undefined || versions.movingFrom !== null
      ? 'the data of a data directory are being moved into this database: wait for the end of cambista migrate there, or call it again'
      : 'the database is in use already: a data directory is moved into an empty one',
  )
}

/** Makes it, unless another node does. */
async function madeAlone(db: Db, changes: Db, options: SchemaOptions): Promise<void> {
  const { migrations = SHARED_MIGRATIONS, leaseTimes = LEASE_TIMES, movingFrom } = options
  if (!(await made(db, leasesTable()))) return
  const lock = await takeLease(db, 'migrate', leaseTimes)
  if (!lock) return
  try {
    const versions = await versionsOf(db, migrations)
    if (versions?.isKnown) return // by the holder before
    for (const { statement, ends } of stepsFrom(versions?.schema, migrations, movingFrom)) {
      lock.lost.throwIfAborted()
      if (ends) await atomically(db, (trx) => ask(trx, statement), lock)
      else await runStatement(changes, statement)
    }
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

function notMigrated(versions: Versions | undefined, migrations: readonly Migration[]): AppError {
  const is = versions ? `has schema ${versions.schema}` : 'has no tables yet'
  return new AppError(
    'failed',
    `the database ${is}, this cambista needs schema ${schemaOf(migrations)}: run cambista database migrate, or cambista serve without --no-migrate`,
  )
}
