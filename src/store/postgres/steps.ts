// Statements that upgrade a database from one schema to another, in their order. Each can be repeated, and none blocks
// queries of other nodes for longer than LOCK_WAIT_MS by waiting for its lock.

import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { errorCode } from '../../runtime/errors.ts'
import { LOCK_NOT_AVAILABLE } from '../../runtime/storage-error.ts'
import { type Migration, oldestProgram, schemaVersion } from '../migrations.ts'
import type { WriteDb } from '../tables.ts'
import { type SchemaText, schemaHash } from '../unreleased.ts'
import { rawQuery } from './raw-query.ts'
import { clusterSchema, migrationStatements, postgresSchema } from './schema.ts'

/** `ends`: the statement stores the new schema version. */
export type Step = { statement: string; ends?: true }

const PATIENCE_MS = 60_000
const LOCK_WAIT_MS = 200 // queries of other nodes queue behind the waiting statement
const TRY_AGAIN_MS = 1000
const INDEX = /^CREATE (?:UNIQUE )?INDEX (?=IF NOT EXISTS (\w+))/

/** Returns the schema of a program with these migrations. */
export function schemaText(migrations: readonly Migration[]): SchemaText {
  return { version: schemaVersion(migrations), readText: () => postgresSchema().join(';\n') }
}

/**
 * Returns the steps from `schema` (undefined: an empty database) to the newest one. `movingFrom`: epoch of a data
 * directory that will be moved into the database.
 */
export function migrationSteps(
  schema: number | undefined,
  migrations: readonly Migration[],
  movingFrom?: string,
): Step[] {
  const hash = schemaHash(schemaText(migrations))
  const column =
    hash === null ? [] : [{ statement: 'ALTER TABLE meta ADD COLUMN IF NOT EXISTS schema_hash TEXT' }]
  if (schema === undefined) {
    const moving = movingFrom === undefined ? 'null' : `'${movingFrom.replaceAll("'", "''")}'`
    const values = `1, 1, '${makeEpoch()}', ${schemaVersion(migrations)}, ${oldestProgram(migrations)}, ${moving}`
    const [name, value] = hash === null ? ['', ''] : [', schema_hash', `, '${hash}'`]
    const row = `insert into meta (id, data_revision, epoch, schema_version, oldest_program, moving_from${name})
  values (${values}${value}) on conflict do nothing`
    return [
      ...postgresSchema().map((statement) => ({ statement })),
      ...column,
      { statement: row, ends: true },
    ]
  }
  return migrations.flatMap((migration, at) => {
    const before = schemaVersion(migrations.slice(0, at))
    if (before < schema) return []
    const statements = migrationStatements(migration).map(createConcurrently)
    const oldest = oldestProgram(migrations.slice(0, at + 1))
    const isLast = at === migrations.length - 1
    const mark = isLast && hash !== null ? `, schema_hash = '${hash}'` : ''
    const end = `update meta set schema_version = ${before + 1}, oldest_program = ${oldest}${mark} where schema_version = ${before}`
    const ofCluster = isLast ? clusterSchema() : []
    return [
      ...[...statements, ...ofCluster].map((statement) => ({ statement })),
      ...(isLast ? column : []),
      { statement: end, ends: true } as const,
    ]
  })
}

/** Returns a new random epoch. Revision numbers are comparable only within one epoch. */
export function makeEpoch(): string {
  return randomBytes(8).toString('hex')
}

/** Runs a statement and retries it while it gets no lock in time. Between two attempts other queries run. */
export async function runStatement(db: WriteDb, statement: string): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  const [, index] = / CONCURRENTLY IF NOT EXISTS (\w+)/.exec(statement) ?? []
  while (true) {
    try {
      if (index === undefined) await runBriefly(db, statement)
      else {
        await dropUnfinished(db, index)
        await rawQuery(db, statement) // in no transaction; its locks let others write
      }
      return
    } catch (error) {
      if (errorCode(error) !== LOCK_NOT_AVAILABLE || performance.now() > until) throw error
    }
    await wait(TRY_AGAIN_MS)
  }
}

async function runBriefly(db: WriteDb, statement: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await rawQuery(trx, `set local lock_timeout = ${LOCK_WAIT_MS}`)
    await rawQuery(trx, statement)
  })
}

function createConcurrently(statement: string): string {
  return statement.replace(INDEX, (create) => `${create}CONCURRENTLY `)
}

/** Drops an index whose creation was interrupted: it exists by its name, and no query uses it. */
async function dropUnfinished(db: WriteDb, name: string): Promise<void> {
  const { rows } = await rawQuery(
    db,
    `select 1 from pg_index i join pg_class c on c.oid = i.indexrelid
     where c.relname = $1 and c.relnamespace = current_schema()::regnamespace and not i.indisvalid`,
    [name],
  )
  if (rows.length > 0) await runBriefly(db, `drop index if exists ${name}`)
}
