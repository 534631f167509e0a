// Chromium over a whole app: pages that sign in, and what no page may ever do, collected while it is walked through.

import assert from 'node:assert/strict'
import { after } from 'node:test'
import { type Browser, type CDPSession, launch, type Page, type Viewport } from 'puppeteer-core'
import { openApp } from '../api/support.ts'
import type { TestApp, TestAppOptions } from '../support/app.ts'
import { makeDirectory, runJson } from '../support/company.ts'
import { until } from '../support/terminal.ts'

/** Debian's; a machine without one fails these tests. */
export const { CAMBISTA_CHROMIUM: CHROMIUM = '/usr/bin/chromium' } = process.env
/** The moment of apps and pages: an afternoon at the bank. */
export const NOW = '2026-11-20T18:00:00Z'
export const TODAY = '2026-11-20'
export const DESKTOP = { width: 1280, height: 900 }
export const PHONE = { width: 390, height: 844, isMobile: true, hasTouch: true, deviceScaleFactor: 2 }
const BOTH = ['--allow', 'documents:GET', '--allow', 'documents:POST']

export type Visit = {
  page: Page
  cdp: CDPSession
  /** Where the page lies. */
  url: string
  /** What the policy of the page refused, as `directive: what`. */
  violations: string[]
  /** Errors of the console but for the line of a 404, which means "no data", and of scripts. */
  errors: string[]
  /** All that was asked for. */
  requests: string[]
}

export type VisitOptions = {
  /** Another address of the app than its own. */
  url?: string
  path?: string
  language?: 'es' | 'en'
  viewport?: Viewport
  colours?: 'light' | 'dark'
  /** Before the page is opened. */
  before?: (page: Page) => Promise<unknown>
}

/** A browser for a whole file. */
export async function openBrowser(...flags: string[]): Promise<Browser> {
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [] // its sandbox does not run as root
  const browser = await launch({
    executablePath: CHROMIUM,
    args: [...asRoot, '--disable-dev-shm-usage', ...flags],
    protocolTimeout: 300_000,
  })
  after(() => browser.close())
  return browser
}

export type PageApp = TestApp & { token: string }

/** An app for a whole file with rates, the key "erp", a company with an agent and an owner, and a token for documents. */
export async function openPageApp(options: TestAppOptions = {}): Promise<PageApp> {
  const app = await openApp({ now: NOW, ...options })
  await app.sync()
  await makeDirectory(app.dataDir)
  const { key } = await runJson<{ key: string }>(app.dataDir, 'key', 'create', 'erp')
  const { token } = await runJson<{ token: string }>(app.dataDir, 'token', 'create', 'facturas', ...BOTH)
  return { ...app, key, token }
}

/** A page in a browser profile of its own, whose clock is the app's. */
export async function visit(browser: Browser, app: TestApp, options: VisitOptions = {}): Promise<Visit> {
  const { url = app.app.url, path = '/', language = 'en', viewport = DESKTOP, colours = 'light' } = options
  const context = await browser.createBrowserContext()
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  await page.setViewport(viewport)
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: colours }])
  await page.evaluateOnNewDocument(prepare, language, app.clock.now.getTime())
  const cdp = await page.createCDPSession()
  const seen: Visit = { page, cdp, url, violations: [], errors: [], requests: [] }
  await collect(seen)
  await options.before?.(page)
  await page.goto(url + path)
  return seen
}

/** Runs in the page before anything of its own. */
function prepare(language: string, now: number): void {
  const [began, clock] = [Date.now(), Date.now.bind(Date)]
  Date.now = () => now + clock() - began
  const { get } = Headers.prototype
  // The Date of an answer is the machine's, by which the page would set its clock.
  Headers.prototype.get = function (name) {
    return name.toLowerCase() === 'date' ? null : get.call(this, name)
  }
  Object.defineProperty(navigator, 'language', { get: () => language })
}

async function collect({ page, cdp, violations, errors, requests }: Visit): Promise<void> {
  cdp.on('Audits.issueAdded', ({ issue }) => {
    const found = issue.details.contentSecurityPolicyIssueDetails
    if (found)
      violations.push(
        `${found.violatedDirective}: ${found.blockedURL ?? found.contentSecurityPolicyViolationType}`,
      )
  })
  await cdp.send('Audits.enable')
  page.on('console', (message) => {
    const text = message.text()
    if (message.type() === 'error' && !/status of 404 /.test(text)) errors.push(text)
  })
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('request', (request) => requests.push(request.url()))
}

/** Nothing was refused by the policy, nothing went wrong, and nothing but the app was asked. */
export function assertClean({ violations, errors, requests, url }: Visit): void {
  const foreign = requests.filter((one) => !one.startsWith(`${url}/`) && !/^(data:|blob:|about:)/.test(one))
  assert.deepEqual({ violations, errors, foreign }, { violations: [], errors: [], foreign: [] })
}

/** Types a key or token into the field that asks for it, and waits until it is taken. */
export async function enter({ page }: Visit, secret: string): Promise<void> {
  const field = await page.waitForSelector('form.secret input')
  await field?.type(secret)
  await page.click('form.secret [type=submit]')
  await page.waitForFunction((typed) => typed?.isConnected === false, {}, field)
}

/** Signs in with the key, then with the token where documents are asked for, and ends on the screen of rates. */
export async function signIn(seen: Visit, { key, token }: PageApp): Promise<void> {
  await enter(seen, key)
  await seen.page.waitForSelector('.side-value')
  await openScreen(seen, 'documents')
  await enter(seen, token)
  await seen.page.waitForSelector('.received')
  await openScreen(seen, 'rates')
}

export async function openScreen({ page }: Visit, screen: 'rates' | 'documents' | 'status'): Promise<void> {
  await page.click(`.tabs a[href^="#${screen}"]`)
  await page.waitForSelector(`.tabs a[href^="#${screen}"][aria-current=page]`)
}

/** Where the files go that the page hands over. */
export async function downloadInto({ cdp }: Visit, folder: string): Promise<void> {
  const { browserContextId } = (await cdp.send('Target.getTargetInfo')).targetInfo
  const of = browserContextId === undefined ? {} : { browserContextId }
  await cdp.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: folder, ...of })
}

/** The text that is shown, without what is for screen readers alone. */
export function textOf({ page }: Visit, selector: string): Promise<string> {
  return page.$eval(selector, (element) => {
    const copy = element.cloneNode(true) as Element
    for (const unseen of copy.querySelectorAll('.unseen')) unseen.remove()
    return copy.textContent?.trim() ?? ''
  })
}

/** Waits until the text of what the selector finds fits. */
export async function says(seen: Visit, selector: string, text: RegExp): Promise<void> {
  const all = async () => {
    const texts = await seen.page.$$eval(selector, (found) => found.map((one) => one.textContent ?? ''))
    return texts.some((one) => text.test(one))
  }
  await until(all)
}

export type Sent = { name: string; mimetype: string; content: string | Uint8Array }

/** Keeps documents as another client does, and returns their ids. */
export async function post(app: PageApp, documents: readonly Sent[], token = app.token): Promise<number[]> {
  const files = documents.map(({ content, ...rest }) => ({
    ...rest,
    base64: Buffer.from(content).toString('base64'),
  }))
  const answer = await fetch(`${app.app.url}/api/v1/documents/create`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ company_id: 7, owner_id: 31, agent_id: 12, documents: files }),
  })
  const body = (await answer.json()) as { created_documents: { id: number }[] }
  assert.equal(answer.status, 200, JSON.stringify(body))
  return body.created_documents.map(({ id }) => id)
}
