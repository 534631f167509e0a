// Reads the schema version of a database and upgrades it to this program's. A single node upgrades, other nodes that
// start wait, and nodes of the previous version go on. A database of another program is rejected and not changed.

import { setTimeout as wait } from 'node:timers/promises'
import { AppError, errorCode } from '../../runtime/errors.ts'
import { atomically } from '../engine.ts'
import {
  FIRST_SCHEMA,
  KNOWN_SCHEMAS,
  type Migration,
  PREVIOUS_RELEASE,
  SHARED_MIGRATIONS,
  schemaVersion,
} from '../migrations.ts'
import type { ReadDb, WriteDb } from '../tables.ts'
import { buildFault, schemaHash } from '../unreleased.ts'
import { LEASE_TIMES, type LeaseTimes, takeLease } from './lease.ts'
import { isConnectionLost } from './postgres-errors.ts'
import { rawQuery } from './raw-query.ts'
import { leasesTable } from './schema.ts'
import { migrationSteps, runStatement, type Step, schemaText } from './steps.ts'

const PATIENCE_MS = 60_000
const FIRST_WAIT_MS = 50
const LONGEST_WAIT_MS = 500
// A node that upgrades ends each of both connections once.
const MOST_LOSSES = 2
const SESSIONS_MS = 2000
const IDLE_MS = 20
// Errors of `if not exists` when another session creates the same table or row at the same time.
const MADE_BY_OTHER = /^PG_(23505|42P07|42710)$/

export type Versions = {
  schema: number
  isKnown: boolean
  /** Epoch of the data directory that is being moved here; null: no move is running. */
  movingFrom: string | null
  /** Hash of the tables of an unreleased schema; null: it has none. */
  hash: string | null
}

type MetaVersions = {
  schema_version?: number
  oldest_program?: number
  moving_from?: string | null
  schema_hash?: string | null
}

export type SchemaOptions = {
  migrations?: readonly Migration[]
  /** False: a database with another schema is rejected and not changed. */
  migrate?: boolean
  /** Epoch of a data directory that is to be moved into the database. */
  movingFrom?: string
  leaseTimes?: LeaseTimes
}

/** Returns the versions; undefined: no schema, or an unfinished one. */
export async function selectVersions(
  db: ReadDb,
  migrations = SHARED_MIGRATIONS,
): Promise<Versions | undefined> {
  const table = await rawQuery(
    db,
    `select 1 where to_regclass(format('%I.meta', current_schema())) is not null`,
  )
  if (table.rows.length === 0) return undefined
  // The row is the last part of a new schema. As JSON it may lack columns: the earliest schemas do.
  const { rows } = await rawQuery<{ meta: MetaVersions }>(db, 'select to_jsonb(meta) as meta from meta')
  const meta = rows[0]?.meta ?? {}
  const { schema_version: schema, oldest_program: oldest, moving_from: movingFrom = null } = meta
  if (schema === undefined || oldest === undefined) return undefined
  const own = schemaText(migrations)
  const hash = meta.schema_hash ?? null
  const isKnown =
    schema === own.version
      ? buildFault({ version: schema, hash }, own) === undefined
      : schema > own.version && oldest <= own.version
  return { schema, isKnown, movingFrom, hash }
}

/**
 * Creates or upgrades the schema. `changes`: connection for statements that may take an hour.
 * @throws AppError `failed` for a database of another program, or with a schema that this one does not know or must not
 *   change
 */
export async function makeSchema(db: WriteDb, changes: WriteDb, options: SchemaOptions = {}): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  let pause = FIRST_WAIT_MS
  let losses = 0
  while (true) {
    try {
      if (await makeOrWait(db, changes, options)) return
    } catch (error) {
      if (!isConnectionLost(error) || ++losses > MOST_LOSSES) throw error
    }
    if (performance.now() > until) {
      throw new AppError(
        'failed',
        'another node makes the tables of the database, and has not ended yet: try again',
      )
    }
    await wait(pause)
    pause = Math.min(pause * 2, LONGEST_WAIT_MS)
  }
}

/** Makes the schema unless another node does; returns whether the schema was there. */
async function makeOrWait(db: WriteDb, changes: WriteDb, options: SchemaOptions): Promise<boolean> {
  const { migrations = SHARED_MIGRATIONS, migrate = true, movingFrom } = options
  const versions = await selectVersions(db, migrations)
  refuseMoving(versions, movingFrom)
  if (versions?.isKnown) {
    if (migrate) await clearSchemaHash(db, versions, migrations)
    return true
  }
  await refuseForeign(db, versions, migrations)
  if (!migrate) throw migrationError(versions, migrations)
  await makeUnderLock(db, changes, options)
  return false
}

/**
 * Returns the statements that `makeSchema` would run.
 * @throws AppError like `makeSchema`
 */
export async function pendingSteps(db: WriteDb, migrations = SHARED_MIGRATIONS): Promise<Step[]> {
  const versions = await selectVersions(db, migrations)
  if (versions?.isKnown) return []
  await refuseForeign(db, versions, migrations)
  const steps = migrationSteps(versions?.schema, migrations)
  return versions ? steps : [{ statement: leasesTable() }, ...steps]
}

/** Makes a database of the build before a release one of the release. */
async function clearSchemaHash(
  db: WriteDb,
  { schema, hash }: Versions,
  migrations: readonly Migration[],
): Promise<void> {
  const own = schemaText(migrations)
  if (hash === null || schema !== own.version || schemaHash(own) !== null) return
  await rawQuery(db, 'update meta set schema_hash = null', [], 'meta')
}

/** Selects tables of a schema without leases: those of another program. */
async function selectForeignTables(db: ReadDb): Promise<string[]> {
  const { rows } = await rawQuery<{ relname: string }>(
    db,
    `select relname from pg_class
     where to_regclass(format('%I.leases', current_schema())) is null
     and relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'f')
     order by relname limit 3`,
  )
  return rows.map(({ relname }) => relname)
}

async function refuseForeign(
  db: WriteDb,
  versions: Versions | undefined,
  migrations: readonly Migration[],
): Promise<void> {
  const own = schemaVersion(migrations)
  if (versions && versions.schema > own) {
    const advice = `which is newer than ${own}: use a newer cambista`
    throw new AppError('failed', `the database has schema ${versions.schema}, ${advice}`)
  }
  const fault =
    versions && buildFault({ version: versions.schema, hash: versions.hash }, schemaText(migrations))
  if (fault) throw new AppError('failed', `the database has schema ${versions.schema}${fault}`)
  if (versions && versions.schema < FIRST_SCHEMA) {
    const advice = `upgrade it with ${PREVIOUS_RELEASE} first (cambista manual upgrades)`
    throw new AppError('failed', `the database has schema ${versions.schema}, ${KNOWN_SCHEMAS}: ${advice}`)
  }
  if (versions) return
  const tables = await selectForeignTables(db)
  if (tables.length === 0) return
  throw new AppError(
    'failed',
    `the database has tables of another program (${tables.join(', ')}): give cambista one of its own`,
  )
}

function refuseMoving(versions: Versions | undefined, movingFrom: string | undefined): void {
  if (!versions || versions.movingFrom === (movingFrom ?? null)) return
  throw new AppError(
    'failed',
    movingFrom === undefined || versions.movingFrom !== null
      ? 'the data of a data directory are being moved into this database: wait for the end of cambista cluster import there, or call it again'
      : 'the database is in use already: a data directory is moved into an empty one',
  )
}

/** Creates or upgrades the schema, unless another node has the lock. */
async function makeUnderLock(db: WriteDb, changes: WriteDb, options: SchemaOptions): Promise<void> {
  const { migrations = SHARED_MIGRATIONS, leaseTimes = LEASE_TIMES, movingFrom } = options
  if (!(await tryCreate(db, leasesTable()))) return
  const lock = await takeLease(db, 'migrate', leaseTimes)
  if (!lock) return
  try {
    const versions = await selectVersions(db, migrations)
    if (versions?.isKnown) return // the previous holder did it
    const steps = migrationSteps(versions?.schema, migrations, movingFrom)
    if (await isEmpty(db)) {
      // A single commit takes a quarter of the time of many, and no other session reads these tables yet.
      await atomically(db, (trx) => runInOrder(trx, steps), lock)
      return
    }
    for (const [at, { statement, ends }] of steps.entries()) {
      lock.lost.throwIfAborted()
      if (at === steps.length - 1) await endEarlierSessions(db)
      if (ends) await atomically(db, (trx) => rawQuery(trx, statement), lock)
      else await runStatement(changes, statement)
    }
  } finally {
    await lock.release()
  }
}

/**
 * Ends the sessions of other nodes that began before now, each once it is idle. PostgreSQL refuses their earlier plans
 * of `select *` from a table with a new column. A node of 1.0.0 answers with 500 then. A session that is never idle
 * remains, since a statement on its way would be lost. The new version is stored afterwards: so a node of this program
 * loses a session in `makeSchema` alone.
 */
async function endEarlierSessions(db: WriteDb): Promise<void> {
  const { rows } = await rawQuery<{ now: string }>(db, 'select clock_timestamp()::text as now')
  const until = performance.now() + SESSIONS_MS
  while (performance.now() < until) {
    const sessions = await rawQuery(
      db,
      `select case when state = 'idle' and state_change < clock_timestamp() - interval '${IDLE_MS} ms'
         then pg_terminate_backend(pid) end
       from pg_stat_activity where datname = current_database() and usename = current_user
       and pid <> pg_backend_pid() and application_name = current_setting('application_name')
       and backend_start < $1::timestamptz`,
      [rows[0]?.now],
    )
    if (sessions.rows.length === 0) return
    await wait(FIRST_WAIT_MS)
  }
}

/** Returns whether the schema has no table yet but that of the leases. */
async function isEmpty(db: ReadDb): Promise<boolean> {
  const { rows } = await rawQuery(
    db,
    `select 1 from pg_class
     where relnamespace = current_schema()::regnamespace and relkind = 'r' and relname <> 'leases' limit 1`,
  )
  return rows.length === 0
}

async function runInOrder(trx: WriteDb, steps: readonly Step[]): Promise<void> {
  for (const { statement } of steps) await rawQuery(trx, statement)
}

async function tryCreate(db: WriteDb, statement: string): Promise<boolean> {
  try {
    await rawQuery(db, statement)
    return true
  } catch (error) {
    if (MADE_BY_OTHER.test(errorCode(error))) return false
    throw error
  }
}

function migrationError(versions: Versions | undefined, migrations: readonly Migration[]): AppError {
  const is = versions ? `has schema ${versions.schema}` : 'has no tables yet'
  return new AppError(
    'failed',
    `the database ${is}, this cambista needs schema ${schemaVersion(migrations)}: run cambista database upgrade, or cambista serve without --no-migrate`,
  )
}
