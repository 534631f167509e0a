// The statements that bring a database from one schema to another, in their order. Each may be said again, and none keeps
// other nodes from writing for longer than a moment.

import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { codeOf } from '../../errors.ts'
import { type Migration, oldestOf, schemaOf } from '../migrations.ts'
import type { Db } from '../tables.ts'
import { ask } from './ask.ts'
import { clusterSchema, postgresSchema, statementsOfMigration } from './schema.ts'

/** `ends`: it writes down that a schema has been reached. */
export type Step = { statement: string; ends?: true }

const NOT_HAD = 'PG_55P03' // a lock, within the time of a session
const PATIENCE_MS = 60_000
const TRY_AGAIN_MS = 200
const INDEX = /^CREATE (?:UNIQUE )?INDEX (?=IF NOT EXISTS (\w+))/

/** `schema`: what the database has; undefined: nothing. `movingFrom`: an epoch, whose data it is made for. */
export function stepsFrom(
  schema: number | undefined,
  migrations: readonly Migration[],
  movingFrom?: string,
): Step[] {
  if (schema === undefined) {
    const moving = movingFrom === undefined ? 'null' : `'${movingFrom.replaceAll("'", "''")}'`
    const values = `1, 1, '${makeEpoch()}', ${schemaOf(migrations)}, ${oldestOf(migrations)}, ${moving}`
    const row = `insert into meta (id, data_revision, epoch, schema_version, oldest_program, moving_from)
  values (${values}) on conflict do nothing`
    return [...postgresSchema().map((statement) => ({ statement })), { statement: row, ends: true }]
  }
  return migrations.flatMap((migration, at) => {
    const before = schemaOf(migrations.slice(0, at))
    if (before < schema) return []
    const own = statementsOfMigration(migration).map(besideWriters)
    const oldest = oldestOf(migrations.slice(0, at + 1))
    const end = `update meta set schema_version = ${before + 1}, oldest_program = ${oldest} where schema_version = ${before}`
    const ofCluster = at === migrations.length - 1 ? clusterSchema() : []
    return [
      ...[...own, ...ofCluster].map((statement) => ({ statement })),
      { statement: end, ends: true } as const,
    ]
  })
}

/** Names what the data are: a number of a revision means something only with it. */
export function makeEpoch(): string {
  return randomBytes(8).toString('hex')
}

/** A lock that others do not give at once is let go and asked for again: nobody waits behind it. */
export async function runStatement(db: Db, statement: string): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  const [, index] = / CONCURRENTLY IF NOT EXISTS (\w+)/.exec(statement) ?? []
  while (true) {
    try {
      if (index !== undefined) await dropUnfinished(db, index)
      await ask(db, statement)
      return
    } catch (error) {
      if (codeOf(error) !== NOT_HAD || performance.now() > until) throw error
    }
    await wait(TRY_AGAIN_MS)
  }
}

function besideWriters(statement: string): string {
  return statement.replace(INDEX, (create) => `${create}CONCURRENTLY `)
}

/** An index whose making was cut off is there by its name, and is used by no query. */
async function dropUnfinished(db: Db, name: string): Promise<void> {
  const { rows } = await ask(
    db,
    `select 1 from pg_index i join pg_class c on c.oid = i.indexrelid
     where c.relname = $1 and c.relnamespace = current_schema()::regnamespace and not i.indisvalid`,
    [name],
  )
  if (rows.length > 0) await ask(db, `drop index if exists ${name}`)
}
