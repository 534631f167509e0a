// SQLite plans each statement once, since parameters are expressions, `+?`. Neither comparisons nor plans differ from those
// of bare parameters.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { watchStatements } from '../../../budget/statements.ts'
import { startTestApp } from '../../../support/app.ts'
import { CREATE, fillDirectory, post, read, TOKENS } from '../../../support/directory.ts'

const TYPES = ['int', 'integer', 'real', 'text', 'blob', 'any']
const VALUES = [1, 1n, 1.5, '1', '1.0', '1.5', 'a', '', null, Buffer.from('1')]
const OPERATORS = ['= $', 'is $', '<> $', '< $', '>= $', 'in ($)', 'between $ and 2']

for (const strict of ['', 'strict']) {
  test(`a sign before a parameter changes no value, and no comparison ${strict}`, () => {
    const database = new Database(':memory:')
    const execute = (sql: string, value: unknown) => {
      try {
        return database.prepare(sql).all(value)
      } catch (error) {
        return (error as Error).message
      }
    }
    for (const type of TYPES) {
      database.exec(`create table stored_${type} (id integer primary key, value ${type}) ${strict}`)
      for (const value of VALUES) {
        const insert = (parameter: string) =>
          execute(
            `insert into stored_${type} (value) values (${parameter}) returning value, typeof(value)`,
            value,
          )
        assert.deepEqual(insert('+?'), insert('?'), `${type} ${String(value)}`)
      }
      for (const operator of OPERATORS) {
        for (const value of VALUES) {
          const select = (parameter: string) =>
            execute(`select id from stored_${type} where value ${operator.replace('$', parameter)}`, value)
          assert.deepEqual(select('+?'), select('?'), `${type} ${operator} ${String(value)}`)
        }
      }
    }
    database.close()
  })
}

test('statements of rates and documents have the plans of bare parameters', async (t) => {
  const statements = new Map<string, readonly unknown[]>()
  t.after(watchStatements((text, values) => statements.set(text, values)))
  const app = await startTestApp(t)
  await app.sync()
  await fillDirectory(app)
  const documents = [{ name: 'a.txt', mimetype: 'text/plain', base64: 'YQ==' }]
  for (let at = 0; at < 50; at++)
    await post(app, CREATE, { company_id: 1, agent_id: 1, owner_id: 1, documents })
  const authorization = { authorization: `Bearer ${TOKENS.work}` }
  const claim = await post(app, '/api/v1/documents/claim', { agent_id: 1 }, authorization)
  const [claimed] = ((await claim.json()) as { documents: { id: number; claim_id: string }[] }).documents
  const outcome = { claim_id: claimed?.claim_id, outcome: 'done' }
  await post(app, `/api/v1/documents/${claimed?.id}/finish`, outcome, authorization)
  for (const query of ['', '?limit=5&state=done', '?agent_id=1&q=a', '/summary', '/1', '/1/events'])
    assert.equal((await read(app, `/api/v1/documents${query}`)).status, 200)
  for (const path of ['/api/v1/revisions', '/api/v1/sync/runs', '/api/v1/status', '/api/v1/health'])
    await app.json(path)

  const database = new Database(join(app.dataDir, 'cambista.db'))
  const plan = (text: string, values: readonly unknown[]) =>
    database.prepare(`explain query plan ${text}`).all(values)
  const own = [...statements].filter(([text]) => /\+\?/.test(text))
  assert.ok(own.length > 80, String(own.length))
  for (const [text, values] of own) {
    const bare = text.replaceAll('+?+0', '?').replaceAll('+?', '?')
    assert.deepEqual(plan(text, values), plan(bare, values), text)
  }
  assert.deepEqual(
    [...statements.keys()].filter((text) => /^\s*select\b.*(?<!\+)\?/is.test(text)),
    [],
  )
  database.close()
})

test('an upload finds the other tokens of its name by an index', async (t) => {
  const app = await startTestApp(t)
  await fillDirectory(app)
  const statements = new Map<string, readonly unknown[]>()
  t.after(watchStatements((text, values) => statements.set(text, values)))
  const documents = [{ name: 'a.txt', mimetype: 'text/plain', base64: 'YQ==' }]
  const response = await post(app, CREATE, { company_id: 1, agent_id: 1, owner_id: 1, documents })
  assert.equal(response.status, 200)
  const ofNames = [...statements].filter(([text]) => text.includes('namesake'))
  assert.ok(ofNames.length > 0)
  const database = new Database(join(app.dataDir, 'cambista.db'))
  for (const [text, values] of ofNames) {
    const steps = database.prepare(`explain query plan ${text}`).all(values) as { detail: string }[]
    const details = steps.map(({ detail }) => detail).filter((detail) => detail.includes('namesake'))
    assert.deepEqual(details, ['SEARCH namesake USING INDEX tokens_by_name (name=?)'])
  }
  database.close()
})
