// Scope and end of a session in a browser: revoked secrets, companies, one-time links, tickets, and browser storage.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeLoginLink } from '../../../src/domain/access/login-links.ts'
import { findActiveTokenByName } from '../../../src/store/access/tokens.ts'
import { DOCUMENT } from '../../../src/web/i18n/document.ts'
import { DOORS } from '../../../src/web/i18n/doors.ts'
import { PAGE } from '../../../src/web/i18n/page.ts'
import { inLanguage } from '../../../src/web/i18n/table-texts.ts'
import { asOtherProcess } from '../../api/support.ts'
import { runJson } from '../../support/company.ts'
import { until } from '../../support/terminal.ts'
import {
  assertClean,
  createDocuments,
  elementText,
  enterSecret,
  openBrowser,
  openPageApp,
  openScreen,
  openVisit,
  signIn,
  type Visit,
  waitForText,
} from '../support.ts'

const browser = await openBrowser()
const app = await openPageApp()
const DOOR_WORDS = inLanguage(DOORS, 'en')
const READ_AND_WRITE = ['--allow', 'documents:GET', '--allow', 'documents:POST']
const PDF = { name: 'invoice.pdf', mimetype: 'application/pdf', content: '%PDF-1.7\n%%EOF\n' }
const makeToken = (name: string, ...words: string[]) =>
  runJson<{ token: string }>(app.dataDir, 'token', 'create', name, ...READ_AND_WRITE, ...words)
const readNames = ({ page }: Visit) =>
  page.$$eval('.document h3', (elements) => elements.map((one) => one.textContent ?? ''))

/** Creates a one-time link for a token. @returns its code */
const createCode = (name: string, person?: string) =>
  asOtherProcess(app, async (db) => {
    const tokenId = (await findActiveTokenByName(db, name))?.id
    return (await makeLoginLink(db, { keyId: undefined, tokenId, person }, app.clock.read)).code
  })

test('the page reports a revoked key at its next request', async () => {
  const { key } = await runJson<{ key: string }>(app.dataDir, 'key', 'create', 'brief')
  const visit = await openVisit(browser, app)
  await enterSecret(visit, key)
  await visit.page.waitForSelector('.side-value')
  await runJson(app.dataDir, 'key', 'revoke', 'brief')
  const headers = { 'x-api-key': key }
  await until(async () => (await fetch(`${app.app.url}/api/v1/series`, { headers })).status === 401)
  await visit.page.click('.day-picker button')
  await waitForText(visit, '.door-card .ended', new RegExp(DOOR_WORDS.ended.withdrawn))
  assert.equal(await visit.page.$('.side-value'), null)
  assert.equal(await visit.page.evaluate(() => localStorage.getItem('cambista-page')), null)
})

test('the list of documents reports a revoked token, and shows no later document', async () => {
  const { token } = await makeToken('brief')
  const headers = { authorization: `Bearer ${token}` }
  await createDocuments(app, [{ name: 'before.txt', mimetype: 'text/plain', content: 'x' }])
  const visit = await openVisit(browser, app, { path: '/#documents' })
  await enterSecret(visit, token)
  await until(async () => (await readNames(visit)).length > 0)
  await runJson(app.dataDir, 'token', 'revoke', 'brief')
  await until(async () => (await fetch(`${app.app.url}/api/v1/documents`, { headers })).status === 401)
  await createDocuments(app, [{ name: 'after.txt', mimetype: 'text/plain', content: 'y' }])
  await waitForText(visit, '.door-card .ended', new RegExp(DOOR_WORDS.ended.withdrawn))
  assert.deepEqual(await readNames(visit), [])
  assert.doesNotMatch(await visit.page.content(), /after\.txt/)
})

test('a token of company 8 shows nothing of company 7, even with a link to it', async () => {
  await runJson(app.dataDir, 'company', 'create', '--name', 'Otra', '--code', 'OTRA', '--id', '8')
  const { token } = await makeToken('theirs', '--company', '8')
  const [id = 0] = await createDocuments(app, [PDF])
  const visit = await openVisit(browser, app, { path: '/#documents?company=7&agent=12' })
  await enterSecret(visit, token)
  await waitForText(
    visit,
    '.received .notice',
    new RegExp(inLanguage(PAGE, 'en').failures.kinds['not-found']),
  )
  assert.deepEqual(await readNames(visit), [])
  assert.doesNotMatch(await elementText(visit, 'main'), /Café Britt|Facturas|Ana Mora|invoice/)
  const statuses = await visit.page.evaluate(async (id) => {
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

test('a one-time link signs in only after a click, and its code is neither stored nor logged', async () => {
  await makeToken('attacker')
  const code = await createCode('attacker')
  const visit = await openVisit(browser, app)
  const { page, cdp } = visit
  await signIn(visit, app)
  const half = await page.evaluate(() => localStorage.getItem('cambista-page'))
  const writes: string[] = []
  const referers: string[] = []
  page.on('response', (answer) => {
    const { pathname } = new URL(answer.url())
    if (answer.request().method() !== 'GET') writes.push(`${answer.request().method()} ${pathname}`)
    referers.push(answer.request().headers().referer ?? '')
  })
  // Delays all requests after the first script, which removes the code from the address.
  const pending: (() => void)[] = []
  await page.setRequestInterception(true)
  let isBlocking = true
  page.on('request', (request) => {
    const isFirst = request.isNavigationRequest() || /\/page\/boot-/.test(request.url())
    if (isFirst || !isBlocking) void request.continue()
    else pending.push(() => void request.continue())
  })
  await page.goto('about:blank')
  const navigation = page.goto(`${app.app.url}/#login=${code}`)
  await until(
    async () => pending.length > 0 && (await page.evaluate(() => location.href)) === `${app.app.url}/`,
  )
  isBlocking = false
  for (const release of pending) release()
  await navigation
  await waitForText(visit, '#one-time-link', new RegExp(DOOR_WORDS.link.title('attacker')))
  await waitForText(visit, '.door-card .caution', /erp \+ facturas/)
  assert.deepEqual(writes, ['POST /session/code'])
  const { entries } = await cdp.send('Page.getNavigationHistory')
  const addresses = entries.map(({ url }) => url)
  for (const [where, texts] of Object.entries({ addresses, referers, logged: app.logLines }))
    assert.ok(!JSON.stringify(texts).includes(code), where)
  assert.equal(await page.evaluate(() => localStorage.getItem('cambista-page')), half)
  await page.reload() // leaving without a click does not change the session
  await page.waitForSelector('.side-value')
  await page.click('.menu summary')
  await waitForText(visit, '.menu-inside', /erp.*facturas/)
  assert.deepEqual(writes, ['POST /session/code'])

  // The link needs a click in an open page too. After a refusal the session is unchanged.
  await page.evaluate((code) => {
    location.hash = `login=${code}`
  }, code)
  await waitForText(visit, '#one-time-link', /attacker/)
  assert.equal(await page.evaluate(() => location.hash), '')
  await page.click('.door-card .buttons button:not(.main)')
  await page.waitForSelector('.side-value')
  assert.equal(await page.evaluate(() => localStorage.getItem('cambista-page')), half)
})

test('a one-time link signs in with a click, once', async () => {
  const code = await createCode('facturas')
  const visit = await openVisit(browser, app, { path: `/#login=${code}` })
  await waitForText(visit, '#one-time-link', /facturas/)
  await visit.page.click('.door-card .main')
  await visit.page.waitForSelector('.tabs')
  assertClean(visit)
  const again = await openVisit(browser, app, { path: `/#login=${code}` })
  await waitForText(again, '#one-time-link', new RegExp(DOOR_WORDS.link.gone))
})

test('a second one-time link shows nothing of the first, whose answer comes late', async () => {
  await makeToken('first')
  await makeToken('second')
  const [first, second] = [await createCode('first', 'María'), await createCode('second')]
  const visit = await openVisit(browser, app)
  const { page } = visit
  const pending: (() => void)[] = []
  await page.setRequestInterception(true)
  page.on('request', (request) => {
    const proceed = () => void request.continue()
    if (request.url().endsWith('/session/code')) pending.push(proceed)
    else proceed()
  })
  const openLink = async (code: string) => {
    const before = pending.length
    await page.evaluate((code) => {
      location.hash = `login=${code}`
    }, code)
    await until(() => pending.length > before)
  }
  const isRemembered = () => page.$eval('.remember input', (box) => (box as HTMLInputElement).checked)
  await page.waitForSelector('form.secret')
  await openLink(first)
  pending[0]?.()
  await waitForText(visit, '#one-time-link', /María/)
  assert.equal(await isRemembered(), true)
  await openLink(second)
  await page.waitForSelector('#one-time-link', { hidden: true })
  pending[1]?.()
  await waitForText(visit, '#one-time-link', /second/)
  assert.equal(await isRemembered(), false)

  await openLink(first)
  await openLink(second)
  pending[3]?.()
  await waitForText(visit, '#one-time-link', /second/)
  const lateAnswer = page.waitForResponse((answer) => answer.url().endsWith('/session/code'))
  pending[2]?.()
  await lateAnswer
  await page.evaluate(() => new Promise(requestAnimationFrame))
  assert.match(await elementText(visit, '#one-time-link'), /second/)
  await page.click('.door-card .main')
  await page.waitForSelector('.menu')
  assert.equal(await page.$eval('.menu-name', (name) => name.textContent), 'second')
})

test('the ticket of a PDF opens it once, within a minute', async () => {
  await createDocuments(app, [PDF])
  const visit = await openVisit(browser, app, { path: '/#documents' })
  await enterSecret(visit, app.token)
  await visit.page.waitForSelector('.document')
  const tickets: string[] = []
  visit.page.on('response', async (answer) => {
    if (answer.url().endsWith('/session/ticket')) tickets.push(((await answer.json()) as { url: string }).url)
  })
  const openTab = async () => {
    const before = tickets.length
    await visit.page.click('.view-button')
    await until(() => tickets.length > before)
    return tickets.at(-1) ?? ''
  }
  const fetchStatus = async (path: string) => (await fetch(app.app.url + path, { method: 'HEAD' })).status // HEAD does not use up the ticket
  await visit.page.click('.document-open')
  await waitForText(visit, '.preview .notice', new RegExp(inLanguage(DOCUMENT, 'en').preview.pdfText))
  const tab = new Promise<string>((resolve) => {
    browser.on('targetcreated', (target) => target.type() === 'page' && resolve(target.url()))
  })
  const usedPath = await openTab()
  await tab
  await visit.page.bringToFront() // a hidden tab is neither painted nor clickable
  await until(async () => (await fetchStatus(usedPath)) === 404)
  // The next ticket never reaches its tab.
  await visit.page.evaluate(() => {
    window.open = () => null
  })
  const expiredPath = await openTab()
  const began = app.clock.now
  app.clock.now = new Date(began.getTime() + 60_000)
  assert.equal(await fetchStatus(expiredPath), 404)
  app.clock.now = began
  assertClean(visit)
})

test('a browser stores half a session and two choices, but no secret', async () => {
  const visit = await openVisit(browser, app)
  const { page, cdp } = visit
  await signIn(visit, app)
  await openScreen(visit, 'status')
  const storage = await page.evaluate(async () => ({
    local: { ...localStorage },
    session: { ...sessionStorage },
    cookie: document.cookie,
    databases: await indexedDB.databases(),
    workers: (await navigator.serviceWorker.getRegistrations()).length,
    caches: await caches.keys(),
    name: window.name,
    state: history.state as unknown,
  }))
  const { 'cambista-page': half = '', ...choices } = storage.local
  assert.deepEqual(
    { ...storage, local: choices },
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
  const traces = JSON.stringify([storage, cookies, visit.requests, await page.content(), app.logLines])
  for (const secret of [app.key, app.token]) assert.ok(!traces.includes(secret.slice(4)))
  await page.click('.menu summary')
  await page.click('.menu-inside > .button')
  await page.waitForSelector('form.secret')
  assert.deepEqual(await page.evaluate(() => ({ ...localStorage })), {})
  assert.deepEqual((await cdp.send('Network.getCookies')).cookies, [])
  assertClean(visit)
})
