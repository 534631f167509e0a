// Nodes with an address of several hosts use the one that writes, also after a failover. The higher timeline wins.

import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { insertApiKey } from '../../../src/store/access/api-keys.ts'
import { parseAddress } from '../../../src/store/postgres/address.ts'
import { openPostgres } from '../../../src/store/postgres/open-postgres.ts'
import { openPool } from '../../../src/store/postgres/pool.ts'
import { rawQuery } from '../../../src/store/postgres/raw-query.ts'
import type { WriteDb } from '../../../src/store/tables.ts'
import { openNode } from '../../support/postgres/database.ts'
import { type PostgresServer, queryOnce, startPostgres } from '../../support/postgres/server.ts'
import { promote, startStandby, waitUntilReplayed } from '../../support/postgres/standby.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'

const key = (name: string) => ({ name, hash: name.padEnd(64, '-'), createdAt: '2026-03-24T12:00:00.000Z' })

let primary: PostgresServer
let standby: PostgresServer
before(async (t) => {
  primary = await startPostgres()
  ;(t as TestContext).after(() => primary.close())
  await queryOnce(primary.url, 'create schema s')
  standby = await startStandby(primary)
  ;(t as TestContext).after(() => standby.close())
})

test('a node uses the primary among its hosts, wherever it is in the address', async (t) => {
  for (const hosts of [`${primary.dir},${standby.dir}`, `${standby.dir},/nowhere,${primary.dir}`]) {
    const { db } = await openNode(t, address(hosts))
    assert.equal(await directory(db), join(primary.dir, 'data'))
  }
})

test('each host is examined with its role, its timeline and its lag', async (t) => {
  const node = await openNode(t, address(`${primary.dir},/nowhere,${standby.dir}`))
  await waitUntilReplayed(primary, standby)
  const { hosts, settingFaults } = (await node.examineServer?.()) ?? { hosts: [], settingFaults: ['none'] }
  assert.deepEqual(settingFaults, [])
  assert.deepEqual(hosts.slice(0, 2), [
    { name: primary.dir, role: 'primary', timeline: 1, bytesBehind: 0 },
    { name: '/nowhere', fault: 'no answer, ENOENT' },
  ])
  const [, , last] = hosts
  assert.ok(last && 'role' in last && last.role === 'standby' && last.timeline === 1, JSON.stringify(last))
  assert.ok(Number(last.bytesBehind) < 1_000_000)
})

test('without a host that writes, an error names each host and its fault, and no user', async (t) => {
  const silent = await silentHost(t)
  const start = performance.now()
  await assert.rejects(
    openPostgres(address(`${standby.dir},/nowhere,127.0.0.1`, `&port=5432,5432,${silent}&connect_timeout=1`)),
    (error: Error) => {
      assert.match(error.message, /cannot open the database the socket of \S+ no host of the address writes/)
      assert.ok(error.message.includes(`${standby.dir}: only reads`), error.message)
      assert.match(error.message, /\/nowhere: no answer, ENOENT/)
      assert.match(error.message, new RegExp(`127.0.0.1:${silent}: no answer`))
      assert.doesNotMatch(error.message, /cambista@|hidden/)
      return true
    },
  )
  t.diagnostic(`refused after ${Math.round(performance.now() - start)} ms`)
})

test('a host that does not answer delays the choice by half a second, once', async (t) => {
  const silent = await silentHost(t)
  const pool = await openPool(parseAddress(address(`127.0.0.1,${primary.dir}`, `&port=${silent},5432`)), {
    size: 3,
    answerMs: 5500,
  })
  const start = performance.now()
  const first = await pool.connect()
  const firstMs = performance.now() - start
  const others = await Promise.all([pool.connect(), pool.connect()])
  t.diagnostic(`${Math.round(firstMs)} ms, then ${Math.round(performance.now() - start - firstMs)} ms`)
  assert.ok(firstMs >= 490, `${firstMs}`)
  for (const client of [first, ...others]) client.release()
  await pool.end()
})

test('each host has its password in the file of PGPASSFILE', async (t) => {
  const protectedServer = await startPostgres()
  t.after(() => protectedServer.close())
  await queryOnce(protectedServer.url, `create role erp login password 'one'`)
  writeFileSync(
    join(protectedServer.dir, 'data/pg_hba.conf'),
    'local all cambista trust\nlocal all all md5\n',
  )
  await queryOnce(protectedServer.url, 'select pg_reload_conf()')
  const file = join(temporaryDirectory(t), 'pgpass')
  const pass = (password: string) => {
    writeFileSync(file, `/nowhere:5432:*:*:two\n${protectedServer.dir}:5432:postgres:erp:${password}\n`)
    chmodSync(file, 0o600)
  }
  const before = process.env.PGPASSFILE
  t.after(() => {
    if (before === undefined) delete process.env.PGPASSFILE
    else process.env.PGPASSFILE = before
  })
  process.env.PGPASSFILE = file
  const hosts = parseAddress(`postgres://erp@/postgres?host=/nowhere,${protectedServer.dir}`)
  pass('one')
  const pool = await openPool(hosts, { size: 1, answerMs: 5500 })
  const client = await pool.connect()
  assert.equal((await client.query('select current_user as who')).rows[0].who, 'erp')
  client.release()
  await pool.end()
  pass('two')
  const withPassword = parseAddress(`postgres://erp:one@/postgres?host=/nowhere,${protectedServer.dir}`)
  const third = await openPool(withPassword, { size: 1, answerMs: 5500 })
  ;(await third.connect()).release()
  await third.end()
  const other = await openPool(hosts, { size: 1, answerMs: 5500 })
  await assert.rejects(other.connect(), /refuses the user or the password/)
  await other.end()
})

test('a node follows a failover, and no longer uses a former primary that resumes', async (t) => {
  const both = address(`${primary.dir},${standby.dir}`)
  const node = await openNode(t, both)
  await insertApiKey(node.db, key('one'))
  await waitUntilReplayed(primary, standby)
  const thaw = primary.freeze()
  t.after(thaw)
  await promote(standby)
  const start = performance.now()
  await until(() => node.isReady().catch(() => false))
  t.diagnostic(`ready ${Math.round(performance.now() - start)} ms after the promotion`)
  assert.equal(await directory(node.db), join(standby.dir, 'data'))
  await insertApiKey(node.db, key('two'))
  thaw()
  const later = await openNode(t, both)
  assert.equal(await directory(later.db), join(standby.dir, 'data'), 'of two that write, the higher timeline')
  assert.equal(await directory(node.db), join(standby.dir, 'data'))
  assert.deepEqual(await names(later.db), ['one', 'two'])
  assert.deepEqual(await queryOnce(primary.url, 'select name from s.api_keys'), [{ name: 'one' }])
})

function address(hosts: string, parameters = ''): string {
  return `postgres://cambista:hidden@/postgres?host=${hosts}&options=-c%20search_path%3Ds${parameters}`
}

/** Port of a host that accepts connections and never answers. */
async function silentHost(t: TestContext): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => {}))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return (server.address() as { port: number }).port
}

async function directory(db: WriteDb): Promise<string | undefined> {
  const { rows } = await rawQuery<{ at: string }>(db, `select current_setting('data_directory') as at`)
  return rows[0]?.at
}

async function names(db: WriteDb): Promise<string[]> {
  return (await db.selectFrom('api_keys').select('name').orderBy('name').execute()).map(({ name }) => name)
}
