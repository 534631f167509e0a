// A node whose program is too old for the schema, which a newer program has upgraded beside it.

import assert from 'node:assert/strict'
import { test } from 'node:test'

process.env.CAMBISTA_TEST_ENGINE = 'postgres' // before the modules that look at it are loaded
const { startTestApp } = await import('../support/app.ts')
const { batch, CREATE, fillDirectory, pdf, post } = await import('../support/directory.ts')
const { postgresAddress } = await import('../support/postgres/database.ts')
const { queryOnce } = await import('../support/postgres/server.ts')
const { until } = await import('../support/terminal.ts')

const REASON = /the database has schema 99, which is too new for cambista \S+: upgrade this node/

test('an outdated program is not ready, not even for rates, and writes nothing', async (t) => {
  const node = await startTestApp(t)
  await fillDirectory(node)
  await node.sync()
  const url = await postgresAddress(node.dataDir)
  const [before] = await queryOnce(url, 'select schema_version, oldest_program from meta')
  await queryOnce(url, 'update meta set schema_version = 99, oldest_program = 98')
  await until(async () => (await node.get('/readyz')).status === 503)
  for (const path of ['/readyz', '/readyz?rates']) {
    const response = await node.get(path)
    assert.equal(response.status, 503, path)
    assert.match(JSON.stringify(await response.json()), REASON)
  }
  const answer = await post(node, CREATE, batch(pdf('one')))
  assert.equal(answer.status, 503)
  assert.match(await answer.text(), REASON)
  assert.equal((await node.get('/api/v1/rates/latest')).status, 200, 'rates out of memory')
  assert.deepEqual(await queryOnce(url, 'select 1 from documents'), [])
  await queryOnce(
    url,
    `update meta set schema_version = ${before?.schema_version}, oldest_program = ${before?.oldest_program}`,
  )
  await until(async () => (await node.get('/readyz')).status === 200)
  assert.equal((await post(node, CREATE, batch(pdf('one')))).status, 200)
  const errors = node.logLines.join('').match(/"level":"error".*/g) ?? []
  assert.equal(errors.length, 1, errors.join('\n'))
  assert.match(errors[0] ?? '', /the node must not write/)
})
