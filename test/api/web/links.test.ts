// One-time links: asked about first, used once, within five minutes, and never for what has been revoked.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeLoginLink } from '../../../src/domain/login-links.ts'
import { makeCode } from '../../../src/domain/secrets.ts'
import { findActiveApiKeyByName } from '../../../src/store/api-keys.ts'
import { selectEvents } from '../../../src/store/events.ts'
import { findActiveTokenByName } from '../../../src/store/tokens.ts'
import { makeDirectory, runJson } from '../../support/company.ts'
import { asOtherProcess, openApp } from '../support.ts'
import { ask, browserOf, detailIn, makeToken, signIn } from './support.ts'

const app = await openApp({ now: new Date().toISOString() })
const { url } = app.app
await makeDirectory(app.dataDir)
await runJson(app.dataDir, 'key', 'create', 'erp')
await makeToken(app, 'scans', '--company', '7')

/** A code, made by another process. */
async function codeFor({ key, token }: { key?: string; token?: string }): Promise<string> {
  return asOtherProcess(app, async (db) => {
    const keyId = key === undefined ? undefined : (await findActiveApiKeyByName(db, key))?.id
    const tokenId = token === undefined ? undefined : (await findActiveTokenByName(db, token))?.id
    return (await makeLoginLink(db, { keyId, tokenId }, app.clock.read)).code
  })
}

const use = (code: string, headers: Record<string, string> = {}) =>
  ask(`${url}/session`, { json: { code }, headers })
const show = (code: string) => ask(`${url}/session/code`, { json: { code } })

test('what a link opens is told without using it up', async () => {
  const code = await codeFor({ key: 'erp', token: 'scans' })
  for (let looks = 0; looks < 2; looks += 1) {
    assert.deepEqual(JSON.parse((await show(code)).body), {
      key: { name: 'erp' },
      token: { name: 'scans', allow: ['documents:GET', 'documents:POST'], company_id: 7, expires_at: null },
      company: { id: 7, name: 'Café Britt' },
    })
  }
  assert.equal((await use(code)).status, 200)
  assert.equal((await show(code)).status, 401)
})

test('a link signs in once, and that is an event', async () => {
  const code = await codeFor({ token: 'scans' })
  const browser = browserOf(url, await use(code))
  assert.equal((await browser.ask('/api/v1/documents')).status, 200)
  assert.equal((await browser.ask('/api/v1/rates')).status, 401)
  const again = await use(code)
  assert.equal(again.status, 401)
  assert.match(detailIn(again), /link was used, is older than five minutes/)
  const [event] = await asOtherProcess(app, (db) => selectEvents(db, { limit: 1 }))
  assert.partialDeepStrictEqual(event, { kind: 'login', via: 'token', actor: 'scans', document_id: null })
  assert.ok(!JSON.stringify(event).includes(code))
  assert.ok(!app.logged.join('').includes(code))
})

test('of many requests that use a link at once one signs in', async () => {
  const code = await codeFor({ key: 'erp' })
  const answers = await Promise.all(Array.from({ length: 8 }, () => use(code)))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
})

test('a link is good for five minutes', async () => {
  const [early, late] = [await codeFor({ key: 'erp' }), await codeFor({ key: 'erp' })]
  const began = app.clock.now
  app.clock.now = new Date(began.getTime() + 5 * 60_000 - 1)
  assert.equal((await use(early)).status, 200)
  app.clock.now = new Date(began.getTime() + 5 * 60_000)
  assert.equal((await show(late)).status, 401)
  assert.equal((await use(late)).status, 401)
})

test('a link for what was revoked since does not sign in, nor for the half of it that is left', async () => {
  await runJson(app.dataDir, 'key', 'create', 'brief')
  const [alone, both] = [await codeFor({ key: 'brief' }), await codeFor({ key: 'brief', token: 'scans' })]
  assert.equal((await show(alone)).status, 200)
  await runJson(app.dataDir, 'key', 'revoke', 'brief')
  for (const code of [alone, both]) {
    assert.equal((await show(code)).status, 401)
    const answer = await use(code)
    assert.equal(answer.status, 401)
    assert.match(detailIn(answer), /revoked or has expired/)
  }
})

test('a link replaces the session that is open, and does not add to it', async () => {
  const before = await signIn(url, app.key)
  const code = await codeFor({ token: 'scans' })
  const after = browserOf(url, await use(code, before.halves()))
  assert.notEqual(after.page, before.page)
  assert.notEqual(after.cookie, before.cookie)
  const { key, token } = JSON.parse((await after.ask('/session')).body)
  assert.deepEqual([key, token.name], [null, 'scans'])
  assert.deepEqual(JSON.parse((await before.ask('/session')).body), { key: null, token: null })
})

test('wrong codes are counted with wrong secrets, a right one is let in', async () => {
  const code = await codeFor({ key: 'erp' })
  app.clock.now = new Date(app.clock.now.getTime() + 61_000) // what was wrong before is forgotten
  for (let tried = 0; tried < 10; tried += 1) {
    const answer = await (tried % 2 ? use(makeCode()) : show(makeCode()))
    assert.equal(answer.status, 401)
  }
  assert.equal((await use(makeCode())).status, 429)
  assert.equal((await show(makeCode())).status, 429)
  assert.equal((await use(code)).status, 200)
})

test('another website neither asks about a link nor uses it', async () => {
  const code = await codeFor({ key: 'erp' })
  const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  assert.equal((await use(code, headers)).status, 403)
  assert.equal((await ask(`${url}/session/code`, { json: { code }, headers })).status, 403)
  assert.equal(
    (await ask(`${url}/session/code`, { json: { code }, headers: { host: 'evil.example' } })).status,
    421,
  )
  assert.equal((await use(code)).status, 200)
})

test('a code and a secret together are no sign-in', async () => {
  const code = await codeFor({ key: 'erp' })
  const answer = await ask(`${url}/session`, { json: { code, secret: app.key } })
  assert.equal(answer.status, 400)
  assert.match(detailIn(answer), /instead of it code/)
})
