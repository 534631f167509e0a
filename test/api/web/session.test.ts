// Sessions of the page: signing in and out, what a session opens, and how it ends.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApp } from '../../support/app.ts'
import { makeDirectory, runJson } from '../../support/company.ts'
import { until } from '../../support/terminal.ts'
import { openApp } from '../support.ts'
import { ask, detailIn, makeToken, signIn } from './support.ts'

const app = await openApp()
await app.sync()
await makeDirectory(app.dataDir)
const { url } = app.app
const { port } = new URL(url)
const { token } = await makeToken(app, 'scans', '--company', '7')
const NONE = { key: null, token: null }

test('signs in with a key, and the session then reads rates as the key does', async () => {
  const browser = await signIn(url, app.key)
  assert.match(browser.page, /^[\w-]{32}$/)
  const withKey = await ask(`${url}/api/v1/rates/latest`, { headers: { 'x-api-key': app.key } })
  const inSession = await browser.ask('/api/v1/rates/latest')
  assert.deepEqual([inSession.status, inSession.body], [200, withKey.body])
  assert.equal(inSession.headers.etag, withKey.headers.etag)
  const again = await browser.ask('/api/v1/rates/latest', {
    headers: { 'if-none-match': String(inSession.headers.etag) },
  })
  assert.equal(again.status, 304)
})

test('the cookie is for this port, for no script and for no other site', async () => {
  const { headers } = await ask(`${url}/session`, { json: { secret: app.key } })
  const [cookie = ''] = headers['set-cookie'] ?? []
  assert.match(cookie, new RegExp(`^cambista-${port}=[\\w-]{32}; Path=/; HttpOnly; SameSite=Strict$`))
  assert.equal(headers['cache-control'], 'no-store')
})

test('an open session takes the second secret, and then reads rates and documents', async () => {
  const browser = await signIn(url, app.key)
  const before = JSON.parse((await browser.ask('/session')).body)
  assert.deepEqual(before, { key: { name: before.key.name }, token: null })
  assert.equal((await browser.ask('/api/v1/documents')).status, 401)
  const added = await browser.ask('/session', { json: { secret: token } })
  assert.deepEqual([added.status, JSON.parse(added.body)], [200, { page: browser.page }])
  assert.equal(added.headers['set-cookie'], undefined)
  assert.deepEqual(JSON.parse((await browser.ask('/session')).body), {
    key: before.key,
    token: { name: 'scans', allow: ['documents:GET', 'documents:POST'], company_id: 7, expires_at: null },
  })
  assert.equal((await browser.ask('/api/v1/documents')).status, 200)
  assert.equal((await browser.ask('/api/v1/rates')).status, 200)
})

test('a session of a token does what the token allows, for its company', async () => {
  const reader = await makeToken(app, 'reader', '--allow', 'documents:GET', '--company', '7')
  const browser = await signIn(url, reader.token)
  assert.equal((await browser.ask('/api/v1/documents?company_id=7')).status, 200)
  assert.equal((await browser.ask('/api/v1/documents?company_id=1')).status, 404)
  assert.equal((await browser.ask('/api/v1/documents/create', { json: {} })).status, 403)
  assert.equal((await browser.ask('/api/v1/rates')).status, 401)
})

test('an upload of a session is one of its token', async () => {
  const browser = await signIn(url, token)
  const documents = [{ name: 'a.txt', mimetype: 'text/plain', base64: 'YQ==' }]
  const json = { owner_id: 31, company_id: 7, agent_id: 12, documents }
  const made = await browser.ask('/api/v1/documents/create', { json })
  assert.equal(made.status, 200, made.body)
  const [{ id }] = JSON.parse(made.body).created_documents
  const row = await browser.ask(`/api/v1/documents/${id}`)
  assert.equal(JSON.parse(row.body).created_by, 'scans')
  const content = await browser.ask(`/api/v1/documents/${id}/content`)
  assert.deepEqual([content.body, content.headers['cache-control']], ['a', 'no-store'])
})

test('tells nothing where there is no session, and signs out', async () => {
  assert.deepEqual(JSON.parse((await ask(`${url}/session`)).body), NONE)
  const browser = await signIn(url, app.key)
  const out = await browser.ask('/session', { method: 'DELETE' })
  assert.deepEqual([out.status, JSON.parse(out.body)], [200, NONE])
  assert.match(String(out.headers['set-cookie']), /^cambista-\d+=; .*Max-Age=0$/)
  assert.equal((await browser.ask('/api/v1/rates')).status, 401)
  assert.deepEqual(JSON.parse((await browser.ask('/session')).body), NONE)
})

test('the log names the key and the token of a session, and no half of it', async () => {
  const [a, b] = [await signIn(url, app.key), await signIn(url, token)]
  await a.ask('/api/v1/rates')
  await b.ask('/api/v1/documents')
  const has = (words: string) => app.logged.some((line) => line.includes(words))
  const rates = /"key":"test [^"]*","method":"GET","route":"\/api\/v1\/rates"/
  await until(() => rates.test(app.logged.join('')))
  await until(() => has('"token":"scans","method":"GET","route":"/api/v1/documents"'))
  await until(() => has('"token":"scans","method":"POST","route":"/session"'))
  const text = app.logged.join('')
  for (const secret of [a.page, b.page, a.cookie, b.cookie, token, app.key].map((one) =>
    one.split('=').at(-1),
  )) {
    assert.ok(secret && !text.includes(secret))
  }
})

test('a body that is no sign-in says what would be one', async () => {
  for (const [json, words] of [
    [{}, /secret must be/],
    [{ secret: 3 }, /secret must be/],
    [{ secret: '' }, /secret must be/],
    [[], /secret must be/],
  ] as const) {
    const answer = await ask(`${url}/session`, { json })
    assert.equal(answer.status, 400)
    assert.match(detailIn(answer), words)
  }
  const broken = await ask(`${url}/session`, { body: '{', headers: { 'content-type': 'application/json' } })
  assert.equal(broken.status, 400)
  const long = await ask(`${url}/session`, { json: { secret: 'x'.repeat(5000) } })
  assert.equal(long.status, 413)
})

test('keys that end in logs do not sign in', async () => {
  const { key } = await runJson<{ key: string }>(app.dataDir, 'key', 'create', 'sheet', '--in-url')
  const answer = await ask(`${url}/session`, { json: { secret: key } })
  assert.equal(answer.status, 403)
  assert.match(detailIn(answer), /made for URLs/)
})

test('a session ends after 12 hours without a request, and after 30 days with them', async (t) => {
  const own = await startTestApp(t)
  const { url } = own.app
  const HOUR = 3_600_000
  const [busy, idle] = [await signIn(url, own.key), await signIn(url, own.key)]
  const passed = (ms: number) => {
    own.clock.now = new Date(own.clock.now.getTime() + ms)
  }
  passed(12 * HOUR - 1)
  assert.equal((await busy.ask('/api/v1/rates')).status, 200)
  passed(1)
  assert.equal((await idle.ask('/api/v1/rates')).status, 401)
  assert.equal((await busy.ask('/api/v1/rates')).status, 200)
  for (let hours = 12; hours < 30 * 24; hours += 11) {
    assert.equal((await busy.ask('/api/v1/rates')).status, 200, `${hours} hours`)
    passed(11 * HOUR)
  }
  const late = await busy.ask('/api/v1/rates')
  assert.equal(late.status, 401)
  assert.match(detailIn(late), /sign in again/)
})

test('of more than 1,000 sessions the one goes that was not used for longest', async (t) => {
  const own = await startTestApp(t)
  const { url } = own.app
  const later = (minutes: number) => {
    own.clock.now = new Date(own.clock.now.getTime() + minutes * 60_000)
  }
  const first = await signIn(url, own.key)
  later(1)
  const second = await signIn(url, own.key)
  later(1)
  for (let made = 2; made < 1000; made += 1) await signIn(url, own.key)
  assert.equal((await first.ask('/api/v1/rates')).status, 200)
  await signIn(url, own.key)
  assert.equal((await first.ask('/api/v1/rates')).status, 200)
  assert.equal((await second.ask('/api/v1/rates')).status, 401)
})

test('each status that a session is answered with is described', async () => {
  const { paths } = JSON.parse((await ask(`${url}/openapi.json`)).body)
  for (const [path, method, statuses] of [
    ['/session', 'post', '200 400 401 403 413 415 421 429'],
    ['/session', 'get', '200 403 421'],
    ['/session', 'delete', '200 403 421'],
    ['/session/code', 'post', '200 400 401 403 413 415 421 429'],
    ['/session/ticket', 'post', '200 400 401 403 404 410 413 415 421'],
    ['/t/{ticket}', 'get', '200 401 403 404 410 421'],
  ] as const) {
    const described = new Set(Object.keys(paths[path][method].responses))
    assert.deepEqual([...new Set(statuses.split(' ')).difference(described)], [], `${method} ${path}`)
  }
})
