// Nodes behind PgBouncer, in each mode, with and without named statements. Each works, or its error has the advice. The
// version is that of Debian, or of CAMBISTA_TEST_PGBOUNCER.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { insertApiKey } from '../../src/store/access/api-keys.ts'
import { atomically, type Engine, snapshot } from '../../src/store/engine.ts'
import { selectMeta } from '../../src/store/meta.ts'
import { openPostgres } from '../../src/store/postgres/open-postgres.ts'
import { rawQuery } from '../../src/store/postgres/raw-query.ts'
import { openNode } from '../support/postgres/database.ts'
import { type PoolMode, pgbouncerVersion, startPgbouncer } from '../support/postgres/pgbouncer.ts'
import { createPostgresSchema } from '../support/postgres/server.ts'

const REPLACES_NAMES = pgbouncerVersion() >= 1.21
// Fewer connections than clients: transactions of both nodes take turns on them. A session has one of its own.
const POOL_SIZE = { session: '60', transaction: '3', statement: '3' }

const key = (name: string) => ({ name, hash: name.padEnd(64, '-'), createdAt: '2026-03-24T12:00:00.000Z' })

// Startup parameters that a pooler ignores, or a version that has no names for statements.
const VARIANTS: readonly Record<string, string>[] = [
  {},
  { ignore_startup_parameters: 'options' },
  ...(REPLACES_NAMES
    ? [{ max_prepared_statements: '0' }, { ignore_startup_parameters: 'statement_timeout, lock_timeout' }]
    : []),
]
const ROWS = (['session', 'transaction'] as const).flatMap((mode) =>
  VARIANTS.flatMap((ini) => ['', '&prepare=0'].map((parameter) => ({ mode, ini, parameter }))),
)

for (const { mode, ini, parameter } of ROWS) {
  const names = Object.entries({ pool_mode: mode, ...ini }).map(([name, value]) => `${name}=${value}`)
  const title = `PgBouncer with ${names.join(' and ')}${parameter && `, with ${parameter}`}`
  test(`${title}: two nodes work, with the settings of a session`, async (t) => {
    const { url, nodes } = await startNodes(
      t,
      mode,
      { default_pool_size: POOL_SIZE[mode], ...ini },
      parameter,
    )
    await workOnBoth(nodes)
    for (const { db, reads, longReads, examineServer } of nodes) {
      assert.deepEqual((await examineServer?.())?.settingFaults, [])
      for (const [pool, seconds] of [
        [db, '5s'],
        [reads, '5s'],
        [longReads, '59500ms'],
      ] as const) {
        const { rows } = await rawQuery(pool as Engine['db'], SETTINGS)
        assert.deepEqual(rows, [
          { sync: 'on', statement: seconds, lock: '3s', idle: '5s', zone: 'UTC', path: schemaName(url) },
        ])
      }
    }
  })
}

test('PgBouncer with pool_mode=statement is refused with advice', async (t) => {
  const url = await startPgbouncer(t, await createPostgresSchema(), 'statement')
  for (const prepare of ['', '&prepare=0']) {
    await assert.rejects(openPostgres(url + prepare), /set its pool_mode to transaction or session/)
  }
})

test('behind PgBouncer options of the address that no transaction can set are refused with advice', async (t) => {
  const url = await createPostgresSchema()
  const pooled = await startPgbouncer(
    t,
    `${url}%20-c%20default_transaction_isolation%3Dserializable`,
    'session',
  )
  await assert.rejects(openPostgres(pooled), /rejects the options of its address.*alter role … set them/)
})

test('statements have names behind a pooler only if it replaces them', async (t) => {
  const isNamed = async (ini: Record<string, string> = {}) => {
    const { nodes } = await startNodes(t, 'transaction', { default_pool_size: '1', ...ini })
    const [{ db }] = nodes as [Engine]
    await selectMeta(db)
    const { rows } = await rawQuery(
      db,
      `select 1 from pg_prepared_statements where statement like '%"meta"%'`,
    )
    return rows.length > 0
  }
  assert.equal(await isNamed(), REPLACES_NAMES)
  if (REPLACES_NAMES) assert.equal(await isNamed({ max_prepared_statements: '0' }), false)
  const url = await createPostgresSchema()
  const direct = await openNode(t, url)
  await selectMeta(direct.db)
  const own = await rawQuery(direct.db, 'select 1 from pg_prepared_statements')
  assert.ok(own.rows.length > 0, 'without a pooler they have')
})

test('a statement with a long list has no name', async (t) => {
  const { db } = await openNode(t, await createPostgresSchema())
  for (const length of [2, 400]) {
    const ids = Array.from({ length }, (_, at) => at + 1)
    await db.selectFrom('documents').select('id').where('id', 'in', ids).execute()
  }
  const { rows } = await rawQuery<{ statement: string }>(db, 'select statement from pg_prepared_statements')
  const lengths = rows.map(({ statement }) => statement).filter((text) => text.includes('"documents"'))
  assert.equal(lengths.length, 1)
  assert.match(lengths[0] ?? '', /in \(\$1, \$2\)$/)
})

test('a lost named statement is repeated without a name, in a transaction and outside of one', async (t) => {
  for (const isInside of [false, true]) {
    const { db } = await openNode(t, await createPostgresSchema())
    await selectMeta(db)
    await rawQuery(db, 'deallocate all')
    if (isInside) await atomically(db, (trx) => selectMeta(trx))
    else await selectMeta(db)
    await rawQuery(db, 'deallocate all')
    await selectMeta(db)
    const { rows } = await rawQuery(db, 'select 1 from pg_prepared_statements')
    assert.deepEqual(rows, [], 'none is named any more')
  }
})

const SETTINGS = `select ${Object.entries({
  sync: 'synchronous_commit',
  statement: 'statement_timeout',
  lock: 'lock_timeout',
  idle: 'idle_in_transaction_session_timeout',
  zone: 'TimeZone',
  path: 'search_path',
})
  .map(([name, setting]) => `current_setting('${setting}') as ${name}`)
  .join(', ')}`

async function startNodes(
  t: TestContext,
  mode: PoolMode,
  ini: Readonly<Record<string, string>>,
  parameters = '',
): Promise<{ url: string; nodes: Engine[] }> {
  const url = await createPostgresSchema()
  const pooled = (await startPgbouncer(t, url, mode, ini)) + parameters
  return { url, nodes: await Promise.all([openNode(t, pooled), openNode(t, pooled)]) }
}

/** Transactions and single statements of both nodes, all at once. */
async function workOnBoth(nodes: readonly Engine[]): Promise<void> {
  const work = Array.from({ length: 40 }, async (_, at) => {
    const { db, reads, poll } = nodes[at % 2] as Engine
    await (at % 4 < 2
      ? insertApiKey(db, key(`k${at}`))
      : atomically(db, (trx) => insertApiKey(trx, key(`k${at}`))))
    await snapshot(reads, (trx) => selectMeta(trx))
    await poll()
  })
  await Promise.all(work)
  for (const { reads } of nodes) {
    assert.equal((await reads.selectFrom('api_keys').select('id').execute()).length, 40)
  }
  const [one, other] = nodes as [Engine, Engine]
  const lock = await one.takeLock('sync')
  assert.ok(lock)
  assert.equal(await other.takeLock('sync'), undefined)
  await one.db.transaction().execute((trx) => lock.check(trx))
  await lock.release()
  assert.deepEqual(await Promise.all(nodes.map((node) => node.isReady())), [true, true])
}

function schemaName(url: string): string {
  return /search_path=(\w+)/.exec(decodeURIComponent(url))?.[1] ?? ''
}
