// Attacks on sessions: one half alone, other websites, other names of this machine, guessing, and revoked
// secrets.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseNetworks } from '../../../src/http/listener/networks.ts'
import { startTestApp } from '../../support/app.ts'
import { makeDirectory, runJson } from '../../support/company.ts'
import { until } from '../../support/terminal.ts'
import { exchange, openApp } from '../support.ts'
import { type Answer, ask, makeToken, readDetail, signIn } from './support.ts'

const app = await openApp({ listen: { hostNames: ['box', 'rates.example.com'], corsOrigins: ['*'] } })
await app.sync()
await makeDirectory(app.dataDir)
const { url } = app.app
const { host, port } = new URL(url)
const { token } = await makeToken(app, 'scans')
const browser = await signIn(url, app.key)
await browser.ask('/session', { json: { secret: token } })

/** A path of each kind that a session opens. */
const OPENED = ['/api/v1/rates/latest', '/api/v1/health', '/api/v1/documents']
const statuses = (answers: Answer[]) => answers.map(({ status }) => status)
const everywhere = (headers: Record<string, string>) =>
  Promise.all(OPENED.map((path) => ask(url + path, { headers })))

test('either half of a session alone opens nothing', async () => {
  const { cookie, 'x-cambista-page': page = '' } = browser.halves()
  assert.deepEqual(statuses(await everywhere(browser.halves())), [200, 200, 200])
  const wrong: Record<string, string>[] = [
    { cookie: String(cookie) },
    { 'x-cambista-page': page },
    { cookie: String(cookie), 'x-cambista-page': '' },
    { cookie: String(cookie), 'x-cambista-page': `${page}x` },
    { cookie: `cambista-${port}=${page}`, 'x-cambista-page': page },
    { cookie: String(cookie), 'x-cambista-page': String(cookie).split('=')[1] ?? '' },
    { cookie: String(cookie).replace(port, '1'), 'x-cambista-page': page },
  ]
  for (const headers of wrong) {
    assert.deepEqual(statuses(await everywhere(headers)), [401, 401, 401], JSON.stringify(headers))
    const state = await ask(`${url}/session`, { headers })
    assert.partialDeepStrictEqual(JSON.parse(state.body), {
      key: null,
      token: null,
      person: null,
      organization: null,
    })
    const ticket = await ask(`${url}/session/ticket`, { json: { document_id: 1 }, headers })
    assert.equal(ticket.status, 401)
  }
})

test('halves of two sessions open nothing', async () => {
  const other = await signIn(url, app.key)
  const mixed = { cookie: browser.cookie, 'x-cambista-page': other.page }
  assert.deepEqual(statuses(await everywhere(mixed)), [401, 401, 401])
})

test('a cookie that another program of the host adds does not end the session', async () => {
  const cookie = `cambista-${port}=planted; ${browser.cookie}; cambista-${port}=more`
  assert.deepEqual(statuses(await everywhere({ ...browser.halves(), cookie })), [200, 200, 200])
})

test('a request with a key or token in a header is answered by that, whatever its session', async () => {
  const withKey = { ...browser.halves(), 'x-api-key': 'cbk_wrong' }
  assert.equal((await ask(`${url}/api/v1/rates`, { headers: withKey })).status, 401)
  const withToken = { ...browser.halves(), authorization: 'Bearer cbt_wrong' }
  assert.equal((await ask(`${url}/api/v1/documents`, { headers: withToken })).status, 401)
  const foreign = { 'x-api-key': app.key, host: 'evil.example', origin: 'https://evil.example' }
  assert.equal((await ask(`${url}/api/v1/rates`, { headers: foreign })).status, 200)
})

const origins: [what: string, headers: Record<string, string>, status: number][] = [
  ['its own', { origin: url }, 200],
  ['its own, said twice', { origin: url, 'sec-fetch-site': 'same-origin' }, 200],
  ['none', {}, 200],
  ['none, typed by the user', { 'sec-fetch-site': 'none' }, 200],
  ['another site', { origin: 'https://evil.example' }, 403],
  ['another port', { origin: 'http://127.0.0.1:1' }, 403],
  ['another name of the host', { origin: `http://localhost:${port}` }, 403],
  ['a longer name', { origin: `${url}.evil.example` }, 403],
  ['what is no origin', { origin: `${url}/` }, 403],
  ['null', { origin: 'null' }, 403],
  ['none, of another site', { 'sec-fetch-site': 'cross-site' }, 403],
  ['none, of another port', { 'sec-fetch-site': 'same-site' }, 403],
  ['its own, of another port', { origin: url, 'sec-fetch-site': 'same-site' }, 403],
]
for (const [what, headers, status] of origins) {
  test(`a request of the origin ${what} is a ${status}`, async () => {
    const session = await signIn(url, app.key)
    const answers = [
      await ask(`${url}/session`, { json: { secret: app.key }, headers }),
      await session.ask('/session', { headers }),
      await session.ask('/api/v1/rates/latest', { headers }),
      await session.ask('/session', { method: 'DELETE', headers }),
    ]
    assert.deepEqual(
      statuses(answers),
      answers.map(() => status),
    )
  })
}

test('a form, a text and an empty type are rejected as sign-in', async () => {
  const body = JSON.stringify({ secret: app.key })
  for (const type of [
    'application/x-www-form-urlencoded',
    'text/plain',
    'multipart/form-data; boundary=x',
    '',
  ]) {
    const headers = type === '' ? {} : { 'content-type': type }
    const answer = await ask(`${url}/session`, { body, headers })
    assert.deepEqual([answer.status, answer.headers.accept], [415, 'application/json'], type)
    const ticket = await browser.ask('/session/ticket', { body: '{"document_id":1}', headers })
    assert.equal(ticket.status, 415)
  }
})

const hosts: [host: string, status: number][] = [
  [host, 200],
  [`localhost:${port}`, 200],
  [`LOCALHOST:${port}`, 200],
  ['[::1]:8080', 200],
  ['192.168.1.5', 200],
  [`box:${port}`, 200],
  ['Rates.Example.com', 200],
  ['evil.example', 421],
  [`rates.example.com.evil.example:${port}`, 421],
  ['localhost.evil.example', 421],
  ['localhost.', 421],
  ['a.localhost', 421],
  ['127.0.0.1.nip.io', 421],
  ['localhost:99999', 421],
  ['localhost@evil.example', 421],
]
for (const [name, status] of hosts) {
  test(`a browser with the host ${JSON.stringify(name)} gets ${status}`, async () => {
    const headers = { host: name }
    const session = await signIn(url, app.key)
    const cookie = session.cookie.replace(port, /:(\d+)$/.exec(name)?.[1] ?? '80')
    const answers = [
      await ask(`${url}/session`, { json: { secret: app.key }, headers }),
      await ask(`${url}/session`, { headers }),
      await session.ask('/api/v1/rates/latest', { headers: { ...headers, cookie: cookie } }),
      await ask(`${url}/t/x`, { headers }),
    ]
    assert.deepEqual(statuses(answers), status === 200 ? [200, 200, 200, 404] : [421, 421, 421, 421])
    for (const { headers } of answers) assert.equal(headers['access-control-allow-origin'], undefined)
  })
}

test('a request without a host, with an empty one or with two is a 421', async () => {
  for (const fields of [
    '',
    'Host:\r\n',
    `Host: ${host}\r\nHost: evil.example\r\n`,
    `Host: evil.example\r\nHost: ${host}\r\n`,
  ]) {
    const answer = await exchange(url, `GET /session HTTP/1.1\r\n${fields}Connection: close\r\n\r\n`)
    assert.equal(answer.status, 421, JSON.stringify(fields))
  }
})

test('a website that is allowed to use keys cannot use a session', async () => {
  const origin = 'https://erp.example.com'
  const preflight = (path: string) =>
    ask(url + path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'x-cambista-page',
      },
    })
  const response = await preflight('/api/v1/rates')
  assert.equal(response.status, 204)
  assert.doesNotMatch(String(response.headers['access-control-allow-headers']), /x-cambista-page/i)
  const corsHeaders = ({ headers }: Answer) =>
    Object.keys(headers).filter((name) => name.startsWith('access-control'))
  for (const answer of [
    await preflight('/session'),
    await preflight('/session/ticket'),
    await ask(`${url}/session`, { headers: { origin } }),
    await ask(`${url}/session`, { json: { secret: app.key } }),
    await ask(`${url}/session`, { json: { secret: 'x' } }),
    await browser.ask('/session'),
    await browser.ask('/api/v1/rates/latest'),
    await browser.ask('/api/v1/rates/latest', { headers: { origin } }),
    await browser.ask('/api/v1/documents'),
    await ask(`${url}/t/x`),
  ]) {
    assert.deepEqual(corsHeaders(answer), [])
  }
})

test('no answer to a session may be cached by a shared cache', async () => {
  for (const path of [...OPENED, '/api/v1/rates', '/api/v1/scheduler', '/session', '/api/v1/nothing']) {
    const { headers } = await browser.ask(path)
    assert.match(String(headers['cache-control']), /^(no-store|private, no-cache)$/, path)
  }
})

test('after ten wrong secrets in a minute the next is a 429, and a valid one signs in', async (t) => {
  const own = await startTestApp(t)
  const { url } = own.app
  const tries = async (secret: string) => (await ask(`${url}/session`, { json: { secret } })).status
  for (let attempt = 1; attempt <= 10; attempt += 1)
    assert.equal(await tries(`cb${attempt % 2 ? 'k' : 't'}_wrong`), 401)
  assert.equal(await tries('cbk_wrong'), 429)
  assert.equal(await tries('cbt_wrong'), 429)
  assert.equal(await tries(own.key), 200)
  assert.equal(await tries('neither of them'), 429)
  own.clock.now = new Date(own.clock.now.getTime() + 60_000)
  assert.equal(await tries('cbk_wrong'), 401)
})

test('a key that is revoked during a session opens nothing any more', async () => {
  const created = await runJson<{ key: string }>(app.dataDir, 'key', 'create', 'brief')
  const session = await signIn(url, created.key)
  assert.equal((await session.ask('/api/v1/rates')).status, 200)
  await runJson(app.dataDir, 'key', 'revoke', 'brief')
  await until(async () => (await session.ask('/api/v1/rates')).status === 401)
  const state = JSON.parse((await session.ask('/session')).body)
  assert.partialDeepStrictEqual(state, {
    key: null,
    token: null,
    ended: { reason: 'withdrawn', remember: false },
  })
  assert.equal((await ask(`${url}/session`, { json: { secret: created.key } })).status, 401)
})

test('a session ends when the secret that opened it is replaced', async () => {
  const created = await makeToken(app, 'stolen')
  const session = await signIn(url, created.token)
  assert.equal((await session.ask('/api/v1/documents')).status, 200)
  await runJson(app.dataDir, 'token', 'rotate', 'stolen', '--overlap', '0')
  await until(async () => (await session.ask('/api/v1/documents')).status === 401)
})

test('a session of company 7 reads nothing of company 8', async () => {
  await runJson(app.dataDir, 'company', 'create', '--name', 'Otra', '--code', 'OTRA', '--id', '8')
  const ours = await makeToken(app, 'ours', '--company', '7')
  const theirs = await makeToken(app, 'theirs', '--company', '8')
  const documents = [{ name: 'a.pdf', mimetype: 'application/pdf', base64: btoa('%PDF-1.7') }]
  const json = { owner_id: 31, company_id: 7, agent_id: 12, documents }
  const [us, them] = [await signIn(url, ours.token), await signIn(url, theirs.token)]
  const upload = await us.ask('/api/v1/documents/create', { json })
  const [{ id }] = JSON.parse(upload.body).created_documents
  assert.equal((await us.ask(`/api/v1/documents/${id}`)).status, 200)
  assert.equal((await them.ask(`/api/v1/documents/${id}`)).status, 404)
  assert.equal((await them.ask(`/api/v1/documents/${id}/content`)).status, 404)
  assert.equal((await them.ask('/api/v1/documents?company_id=7')).status, 404)
  assert.equal((await them.ask('/session/ticket', { json: { document_id: id } })).status, 404)
  assert.equal((await them.ask('/api/v1/documents/create', { json })).status, 404)
})

test('plain HTTP from another machine is a 403 that names the remedy', async (t) => {
  const trusting = await startTestApp(t, { listen: { proxies: parseNetworks('127.0.0.2/32') } })
  const refused = async (base: string, options: Parameters<typeof ask>[1], secret = app.key) => {
    const answer = await ask(`${base}/session`, { json: { secret }, ...options })
    assert.equal(answer.status, 403, JSON.stringify(options))
    assert.match(readDetail(answer), /cambista cert create --host NAME.*--trust-proxy/)
  }
  // Forwarding headers of untrusted proxies; one claims that the client used TLS.
  for (const name of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip', 'x-forwarded-host']) {
    await refused(url, { headers: { [name]: '127.0.0.1' } })
    await refused(url, { headers: { [name]: 'localhost', 'x-forwarded-proto': 'https' } })
  }
  // A trusted proxy whose client uses plain HTTP, or an unknown scheme.
  const { url: behind } = trusting.app
  await refused(behind, { from: '127.0.0.2', headers: { 'x-forwarded-proto': 'http' } }, trusting.key)
  await refused(behind, { from: '127.0.0.2', headers: { 'x-forwarded-for': '127.0.0.1' } }, trusting.key)
  // A session opened on this machine is not valid from there.
  const there = await browser.ask('/api/v1/rates', { headers: { 'x-forwarded-for': '203.0.113.7' } })
  assert.equal(there.status, 403)
})

test('scheme and host count from a trusted proxy with TLS, and from no other', async (t) => {
  const own = await startTestApp(t, {
    listen: { proxies: parseNetworks('127.0.0.2/32'), hostNames: ['rates.example.com'] },
  })
  const { url } = own.app
  const tls = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.7' }
  const forwarded = { ...tls, 'x-forwarded-host': 'rates.example.com' }
  const from = '127.0.0.2'
  const json = { secret: own.key }
  const signInResponse = await ask(`${url}/session`, {
    from,
    json,
    headers: { ...forwarded, origin: 'https://rates.example.com' },
  })
  assert.equal(signInResponse.status, 200, signInResponse.body)
  assert.match(
    String(signInResponse.headers['set-cookie']),
    /^__Host-cambista=[\w-]{32}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
  )
  const halves = {
    cookie: String(signInResponse.headers['set-cookie']),
    'x-cambista-page': JSON.parse(signInResponse.body).page,
  }
  const rates = (options: Parameters<typeof ask>[1]) => ask(`${url}/api/v1/rates`, options)
  assert.equal((await rates({ from, headers: { ...forwarded, ...halves } })).status, 200)
  for (const [headers, status] of [
    [{ ...forwarded, origin: 'http://rates.example.com' }, 403],
    [{ ...forwarded, origin: url }, 403],
    [{ ...forwarded, 'x-forwarded-host': 'evil.example' }, 421],
    [{ ...forwarded, 'x-forwarded-host': 'localhost, rates.example.com' }, 421],
  ] as const) {
    const answer = await ask(`${url}/session`, { from, json, headers })
    assert.equal(answer.status, status, JSON.stringify(headers))
  }
  // The same headers of an untrusted peer are ignored. Its host is the requested one, which is not this
  // machine.
  const forged = await ask(`${url}/session`, { json, headers: { ...forwarded, host: 'evil.example' } })
  assert.equal(forged.status, 421)
  assert.equal((await ask(`${url}/session`, { json, headers: forwarded })).status, 403)
})
