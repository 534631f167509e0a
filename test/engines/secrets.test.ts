// A secret that is printed once must be stored. If the connection breaks during its commit, the command checks the
// database before it prints anything.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { rotateKey } from '../../src/domain/access/rotation.ts'
import { hashOfSecret } from '../../src/domain/access/secrets.ts'
import { findApiKey, insertApiKey } from '../../src/store/access/api-keys.ts'
import { atomically } from '../../src/store/engine.ts'
import { openNode } from '../support/postgres/database.ts'
import { startProxy } from '../support/postgres/proxy.ts'
import { createPostgresSchema, queryOnce } from '../support/postgres/server.ts'
import { runCommand, until } from '../support/terminal.ts'

const COMMANDS = [
  { table: 'api_keys', words: ['key', 'create', 'erp'], again: ['key', 'rotate', 'erp'] },
  {
    table: 'tokens',
    words: ['token', 'create', 'erp', '--allow', 'documents:GET'],
    again: ['token', 'rotate', 'erp'],
  },
]

for (const { table, words, again } of COMMANDS) {
  test(`a secret of ${table} is shown when it is stored, and only then`, async (t) => {
    const { url, run, cutCommit } = await behindProxy(t)
    const hashes = async () => (await queryOnce(url, `select hash from ${table}`)).map(({ hash }) => hash)
    cutCommit('cut', `insert into "${table}"`)
    const refused = await run(words)
    assert.equal(refused.code, 1, refused.err)
    assert.deepEqual([refused.out, await hashes()], ['', []])
    for (const [command, statement] of [
      [words, `insert into "${table}"`],
      [again, `update "${table}"`],
    ] as const) {
      cutCommit('lose', statement)
      const result = await run(command)
      assert.equal(result.code, 0, result.err)
      assert.deepEqual(await hashes(), [hashOfSecret(result.out.trim())])
    }
  })
}

test('the second of two concurrent rotations ends the overlap of the first', async (t) => {
  const url = await createPostgresSchema()
  const [one, other] = [await openNode(t, url), await openNode(t, url)]
  const now = new Date('2026-03-24T18:00:00Z')
  const isoNow = now.toISOString()
  const id = await insertApiKey(one.db, { name: 'erp', hash: hashOfSecret('first'), createdAt: isoNow })
  const row = await findApiKey(one.db, id)
  assert.ok(row)
  const rotation = { expiresAt: undefined, now }
  const rotated = Promise.withResolvers<void>()
  const firstMayCommit = Promise.withResolvers<void>()
  const first = atomically(one.db, async (trx) => {
    await rotateKey(trx, row, { ...rotation, hash: hashOfSecret('second'), overlapMs: 86_400_000 })
    rotated.resolve()
    await firstMayCommit.promise
  })
  await rotated.promise
  const second = atomically(other.db, (trx) =>
    rotateKey(trx, row, { ...rotation, hash: hashOfSecret('third'), overlapMs: 0 }),
  )
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%"api_keys"%'`
  await until(async () => (await queryOnce(url, waiting)).length > 0)
  firstMayCommit.resolve()
  await Promise.all([first, second])
  const former = await queryOnce(url, 'select hash, ends_at from former_secrets')
  assert.deepEqual(
    former.filter(({ ends_at }) => String(ends_at) > isoNow),
    [],
  )
})

async function behindProxy(t: TestContext) {
  const url = await createPostgresSchema()
  await (await openNode(t, url)).close()
  const proxy = await startProxy(t, url)
  const database = `${proxy.url}&prepare=0`
  return {
    url,
    run: (words: string[]) => runCommand([...words, '--database', database]),
    /** Fails one commit, on the connection that sent the statement. */
    cutCommit(fate: 'cut' | 'lose', statement: string) {
      let writing: number | undefined
      proxy.decide((text, connection) => {
        if (text.startsWith(statement)) writing = connection
        if (text !== 'commit' || connection !== writing) return 'pass'
        proxy.decide(() => 'pass')
        return fate
      })
    },
  }
}
