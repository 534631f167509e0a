// The network between a node and the database fails. An acknowledged commit is stored, once; all else is an error
// that explains it.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AppError, errorCode } from '../../src/runtime/errors.ts'
import { storageError } from '../../src/runtime/storage-error.ts'
import { insertApiKey } from '../../src/store/access/api-keys.ts'
import { atomically } from '../../src/store/engine.ts'
import type { WriteDb } from '../../src/store/tables.ts'
import { openNode } from '../support/postgres/database.ts'
import { startProxy } from '../support/postgres/proxy.ts'
import { createPostgresSchema } from '../support/postgres/server.ts'

const key = (name: string) => ({ name, hash: name.padEnd(64, '-'), createdAt: '2026-03-24T12:00:00.000Z' })

test('a commit whose connection breaks is PG_COMMIT_UNKNOWN, whether stored or not', async (t) => {
  const { db, proxy } = await behindProxy(t)
  for (const fate of ['cut', 'lose'] as const) {
    proxy.decide((text) => (text === 'commit' ? fate : 'pass'))
    const failure = atomically(db, (trx) => insertApiKey(trx, key(fate)))
    await assert.rejects(failure, (error) => {
      assert.equal(errorCode(error), 'PG_COMMIT_UNKNOWN')
      const appError = storageError(error)
      assert.ok(appError instanceof AppError && appError.code === 'unavailable')
      return true
    })
  }
  proxy.decide(() => 'pass')
  assert.deepEqual(await names(db), ['lose'], 'the server had this one')
})

test('statements of which each seventh fails for others are all done, once', async (t) => {
  const { db, proxy } = await behindProxy(t)
  let statements = 0
  let conflicts = 0
  proxy.decide((text) => {
    if (text === 'rollback') return 'pass'
    statements += 1
    if (statements % 7 !== 0) return 'pass'
    conflicts += 1
    return 'conflict'
  })
  const expectedNames = Array.from({ length: 60 }, (_, at) => `k${at}`)
  await Promise.all(
    expectedNames.map(async (name, at) => {
      const insert = () =>
        at % 2 ? atomically(db, (trx) => insertApiKey(trx, key(name))) : insertApiKey(db, key(name))
      // On a slow machine the retries of five seconds may not be enough for all of them.
      while (await insert().then(() => false, isBusy));
    }),
  )
  assert.ok(conflicts > 30, `${conflicts} of ${statements}`)
  assert.deepEqual(await names(db), expectedNames.sort())
})

test('connections that break at any statement lose no acknowledged commit', async (t) => {
  const { db, proxy } = await behindProxy(t)
  let statements = 0
  proxy.decide(() => (++statements % 11 === 0 ? 'cut' : statements % 13 === 0 ? 'lose' : 'pass'))
  const committed = new Set<string>()
  const failures = new Set<string>()
  for (let at = 0; at < 120; at += 4) {
    await Promise.all(
      [0, 1, 2, 3].map(async (more) => {
        const name = `k${at + more}`
        try {
          await atomically(db, (trx) => insertApiKey(trx, key(name)))
          committed.add(name)
        } catch (error) {
          const appError = storageError(error)
          assert.ok(
            appError instanceof AppError && appError.code === 'unavailable',
            `${errorCode(error)} ${error}`,
          )
          failures.add(name)
        }
      }),
    )
  }
  proxy.decide(() => 'pass')
  const storedNames = new Set(await names(db))
  assert.deepEqual([...committed.difference(storedNames)], [])
  assert.ok(failures.size > 10 && committed.size > 10)
})

/** Returns true for `busy`: nothing was stored. @throws any other error */
function isBusy(error: unknown): boolean {
  if (error instanceof AppError && error.code === 'busy') return true
  throw error
}

async function behindProxy(t: TestContext) {
  const proxy = await startProxy(t, await createPostgresSchema())
  return { db: (await openNode(t, proxy.url)).db, proxy }
}

async function names(db: WriteDb): Promise<string[]> {
  return (await db.selectFrom('api_keys').select('name').orderBy('name').execute()).map(({ name }) => name)
}
