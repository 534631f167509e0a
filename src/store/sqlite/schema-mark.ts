// Version of the schema in a database file, and the hash of a schema without a release (unreleased.ts).

import type Sqlite from 'better-sqlite3'
import { readAsset } from '../../runtime/assets.ts'
import { SCHEMA_VERSION } from '../migrations.ts'
import { type SchemaMark, type SchemaText, schemaHash } from '../unreleased.ts'

export const OWN_SCHEMA: SchemaText = { version: SCHEMA_VERSION, readText: () => readAsset('schema.sql') }

export function readMark(sqlite: Sqlite.Database): SchemaMark {
  const version = Number(sqlite.pragma('user_version', { simple: true }))
  const column = sqlite.prepare(`select 1 from pragma_table_info('meta') where name = 'schema_hash'`)
  const hash = column.get() && sqlite.prepare('select schema_hash from meta').pluck().get()
  return { version, hash: typeof hash === 'string' ? hash : null }
}

/** Writes the version and the hash of this program's schema, inside the transaction that made its tables. */
export function writeMark(sqlite: Sqlite.Database): void {
  const hash = schemaHash(OWN_SCHEMA)
  if (hash !== null) {
    sqlite.exec('alter table meta add column schema_hash TEXT')
    sqlite.prepare('update meta set schema_hash = ?').run(hash)
  }
  sqlite.pragma(`user_version = ${SCHEMA_VERSION}`)
}

/** Makes a database of the build before a release one of the release. */
export function dropSchemaHash(sqlite: Sqlite.Database): void {
  if (schemaHash(OWN_SCHEMA) !== null || readMark(sqlite).hash === null) return
  const adopt = () => {
    if (readMark(sqlite).hash !== null) sqlite.exec('alter table meta drop column schema_hash')
  }
  sqlite.transaction(adopt).immediate()
}
