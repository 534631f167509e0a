// Sessions of the page: sign-in and sign-out, permissions, and expiry.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashOfSecret } from '../../../src/domain/access/secrets.ts'
import type { Row, WriteDb } from '../../../src/store/tables.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { makeDirectory, runJson } from '../../support/company.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'
import { asOtherProcess, openApp } from '../support.ts'
import { ask, type Browser, makeToken, readDetail, signIn } from './support.ts'

const app = await openApp()
await app.sync()
await makeDirectory(app.dataDir)
const { url } = app.app
const { port } = new URL(url)
const { token } = await makeToken(app, 'scans', '--company', '7')
const NONE = { key: null, token: null, person: null, organization: null, remember: false, open: false }

test('a key signs in, and the session then reads rates as the key does', async () => {
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

test('a session with a key names indicators once one is enabled, and one with a token never', async () => {
  const [withKey, withToken] = [await signIn(url, app.key), await signIn(url, token)]
  const flag = async (browser: Browser) => JSON.parse((await browser.ask('/session')).body).indicators
  assert.equal(await flag(withKey), undefined)
  await runJson(app.dataDir, 'indicator', 'enable', 'tbp')
  assert.deepEqual([await flag(withKey), await flag(withToken)], [true, undefined])
  await runJson(app.dataDir, 'indicator', 'disable', 'tbp')
  assert.equal(await flag(withKey), undefined)
})

test('the cookie is for this port, hidden from scripts and from other sites', async () => {
  const { headers } = await ask(`${url}/session`, { json: { secret: app.key } })
  const [cookie = ''] = headers['set-cookie'] ?? []
  assert.match(cookie, new RegExp(`^cambista-${port}=[\\w-]{32}; Path=/; HttpOnly; SameSite=Strict$`))
  assert.equal(headers['cache-control'], 'no-store')
})

test('an open session accepts the second secret, and then reads rates and documents', async () => {
  const browser = await signIn(url, app.key)
  const before = JSON.parse((await browser.ask('/session')).body)
  assert.deepEqual(before, { ...NONE, key: { name: before.key.name } })
  assert.equal((await browser.ask('/api/v1/documents')).status, 401)
  const added = await browser.ask('/session', { json: { secret: token } })
  assert.deepEqual([added.status, JSON.parse(added.body)], [200, { page: browser.page }])
  assert.equal(added.headers['set-cookie'], undefined)
  assert.deepEqual(JSON.parse((await browser.ask('/session')).body), {
    ...before,
    token: { name: 'scans', allow: ['documents:GET', 'documents:POST'], company_id: 7, expires_at: null },
  })
  assert.equal((await browser.ask('/api/v1/documents')).status, 200)
  assert.equal((await browser.ask('/api/v1/rates')).status, 200)
})

test('a session of a token has the permissions of the token, for its company', async () => {
  const reader = await makeToken(app, 'reader', '--allow', 'documents:GET', '--company', '7')
  const browser = await signIn(url, reader.token)
  assert.equal((await browser.ask('/api/v1/documents?company_id=7')).status, 200)
  assert.equal((await browser.ask('/api/v1/documents?company_id=1')).status, 404)
  assert.equal((await browser.ask('/api/v1/documents/create', { json: {} })).status, 403)
  assert.equal((await browser.ask('/api/v1/rates')).status, 401)
})

test('an upload of a session belongs to its token', async () => {
  const browser = await signIn(url, token)
  const documents = [{ name: 'a.txt', mimetype: 'text/plain', base64: 'YQ==' }]
  const json = { owner_id: 31, company_id: 7, agent_id: 12, documents }
  const response = await browser.ask('/api/v1/documents/create', { json })
  assert.equal(response.status, 200, response.body)
  const [{ id }] = JSON.parse(response.body).created_documents
  const row = await browser.ask(`/api/v1/documents/${id}`)
  assert.equal(JSON.parse(row.body).created_by, 'scans')
  const content = await browser.ask(`/api/v1/documents/${id}/content`)
  assert.deepEqual([content.body, content.headers['cache-control']], ['a', 'no-store'])
})

test('without a session the state is empty, and a sign-out succeeds', async () => {
  assert.deepEqual(JSON.parse((await ask(`${url}/session`)).body), NONE)
  const browser = await signIn(url, app.key)
  const out = await browser.ask('/session', { method: 'DELETE' })
  assert.deepEqual([out.status, JSON.parse(out.body)], [200, NONE])
  assert.match(String(out.headers['set-cookie']), /^cambista-\d+=; .*Max-Age=0$/)
  assert.equal((await browser.ask('/api/v1/rates')).status, 401)
  assert.deepEqual(JSON.parse((await browser.ask('/session')).body), NONE)
})

test('the log has the names of the key and the token of a session, and no half of it', async () => {
  const [a, b] = [await signIn(url, app.key), await signIn(url, token)]
  await a.ask('/api/v1/rates')
  await b.ask('/api/v1/documents')
  const has = (words: string) => app.logLines.some((line) => line.includes(words))
  const rates = /"key":"test [^"]*","method":"GET","route":"\/api\/v1\/rates"/
  await until(() => rates.test(app.logLines.join('')))
  await until(() => has('"token":"scans","method":"GET","route":"/api/v1/documents"'))
  await until(() => has('"token":"scans","method":"POST","route":"/session"'))
  const text = app.logLines.join('')
  for (const secret of [a.page, b.page, a.cookie, b.cookie, token, app.key].map((one) =>
    one.split('=').at(-1),
  )) {
    assert.ok(secret && !text.includes(secret))
  }
})

test('a malformed sign-in is an error with the right form', async () => {
  for (const [json, words] of [
    [{}, /secret must be/],
    [{ secret: 3 }, /secret must be/],
    [{ secret: '' }, /secret must be/],
    [[], /secret must be/],
  ] as const) {
    const answer = await ask(`${url}/session`, { json })
    assert.equal(answer.status, 400)
    assert.match(readDetail(answer), words)
  }
  const broken = await ask(`${url}/session`, { body: '{', headers: { 'content-type': 'application/json' } })
  assert.equal(broken.status, 400)
  const long = await ask(`${url}/session`, { json: { secret: 'x'.repeat(5000) } })
  assert.equal(long.status, 413)
})

test('keys for URLs and keys of the bank do not sign in', async () => {
  const { key } = await runJson<{ key: string }>(app.dataDir, 'key', 'create', 'sheet', '--in-url')
  const answer = await ask(`${url}/session`, { json: { secret: key } })
  assert.equal(answer.status, 403)
  assert.match(readDetail(answer), /made for URLs/)
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
  assert.match(readDetail(late), /sign in again/)
})

test('session 10,001 ends the one that was unused longest', async (t) => {
  const own = await startTestApp(t)
  const { url } = own.app
  const later = (minutes: number) => {
    own.clock.now = new Date(own.clock.now.getTime() + minutes * 60_000)
  }
  const first = await signIn(url, own.key)
  later(10)
  const second = await signIn(url, own.key)
  later(10)
  await asOtherProcess(own, async (db) => {
    const [row] = await selectSessions(db)
    const at = own.clock.now.toISOString()
    const others = Array.from({ length: 9_998 }, (_, at) => ({ ...row, id: String(at).padStart(64, '0') }))
    for (let from = 0; from < others.length; from += 1000) {
      const rows = others.slice(from, from + 1000).map((one) => ({ ...one, opened_at: at, used_at: at }))
      await db
        .insertInto('page_sessions')
        .values(rows as SessionRow[])
        .execute()
    }
  })
  assert.equal((await first.ask('/api/v1/rates')).status, 200)
  const at = own.clock.now.toISOString()
  await until(async () => (await asOtherProcess(own, (db) => selectSessions(db, first)))[0]?.used_at === at)
  await signIn(url, own.key)
  assert.equal((await first.ask('/api/v1/rates')).status, 200)
  assert.equal((await second.ask('/api/v1/rates')).status, 401)
  assert.equal(await asOtherProcess(own, async (db) => (await selectSessions(db)).length), 10_000)
})

test('a sign-in ends expired sessions, and deletes those that ended 30 days before', async (t) => {
  const own = await startTestApp(t)
  const first = await signIn(own.app.url, own.key)
  advance(own, 12 * HOUR)
  const second = await signIn(own.app.url, own.key)
  const [row] = await asOtherProcess(own, (db) => selectSessions(db, first))
  assert.partialDeepStrictEqual(row, { end_reason: 'idle', key: null, token: null })
  advance(own, 30 * DAY)
  const third = await signIn(own.app.url, own.key)
  const ids = (await asOtherProcess(own, selectSessions)).map(({ id }) => id)
  assert.deepEqual(ids.sort(), [sessionId(second), sessionId(third)].sort())
})

test('sessions survive a restart, and closed ones stay closed', async (t) => {
  const dataDir = temporaryDirectory(t)
  const first = await startTestApp(t, { dataDir })
  await makeDirectory(dataDir)
  const { token } = await makeToken(first, 'scans')
  const { url } = first.app
  const [staying, leaving, revoked] = [
    await signIn(url, first.key),
    await signIn(url, first.key),
    await signIn(url, (await runJson<{ key: string }>(dataDir, 'key', 'create', 'brief')).key),
  ]
  await staying.ask('/session', { json: { secret: token } })
  await leaving.ask('/session', { method: 'DELETE' })
  const tickets = await Promise.all([exportTicket(staying), exportTicket(staying)])
  assert.equal((await ask(url + tickets[0])).status, 200)
  await first.app.close()
  await runJson(dataDir, 'key', 'revoke', 'brief')
  await startTestApp(t, { dataDir, clock: first.clock, listen: { port: Number(new URL(url).port) } })
  assert.equal((await staying.ask('/api/v1/rates')).status, 200)
  assert.equal((await staying.ask('/api/v1/documents')).status, 200)
  for (const browser of [leaving, revoked]) assert.equal((await browser.ask('/api/v1/rates')).status, 401)
  const statuses = await Promise.all(tickets.map(async (path) => (await ask(url + path)).status))
  assert.deepEqual(statuses, [404, 200])
})

test('no secret, half or ticket is stored', async () => {
  const browser = await signIn(url, app.key)
  await browser.ask('/session', { json: { secret: token } })
  const ticket = await exportTicket(browser)
  const rows = await asOtherProcess(app, async (db) =>
    JSON.stringify([await selectSessions(db), await db.selectFrom('page_tickets').selectAll().execute()]),
  )
  assert.ok(rows.includes(sessionId(browser)))
  for (const text of [browser.page, browser.cookie, app.key, token, ticket]) {
    const secret = text.split(/[=/]/).at(-1) ?? ''
    assert.ok(secret.length > 20 && !rows.includes(secret))
  }
})

test('the last use of a session is stored once in ten minutes', async (t) => {
  const own = await startTestApp(t)
  const browser = await signIn(own.app.url, own.key)
  const start = own.clock.now
  const lastUse = () => asOtherProcess(own, async (db) => (await selectSessions(db, browser))[0]?.used_at)
  own.clock.now = new Date(start.getTime() + 10 * 60_000 - 1)
  for (let at = 0; at < 3; at += 1) await browser.ask('/api/v1/rates')
  assert.equal(await lastUse(), start.toISOString())
  own.clock.now = new Date(start.getTime() + 10 * 60_000)
  await browser.ask('/api/v1/rates')
  await until(async () => (await lastUse()) === own.clock.now.toISOString())
})

test('a session does not wait for a write transaction', async (t) => {
  const own = await startTestApp(t)
  const browser = await signIn(own.app.url, own.key)
  own.clock.now = new Date(own.clock.now.getTime() + 11 * 3_600_000)
  await asOtherProcess(own, (db) =>
    db.transaction().execute(async (trx) => {
      await trx.updateTable('page_sessions').set({ page: 'another' }).execute()
      for (let at = 0; at < 3; at += 1) assert.equal((await browser.ask('/api/v1/rates')).status, 200)
      await trx
        .updateTable('page_sessions')
        .set({ page: hashOfSecret(browser.page) })
        .execute()
    }),
  )
  own.clock.now = new Date(own.clock.now.getTime() + 11 * 3_600_000)
  assert.equal((await browser.ask('/api/v1/rates')).status, 200)
})

test('each status of a session request is described', async () => {
  const { paths } = JSON.parse((await ask(`${url}/openapi.json`)).body)
  for (const [path, method, statuses] of [
    ['/session', 'post', '200 400 401 403 413 415 421 429'],
    ['/session', 'get', '200 403 421'],
    ['/session', 'delete', '200 401 403 421'],
    ['/session/code', 'post', '200 400 401 403 413 415 421 429'],
    ['/session/ticket', 'post', '200 400 401 403 404 410 413 415 421'],
    ['/t/{ticket}', 'get', '200 401 403 404 410 421'],
  ] as const) {
    const described = new Set(Object.keys(paths[path][method].responses))
    assert.deepEqual([...new Set(statuses.split(' ')).difference(described)], [], `${method} ${path}`)
  }
})

type SessionRow = Row<'page_sessions'>

const HOUR = 3_600_000
const DAY = 24 * HOUR

function advance({ clock }: TestApp, ms: number): void {
  clock.now = new Date(clock.now.getTime() + ms)
}

/** Rows of sessions, or the row of one browser. */
function selectSessions(db: WriteDb, browser?: Browser): Promise<SessionRow[]> {
  const all = db.selectFrom('page_sessions').selectAll()
  return (browser ? all.where('id', '=', sessionId(browser)) : all).execute()
}

const sessionId = ({ cookie }: Browser) => hashOfSecret(cookie.split('=')[1] ?? '')

async function exportTicket(browser: Browser): Promise<string> {
  const answer = await browser.ask('/session/ticket', { json: { export: 'csv' } })
  return JSON.parse(answer.body).url
}
