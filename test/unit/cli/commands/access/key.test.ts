import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeSecret } from '../../../../../src/domain/access/secrets.ts'
import { temporaryDirectory } from '../../../../support/app.ts'
import { runCommand } from '../../../../support/terminal.ts'

test('`key create` prints the secret once and stores its hash; `key list` omits it; `key revoke` revokes', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  const at = ['--data-dir', dataDir]
  const created = await runCommand(['key', 'create', 'erp', ...at])
  assert.equal(created.code, 0)
  assert.match(created.out, /^cbk_[0-9A-Za-z]{36}\n$/)
  assert.match(created.err, /shown only now/)
  const key = created.out.trim()

  for (const name of readdirSync(dataDir)) {
    assert.equal(readFileSync(join(dataDir, name)).includes(key), false, `${name} holds the key`)
    assert.equal(statSync(join(dataDir, name)).mode & 0o777, 0o600, name)
  }
  assert.equal(statSync(dataDir).mode & 0o777, 0o700)

  const listed = await runCommand(['key', 'list', ...at])
  assert.match(listed.out, /1 +erp .* never +0 +active/)
  assert.equal(listed.out.includes(key), false)

  const revoked = await runCommand(['key', 'revoke', '1', ...at, '--json'])
  assert.equal(revoked.code, 0)
  const first = JSON.parse(revoked.out)
  assert.equal(first.name, 'erp')
  assert.ok(first.revoked_at)
  const again = JSON.parse((await runCommand(['key', 'revoke', '1', ...at, '--json'])).out)
  assert.equal(again.revoked_at, first.revoked_at)
})

test('`key create --json` prints id, name and key and nothing else on stdout', async (t) => {
  const dataDir = temporaryDirectory(t)
  const { out } = await runCommand(['key', 'create', 'hoja de cálculo', '--json', '--data-dir', dataDir])
  const { key, ...rest } = JSON.parse(out)
  assert.deepEqual(rest, { id: 1, name: 'hoja de cálculo' })
  assert.match(key, /^cbk_/)
})

test('`key create` refuses the name of an active key, but accepts that of a revoked one', async (t) => {
  const at = ['--data-dir', temporaryDirectory(t)]
  await runCommand(['key', 'create', 'erp', ...at])
  const twin = await runCommand(['key', 'create', 'erp', ...at])
  assert.equal(twin.code, 1)
  assert.match(twin.err, /key 1 is named erp already/)
  await runCommand(['key', 'revoke', '1', ...at])
  assert.equal((await runCommand(['key', 'create', 'erp', ...at])).code, 0)
})

test('`key revoke` of an unknown id suggests `key list`', async (t) => {
  const at = ['--data-dir', temporaryDirectory(t)]
  await runCommand(['key', 'create', 'erp', ...at])
  const end = await runCommand(['key', 'revoke', '7', ...at])
  assert.equal(end.code, 1)
  assert.match(end.err, /there is no key 7: see cambista key list/)
})

for (const name of ['', '-x', 'a\nb', 'a'.repeat(65), '<b>']) {
  test(`the name ${JSON.stringify(name.slice(0, 10))} is refused before anything is created`, async (t) => {
    const dataDir = join(temporaryDirectory(t), 'data')
    const end = await runCommand(['key', 'create', '--data-dir', dataDir, '--', name])
    assert.equal(end.code, 2)
    assert.match(end.err, /NAME must be/)
  })
}

test('makeSecret returns different secrets of the documented form', () => {
  const secrets = new Set(Array.from({ length: 1000 }, () => makeSecret('cbk_')))
  assert.equal(secrets.size, 1000)
  for (const secret of secrets) assert.match(secret, /^cbk_[0-9A-Za-z]{36}$/)
})
