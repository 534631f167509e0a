// One-time links: shown first, used once, within five minutes, and never for revoked secrets.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeLoginLink } from '../../../src/domain/access/login-links.ts'
import { makeCode } from '../../../src/domain/access/secrets.ts'
import { findActiveApiKeyByName } from '../../../src/store/access/api-keys.ts'
import { findActiveTokenByName } from '../../../src/store/access/tokens.ts'
import { selectEvents } from '../../../src/store/documents/events.ts'
import { makeDirectory, runJson } from '../../support/company.ts'
import { asOtherProcess, openApp } from '../support.ts'
import { ask, makeToken, openBrowser, readDetail, signIn } from './support.ts'

const app = await openApp({ now: new Date().toISOString() })
const { url } = app.app
await makeDirectory(app.dataDir)
await runJson(app.dataDir, 'key', 'create', 'erp')
await makeToken(app, 'scans', '--company', '7')

/** Creates a code in another process. */
async function createCode({ key, token }: { key?: string; token?: string }): Promise<string> {
  return asOtherProcess(app, async (db) => {
    const keyId = key === undefined ? undefined : (await findActiveApiKeyByName(db, key))?.id
    const tokenId = token === undefined ? undefined : (await findActiveTokenByName(db, token))?.id
    return (await makeLoginLink(db, { keyId, tokenId }, app.clock.read)).code
  })
}

const use = (code: string, headers: Record<string, string> = {}) =>
  ask(`${url}/session`, { json: { code }, headers })
const show = (code: string) => ask(`${url}/session/code`, { json: { code } })

test('the session of a link is shown without using the link up', async () => {
  const code = await createCode({ key: 'erp', token: 'scans' })
  for (let reads = 0; reads < 2; reads += 1) {
    assert.deepEqual(JSON.parse((await show(code)).body), {
      key: { name: 'erp' },
      token: { name: 'scans', allow: ['documents:GET', 'documents:POST'], company_id: 7, expires_at: null },
      company: { id: 7, name: 'Café Britt' },
      person: null,
      remember: false,
      ends_at: new Date(app.clock.now.getTime() + 5 * 60_000).toISOString(),
    })
  }
  assert.equal((await use(code)).status, 200)
  assert.equal((await show(code)).status, 401)
})

test('a link signs in once, and writes an event', async () => {
  const code = await createCode({ token: 'scans' })
  const browser = openBrowser(url, await use(code))
  assert.equal((await browser.ask('/api/v1/documents')).status, 200)
  assert.equal((await browser.ask('/api/v1/rates')).status, 401)
  const again = await use(code)
  assert.equal(again.status, 401)
  assert.match(readDetail(again), /link was used, has expired/)
  const [event] = await asOtherProcess(app, (db) => selectEvents(db, { limit: 1 }))
  assert.partialDeepStrictEqual(event, { kind: 'login', via: 'token', actor: 'scans', document_id: null })
  assert.ok(!JSON.stringify(event).includes(code))
  assert.ok(!app.logLines.join('').includes(code))
})

test('a link signs in once among concurrent requests', async () => {
  const code = await createCode({ key: 'erp' })
  const answers = await Promise.all(Array.from({ length: 8 }, () => use(code)))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
})

test('a link is valid for five minutes', async () => {
  const [early, late] = [await createCode({ key: 'erp' }), await createCode({ key: 'erp' })]
  const began = app.clock.now
  app.clock.now = new Date(began.getTime() + 5 * 60_000 - 1)
  assert.equal((await use(early)).status, 200)
  app.clock.now = new Date(began.getTime() + 5 * 60_000)
  assert.equal((await show(late)).status, 401)
  assert.equal((await use(late)).status, 401)
})

test('a link for a revoked secret does not sign in, nor for its other half', async () => {
  await runJson(app.dataDir, 'key', 'create', 'brief')
  const [alone, both] = [
    await createCode({ key: 'brief' }),
    await createCode({ key: 'brief', token: 'scans' }),
  ]
  assert.equal((await show(alone)).status, 200)
  await runJson(app.dataDir, 'key', 'revoke', 'brief')
  for (const code of [alone, both]) {
    assert.equal((await show(code)).status, 401)
    const answer = await use(code)
    assert.equal(answer.status, 401)
    assert.match(readDetail(answer), /revoked or has expired/)
  }
})

test('a link replaces the open session, and does not extend it', async () => {
  const before = await signIn(url, app.key)
  const code = await createCode({ token: 'scans' })
  const after = openBrowser(url, await use(code, before.halves()))
  assert.notEqual(after.page, before.page)
  assert.notEqual(after.cookie, before.cookie)
  const { key, token } = JSON.parse((await after.ask('/session')).body)
  assert.deepEqual([key, token.name], [null, 'scans'])
  const { key: formerKey, ended } = JSON.parse((await before.ask('/session')).body)
  assert.deepEqual([formerKey, ended], [null, undefined])
})

test('wrong codes count with wrong secrets, and a right one signs in', async () => {
  const code = await createCode({ key: 'erp' })
  app.clock.now = new Date(app.clock.now.getTime() + 61_000) // earlier wrong secrets no longer count
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const answer = await (attempt % 2 ? use(makeCode()) : show(makeCode()))
    assert.equal(answer.status, 401)
  }
  assert.equal((await use(makeCode())).status, 429)
  assert.equal((await show(makeCode())).status, 429)
  assert.equal((await use(code)).status, 200)
})

test('another website neither shows a link nor uses it', async () => {
  const code = await createCode({ key: 'erp' })
  const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  assert.equal((await use(code, headers)).status, 403)
  assert.equal((await ask(`${url}/session/code`, { json: { code }, headers })).status, 403)
  assert.equal(
    (await ask(`${url}/session/code`, { json: { code }, headers: { host: 'evil.example' } })).status,
    421,
  )
  assert.equal((await use(code)).status, 200)
})

test('a code and a secret together are rejected', async () => {
  const code = await createCode({ key: 'erp' })
  const answer = await ask(`${url}/session`, { json: { code, secret: app.key } })
  assert.equal(answer.status, 400)
  assert.match(readDetail(answer), /instead of it code/)
})
