import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSqliteEngine } from '../../../../src/store/sqlite/sqlite-engine.ts'
import { testEngine } from '../../../contract/engine.ts'
import { fixedClock, temporaryDirectory } from '../../../support/temporary.ts'

// A server, and a command beside it.
testEngine('SQLite', async (t) => {
  const dataDir = temporaryDirectory(t)
  const engines = [
    await openSqliteEngine(dataDir, { server: true }),
    await openSqliteEngine(dataDir),
  ] as const
  t.after(() => Promise.all(engines.map((engine) => engine.close())))
  return engines
})

test('a second server on the directory is refused, until the first is closed', async (t) => {
  const dataDir = temporaryDirectory(t)
  const server = await openSqliteEngine(dataDir, { server: true })
  const message = `the data directory is in use by another server: ${dataDir}`
  await assert.rejects(openSqliteEngine(dataDir, { server: true }), { code: 'failed', message })
  await server.close()
  await (await openSqliteEngine(dataDir, { server: true })).close()
})

test('the clock is the one that is given', async (t) => {
  const clock = fixedClock()
  const engine = await openSqliteEngine(temporaryDirectory(t), { clock: clock.read })
  t.after(() => engine.close())
  assert.deepEqual(engine.clock(), clock.now)
})
