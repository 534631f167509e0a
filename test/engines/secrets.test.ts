// A secret that is shown once is of use: where the connection breaks while it is committed, the command looks whether it is
// there before it says anything.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { rotateKey } from '../../src/domain/rotation.ts'
import { hashOfSecret } from '../../src/domain/secrets.ts'
import { findApiKey, insertApiKey } from '../../src/store/api-keys.ts'
import { atomically } from '../../src/store/engine.ts'
import { openNode } from '../support/postgres/database.ts'
import { startProxy } from '../support/postgres/proxy.ts'
import { ask, postgresSchemaFor } from '../support/postgres/server.ts'
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
    const hashes = async () => (await ask(url, `select hash from ${table}`)).map(({ hash }) => hash)
    cutCommit('cut', `insert into "${table}"`)
    const refused = await run(words)
    assert.equal(refused.code, 1, refused.err)
    assert.deepEqual([refused.out, await hashes()], ['', []])
    for (const [command, statement] of [
      [words, `insert into "${table}"`],
      [again, `update "${table}"`],
    ] as const) {
      cutCommit('lose', statement)
      const shown = await run(command)
      assert.equal(shown.code, 0, shown.err)
      assert.deepEqual(await hashes(), [hashOfSecret(shown.out.trim())])
    }
  })
}

test('of two rotations at once the second ends what the first let go on', async (t) => {
  const url = await postgresSchemaFor(t)
  const [one, other] = [await openNode(t, url), await openNode(t, url)]
  const now = new Date('2026-03-24T18:00:00Z')
  const createdAt = now.toISOString()
  const id = await insertApiKey(one.db, { name: 'erp', hash: hashOfSecret('first'), createdAt })
  const row = await findApiKey(one.db, id)
  assert.ok(row)
  const rotation = { expiresAt: undefined, now }
  const rotated = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const first = atomically(one.db, async (trx) => {
    await rotateKey(trx, row, { ...rotation, hash: hashOfSecret('second'), overlapMs: 86_400_000 })
    rotated.resolve()
    await goOn.promise
  })
  await rotated.promise
  const second = atomically(other.db, (trx) =>
    rotateKey(trx, row, { ...rotation, hash: hashOfSecret('third'), overlapMs: 0 }),
  )
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%"api_keys"%'`
  await until(async () => (await ask(url, waiting)).length > 0)
  goOn.resolve()
  await Promise.all([first, second])
  const former = await ask(url, 'select hash, ends_at from former_secrets')
  assert.deepEqual(
    former.filter(({ ends_at }) => String(ends_at) > createdAt),
    [],
  )
})

async function behindProxy(t: TestContext) {
  const url = await postgresSchemaFor(t)
  await (await openNode(t, url)).close()
  const proxy = await startProxy(t, url)
  const database = `${proxy.url}&prepare=0`
  return {
    url,
    run: (words: string[]) => runCommand([...words, '--database', database]),
    /** Once, on the connection that sent the statement. */
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
