// Attacks from outside on a page that is signed in: other websites, other names of this machine, proxies that lie, links
// that someone else sends, and what is left behind in the browser.

import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import { networksOf } from '../../src/http/listener/networks.ts'
import { EVIL, openProxy, openWebsite, RESOLVED } from './attacker.ts'
import {
  assertClean,
  openBrowser,
  openPageApp,
  type PageApp,
  post,
  says,
  signIn,
  type Visit,
  visit,
} from './support.ts'

// Chromium asks before a website reaches this machine; here the server has to do without that.
const browser = await openBrowser(
  RESOLVED,
  '--ignore-certificate-errors',
  '--disable-features=LocalNetworkAccessChecks',
)
const app = await openPageApp()
const open = await openPageApp({ listen: { corsOrigins: ['*'] } })
const website = await openWebsite()
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const PIXEL_DOCUMENT = { name: 'pixel.png', mimetype: 'image/png', content: Buffer.from(PIXEL, 'base64') }

/** What the page's session holds, asked in the page as the page does. */
const held = ({ page }: Visit) =>
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
  test(`a website ${what}, gets at nothing by fetch, form, image, script, frame or window`, async () => {
    const seen = await visit(browser, target)
    await signIn(seen, target)
    const [id = 0] = await post(target, [PIXEL_DOCUMENT])
    const before = await held(seen)
    const attack = await seen.page.browserContext().newPage()
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
    const got = await attack.evaluate(forge, target.app.url, id)
    assert.deepEqual(got, { read: [], image: 'refused', script: 'refused', window: 'cut off' })
    const [, frame] = attack.frames()
    assert.match(String(frame?.url()), /^chrome-error:/, 'no website shows the page in a frame')
    const isSent = host === '127.0.0.1'
    assert.equal(
      cookies.length > 0,
      isSent,
      'the same host with another port is sent the cookie, another host is not',
    )
    const taken = answers.filter((answer) => answer.startsWith('2') && answer !== '200 /')
    assert.deepEqual(taken, [], 'no forged request was taken')
    assert.ok(answers.length > 5, `the requests were made: ${answers}`)
    await attack.goto(`http://${host}:${website.port}/form`)
    await Promise.all([attack.waitForNavigation(), attack.evaluate(sendForm, target.app.url, target.token)])
    assert.match(await attack.evaluate(() => document.body.textContent ?? ''), /another|website|Origin/i)
    assert.deepEqual(await held(seen), before)
    await attack.close()
  })
}

/** Everything that a website can try; answers with what it got. */
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
  const loaded = (tag: 'img' | 'script', path: string) =>
    new Promise<string>((resolve) => {
      const element = document.createElement(tag)
      element.onload = () => resolve('loaded')
      element.onerror = () => resolve('refused')
      element.src = url + path
      document.body.append(element)
    })
  const image = await loaded('img', `/api/v1/documents/${id}/content`)
  const script = await loaded('script', '/api/v1/rates/latest')
  const frame = document.createElement('iframe')
  const framed = new Promise((resolve) => {
    frame.onload = resolve
  })
  frame.src = url
  document.body.append(frame)
  await framed
  const opened = window.open(url)
  await new Promise((resolve) => setTimeout(resolve, 500))
  return { read, image, script, window: opened?.closed ? 'cut off' : `within reach: ${opened}` }
}

/** A form whose text is JSON, which needs no leave of the server. */
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

test('a page of another name that is led to this machine is refused everything', async () => {
  const { port } = new URL(app.app.url)
  const there = `http://${EVIL}:${port}`
  const seen = await visit(browser, app)
  await signIn(seen, app)
  const rebound = await seen.page.browserContext().newPage()
  // What the attacker's server answered before its name was led here.
  await rebound.setRequestInterception(true)
  rebound.on('request', (request) =>
    new URL(request.url()).pathname === '/attack'
      ? void request.respond({ contentType: 'text/html', body: '<!doctype html>' })
      : void request.continue(),
  )
  await rebound.goto(`${there}/attack`)
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
  assert.equal((await rebound.goto(`${there}/`))?.status(), 421)
  assert.equal(await rebound.$('#app'), null)
})

test('behind a trusted proxy with TLS the whole page works, with a cookie for TLS alone', async () => {
  const trusting = await openPageApp({
    listen: { proxies: networksOf('127.0.0.1/32'), hostNames: ['rates.example'] },
  })
  const says = ({ headers: { host = '' } }: { headers: { host?: string } }) => ({
    'x-forwarded-for': '203.0.113.7',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': host,
  })
  const port = await openProxy(trusting.app.url, says, true)
  const seen = await visit(browser, trusting, { url: `https://rates.example:${port}` })
  await signIn(seen, trusting)
  assert.deepEqual(await cookiesOf(seen), [
    { name: '__Host-cambista', secure: true, httpOnly: true, sameSite: 'Strict', path: '/' },
  ])
  assert.deepEqual(await held(seen), { key: 'erp', token: 'facturas' })
  assertClean(seen)
})

test('behind a proxy that speaks plain HTTP, or is not trusted, the page says how to come in', async () => {
  const trusting = await openPageApp({ listen: { proxies: networksOf('127.0.0.1/32') } })
  const plain = await openProxy(trusting.app.url, () => ({
    'x-forwarded-for': '203.0.113.7',
    'x-forwarded-proto': 'http',
  }))
  await refusesToSignIn(trusting, `http://127.0.0.1:${plain}`)
  const untrusted = await openProxy(
    app.app.url,
    () => ({ 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https' }),
    true,
  )
  await refusesToSignIn(app, `https://127.0.0.1:${untrusted}`)
})

test('over plain HTTP from another address of the machine the page says how to come in', async () => {
  const everywhere = await openPageApp({ listen: { host: '0.0.0.0' } })
  const { port } = new URL(everywhere.app.url)
  const others = Object.values(networkInterfaces()).flatMap((one = []) =>
    one.filter(({ internal, family }) => !internal && family === 'IPv4'),
  )
  for (const { address } of others) await refusesToSignIn(everywhere, `http://${address}:${port}`)
})

async function refusesToSignIn(target: PageApp, url: string): Promise<void> {
  const seen = await visit(browser, target, { url })
  await seen.page.type('form.secret input', target.key)
  await seen.page.click('form.secret [type=submit]')
  await says(seen, 'form.secret .refusal', /HTTPS.*cambista cert create --host/)
  assert.deepEqual(await cookiesOf(seen), [])
  assert.equal(await seen.page.evaluate(() => localStorage.getItem('cambista-page')), null)
}

async function cookiesOf({ page }: Visit) {
  const cookies = await page.browserContext().cookies()
  return cookies.map(({ name, secure, httpOnly, sameSite, path }) => ({
    name,
    secure,
    httpOnly,
    sameSite,
    path,
  }))
}
