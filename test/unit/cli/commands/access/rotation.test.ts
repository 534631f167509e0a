// `key rotate` and `token rotate`: the new secret, and the end of the former one in a running server.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashOfSecret, makeSecret } from '../../../../../src/domain/access/secrets.ts'
import { type ApiKeyRow, insertApiKey } from '../../../../../src/store/access/api-keys.ts'
import { insertFormerSecret } from '../../../../../src/store/access/former-secrets.ts'
import { insertToken, type TokenRow } from '../../../../../src/store/access/tokens.ts'
import { addDays, currentDay } from '../../../../../src/values/dates.ts'
import { startTestApp } from '../../../../support/app.ts'
import { COMPANY, makeDirectory, runJson } from '../../../../support/company.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../../support/temporary.ts'
import { runCommand, until } from '../../../../support/terminal.ts'

const today = () => currentDay(() => new Date())
const CREATED = '2026-01-01T00:00:00Z'

type Made = { id: number; name: string; key: string; expires_at: string | null; former_ends_at: string }

test('`key create --expires` and `key list` print the last day', async (t) => {
  const dataDir = temporaryDirectory(t)
  const created = await runJson<Made>(dataDir, 'key', 'create', 'erp', '--expires', today())
  assert.equal(created.expires_at, today())
  const { out } = await runCommand(['key', 'list', '--data-dir', dataDir])
  assert.match(out, new RegExp(`1 +erp .* active through ${today()}\n`))
  const past = ['key', 'create', 'other', '--expires', addDays(today(), -1), '--data-dir', dataDir]
  const end = await runCommand(past)
  assert.equal(end.code, 2)
  assert.match(end.err, /--expires .* is past: today in Costa Rica is/)
})

test('`key rotate` prints a new secret of the same key, and the end of the former one', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-03-24T12:00:00Z') })
  const dataDir = temporaryDirectory(t)
  const first = await runJson<Made>(dataDir, 'key', 'create', 'erp')
  const end = await runCommand(['key', 'rotate', 'erp', '--overlap', '90m', '--data-dir', dataDir])
  assert.equal(end.code, 0, end.err)
  assert.match(end.out, /^cbk_[0-9A-Za-z]{36}\n$/)
  assert.notEqual(end.out.trim(), first.key)
  const [, endsAt = ''] =
    /^Key 1 \(erp\) has a new secret.*\nThe one before goes on until (\S+),/.exec(end.err) ?? []
  assert.equal(endsAt, '2026-03-24T13:30:00.000Z')

  const listed = await runJson<(ApiKeyRow & { former?: unknown })[]>(dataDir, 'key', 'list')
  assert.deepEqual(listed.length, 1)
  assert.deepEqual(listed[0]?.former, [{ ends_at: endsAt, last_used_at: null }])
  const { out } = await runCommand(['key', 'list', '--data-dir', dataDir])
  assert.ok(out.includes(`active; its former secret until ${endsAt}, last used never`), out)

  const again = await runJson<Made>(dataDir, 'key', 'rotate', '1')
  assert.deepEqual([again.id, again.name, again.expires_at], [1, 'erp', null])
  assert.equal(again.former_ends_at, '2026-03-25T12:00:00.000Z', 'the overlap is a day by default')
})

test('`key rotate --overlap 0` ends every former secret at once', async (t) => {
  const dataDir = temporaryDirectory(t)
  await runJson(dataDir, 'key', 'create', 'erp')
  await runJson(dataDir, 'key', 'rotate', 'erp', '--overlap', '7d')
  const { err } = await runCommand(['key', 'rotate', 'erp', '--overlap', '0', '--data-dir', dataDir])
  assert.match(err, /The one before is refused from now on\.\n/)
  const [row] = await runJson<{ former?: unknown }[]>(dataDir, 'key', 'list')
  assert.equal(row?.former, undefined)
})

test('`token rotate` does not change id, allowed methods, company and last day', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const create = ['token', 'create', 'britt', '--allow', 'documents:GET', '--company', String(COMPANY)]
  const last = addDays(today(), 30)
  const first = await runJson<{ token: string }>(dataDir, ...create, '--expires', last)
  const next = await runJson<{ token: string; expires_at: string }>(dataDir, 'token', 'rotate', 'britt')
  assert.match(next.token, /^cbt_/)
  assert.notEqual(next.token, first.token)
  assert.equal(next.expires_at, last)
  const [row] = await runJson<TokenRow[]>(dataDir, 'token', 'list')
  assert.deepEqual(
    [row?.id, row?.allow, row?.company_id, row?.expires_at],
    [1, ['documents:GET'], COMPANY, last],
  )
  const later = addDays(last, 30)
  const longer = await runJson<TokenRow>(dataDir, 'token', 'rotate', 'britt', '--expires', later)
  assert.equal(longer.expires_at, later)
})

test('`token rotate` of an expired token requires --expires, and the former secret is refused', async (t) => {
  const dataDir = temporaryDirectory(t)
  const db = temporaryDatabase(t, dataDir)
  const facts = { name: 'erp', allow: ['agent:POST'], companyId: null, expiresAt: '2026-01-31' }
  await insertToken(db, { ...facts, hash: 'h', createdAt: CREATED })
  const refused = await runCommand(['token', 'rotate', 'erp', '--data-dir', dataDir])
  assert.equal(refused.code, 1)
  assert.match(refused.err, /token 1 \(erp\) expired on 2026-01-31: give --expires DATE/)
  const { err, code } = await runCommand([
    'token',
    'rotate',
    'erp',
    '--expires',
    today(),
    '--data-dir',
    dataDir,
  ])
  assert.equal(code, 0)
  assert.match(err, /The one before is refused from now on\.\n/)
  assert.deepEqual(await db.selectFrom('former_secrets').selectAll().execute(), [])
})

test('`key rotate` ends the former secret on its last day, if that is before the overlap', async (t) => {
  const dataDir = temporaryDirectory(t)
  await runJson(dataDir, 'key', 'create', 'erp', '--expires', today())
  const longer = ['key', 'rotate', 'erp', '--overlap', '30d', '--expires', addDays(today(), 90)]
  const { former_ends_at } = await runJson<Made>(dataDir, ...longer)
  assert.equal(former_ends_at, `${addDays(today(), 1)}T06:00:00.000Z`)
})

test('`key revoke` and `token revoke` accept a name and end former secrets; repetition changes nothing', async (t) => {
  const dataDir = temporaryDirectory(t)
  for (const kind of ['key', 'token'] as const) {
    const allow = kind === 'token' ? ['--allow', 'agent:POST'] : []
    await runJson(dataDir, kind, 'create', 'hoja de cálculo', ...allow)
    await runJson(dataDir, kind, 'rotate', 'hoja de cálculo')
    const first = await runJson<ApiKeyRow>(dataDir, kind, 'revoke', 'hoja de cálculo')
    assert.ok(first.revoked_at)
    assert.deepEqual(await runJson(dataDir, kind, 'revoke', 'hoja de cálculo'), first)
    assert.deepEqual(await runJson(dataDir, kind, 'revoke', '1'), first)
    const [row] = await runJson<{ former?: unknown }[]>(dataDir, kind, 'list')
    assert.equal(row?.former, undefined)
    const late = await runCommand([kind, 'rotate', 'hoja de cálculo', '--data-dir', dataDir])
    assert.match(
      late.err,
      new RegExp(`${kind} 1 \\(hoja de cálculo\\) was revoked at .*: make a new one with cambista`),
    )
    // A new key may have the name, and the name then means the new key.
    await runJson(dataDir, kind, 'create', 'hoja de cálculo', ...allow)
    assert.equal((await runJson<ApiKeyRow>(dataDir, kind, 'revoke', 'hoja de cálculo')).id, 2)
  }
})

const wrongLines: [string, string[], number, RegExp][] = [
  ['an unknown name', ['key', 'rotate', 'erp'], 1, /there is no key named erp: see cambista key list/],
  ['an unknown id', ['token', 'revoke', '7'], 1, /there is no token 7: see cambista token list/],
  [
    'a name of digits',
    ['key', 'create', '2026'],
    2,
    /NAME must not be digits alone, which are an id: "2026"/,
  ],
  [
    'a time that is none',
    ['key', 'rotate', 'a', '--overlap', '1w'],
    2,
    /--overlap must be a number of seconds.*"1w"/,
  ],
  [
    'a time without a unit',
    ['key', 'rotate', 'a', '--overlap', '24'],
    2,
    /--overlap must be .* such as 90s, 30m/,
  ],
  ['a time too long', ['key', 'rotate', 'a', '--overlap', '367d'], 2, /--overlap must be .* at most 366d/],
]
for (const [title, words, code, expected] of wrongLines) {
  test(`${title} is refused`, async (t) => {
    const dataDir = temporaryDirectory(t)
    await runJson(dataDir, 'key', 'create', 'other')
    const end = await runCommand([...words, '--data-dir', dataDir])
    assert.deepEqual([end.code, end.out], [code, ''])
    assert.match(end.err, expected)
  })
}

test('a server refuses a key after its last day in Costa Rica, to the millisecond', async (t) => {
  const { app, clock, dataDir } = await startTestApp(t, { now: '2026-03-24T12:00:00Z' })
  const key = makeSecret('cbk_')
  const db = temporaryDatabase(t, dataDir)
  const facts = { name: 'a day', hash: hashOfSecret(key), createdAt: CREATED }
  await insertApiKey(db, { ...facts, expiresAt: '2026-03-24' })
  const status = async () =>
    (await fetch(`${app.url}/api/v1/providers`, { headers: { 'x-api-key': key } })).status
  await until(async () => (await status()) === 200)
  clock.now = new Date('2026-03-25T05:59:59.999Z')
  assert.equal(await status(), 200)
  clock.now = new Date('2026-03-25T06:00:00Z')
  assert.equal(await status(), 401)
})

test('a server accepts both secrets during the overlap, then the new one, and stores their last use', async (t) => {
  const start = '2026-03-24T12:00:00.000Z'
  const { app, clock, dataDir } = await startTestApp(t, { now: start })
  const db = temporaryDatabase(t, dataDir)
  const [former, current] = [makeSecret('cbt_'), makeSecret('cbt_')]
  const facts = {
    name: 'erp',
    allow: ['documents:GET'],
    companyId: null,
    expiresAt: null,
    createdAt: CREATED,
  }
  const id = await insertToken(db, { ...facts, hash: hashOfSecret(current) })
  const ends_at = '2026-03-25T12:00:00.000Z'
  await insertFormerSecret(db, { token_id: id, hash: hashOfSecret(former), ends_at, last_used_at: null })
  const status = async (token: string) =>
    (await fetch(`${app.url}/api/v1/documents`, { headers: { authorization: `Bearer ${token}` } })).status
  await until(async () => (await status(former)) === 200)
  assert.deepEqual([await status(former), await status(current)], [200, 200])
  clock.now = new Date('2026-03-25T11:59:59.999Z')
  assert.deepEqual([await status(former), await status(current)], [200, 200])
  clock.now = new Date(ends_at)
  assert.deepEqual([await status(former), await status(current)], [401, 200])

  await app.close() // stores the times of use
  const formerSecrets = await db.selectFrom('former_secrets').select('last_used_at').execute()
  assert.deepEqual(formerSecrets, [{ last_used_at: ends_at }])
  const [row] = await db.selectFrom('tokens').select('last_used_at').execute()
  assert.equal(row?.last_used_at, ends_at)
})

test('a running server accepts the secret of `key rotate`, and refuses both after `key revoke`', async (t) => {
  const { app, clock, dataDir } = await startTestApp(t)
  clock.now = new Date()
  const first = await runJson<Made>(dataDir, 'key', 'create', 'erp')
  const next = await runJson<Made>(dataDir, 'key', 'rotate', 'erp')
  const status = async ({ key }: Made) =>
    (await fetch(`${app.url}/api/v1/providers`, { headers: { 'x-api-key': key } })).status
  const waitForStatus = async (expected: number) => {
    await until(async () => (await status(next)) === expected)
    return [await status(first), await status(next)]
  }
  assert.deepEqual(await waitForStatus(200), [200, 200])
  await runJson(dataDir, 'key', 'revoke', 'erp')
  assert.deepEqual(await waitForStatus(401), [401, 401])
})
