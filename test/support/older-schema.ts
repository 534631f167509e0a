// A data directory with the schema of an older version.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import Sqlite from 'better-sqlite3'
import { SCHEMA_VERSION } from '../../src/store/migrations.ts'
import { temporaryDirectory } from './temporary.ts'

const FIXTURES = join(import.meta.dirname, '../fixtures')

/** Versions of the schemas of releases, which have a fixture each, oldest first. */
export const RELEASED_SCHEMAS: readonly number[] = readdirSync(FIXTURES)
  .flatMap((name) => /^schema-(\d+)\.sql$/.exec(name)?.[1] ?? [])
  .map(Number)
  .toSorted((one, other) => one - other)

/** Versions of releases that are older than the present schema. */
export const OLDER_SCHEMAS: readonly number[] = RELEASED_SCHEMAS.filter((version) => version < SCHEMA_VERSION)

/** The oldest schema that is migrated. */
export const OLDEST_SCHEMA = OLDER_SCHEMAS[0] ?? 0

/** Returns the text of the schema of a release. */
export function readOlderSchema(version: number): string {
  return readFileSync(join(FIXTURES, `schema-${version}.sql`), 'utf8')
}

/** Creates a database of a schema that has a fixture, without rows. */
export function emptyOlderSchema(dataDir: string, version = OLDEST_SCHEMA): Sqlite.Database {
  const sqlite = new Sqlite(join(dataDir, 'cambista.db'))
  sqlite.exec(readOlderSchema(version))
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

const LACKING = 'the source has not synchronized 2026-03-20 of 318'
const OTHER = '[{"code":"other","of":"bccr"}]'

/** Failures and messages of runs before schema 26, and the cause that its migration finds. */
export const EARLIER_RUNS: readonly [
  failures: string | null,
  message: string | null,
  cause: string | null,
][] = [
  [null, 'interrupted', 'interrupted'],
  [null, '318: the bank answered 503; interrupted: the program was stopped', 'interrupted'],
  [null, 'the bank answered 500: The service was interrupted', null],
  [null, null, null],
  ['[]', null, null],
  ['[{"code":"interrupted","of":"bccr"}]', 'interrupted: the program was stopped', 'interrupted'],
  ['[{"code":"http_status","of":"318","status":500}]', 'answered 500: interrupted: by hand', null],
  [OTHER, LACKING, 'unsynchronized'],
  [
    OTHER,
    `${LACKING}, and the requests of a run did not suffice for the days around them`,
    'unsynchronized_more',
  ],
  [OTHER, `${LACKING}; 318: the bank answered 503`, null],
]

/** SQL that inserts these runs, with ids from 1. A provider has the id 1. */
export function insertEarlierRuns(): string {
  const literal = (text: string | null) => (text === null ? 'null' : `'${text}'`)
  const rows = EARLIER_RUNS.map(
    ([failures, message], at) =>
      `(${at + 1}, 1, 'cli', 'error', 'then', 'later', ${literal(failures)}, ${literal(message)})`,
  )
  const columns = 'id, provider_id, trigger, status, started_at, finished_at, failures, message'
  return `insert into sync_runs (${columns}) values ${rows.join()}`
}
