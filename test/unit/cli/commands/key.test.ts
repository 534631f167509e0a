import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeSecret } from '../../../src/domain/secrets.ts'
import { temporaryDirectory } from '../../support/app.ts'
import { runCommand } from '../../support/terminal.ts'

test('a key is shown once, kept as a hash, listed without its secret, and revoked', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  const at = ['--data-dir', dataDir]
  const made = await runCommand(['key', 'create', 'erp', ...at])
  assert.equal(made.code, 0)
  assert.match(made.out, /^cbk_[0-9A-Za-z]{36}\n$/)
  assert.match(made.err, /shown only now/)
  const key = made.out.trim()

  for (const name of readdirSync(dataDir)) {
    assert.equal(readFileSync(join(dataDir, name)).includes(key), false, `${name} holds the key`)
    assert.equal(statSync(join(dataDir, name)).mode & 0o777, 0o600, name)
  }
  assert.equal(statSync(dataDir).mode & 0o777, 0o700)

  const listed = await runCommand(['key', 'list', ...at])
  assert.match(listed.out, /1 +erp .* never +active/)
  assert.equal(listed.out.includes(key), false)

  const revoked = await runCommand(['key', 'revoke', '1', ...at, '--json'])
  assert.equal(revoked.code, 0)
  const first = JSON.parse(revoked.out)
  assert.equal(first.name, 'erp')
  assert.ok(first.revoked_at)
  const again = JSON.parse((await runCommand(['key', 'revoke', '1', ...at, '--json'])).out)
  assert.equal(again.revoked_at, first.revoked_at)
})

test('create --json prints id, name and key and nothing else on stdout', async (t) => {
  const dataDir = temporaryDirectory(t)
  const { out } = await runCommand(['key', 'create', 'hoja de cálculo', '--json', '--data-dir', dataDir])
  const { key, ...rest } = JSON.parse(out)
  assert.deepEqual(rest, { id: 1, name: 'hoja de cálculo' })
  assert.match(key, /^cbk_/)
})

test('two active keys cannot have one name; after revoking they can', async (t) => {
  const at = ['--data-dir', temporaryDirectory(t)]
  await runCommand(['key', 'create', 'erp', ...at])
  const twin = await runCommand(['key', 'create', 'erp', ...at])
  assert.equal(twin.code, 1)
  assert.match(twin.err, /key 1 is named erp already/)
  await runCommand(['key', 'revoke', '1', ...at])
  assert.equal((await runCommand(['key', 'create', 'erp', ...at])).code, 0)
})

test('revoking a key that is not there says where to look', async (t) => {
  const at = ['--data-dir', temporaryDirectory(t)]
  await runCommand(['key', 'create', 'erp', ...at])
  const end = await runCommand(['key', 'revoke', '7', ...at])
  assert.equal(end.code, 1)
  assert.match(end.err, /there is no key 7: see cambista key list/)
})

for (const name of ['', '-x', 'a\nb', 'a'.repeat(65), '<b>']) {
  test(`the name ${JSON.stringify(name.slice(0, 10))} is refused before anything is made`, async (t) => {
    const dataDir = join(temporaryDirectory(t), 'data')
    const end = await runCommand(['key', 'create', '--data-dir', dataDir, '--', name])
    assert.equal(end.code, 2)
    assert.match(end.err, /NAME must be/)
  })
}

test('secrets are of the stated form, and never twice the same', () => {
  const made = new Set(Array.from({ length: 1000 }, () => makeSecret('cbk_')))
  assert.equal(made.size, 1000)
  for (const secret of made) assert.match(secret, /^cbk_[0-9A-Za-z]{36}$/)
})
