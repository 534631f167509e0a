// Lifetimes of sessions, with and without `remember`, and the reasons that a browser gets when its session has ended.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startTestApp, type TestApp, type TestAppOptions } from '../../support/app.ts'
import { runJson } from '../../support/company.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'
import { asOtherProcess } from '../support.ts'
import { type Answer, ask, type Browser, openBrowser, readDetail, signIn } from './support.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

async function startApp(t: TestContext, options: TestAppOptions = {}) {
  const own = await startTestApp(t, options)
  const { url } = own.app
  return {
    ...{ own, url },
    advance: (ms: number) => {
      own.clock.now = new Date(own.clock.now.getTime() + ms)
    },
    remember: async (secret = own.key) =>
      openBrowser(url, await ask(`${url}/session`, { json: { secret, remember: true } })),
  }
}

const state = async (browser: Browser) => JSON.parse((await browser.ask('/session')).body)
const isOpen = async (browser: Browser) => (await browser.ask('/api/v1/rates')).status === 200
/** Returns whether a session was used now, in the table. */
const isUsed = (own: TestApp) =>
  asOtherProcess(own, async (db) => {
    const uses = await db.selectFrom('page_sessions').select('used_at').execute()
    return uses.some(({ used_at }) => used_at === own.clock.now.toISOString())
  })
const setCookie = ({ headers }: Answer) => headers['set-cookie']?.[0]

/** State for a browser that has deleted the cookie at the end of its Max-Age. */
async function stateWithoutCookie(url: string, { page }: Browser) {
  return JSON.parse((await ask(`${url}/session`, { headers: { 'x-cambista-page': page } })).body)
}

test('a remembered session ends after 30 days without a request, and after 180 with them', async (t) => {
  const { own, advance, remember } = await startApp(t)
  const [busy, idle] = [await remember(), await remember()]
  advance(30 * DAY - 1)
  assert.equal(await isOpen(busy), true)
  await until(() => isUsed(own)) // its use is stored after the answer
  advance(1)
  assert.equal(await isOpen(idle), false)
  assert.deepEqual((await state(idle)).ended, { reason: 'idle', remember: true })
  await signIn(own.app.url, own.key) // ends expired sessions in the table
  assert.deepEqual((await state(idle)).ended, { reason: 'idle', remember: true })
  for (let days = 30; days < 180; days += 29) {
    assert.equal(await isOpen(busy), true, `${days} days`)
    advance(29 * DAY)
  }
  assert.equal(await isOpen(busy), false)
  assert.deepEqual((await state(busy)).ended, { reason: 'age', remember: true })
})

test('the cookie of a remembered session lasts for 30 days and is renewed once a day', async (t) => {
  const { own, url, advance } = await startApp(t)
  const answer = await ask(`${url}/session`, { json: { secret: own.key, remember: true } })
  const { port } = new URL(url)
  const pattern = new RegExp(
    `^cambista-${port}=[\\w-]{32}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000$`,
  )
  assert.match(setCookie(answer) ?? '', pattern)
  const browser = openBrowser(url, answer)
  assert.equal((await state(browser)).remember, true)
  advance(DAY - 1)
  assert.equal(setCookie(await browser.ask('/api/v1/rates')), undefined)
  advance(1)
  const renewed = await browser.ask('/api/v1/rates')
  assert.equal(setCookie(renewed), setCookie(answer))
  assert.match(String(renewed.headers['cache-control']), /private|no-store/)
  advance(10 * 60_000)
  await browser.ask('/api/v1/rates')
  assert.equal(setCookie(await browser.ask('/api/v1/rates')), undefined)
})

test('a session without `remember` lasts for 12 hours, and its cookie is never renewed', async (t) => {
  const { own, url, advance } = await startApp(t)
  const answer = await ask(`${url}/session`, { json: { secret: own.key, remember: false } })
  assert.doesNotMatch(setCookie(answer) ?? '', /Max-Age/)
  const browser = openBrowser(url, answer)
  assert.equal((await state(browser)).remember, false)
  for (let hours = 0; hours < 48; hours += 11) {
    assert.equal(setCookie(await browser.ask('/api/v1/rates')), undefined)
    advance(11 * HOUR)
  }
  advance(HOUR)
  assert.equal(await isOpen(browser), false)
  assert.deepEqual((await state(browser)).ended, { reason: 'idle', remember: false })
})

test('an open session is remembered from then on, or no longer', async (t) => {
  const { own, url, advance } = await startApp(t)
  const browser = await signIn(url, own.key)
  const sign = (remember: boolean) => browser.ask('/session', { json: { secret: own.key, remember } })
  assert.match(setCookie(await sign(true)) ?? '', new RegExp(`^${browser.cookie}; .*Max-Age=2592000$`))
  advance(20 * DAY)
  assert.equal(await isOpen(browser), true)
  assert.doesNotMatch(setCookie(await sign(false)) ?? 'Max-Age', /Max-Age/)
  advance(12 * HOUR)
  assert.equal(await isOpen(browser), false)
})

test('`remember` must be a boolean', async (t) => {
  const { own, url } = await startApp(t)
  for (const remember of ['yes', 1, null, {}]) {
    const answer = await ask(`${url}/session`, { json: { secret: own.key, remember } })
    assert.equal(answer.status, 400)
    assert.match(readDetail(answer), /^remember must be true or false/)
  }
})

test('the reason is for the half of the page alone, also after the cookie has expired', async (t) => {
  const { url, advance, remember } = await startApp(t)
  const browser = await remember()
  assert.equal(
    (await stateWithoutCookie(url, browser)).ended,
    undefined,
    'it is open: the cookie was deleted',
  )
  advance(29 * DAY + HOUR) // the browser renewed its cookie up to a day before the last use
  assert.deepEqual((await stateWithoutCookie(url, browser)).ended, { reason: 'idle', remember: true })
  for (const headers of [{}, { cookie: browser.cookie }, { 'x-cambista-page': 'x'.repeat(32) }] as const) {
    assert.equal(JSON.parse((await ask(`${url}/session`, { headers })).body).ended, undefined)
  }
})

test('`DELETE /session?others=true` ends the other sessions of the same key, and not this one', async (t) => {
  const { own, url } = await startApp(t)
  const { key } = await runJson<{ key: string }>(own.dataDir, 'key', 'create', 'other')
  const [here, there, stranger] = [
    await signIn(url, own.key),
    await signIn(url, own.key),
    await signIn(url, key),
  ]
  const answer = await here.ask('/session?others=true', { method: 'DELETE' })
  assert.equal(answer.status, 200)
  assert.notEqual(JSON.parse(answer.body).key, null)
  assert.deepEqual(await Promise.all([here, there, stranger].map(isOpen)), [true, false, true])
  assert.deepEqual((await state(there)).ended, { reason: 'closed', remember: false })
  assert.equal((await ask(`${url}/session?others=true`, { method: 'DELETE' })).status, 401)
  assert.equal((await there.ask('/session?others=true', { method: 'DELETE' })).status, 401)
  const half = { headers: { cookie: here.cookie }, method: 'DELETE' }
  assert.equal((await ask(`${url}/session?others=true`, half)).status, 401)
  const foreign = { ...half, headers: { ...here.halves(), origin: 'https://evil.example' } }
  assert.equal((await ask(`${url}/session?others=true`, foreign)).status, 403)
})

test('`DELETE /session?others=true` ends the sessions of the same person, whatever their key', async (t) => {
  const { own, url } = await startApp(t, { now: new Date().toISOString() })
  for (const name of ['one', 'two']) await runJson(own.dataDir, 'key', 'create', name)
  const enter = async (key: string, person: string) => {
    const link = await runJson<{ url: string }>(
      own.dataDir,
      'web',
      '--key',
      key,
      '--person',
      person,
      '--url',
      url,
    )
    const code = new URL(link.url).hash.slice('#login='.length)
    return openBrowser(url, await ask(`${url}/session`, { json: { code } }))
  }
  const browsers = [await enter('one', 'Ana'), await enter('two', 'Ana'), await enter('one', 'Berta')]
  await browsers[0]?.ask('/session?others=true', { method: 'DELETE' })
  assert.deepEqual(await Promise.all(browsers.map(isOpen)), [true, false, true])
})

test('a session without a valid secret has ended as `withdrawn`', async (t) => {
  const { own, url } = await startApp(t)
  for (const [name, ...end] of [
    ['revoked', 'key', 'revoke', 'revoked'],
    ['rotated', 'key', 'rotate', 'rotated', '--overlap', '0'],
  ] as const) {
    const { key } = await runJson<{ key: string }>(own.dataDir, 'key', 'create', name)
    const browser = await signIn(url, key)
    await runJson(own.dataDir, ...end)
    await until(async () => !(await isOpen(browser)))
    assert.deepEqual((await state(browser)).ended, { reason: 'withdrawn', remember: false })
  }
})

test('a rotated key ends its sessions after the overlap', async (t) => {
  const { own, advance, remember } = await startApp(t, { now: new Date().toISOString() })
  const { key } = await runJson<{ key: string }>(own.dataDir, 'key', 'create', 'slow')
  const browser = await remember(key)
  await runJson(own.dataDir, 'key', 'rotate', 'slow', '--overlap', '24h')
  assert.equal(await isOpen(browser), true)
  advance(25 * HOUR)
  await until(async () => !(await isOpen(browser)))
  assert.deepEqual((await state(browser)).ended, { reason: 'withdrawn', remember: true })
})

test('a session of two secrets stays open while one of them is valid', async (t) => {
  const { own, url } = await startApp(t)
  const { key } = await runJson<{ key: string }>(own.dataDir, 'key', 'create', 'brief')
  const browser = await signIn(url, key)
  const { token } = await runJson<{ token: string }>(
    ...([own.dataDir, 'token', 'create', 'scans', '--allow', 'documents:GET'] as const),
  )
  await browser.ask('/session', { json: { secret: token } })
  await runJson(own.dataDir, 'key', 'revoke', 'brief')
  await until(async () => (await state(browser)).key === null)
  const { token: facts, ended } = await state(browser)
  assert.deepEqual([facts.name, ended], ['scans', undefined])
})

test('remembered sessions survive a restart, and so does the reason of an end', async (t) => {
  const dataDir = temporaryDirectory(t)
  const first = await startTestApp(t, { dataDir })
  const { url } = first.app
  const sign = async () =>
    openBrowser(url, await ask(`${url}/session`, { json: { secret: first.key, remember: true } }))
  const [here, there] = [await sign(), await sign()]
  await here.ask('/session?others=true', { method: 'DELETE' })
  await first.app.close()
  const listen = { port: Number(new URL(url).port) }
  const second: TestApp = await startTestApp(t, { dataDir, clock: first.clock, listen })
  second.clock.now = new Date(second.clock.now.getTime() + 29 * DAY)
  assert.equal(await isOpen(here), true)
  assert.deepEqual((await state(there)).ended, { reason: 'closed', remember: true })
})

test('only a session gets the organization and the public URL', async (t) => {
  const organization = { name: 'Comercial Ejemplo, S. A.', taxId: '3-101-123456' }
  const own = await startTestApp(t, { listen: { organization, publicUrl: 'https://example.com/cambista/' } })
  const { url } = own.app
  const browser = await signIn(url, own.key)
  assert.equal((await state(browser)).public_url, 'https://example.com/cambista/')
  assert.deepEqual((await state(browser)).organization, {
    name: organization.name,
    tax_id: organization.taxId,
  })
  const answers = [await ask(`${url}/session`), await browser.ask('/session', { method: 'DELETE' })]
  for (const { body } of answers) assert.ok(!/Comercial|public_url/.test(body), body)
})
