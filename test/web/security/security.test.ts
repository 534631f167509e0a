// Attacks on a page with a session: other websites, other names of this machine, and proxies with forged headers.

import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import { parseNetworks } from '../../../src/http/listener/networks.ts'
import {
  assertClean,
  createDocuments,
  openBrowser,
  openPageApp,
  openVisit,
  type PageApp,
  signIn,
  type Visit,
  waitForText,
} from '../support.ts'
import { DNS_FLAG, EVIL, openProxy, openWebsite } from './attacker.ts'

// Disables Chromium's check of requests from websites to this machine, to test the server alone.
const browser = await openBrowser(
  DNS_FLAG,
  '--ignore-certificate-errors',
  '--disable-features=LocalNetworkAccessChecks',
)
const app = await openPageApp()
const open = await openPageApp({ listen: { corsOrigins: ['*'] } })
const website = await openWebsite()
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const PIXEL_DOCUMENT = { name: 'pixel.png', mimetype: 'image/png', content: Buffer.from(PIXEL, 'base64') }

/** Names of key and token of the page's session, requested from within the page. */
const readSession = ({ page }: Visit) =>
  page.evaluate(async () => {
    const headers = { 'X-Cambista-Page': localStorage.getItem('cambista-page') ?? '' }
    const { key, token } = (await (await fetch('/session', { headers })).json()) as {
      key: { name: string } | null
      token: { name: string } | null
    }
    return { key: key?.name ?? null, token: token?.name ?? null }
  })

const websites = [
  ['of another port, which is sent the cookie', app, '127.0.0.1'],
  ['of another port, where any website may use a key', open, '127.0.0.1'],
  ['of another name', app, EVIL],
  ['of another name, where any website may use a key', open, EVIL],
] as const
for (const [what, target, host] of websites) {
  test(`a website ${what}, reads nothing by fetch, form, image, script, frame or window`, async () => {
    const visit = await openVisit(browser, target)
    await signIn(visit, target)
    const [id = 0] = await createDocuments(target, [PIXEL_DOCUMENT])
    const before = await readSession(visit)
    const attack = await visit.page.browserContext().newPage()
    const cdp = await attack.createCDPSession()
    await cdp.send('Network.enable')
    const answers: string[] = []
    const cookies: string[] = []
    attack.on('response', (answer) => {
      const { origin, pathname } = new URL(answer.url())
      const isForged = origin === target.app.url && answer.request().method() !== 'OPTIONS'
      if (isForged) answers.push(`${answer.status()} ${pathname}`)
    })
    cdp.on('Network.requestWillBeSentExtraInfo', ({ headers }) => {
      const { Host, Cookie } = headers as { Host?: string; Cookie?: string }
      if (Host === new URL(target.app.url).host && Cookie) cookies.push(Cookie)
    })
    await attack.goto(`http://${host}:${website.port}/attack`)
    const results = await attack.evaluate(forge, target.app.url, id)
    assert.deepEqual(results, { read: [], image: 'refused', script: 'refused', window: 'cut off' })
    const [, frame] = attack.frames()
    assert.match(String(frame?.url()), /^chrome-error:/, 'no website shows the page in a frame')
    const isSent = host === '127.0.0.1'
    assert.equal(
      cookies.length > 0,
      isSent,
      'the same host with another port is sent the cookie, another host is not',
    )
    const accepted = answers.filter((answer) => answer.startsWith('2') && answer !== '200 /')
    assert.deepEqual(accepted, [], 'no forged request was accepted')
    assert.ok(answers.length > 5, `the requests were made: ${answers}`)
    await attack.goto(`http://${host}:${website.port}/form`)
    await Promise.all([attack.waitForNavigation(), attack.evaluate(sendForm, target.app.url, target.token)])
    assert.match(await attack.evaluate(() => document.body.textContent ?? ''), /another|website|Origin/i)
    assert.deepEqual(await readSession(visit), before)
    await attack.close()
  })
}

/** Runs in a website: tries to read from the app. @returns what it could read */
async function forge(url: string, id: number) {
  const read: string[] = []
  const JSON_TYPE = { 'Content-Type': 'application/json' }
  const attempts: [path: string, init: RequestInit][] = [
    ['/api/v1/rates/latest', {}],
    [`/api/v1/documents/${id}/content`, {}],
    ['/api/v1/documents', { headers: { 'X-Cambista-Page': 'a'.repeat(32) } }],
    ['/session', {}],
    ['/session', { method: 'DELETE' }],
    ['/session', { method: 'POST', headers: JSON_TYPE, body: '{"secret":"cbt_x"}' }],
    ['/session/ticket', { method: 'POST', headers: JSON_TYPE, body: `{"document_id":${id}}` }],
  ]
  for (const [path, init] of attempts) {
    for (const credentials of ['include', 'omit'] as const) {
      await fetch(url + path, { ...init, credentials }).then(
        async (answer) => answer.ok && read.push(`${path}: ${await answer.text()}`),
        () => {}, // refused by the browser
      )
    }
    const { headers: _, ...simple } = init
    if (init.method !== 'DELETE')
      await fetch(url + path, { ...simple, mode: 'no-cors', credentials: 'include' }).catch(() => {})
  }
  const load = (tag: 'img' | 'script', path: string) =>
    new Promise<string>((resolve) => {
      const element = document.createElement(tag)
      element.onload = () => resolve('loaded')
      element.onerror = () => resolve('refused')
      element.src = url + path
      document.body.append(element)
    })
  const image = await load('img', `/api/v1/documents/${id}/content`)
  const script = await load('script', '/api/v1/rates/latest')
  const frame = document.createElement('iframe')
  const frameLoad = new Promise((resolve) => {
    frame.onload = resolve
  })
  frame.src = url
  document.body.append(frame)
  await frameLoad
  const popup = window.open(url)
  for (let tries = 0; tries < 200 && popup && !popup.closed; tries++)
    await new Promise((resolve) => setTimeout(resolve, 100)) // the page opens in the meantime
  return { read, image, script, window: popup?.closed ? 'cut off' : `within reach: ${popup}` }
}

/** Runs in a website: submits a form with JSON as text, which needs no CORS preflight. */
function sendForm(url: string, secret: string): void {
  const form = document.createElement('form')
  form.method = 'post'
  form.enctype = 'text/plain'
  form.action = `${url}/session`
  const field = document.createElement('input')
  field.name = `{"secret":"${secret}","x":"`
  field.value = '"}'
  form.append(field)
  document.body.append(form)
  form.submit()
}

test('a host name that DNS rebinding resolves to this machine gets 421', async () => {
  const { port } = new URL(app.app.url)
  const evilUrl = `http://${EVIL}:${port}`
  const visit = await openVisit(browser, app)
  await signIn(visit, app)
  const rebound = await visit.page.browserContext().newPage()
  // Response of the attacker's server before the rebinding.
  await rebound.setRequestInterception(true)
  rebound.on('request', (request) =>
    new URL(request.url()).pathname === '/attack'
      ? void request.respond({ contentType: 'text/html', body: '<!doctype html>' })
      : void request.continue(),
  )
  await rebound.goto(`${evilUrl}/attack`)
  const statuses = await rebound.evaluate(async (secret) => {
    const statuses: Record<string, number> = {}
    for (const path of ['/', '/session', '/api/v1/rates/latest', '/api/v1/documents']) {
      const headers = path.startsWith('/api') ? { 'X-Cambista-Page': 'a'.repeat(32) } : undefined
      statuses[path] = (await fetch(path, headers && { headers })).status
    }
    const headers = { 'Content-Type': 'application/json' }
    const signIn = { method: 'POST', headers, body: JSON.stringify({ secret }) }
    return { ...statuses, signIn: (await fetch('/session', signIn)).status }
  }, app.key)
  for (const [path, status] of Object.entries(statuses)) assert.equal(status, 421, path)
  assert.equal((await rebound.goto(`${evilUrl}/`))?.status(), 421)
  assert.equal(await rebound.$('#app'), null)
})

test('the page works behind a trusted proxy with TLS, with a cookie for TLS alone', async () => {
  const proxiedApp = await openPageApp({
    listen: { proxies: parseNetworks('127.0.0.1/32'), hostNames: ['rates.example'] },
  })
  const addHeaders = ({ headers: { host = '' } }: { headers: { host?: string } }) => ({
    'x-forwarded-for': '203.0.113.7',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': host,
  })
  const port = await openProxy(proxiedApp.app.url, addHeaders, true)
  const visit = await openVisit(browser, proxiedApp, { url: `https://rates.example:${port}` })
  await signIn(visit, proxiedApp)
  assert.deepEqual(await readCookies(visit), [
    { name: '__Host-cambista', secure: true, httpOnly: true, sameSite: 'Strict', path: '/' },
  ])
  assert.deepEqual(await readSession(visit), { key: 'erp', token: 'facturas' })
  assertClean(visit)
})

test('sign-in explains its refusal behind a proxy with plain HTTP and behind an untrusted one', async () => {
  const trusting = await openPageApp({ listen: { proxies: parseNetworks('127.0.0.1/32') } })
  const plain = await openProxy(trusting.app.url, () => ({
    'x-forwarded-for': '203.0.113.7',
    'x-forwarded-proto': 'http',
  }))
  await assertSignInRefused(trusting, `http://127.0.0.1:${plain}`)
  const untrusted = await openProxy(
    app.app.url,
    () => ({ 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https' }),
    true,
  )
  await assertSignInRefused(app, `https://127.0.0.1:${untrusted}`)
})

test('sign-in explains its refusal over plain HTTP on another address of the machine', async () => {
  const publicApp = await openPageApp({ listen: { host: '0.0.0.0' } })
  const { port } = new URL(publicApp.app.url)
  const others = Object.values(networkInterfaces()).flatMap((one = []) =>
    one.filter(({ internal, family }) => !internal && family === 'IPv4'),
  )
  for (const { address } of others) await assertSignInRefused(publicApp, `http://${address}:${port}`)
})

async function assertSignInRefused(target: PageApp, url: string): Promise<void> {
  const visit = await openVisit(browser, target, { url })
  const field = await visit.page.waitForSelector('form.secret [type=password]')
  await field?.type(target.key)
  await visit.page.click('form.secret [type=submit]')
  await waitForText(
    visit,
    'form.secret .refusal',
    /^This address does not protect your key: open the page with https:/,
  )
  await waitForText(visit, '.commands', /cambista cert create --host/)
  assert.deepEqual(await readCookies(visit), [])
  assert.equal(await visit.page.evaluate(() => localStorage.getItem('cambista-page')), null)
}

async function readCookies({ page }: Visit) {
  const cookies = await page.browserContext().cookies()
  return cookies.map(({ name, secure, httpOnly, sameSite, path }) => ({
    name,
    secure,
    httpOnly,
    sameSite,
    path,
  }))
}
