// The network between a node and the database fails: what is told to be stored is stored, once, and all else is an error
// that says so.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AppError, codeOf } from '../../src/errors.ts'
import { storageError } from '../../src/storage-error.ts'
import { insertApiKey } from '../../src/store/api-keys.ts'
import { atomically } from '../../src/store/engine.ts'
import type { Db } from '../../src/store/tables.ts'
import { openNode } from '../support/postgres/database.ts'
import { startProxy } from '../support/postgres/proxy.ts'
import { postgresSchemaFor } from '../support/postgres/server.ts'

const key = (name: string) => ({ name, hash: name.padEnd(64, '-'), createdAt: '2026-03-24T12:00:00.000Z' })

test('a commit that the connection did not outlive is not told as done, whether it was or not', async (t) => {
  const { db, proxy } = await behindProxy(t)
  for (const fate of ['cut', 'lose'] as const) {
    proxy.decide((text) => (text === 'commit' ? fate : 'pass'))
    const failure = atomically(db, (trx) => insertApiKey(trx, key(fate)))
    await assert.rejects(failure, (error) => {
      assert.equal(codeOf(error), 'PG_COMMIT_UNKNOWN')
      const known = storageError(error)
      assert.ok(known instanceof AppError && known.code === 'unavailable')
      return true
    })
  }
  proxy.decide(() => 'pass')
  assert.deepEqual(await names(db), ['lose'], 'the server had this one')
})

test('statements of which each seventh fails for others are all done, once', async (t) => {
  const { db, proxy } = await behindProxy(t)
  let statements = 0
  let failed = 0
  proxy.decide((text) => {
    if (text === 'rollback') return 'pass'
    statements += 1
    if (statements % 7 !== 0) return 'pass'
    failed += 1
    return 'conflict'
  })
  const wanted = Array.from({ length: 60 }, (_, at) => `k${at}`)
  await Promise.all(
    wanted.map((name, at) =>
      at % 2 ? atomically(db, (trx) => insertApiKey(trx, key(name))) : insertApiKey(db, key(name)),
    ),
  )
  assert.ok(failed > 30, `${failed} of ${statements}`)
  assert.deepEqual(await names(db), wanted.sort())
})

test('connections that break at any statement lose nothing that was told as done', async (t) => {
  const { db, proxy } = await behindProxy(t)
  let statements = 0
  proxy.decide(() => (++statements % 11 === 0 ? 'cut' : statements % 13 === 0 ? 'lose' : 'pass'))
  const done = new Set<string>()
  const failed = new Set<string>()
  for (let at = 0; at < 120; at += 4) {
    await Promise.all(
      [0, 1, 2, 3].map(async (more) => {
        const name = `k${at + more}`
        try {
          await atomically(db, (trx) => insertApiKey(trx, key(name)))
          done.add(name)
        } catch (error) {
          const known = storageError(error)
          assert.ok(known instanceof AppError && known.code === 'unavailable', `${codeOf(error)} ${error}`)
          failed.add(name)
        }
      }),
    )
  }
  proxy.decide(() => 'pass')
  const stored = new Set(await names(db))
  assert.deepEqual([...done.difference(stored)], [])
  assert.ok(failed.size > 10 && done.size > 10)
})

async function behindProxy(t: TestContext) {
  const proxy = await startProxy(t, await postgresSchemaFor(t))
  return { db: (await openNode(t, proxy.url)).db, proxy }
}

async function names(db: Db): Promise<string[]> {
  return (await db.selectFrom('api_keys').select('name').orderBy('name').execute()).map(({ name }) => name)
}
