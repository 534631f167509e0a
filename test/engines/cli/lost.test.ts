// A database that is lost during a command. The error is one line, and the record of a sync has the same text.

import '../../support/postgres/on-postgres.ts'
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openNode } from '../../support/postgres/database.ts'
import { openCluster } from '../../support/postgres/nodes.ts'
import { startProxy } from '../../support/postgres/proxy.ts'
import { createPostgresSchema } from '../../support/postgres/server.ts'
import { runCommand } from '../../support/terminal.ts'

const SYNC = ['sync', '--from', '2026-03-01', '--to', '2026-03-24']
const STORED = /^insert into "?rates"?/i

test('`sync` that loses its database fails with one line', async (t) => {
  const { proxy, env } = await openProxied(t)
  let isAway = false
  proxy.decide((text) => {
    isAway ||= STORED.test(text)
    return isAway ? 'cut' : 'pass'
  })
  const { code, out, err } = await runCommand(SYNC, env)
  assert.ok(isAway)
  assert.deepEqual([code, out], [1, ''])
  assert.match(err, /^cambista: the database .+\/postgres was lost: .+\n$/)
})

test('`key list` that loses its database fails with one line', async (t) => {
  const { proxy, env } = await openProxied(t)
  await runCommand(['key', 'create', 'erp'], env)
  proxy.decide((text) => (/from "api_keys"/.test(text) ? 'cut' : 'pass'))
  const { code, out, err } = await runCommand(['key', 'list'], env)
  assert.deepEqual([code, out], [1, ''])
  assert.match(err, /^cambista: the database .+\/postgres was lost: .+\n$/)
})

test('`sync` that loses one connection records it', async (t) => {
  const { proxy, env } = await openProxied(t)
  let isCut = false
  proxy.decide((text) => {
    if (isCut || !STORED.test(text)) return 'pass'
    isCut = true
    return 'cut'
  })
  const { code, out, err } = await runCommand([...SYNC, '--json'], env)
  assert.deepEqual([code, err], [1, ''])
  assert.match(JSON.parse(out).message, /^the database was lost: /)
})

async function openProxied(t: TestContext) {
  const url = await createPostgresSchema()
  await openNode(t, url) // makes the tables
  const proxy = await startProxy(t, url)
  const { env } = await openCluster(t, proxy.url)
  return { proxy, env }
}
