// Opens the page of an app in Chromium, and records violations, errors and requests.

import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, beforeEach } from 'node:test'
import {
  type Browser,
  type BrowserContext,
  type CDPSession,
  launch,
  type Page,
  type Viewport,
} from 'puppeteer-core'
import { openApp } from '../api/support.ts'
import type { TestApp, TestAppOptions } from '../support/app.ts'
import { makeDirectory, runJson } from '../support/company.ts'
import { until } from '../support/terminal.ts'

/** Paths of Chromium and its headless shell, by default Debian's. Tests fail without them. */
export const {
  CAMBISTA_CHROMIUM: CHROMIUM = '/usr/bin/chromium',
  CAMBISTA_CHROMIUM_SHELL: SHELL = '/usr/bin/chromium-headless-shell',
} = process.env
/** Time of apps and pages: an afternoon of a working day. */
export const NOW = '2026-11-20T18:00:00Z'
export const TODAY = '2026-11-20'
export const DESKTOP = { width: 1280, height: 900 }
export const PHONE = { width: 390, height: 844, isMobile: true, hasTouch: true, deviceScaleFactor: 2 }
const READ_AND_WRITE = ['--allow', 'documents:GET', '--allow', 'documents:POST']

export type Visit = {
  page: Page
  cdp: CDPSession
  /** Origin of the page. */
  url: string
  /** Violations of the policy, as `directive: url or type`. */
  violations: string[]
  /** Errors of scripts and of the console, except 404, which means "no data". */
  errors: string[]
  /** URLs of all requests. */
  requests: string[]
}

export type VisitOptions = {
  /** Origin other than the app's own. */
  url?: string
  path?: string
  language?: 'es' | 'en'
  viewport?: Viewport
  colours?: 'light' | 'dark'
  /** Runs before the page is opened. */
  prepare?: (page: Page) => Promise<unknown>
}

/** Starts a browser, which is closed after the tests of the file. */
export function openBrowser(...flags: string[]): Promise<Browser> {
  return start(CHROMIUM, flags)
}

/**
 * Starts the engine alone, for tests of texts and layout. Clipboard and viewer of PDF are missing, and processor time is
 * two thirds. The engine is closed after the tests of the file.
 */
export function openEngine(...flags: string[]): Promise<Browser> {
  return start(SHELL, flags)
}

async function start(executablePath: string, flags: readonly string[]): Promise<Browser> {
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [] // the sandbox does not run as root
  const browser = await launch({
    executablePath,
    pipe: true, // the browser ends with this process, also by SIGKILL
    args: [...asRoot, '--disable-dev-shm-usage', ...flags],
    protocolTimeout: 300_000,
  })
  after(() => browser.close())
  return browser
}

export type PageApp = TestApp & { token: string }

// Profiles of the running test. A page that stays open polls and animates beside the tests that follow.
const contexts = new Set<BrowserContext>()
beforeEach(() => contexts.clear()) // profiles of the whole file stay open
afterEach(async () => {
  for (const context of contexts) if (!context.closed) await context.close()
})

/** Starts an app for a file of tests: rates, key "erp", a company with agent and owner, token "facturas". */
export async function openPageApp(options: TestAppOptions = {}): Promise<PageApp> {
  return fillPageApp(await openApp({ now: NOW, ...options }))
}

export async function fillPageApp(app: TestApp): Promise<PageApp> {
  await app.sync()
  await makeDirectory(app.dataDir)
  const { key } = await runJson<{ key: string }>(app.dataDir, 'key', 'create', 'erp')
  const { token } = await runJson<{ token: string }>(
    app.dataDir,
    'token',
    'create',
    'facturas',
    ...READ_AND_WRITE,
  )
  return { ...app, key, token }
}

/** Opens the page in a new browser profile with the clock of the app. The profile is closed after the test. */
export async function openVisit(browser: Browser, app: TestApp, options: VisitOptions = {}): Promise<Visit> {
  const { url = app.app.url, path = '/', language = 'en', viewport = DESKTOP, colours = 'light' } = options
  const context = await browser.createBrowserContext()
  contexts.add(context)
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  await page.setViewport(viewport)
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: colours }])
  await page.evaluateOnNewDocument(fixEnvironment, language, app.clock.now.getTime())
  const cdp = await page.createCDPSession()
  const visit: Visit = { page, cdp, url, violations: [], errors: [], requests: [] }
  await recordIssues(visit)
  await options.prepare?.(page)
  await page.goto(url + path)
  return visit
}

/** Runs in the page before its scripts: sets clock and language, and records copies. */
function fixEnvironment(language: string, now: number): void {
  const [startTime, clock] = [Date.now(), Date.now.bind(Date)]
  Date.now = () => now + clock() - startTime
  const { get } = Headers.prototype
  // Hides the Date header: the page would set its clock by it, and it has the time of the machine.
  Headers.prototype.get = function (name) {
    return name.toLowerCase() === 'date' ? null : get.call(this, name)
  }
  Object.defineProperty(navigator, 'language', { get: () => language })
  // After the listener of the page: a headless browser has no clipboard.
  window.addEventListener('copy', ({ clipboardData }) => {
    const [text, html] = ['text/plain', 'text/html'].map((type) => clipboardData?.getData(type))
    Object.assign(window, { copied: { text, html } })
  })
}

async function recordIssues({ page, cdp, violations, errors, requests }: Visit): Promise<void> {
  cdp.on('Audits.issueAdded', ({ issue }) => {
    const violation = issue.details.contentSecurityPolicyIssueDetails
    if (violation)
      violations.push(
        `${violation.violatedDirective}: ${violation.blockedURL ?? violation.contentSecurityPolicyViolationType}`,
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

/** Asserts that the page had no violation, no error and no request to another host. */
export function assertClean({ violations, errors, requests, url }: Visit): void {
  const foreign = requests.filter((one) => !one.startsWith(`${url}/`) && !/^(data:|blob:|about:)/.test(one))
  assert.deepEqual({ violations, errors, foreign }, { violations: [], errors: [], foreign: [] })
}

/** Types a key or token into the form, and waits until it is accepted. */
export async function enterSecret({ page }: Visit, secret: string): Promise<void> {
  const field = await page.waitForSelector('form.secret [type=password]')
  await field?.type(secret)
  await page.click('form.secret [type=submit]')
  await page.waitForFunction((typed) => typed?.isConnected === false, {}, field)
}

/** Signs in with the key, adds the token on the screen of documents, and returns to the rates. */
export async function signIn(visit: Visit, { key, token }: PageApp): Promise<void> {
  await enterSecret(visit, key)
  await visit.page.waitForSelector('.side-value')
  await openScreen(visit, 'documents')
  await enterSecret(visit, token)
  await visit.page.waitForSelector('.received')
  await openScreen(visit, 'rates')
}

export async function openScreen({ page }: Visit, screen: 'rates' | 'documents' | 'status'): Promise<void> {
  await page.click(`.tabs a[href^="#${screen}"]`)
  await page.waitForSelector(`.tabs a[href^="#${screen}"][aria-current=page]`)
}

/** Sets the folder of downloads. */
export async function setDownloadFolder({ cdp }: Visit, folder: string): Promise<void> {
  const { browserContextId } = (await cdp.send('Target.getTargetInfo')).targetInfo
  const target = browserContextId === undefined ? {} : { browserContextId }
  await cdp.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: folder, ...target })
}

/** Lists the complete downloads. Chromium makes an empty file of the name, and renames that of the bytes at the end. */
export function listDownloads(folder: string): string[] {
  const isComplete = (name: string) => statSync(join(folder, name)).size > 0
  return readdirSync(folder).filter((name) => !name.endsWith('.crdownload') && isComplete(name))
}

const FILES = ['excel', 'spanish', 'programs'] as const

/** Opens the menu of downloads within an element, and chooses a file. */
export async function chooseFile(
  { page }: Visit,
  selector: string,
  file: (typeof FILES)[number],
): Promise<void> {
  await page.waitForSelector(`${selector} .download > button:enabled`)
  await page.$eval(`${selector} .download > button`, (button) => (button as HTMLElement).click())
  const item = await page.waitForSelector(`${selector} .download-item:nth-child(${FILES.indexOf(file) + 1})`)
  await item?.evaluate((button) => (button as HTMLElement).click())
}

type Copied = Window & { copied?: { text: string; html: string } }

/** Waits for the next copy of a page, as other programs receive it. */
export async function nextCopy({ page }: Visit): Promise<{ text: string; html: string }> {
  const copy = await page.waitForFunction(() => (window as Copied).copied)
  await page.evaluate(() => delete (window as Copied).copied)
  return (await copy.jsonValue()) ?? { text: '', html: '' }
}

/** Text of an element, without text for screen readers only. */
export function elementText({ page }: Visit, selector: string): Promise<string> {
  return page.$eval(selector, (element) => {
    const copy = element.cloneNode(true) as Element
    for (const unseen of copy.querySelectorAll('.unseen')) unseen.remove()
    return copy.textContent?.trim() ?? ''
  })
}

/** Waits until the text of a selected element matches. */
export async function waitForText(visit: Visit, selector: string, text: RegExp): Promise<void> {
  const hasText = async () => {
    const texts = await visit.page.$$eval(selector, (elements) =>
      elements.map((one) => one.textContent ?? ''),
    )
    return texts.some((one) => text.test(one))
  }
  await until(hasText)
}

export type NewDocument = { name: string; mimetype: string; content: string | Uint8Array }

/** Creates documents as another client. @returns their ids */
export async function createDocuments(
  app: PageApp,
  documents: readonly NewDocument[],
  token = app.token,
): Promise<number[]> {
  const files = documents.map(({ content, ...rest }) => ({
    ...rest,
    base64: Buffer.from(content).toString('base64'),
  }))
  const response = await fetch(`${app.app.url}/api/v1/documents/create`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ company_id: 7, owner_id: 31, agent_id: 12, documents: files }),
  })
  const body = (await response.json()) as { created_documents: { id: number }[] }
  assert.equal(response.status, 200, JSON.stringify(body))
  return body.created_documents.map(({ id }) => id)
}
