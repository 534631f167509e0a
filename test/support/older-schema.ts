// A data directory with the schema of an older version.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import Sqlite from 'better-sqlite3'
import { SCHEMA_VERSION } from '../../src/store/migrations.ts'
import { temporaryDirectory } from './temporary.ts'

const FIXTURES = join(import.meta.dirname, '../fixtures')

const WITH_FIXTURE: readonly number[] = readdirSync(FIXTURES)
  .flatMap((name) => /^schema-(\d+)\.sql$/.exec(name)?.[1] ?? [])
  .map(Number)
  .toSorted((one, other) => one - other)

/** Versions of the older schemas that have a fixture, oldest first. */
export const OLDER_SCHEMAS: readonly number[] = WITH_FIXTURE.filter((version) => version < SCHEMA_VERSION)

/** The present schema once it is released, so that it changes only by a migration; else undefined. */
export const RELEASED_SCHEMA = WITH_FIXTURE.find((version) => version === SCHEMA_VERSION)

/** The oldest schema that is migrated. */
export const OLDEST_SCHEMA = OLDER_SCHEMAS[0] ?? 0

/** Creates a database of a schema that has a fixture, without rows. */
export function emptyOlderSchema(dataDir: string, version = OLDEST_SCHEMA): Sqlite.Database {
  const sqlite = new Sqlite(join(dataDir, 'cambista.db'))
  sqlite.exec(readFileSync(join(FIXTURES, `schema-${version}.sql`), 'utf8'))
  sqlite.pragma(`application_id = ${0x63616d62}`)
  sqlite.pragma(`user_version = ${version}`)
  return sqlite
}

/** Creates a data directory of an older schema with one rate, and returns its path. */
export function olderSchema(t: TestContext, version = OLDEST_SCHEMA): string {
  const dataDir = temporaryDirectory(t)
  const sqlite = emptyOlderSchema(dataDir, version)
  sqlite.exec(`
    insert into providers (code, name, country) values ('bccr', 'Banco Central de Costa Rica', 'CR');
    insert into series (provider_id, external_code, name, base_currency, quote_currency, rate_type)
      values (1, '317', 'Tipo cambio compra', 'USD', 'CRC', 'compra');
    insert into rates values (1, '2026-03-24', '496.44', null, ${Date.now()});
    insert into coverage values (1, 'answered', '2026-03-24', '2026-03-24');
  `)
  sqlite.close()
  return dataDir
}
