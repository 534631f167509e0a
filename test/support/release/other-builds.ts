// Builds of the sources with a schema of their own, loaded beside this one.

import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { RELEASED_SCHEMA, SCHEMA_VERSION } from '../../../src/store/migrations.ts'
import { temporaryDirectory } from '../temporary.ts'

const ROOT = join(import.meta.dirname, '../../..')
/** Files of the store, and those that it imports. */
const SOURCES = ['src/store', 'src/runtime', 'src/values', 'schema.sql', 'package.json']

/** Version of the first schema of these builds. */
export const NEXT = SCHEMA_VERSION + 1

type BuildOptions = {
  /** Names of the tables that the migrations of the build make, one a migration. */
  tables: readonly string[]
  isReleased?: boolean
}

/** Copies and changes the sources, and loads the modules that open databases. `text`: its schema.sql. */
export async function loadBuild(t: TestContext, { tables, isReleased = false }: BuildOptions) {
  const root = temporaryDirectory(t)
  for (const name of SOURCES) cpSync(join(ROOT, name), join(root, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  const statements = tables.map((name) => `CREATE TABLE ${name} (id INTEGER NOT NULL PRIMARY KEY) STRICT;`)
  const text = [readFileSync(join(root, 'schema.sql'), 'utf8'), ...statements].join('\n')
  writeFileSync(join(root, 'schema.sql'), text)
  const path = join(root, 'src/store/migrations.ts')
  const end = ']\n\nexport const SCHEMA_VERSION'
  const entries = statements.map((sql) => `  { sql: '${sql}' },\n`).join('')
  const released = isReleased ? SCHEMA_VERSION + tables.length : RELEASED_SCHEMA
  writeFileSync(
    path,
    readFileSync(path, 'utf8')
      .replace(end, `${entries}${end}`)
      .replace(/(?<=RELEASED_SCHEMA = )\d+/, `${released}`),
  )
  const load = <T>(name: string): Promise<T> => import(join(root, 'src/store', name))
  return {
    text,
    loadSqlite: async () => ({
      ...(await load<typeof import('../../../src/store/sqlite/database.ts')>('sqlite/database.ts')),
      ...(await load<typeof import('../../../src/store/sqlite/database-copy.ts')>('sqlite/database-copy.ts')),
      ...(await load<typeof import('../../../src/store/sqlite/restored-database.ts')>(
        'sqlite/restored-database.ts',
      )),
    }),
    loadPostgres: async () => ({
      ...(await load<typeof import('../../../src/store/postgres/open-postgres.ts')>(
        'postgres/open-postgres.ts',
      )),
      ...(await load<typeof import('../../../src/store/postgres/schema.ts')>('postgres/schema.ts')),
    }),
  }
}
