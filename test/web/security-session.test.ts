// What a session in a browser opens, and until when: keys that are revoked under an open page, companies, links that someone
// else sends, tickets, and what is left behind in the browser.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeLoginLink } from '../../src/domain/login-links.ts'
import { findActiveTokenByName } from '../../src/store/tokens.ts'
import { EN } from '../../src/web/texts/en.ts'
import { EN_DOCUMENTS } from '../../src/web/texts/en-documents.ts'
import { EN_LINK } from '../../src/web/texts/en-link.ts'
import { asOtherProcess } from '../api/support.ts'
import { runJson } from '../support/company.ts'
import { until } from '../support/terminal.ts'
import {
  assertClean,
  enter,
  openBrowser,
  openPageApp,
  openScreen,
  post,
  says,
  signIn,
  textOf,
  type Visit,
  visit,
} from './support.ts'

const browser = await openBrowser()
const app = await openPageApp()
const BOTH = ['--allow', 'documents:GET', '--allow', 'documents:POST']
const PDF = { name: 'invoice.pdf', mimetype: 'application/pdf', content: '%PDF-1.7\n%%EOF\n' }
const makeToken = (name: string, ...words: string[]) =>
  runJson<{ token: string }>(app.dataDir, 'token', 'create', name, ...BOTH, ...words)
const namesIn = ({ page }: Visit) =>
  page.$$eval('.document h3', (found) => found.map((one) => one.textContent ?? ''))

/** The code of a link for a token. */
const codeFor = (name: string) =>
  asOtherProcess(app, async (db) => {
    const tokenId = (await findActiveTokenByName(db, name))?.id
    return (await makeLoginLink(db, { keyId: undefined, tokenId }, app.clock.read)).code
  })

test('a key that is revoked under an open page is said in words at the next look at it', async () => {
  const { key } = await runJson<{ key: string }>(app.dataDir, 'key', 'create', 'brief')
  const seen = await visit(browser, app)
  await enter(seen, key)
  await seen.page.waitForSelector('.side-value')
  await runJson(app.dataDir, 'key', 'revoke', 'brief')
  await seen.page.click('.day-picker button')
  await says(seen, '.door-card .refusal', new RegExp(EN.session.ended))
  assert.equal(await seen.page.$('.side-value'), null)
  assert.equal(await seen.page.evaluate(() => localStorage.getItem('cambista-page')), null)
})

test('a token that is revoked under an open list is said in words, and shows nothing that comes', async () => {
  const { token } = await makeToken('brief')
  const headers = { authorization: `Bearer ${token}` }
  await post(app, [{ name: 'before.txt', mimetype: 'text/plain', content: 'x' }])
  const seen = await visit(browser, app, { path: '/#documents' })
  await enter(seen, token)
  await until(async () => (await namesIn(seen)).length > 0)
  await runJson(app.dataDir, 'token', 'revoke', 'brief')
  await until(async () => (await fetch(`${app.app.url}/api/v1/documents`, { headers })).status === 401)
  await post(app, [{ name: 'after.txt', mimetype: 'text/plain', content: 'y' }])
  await says(seen, '.door-card .refusal', new RegExp(EN.session.ended))
  assert.deepEqual(await namesIn(seen), [])
  assert.doesNotMatch(await seen.page.content(), /after\.txt/)
})

test('a token of company 8 shows nothing of company 7, whatever link it is sent', async () => {
  await runJson(app.dataDir, 'company', 'create', '--name', 'Otra', '--code', 'OTRA', '--id', '8')
  const { token } = await makeToken('theirs', '--company', '8')
  const [id = 0] = await post(app, [PDF])
  const seen = await visit(browser, app, { path: '/#documents?company=7&agent=12' })
  await enter(seen, token)
  await says(seen, '.received .notice', new RegExp(EN.failures.notFound))
  assert.deepEqual(await namesIn(seen), [])
  assert.doesNotMatch(await textOf(seen, 'main'), /Café Britt|Facturas|Ana Mora|invoice/)
  const statuses = await seen.page.evaluate(async (id) => {
    const headers = { 'X-Cambista-Page': localStorage.getItem('cambista-page') ?? '' }
    const json = { ...headers, 'Content-Type': 'application/json' }
    const ticket = { method: 'POST', headers: json, body: JSON.stringify({ document_id: id }) }
    const answers = [
      await fetch(`/api/v1/documents/${id}`, { headers }),
      await fetch(`/api/v1/documents/${id}/content`, { headers }),
      await fetch('/api/v1/companies/7/agents', { headers }),
      await fetch('/session/ticket', ticket),
    ]
    return answers.map(({ status }) => status)
  }, id)
  assert.deepEqual(statuses, [404, 404, 404, 404])
})

test('a link that an attacker sends does nothing without a click, and its code is nowhere', async () => {
  await makeToken('attacker')
  const code = await codeFor('attacker')
  const seen = await visit(browser, app)
  const { page, cdp } = seen
  await signIn(seen, app)
  const half = await page.evaluate(() => localStorage.getItem('cambista-page'))
  const answered: string[] = []
  const referers: string[] = []
  page.on('response', (answer) => {
    const { pathname } = new URL(answer.url())
    if (answer.request().method() !== 'GET') answered.push(`${answer.request().method()} ${pathname}`)
    referers.push(answer.request().headers().referer ?? '')
  })
  // All but the first script is held back: the code is gone from the address before.
  const held: (() => void)[] = []
  await page.setRequestInterception(true)
  let isHolding = true
  page.on('request', (request) => {
    const isFirst = request.isNavigationRequest() || /\/page\/boot-/.test(request.url())
    if (isFirst || !isHolding) void request.continue()
    else held.push(() => void request.continue())
  })
  await page.goto('about:blank')
  const opened = page.goto(`${app.app.url}/#login=${code}`)
  await until(async () => held.length > 0 && (await page.evaluate(() => location.href)) === `${app.app.url}/`)
  isHolding = false
  for (const release of held) release()
  await opened
  await says(seen, '#one-time-link', new RegExp(EN_LINK.askTitle('attacker')))
  await says(seen, '.door-card .caution', /erp \+ facturas/)
  assert.deepEqual(answered, ['POST /session/code'])
  const { entries } = await cdp.send('Page.getNavigationHistory')
  const visited = entries.map(({ url }) => url)
  for (const [where, left] of Object.entries({ visited, referers, logged: app.logged }))
    assert.ok(!JSON.stringify(left).includes(code), where)
  assert.equal(await page.evaluate(() => localStorage.getItem('cambista-page')), half)
  await page.reload() // a user who turns away keeps the own session
  await page.waitForSelector('.side-value')
  await page.click('.menu summary')
  await says(seen, '.menu-inside', /erp.*facturas/)
  assert.deepEqual(answered, ['POST /session/code'])

  // The same link pasted into the open page asks as well; refused, nothing has changed.
  await page.evaluate((code) => {
    location.hash = `login=${code}`
  }, code)
  await says(seen, '#one-time-link', /attacker/)
  assert.equal(await page.evaluate(() => location.hash), '')
  await page.click('.door-card .buttons button:not(.main)')
  await page.waitForSelector('.side-value')
  assert.equal(await page.evaluate(() => localStorage.getItem('cambista-page')), half)
})

test('a link that the user wants signs in with a click, once', async () => {
  const code = await codeFor('facturas')
  const seen = await visit(browser, app, { path: `/#login=${code}` })
  await says(seen, '#one-time-link', /facturas/)
  await seen.page.click('.door-card .main')
  await seen.page.waitForSelector('.tabs')
  assertClean(seen)
  const again = await visit(browser, app, { path: `/#login=${code}` })
  await says(again, '#one-time-link', new RegExp(EN_LINK.codeGone))
})

test('the ticket of a PDF opens it once, within a minute', async () => {
  await post(app, [PDF])
  const seen = await visit(browser, app, { path: '/#documents' })
  await enter(seen, app.token)
  await seen.page.waitForSelector('.document')
  const tickets: string[] = []
  seen.page.on('response', async (answer) => {
    if (answer.url().endsWith('/session/ticket')) tickets.push(((await answer.json()) as { url: string }).url)
  })
  const openTab = async () => {
    const before = tickets.length
    await seen.page.click('.preview .notice .main')
    await until(() => tickets.length > before)
    return tickets.at(-1) ?? ''
  }
  const statusOf = async (path: string) => (await fetch(app.app.url + path, { method: 'HEAD' })).status // uses none up
  await seen.page.click('.document .button')
  await says(seen, '.preview .notice', new RegExp(EN_DOCUMENTS.documents.pdfText))
  const tab = new Promise<string>((resolve) => {
    browser.on('targetcreated', (target) => target.type() === 'page' && resolve(target.url()))
  })
  const used = await openTab()
  await tab
  await seen.page.bringToFront() // what is behind another tab is not painted, and takes no click
  await until(async () => (await statusOf(used)) === 404)
  // This one is kept from its tab.
  await seen.page.evaluate(() => {
    window.open = () => null
  })
  const late = await openTab()
  const began = app.clock.now
  app.clock.now = new Date(began.getTime() + 60_000)
  assert.equal(await statusOf(late), 404)
  app.clock.now = began
  assertClean(seen)
})

test('a browser keeps half a session and two choices, and none of the secrets', async () => {
  const seen = await visit(browser, app)
  const { page, cdp } = seen
  await signIn(seen, app)
  await openScreen(seen, 'status')
  const kept = await page.evaluate(async () => ({
    local: { ...localStorage },
    session: { ...sessionStorage },
    cookie: document.cookie,
    databases: await indexedDB.databases(),
    workers: (await navigator.serviceWorker.getRegistrations()).length,
    caches: await caches.keys(),
    name: window.name,
    state: history.state as unknown,
  }))
  const { 'cambista-page': half = '', ...choices } = kept.local
  assert.deepEqual(
    { ...kept, local: choices },
    {
      local: {},
      session: {},
      cookie: '',
      databases: [],
      workers: 0,
      caches: [],
      name: '',
      state: null,
    },
  )
  assert.match(half, /^[\w-]{32}$/)
  const { cookies } = await cdp.send('Network.getCookies')
  assert.equal(cookies.length, 1)
  const [cookie] = cookies
  assert.partialDeepStrictEqual(cookie, { httpOnly: true, sameSite: 'Strict', path: '/', session: true })
  assert.equal(cookie?.name, `cambista-${new URL(app.app.url).port}`)
  assert.match(String(cookie?.value), /^[\w-]{32}$/)
  assert.notEqual(cookie?.value, half)
  const left = JSON.stringify([kept, cookies, seen.requests, await page.content(), app.logged])
  for (const secret of [app.key, app.token]) assert.ok(!left.includes(secret.slice(4)))
  await page.click('.menu summary')
  await page.click('.menu-inside > .button')
  await page.waitForSelector('form.secret')
  assert.deepEqual(await page.evaluate(() => ({ ...localStorage })), {})
  assert.deepEqual((await cdp.send('Network.getCookies')).cookies, [])
  assertClean(seen)
})
