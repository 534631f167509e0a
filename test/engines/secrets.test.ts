// A secret that is shown once is of use: where the connection breaks while it is committed, the command looks whether it is
// there before it says anything.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { hashOfSecret } from '../../src/domain/secrets.ts'
import { openNode } from '../support/postgres/database.ts'
import { startProxy } from '../support/postgres/proxy.ts'
import { ask, postgresSchemaFor } from '../support/postgres/server.ts'
import { runCommand } from '../support/terminal.ts'

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
