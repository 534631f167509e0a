// Change counters of PostgreSQL: each manner of writing a watched table raises its counter at the commit. Other nodes
// read keys, tokens and documents again by these counters.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Compilable, DummyDriver } from 'kysely'
import { type ChangedParts, watchDatabase } from '../../src/domain/operations/database-watch.ts'
import { readAsset } from '../../src/runtime/assets.ts'
import { createLog } from '../../src/runtime/log.ts'
import { atomically, engineSql } from '../../src/store/engine.ts'
import { raiseRevision } from '../../src/store/meta.ts'
import { findCounters, pendingCounters, WATCHED_TABLES } from '../../src/store/postgres/change-counters.ts'
import { postgresSql } from '../../src/store/postgres/engine-sql.ts'
import { createKysely } from '../../src/store/postgres/queries.ts'
import { type RawStatement, raw, rawQuery, type TableName } from '../../src/store/postgres/raw-query.ts'
import type { WriteDb } from '../../src/store/tables.ts'
import { stoppedTimer } from '../support/events/timer.ts'
import { openNode } from '../support/postgres/database.ts'
import { createPostgresSchema } from '../support/postgres/server.ts'
import { until } from '../support/terminal.ts'

const AT = '2026-03-24T12:00:00.000Z'
// A row of each watched table, after the rows that it references. `set`: a column that nodes cache.
const ROWS: Record<string, { key: string; set: string; row: (at: number) => Record<string, unknown> }> = {
  companies: { key: 'id', set: 'name', row: (id) => ({ id, name: 'a', code: `c${id}`, created_at: AT }) },
  owners: { key: 'id', set: 'name', row: (id) => ({ id, name: 'a', company_id: 1, created_at: AT }) },
  agents: { key: 'id', set: 'name', row: (id) => ({ id, name: 'a', company_id: 1, created_at: AT }) },
  api_keys: { key: 'id', set: 'revoked_at', row: (id) => ({ id, name: `k${id}`, hash: id, created_at: AT }) },
  tokens: {
    key: 'id',
    set: 'revoked_at',
    row: (id) => ({ id, name: `t${id}`, hash: id, allow: 'documents:GET', created_at: AT }),
  },
  former_secrets: { key: 'hash', set: 'ends_at', row: (hash) => ({ hash, token_id: 1, ends_at: AT }) },
  documents: {
    key: 'id',
    set: 'state',
    row: (id) => ({
      ...{ id, attachment_id: id, company_id: 1, agent_id: 1, owner_id: 1, name: 'a', created_at: AT },
    }),
  },
  hooks: {
    key: 'id',
    set: 'events',
    row: (id) => ({ id, url: 'https://a.example', events: 'sync.failed', secret: '\\x00', created_at: AT }),
  },
  hook_messages: {
    key: 'id',
    set: 'body',
    row: (id) => ({
      ...{ id, hook_id: 1, message_id: id, type: 'sync.failed', body: '{}', created_at: AT, due_at: AT },
    }),
  },
}

// Rates and the catalogue have `data_revision`, which their transactions raise. Nodes cache no rows of the others.
const UNWATCHED =
  'meta providers series rates rate_sums sync_runs withheld_rates empty_days second_opinions rate_revisions coverage coverage_changes catalogue_changes record_gaps ' +
  'record_end indicators indicator_values indicator_coverage indicator_changes indicator_runs indicator_revisions ' +
  'key_use key_networks login_links page_sessions page_tickets upload_links attachments document_results invoices document_counts contents removed_objects lost_contents losses ' +
  'orphaned_contents events idempotency hook_deliveries hook_days mailboxes mail_messages mail_refusals mail_left document_mail'

type Manner = (db: WriteDb, table: string, id: number) => Promise<unknown>

const insertText = (table: string, id: number) => {
  const row = ROWS[table]?.row(id) ?? {}
  const values = Object.values(row).map((value) => `'${value}'`)
  return `into ${table} (${Object.keys(row).join(', ')}) values (${values.join(', ')})`
}
const key = (table: string) => ROWS[table]?.key ?? ''
const column = (table: string) => ROWS[table]?.set ?? ''
const isRow = (table: string, id: number) => `${key(table)} = '${id}'`

// The statements of each manner, for a row that is there.
const CHANGES: Record<string, Manner> = {
  'Kysely update': (db, table, id) =>
    db
      .updateTable(table as 'tokens')
      .set({ [column(table)]: 'done' })
      .where(key(table) as 'hash', '=', String(id))
      .execute(),
  'raw update': (db, table, id) =>
    rawQuery(db, `update ${table} set ${column(table)} = 'done' where ${isRow(table, id)}`),
  'update of a qualified table with an alias': async (db, table, id) => {
    const { rows } = await rawQuery<{ schema: string }>(db, 'select current_schema() as schema')
    const name = `"${rows[0]?.schema}"."${table}"`
    return rawQuery(db, `UPDATE ONLY ${name} AS t\nSET ${column(table)} = 'done' WHERE t.${isRow(table, id)}`)
  },
  'update in a CTE': (db, table, id) =>
    rawQuery(
      db,
      `with changed as (update ${table} set ${column(table)} = 'done' where ${isRow(table, id)} returning 1)
       select count(*) from changed`,
    ),
  'delete in a CTE': (db, table, id) =>
    rawQuery(
      db,
      `with gone as (delete from ${table} where ${isRow(table, id)} returning 1) select 1 from gone`,
    ),
  'Kysely delete': (db, table, id) =>
    db
      .deleteFrom(table as 'tokens')
      .where(key(table) as 'hash', '=', String(id))
      .execute(),
  'raw delete': (db, table, id) => rawQuery(db, `Delete From ${table} where ${isRow(table, id)}`),
  'raw delete that names its table': (db, table, id) =>
    rawQuery(db, `delete from ${table} where ${isRow(table, id)}`, [], table as TableName),
  'Kysely update in a CTE': (db, table, id) =>
    db
      .with('changed', (cte) =>
        cte
          .updateTable(table as 'tokens')
          .set({ [column(table)]: 'done' })
          .where(key(table) as 'hash', '=', String(id))
          .returning(key(table) as 'id'),
      )
      .selectFrom('changed')
      .selectAll()
      .execute(),
  'a statement with a comment': (db, table, id) =>
    rawQuery(db, `delete /* now */ from ${table} where ${isRow(table, id)} -- a row`),
  'a block of PL/pgSQL': (db, table, id) =>
    rawQuery(
      db,
      `do $$ begin execute 'delete from ' || '${table}' || ' where ${key(table)} = ''${id}'''; end $$`,
    ),
  'a merge': (db, table, id) =>
    rawQuery(
      db,
      `merge into ${table} as t using (select '${id}'::text as wanted) as s on t.${key(table)}::text = s.wanted
       when matched then delete`,
    ),
}

const INSERTS: Record<string, Manner> = {
  'Kysely insert': (db, table, id) =>
    db
      .insertInto(table as 'tokens')
      .values(ROWS[table]?.row(id) as never)
      .execute(),
  'raw insert': (db, table, id) => rawQuery(db, `insert ${insertText(table, id)}`),
  'insert on conflict': (db, table, id) =>
    rawQuery(db, `INSERT\n  ${insertText(table, id)} on conflict do nothing`),
  'insert in a CTE': (db, table, id) =>
    rawQuery(db, `with added as (insert ${insertText(table, id)} returning 1) select count(*) from added`),
}

for (const [table, name] of Object.entries(WATCHED_TABLES)) {
  const counter = name === 'access_revision' ? 'access' : 'documents'
  test(`each manner of writing ${table} raises ${name} at its commit, and not after a rollback`, async (t) => {
    const url = await createPostgresSchema()
    const [{ db }, other] = [await openNode(t, url), await openNode(t, url)]
    let id = 1
    const addAttachment = () =>
      rawQuery(
        db,
        `insert into attachments values (${id}, 'a', 'text/plain', 1, '${'a'.repeat(64)}', '${AT}')`,
      )
    for (const before of Object.keys(ROWS)) {
      if (before === table) break
      if (before === 'documents') await addAttachment()
      await rawQuery(db, `insert ${insertText(before, 1)}`)
    }
    const raised = async (work: () => Promise<unknown>) => {
      const before = await other.poll()
      await work()
      return before[counter] !== (await other.poll())[counter]
    }
    for (const [manner, write] of Object.entries({ ...INSERTS, ...CHANGES })) {
      for (const isWhole of [false, true]) {
        id += 1
        if (table === 'documents') await addAttachment()
        if (!(manner in INSERTS)) await rawQuery(db, `insert ${insertText(table, id)}`)
        const failing = () =>
          atomically(db, async (trx) => {
            await write(trx, table, id)
            throw new Error('no')
          })
        assert.equal(
          await raised(() => assert.rejects(failing(), /^Error: no$/)),
          false,
          `${manner}, rolled back`,
        )
        const work = () => (isWhole ? atomically(db, (trx) => write(trx, table, id)) : write(db, table, id))
        assert.equal(await raised(work), true, `${manner}, ${isWhole ? 'in a transaction' : 'alone'}`)
      }
    }
    assert.equal(await raised(() => rawQuery(db, `truncate ${table} cascade`)), true)
  })
}

test('a node reads the commits of another within one second of the timer', async (t) => {
  const url = await createPostgresSchema()
  const [node, { db }] = [await openNode(t, url), await openNode(t, url)]
  const timer = stoppedTimer()
  const log = createLog({ level: 'debug', format: 'json', write: () => {} })
  const watch = await watchDatabase(node, { log, staleForMs: 0, repeatPoll: timer.repeat })
  t.after(() => watch.close())
  const changes = new Set<string>()
  watch.start(async (parts) => {
    for (const part of ['data', 'access', 'documents'] as const) if (parts[part]) changes.add(part)
  })
  const commits: Record<keyof ChangedParts, () => Promise<unknown>> = {
    data: () => raiseRevision(db),
    access: () => rawQuery(db, `insert ${insertText('tokens', 1)}`),
    documents: () => rawQuery(db, `insert ${insertText('hooks', 1)}`),
  }
  for (const [part, commit] of Object.entries(commits)) {
    await commit()
    changes.clear()
    timer.pass(1000)
    await until(() => {
      if (watch.isAway()) timer.pass(1000) // the server stalled during the poll
      return changes.has(part)
    })
  }
})

test('an upload raises `turn` alone, so that it never waits for the row of `meta`', async (t) => {
  const url = await createPostgresSchema()
  const [{ db }, other] = [await openNode(t, url), await openNode(t, url)]
  for (const table of ['companies', 'owners', 'agents', 'hooks'])
    await rawQuery(db, `insert ${insertText(table, 1)}`)
  await rawQuery(db, `insert into attachments values (1, 'a', 'text/plain', 1, '${'a'.repeat(64)}', '${AT}')`)
  const revision = async () =>
    (await rawQuery<{ n: number }>(db, 'select documents_revision as n from meta')).rows[0]?.n
  const [before, polled] = [await revision(), await other.poll()]
  await atomically(db, async (trx) => {
    await engineSql(trx).allocateIds(trx, 1)
    for (const table of ['documents', 'hook_messages'] as const)
      await rawQuery(trx, `insert ${insertText(table, 1)}`, [], table)
  })
  assert.equal(await revision(), before)
  assert.notEqual((await other.poll()).documents, polled.documents)
})

const kysely = createKysely(() => new DummyDriver(), postgresSql)
const counters = (query: Compilable) => pendingCounters(findCounters(query.compile().query))

test('statements that change no cached column raise nothing', () => {
  const tokens = kysely.selectFrom('tokens')
  for (const query of [
    tokens.selectAll().forUpdate(),
    kysely.selectFrom('documents').select('id').forUpdate('documents').skipLocked(),
    kysely
      .updateTable('tokens')
      .set((of) => ({ used: of('used', '+', 5) }))
      .where('id', '=', 1),
    kysely.updateTable('api_keys').set({ last_used_at: AT }).where('id', '=', 1),
    kysely
      .insertInto('events')
      .columns(['at'])
      .expression(kysely.selectFrom('documents').select('created_at')),
    kysely.deleteFrom('login_links').where('token_id', 'in', tokens.select('id')),
  ]) {
    assert.deepEqual(counters(query), [], query.compile().sql)
  }
  const many = Array.from({ length: 500 }, (_, id) => ({ id, name: 'a' }))
  assert.deepEqual(counters(kysely.insertInto('documents').values(many as never)), ['documents_revision'])
  const both = kysely.updateTable('tokens').set((of) => ({ used: of('used', '+', 5), revoked_at: AT }))
  assert.deepEqual(counters(both), ['access_revision'])
})

test('a text, a name and a comment that look like a write raise nothing, and an odd schema hides none', () => {
  const select = kysely.selectFrom('meta')
  for (const query of [
    select.select('epoch as delete from tokens'),
    select.select('epoch as --'),
    kysely.updateTable('meta').set({ epoch: raw<string>(`'delete from hooks' /* update tokens */`) }),
  ]) {
    assert.deepEqual(counters(query), [], query.compile().sql)
  }
  const update = kysely.withSchema('an-office').updateTable('tokens').set({ revoked_at: AT })
  assert.deepEqual(counters(update), ['access_revision'])
  assert.deepEqual(
    counters(
      kysely
        .with('one', () => update.returning('id'))
        .selectFrom('one')
        .selectAll(),
    ),
    ['access_revision'],
  )
})

test('a raw statement raises the counter of the table that it names, or all unless it changes no rows', () => {
  const rawCounters = (text: string, writes?: TableName) =>
    pendingCounters(findCounters({ ...raw(text).toOperationNode(), writes } as RawStatement))
  for (const text of [
    "select 'delete from tokens' -- update hooks",
    'set local lock_timeout = 200',
    'show search_path',
    'create table tokens (id int)',
  ]) {
    assert.deepEqual(rawCounters(text), [], text)
  }
  assert.deepEqual(rawCounters('update hooks set events = $1', 'hooks'), ['documents_revision'])
  assert.deepEqual(rawCounters('delete from leases', 'leases'), [])
  for (const text of [
    'update leases set fence = 1',
    'select 1; delete from tokens',
    'call f()',
    '(select 1)',
  ])
    assert.deepEqual(rawCounters(text), ['access_revision', 'documents_revision'], text)
})

test('each table is watched, or listed as one whose rows other nodes do not cache by these counters', () => {
  const tables = [...readAsset('schema.sql').matchAll(/^CREATE TABLE (\w+)/gm)].map(([, name = '']) => name)
  const unwatched = tables.filter((name) => !(name in WATCHED_TABLES))
  assert.equal(unwatched.join(' '), UNWATCHED)
  assert.deepEqual(Object.keys(ROWS).sort(), Object.keys(WATCHED_TABLES).sort())
})
