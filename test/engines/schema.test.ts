// Both engines have the same tables: PostgreSQL's are translated from the one text, and nothing is lost on the way.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { readAsset } from '../../src/runtime/assets.ts'
import { postgresSchema } from '../../src/store/postgres/schema.ts'
import { createPostgresSchema, queryOnce } from '../support/postgres/server.ts'

const CLUSTER_TABLES = 'leases document_order scheduler'
const OF_CLUSTER = new RegExp(`^(${CLUSTER_TABLES.replaceAll(' ', '|')})$`)
const CLUSTER_COLUMNS =
  'access_revision documents_revision schema_version oldest_program moving_from timeline server_id generation'
const TYPES: Record<string, string> = { bigint: 'INTEGER', text: 'TEXT', bytea: 'BLOB' }
const LEASE_TYPE = 'timestamp with time zone' // PostgreSQL measures leases by its own clock

type Column = { table: string; name: string; type: string; required: boolean; hasDefault: boolean }

test('both engines have the same columns, of the same kinds, with the same defaults', async () => {
  const url = await createTables()
  const rows = await queryOnce(
    url,
    `select table_name, column_name, data_type, is_nullable, column_default, is_identity
     from information_schema.columns where table_schema = current_schema()`,
  )
  const columns = rows
    .filter((row) => !OF_CLUSTER.test(String(row.table_name)))
    .filter((row) => !CLUSTER_COLUMNS.split(' ').includes(String(row.column_name)))
    .map((row) => ({
      table: row.table_name,
      name: row.column_name,
      type:
        row.column_name === 'lease_ends' && row.data_type === LEASE_TYPE
          ? 'INTEGER'
          : TYPES[String(row.data_type)],
      required: row.is_nullable === 'NO',
      hasDefault: row.column_default !== null,
    }))
  assert.ok(columns.length > 100)
  assert.deepEqual(sortedLines(columns as Column[]), sortedLines(sqliteColumns()))
})

test('both have the same keys, references, unique columns and indices', async () => {
  const url = await createTables()
  const indexRows = await queryOnce(
    url,
    `select c.relname as "table", i.relname as name, x.indisunique as "unique",
       (select string_agg(a.attname, ' ' order by p.place) from unnest(x.indkey) with ordinality as p(attnum, place)
        join pg_attribute a on a.attrelid = c.oid and a.attnum = p.attnum) as columns, x.indpred is not null as partial
     from pg_index x join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
     where c.relnamespace = current_schema()::regnamespace`,
  )
  const names = (rows: Record<string, unknown>[]) =>
    rows
      .filter(({ table }) => !OF_CLUSTER.test(String(table)))
      .map(({ table, unique, columns, partial }) => `${table} (${columns}) ${unique} ${partial}`)
      .sort()
  assert.deepEqual(names(indexRows), names(sqliteIndices()))
  const indexNames = indexRows.map(({ name }) => name)
  for (const { name } of sqliteIndices().filter(({ name }) => !String(name).startsWith('sqlite_'))) {
    assert.ok(name === undefined || indexNames.includes(name), `index ${name}`)
  }
  const references = await queryOnce(
    url,
    `select conrelid::regclass::text as "table", a.attname as column, confrelid::regclass::text as parent
     from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
     where contype = 'f' and connamespace = current_schema()::regnamespace`,
  )
  const lines = references
    .filter(({ table }) => !OF_CLUSTER.test(String(table)))
    .map(({ table, column, parent }) => `${table}.${column} > ${parent}`)
  assert.deepEqual(lines.sort(), sqliteReferences().sort())
})

test('both have the same checks of columns', async () => {
  const url = await createTables()
  const [{ checks } = { checks: 0 }] = await queryOnce(
    url,
    `select count(*)::int as checks from pg_constraint c join pg_class t on t.oid = c.conrelid
     where contype = 'c' and connamespace = current_schema()::regnamespace
       and t.relname <> all (string_to_array('${CLUSTER_TABLES}', ' '))`,
  )
  const text = readAsset('schema.sql').replaceAll(/--.*$/gm, '')
  assert.equal(checks, text.match(/\bCHECK\b/g)?.length)
})

test('the statements may be repeated, and use no special features of PostgreSQL', async () => {
  const url = await createTables()
  await queryOnce(url, postgresSchema().join(';'))
  assert.doesNotMatch(
    postgresSchema().join(),
    /serial|unlogged|deferrable|create (domain|type|trigger|function)/i,
  )
})

async function createTables(): Promise<string> {
  const url = await createPostgresSchema()
  await queryOnce(url, postgresSchema().join(';'))
  return url
}

function sqlite(): Sqlite.Database {
  const database = new Sqlite(':memory:')
  database.exec(readAsset('schema.sql'))
  return database
}

function sqliteColumns(): Column[] {
  const rows = sqlite()
    .prepare(
      `select t.name as "table", c.name, c.type, c."notnull" or c.pk as required, c.dflt_value is not null as hasDefault
       from sqlite_schema t, pragma_table_info(t.name) c
       where t.type = 'table' and t.name not like 'sqlite_%'`,
    )
    .all() as Record<string, unknown>[]
  return rows.map((row) => ({
    ...(row as unknown as Column),
    required: row.required === 1,
    hasDefault: row.hasDefault === 1,
  }))
}

/** Its primary keys that are the row's number have no index of their own. */
function sqliteIndices(): Record<string, unknown>[] {
  const database = sqlite()
  const listed = database
    .prepare(
      `select t.name as "table", i.name, i."unique" = 1 as isUnique, i.partial = 1 as isPartial,
         (select group_concat(name, ' ') from (select name from pragma_index_info(i.name) order by seqno)) as columns
       from sqlite_schema t, pragma_index_list(t.name) i where t.type = 'table' and t.name not like 'sqlite_%'`,
    )
    .all() as Record<string, unknown>[]
  const numbered = database
    .prepare(
      `select t.name as "table", c.name as columns from sqlite_schema t, pragma_table_info(t.name) c
       where t.type = 'table' and t.name not like 'sqlite_%' and c.pk = 1 and c.type = 'INTEGER'
         and not exists (select 1 from pragma_index_list(t.name) i where i.origin = 'pk')`,
    )
    .all() as Record<string, unknown>[]
  return [
    ...listed.map((row) => ({ ...row, unique: row.isUnique === 1, partial: row.isPartial === 1 })),
    ...numbered.map((row) => ({ ...row, unique: true, partial: false })),
  ]
}

function sqliteReferences(): string[] {
  const rows = sqlite()
    .prepare(
      `select t.name as "table", f."from", f."table" as parent from sqlite_schema t, pragma_foreign_key_list(t.name) f
       where t.type = 'table' and t.name not like 'sqlite_%'`,
    )
    .all() as Record<string, unknown>[]
  return rows.map((row) => `${row.table}.${row.from} > ${row.parent}`)
}

function sortedLines(columns: Column[]): string[] {
  return columns
    .map(
      ({ table, name, type, required, hasDefault }) => `${table}.${name} ${type} ${required} ${hasDefault}`,
    )
    .sort()
}
