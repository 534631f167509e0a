// Builds of an unreleased schema may make other tables under the same version. A database of such a build has the
// SHA-256 of its tables in `meta.schema_hash`. Databases of releases lack that column. Each program compares the hash.
//
// A release raises RELEASED_SCHEMA and changes no table. So its hash equals that of the build before it, and it opens
// the databases of that build. Its first start removes the hash. From then on later versions upgrade the database.

import { hash } from 'node:crypto'
import { RELEASED_SCHEMA } from './migrations.ts'

/** Version of a schema, and a reader of the text that makes its tables. */
export type SchemaText = { version: number; readText: () => string }

/** Version of a database, and its hash; null: it has none. */
export type SchemaMark = { version: number; hash: string | null }

/** Returns the hash that a database of this schema has; null: the schema is that of a release. */
export function schemaHash({ version, readText }: SchemaText): string | null {
  return version > RELEASED_SCHEMA ? hash('sha256', readText()) : null
}

/**
 * Returns the reason to refuse a database of the same or an earlier version; undefined: there is none. The text follows
 * the words `schema version 26`.
 */
export function buildFault(database: SchemaMark, own: SchemaText): string | undefined {
  const isSame = database.version === own.version
  if (database.hash !== null) {
    if (isSame && database.hash === hash('sha256', own.readText())) return undefined
    return ', made by an unreleased build with tables that this program does not know: use that build, or restore a backup of a release (cambista manual upgrades)'
  }
  if (!isSame || own.version <= RELEASED_SCHEMA) return undefined
  return ' of a release, and this program is an unreleased build with tables of its own: use that release'
}
