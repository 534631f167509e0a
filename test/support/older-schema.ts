// A data directory as an older version of the program made it.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import Sqlite from 'better-sqlite3'
import { temporaryDirectory } from './temporary.ts'

const FIXTURES = join(import.meta.dirname, '../fixtures')

/** With one rate in it. */
export function olderSchema(t: TestContext, version: number): string {
  const dataDir = temporaryDirectory(t)
  const sqlite = new Sqlite(join(dataDir, 'cambista.db'))
  sqlite.exec(readFileSync(join(FIXTURES, `schema-${version}.sql`), 'utf8'))
  sqlite.pragma(`application_id = ${0x63616d62}`)
  sqlite.pragma(`user_version = ${version}`)
  sqlite.exec(`
    insert into providers (code, name, country) values ('bccr', 'Banco Central de Costa Rica', 'CR');
    insert into series (provider_id, external_code, name, base_currency, quote_currency, rate_type)
      values (1, '317', 'Tipo cambio compra', 'USD', 'CRC', 'compra');
  `)
  if (version < 4) sqlite.exec(`insert into rates values (1, '2026-03-24', '496.44', null)`)
  else
    sqlite.exec(`
      insert into rates values (1, '2026-03-24', '496.44', null, ${Date.now()});
      insert into coverage values (1, 'answered', '2026-03-24', '2026-03-24');
    `)
  sqlite.close()
  return dataDir
}
