// Checks each state in both languages and themes, on a desk and on a phone. Axe finds nothing, nothing is wider than
// the screen, and touch targets are large enough.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import type { AxeResults } from 'axe-core'
import type { Page } from 'puppeteer-core'
import { openEmptyApp, openFullApp } from './apps.ts'
import { openState, STATES, type State, startSession } from './states.ts'
import { assertClean, DESKTOP, openBrowser, openVisit, type PageApp, PHONE, type Visit } from './support.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const MIN_TARGET = 40
const SESSIONS: Record<State['session'], string> = {
  nobody: 'no session',
  key: 'a key',
  token: 'a token',
  both: 'a key and a token',
  empty: 'an empty database',
}

const browser = await openBrowser()
const full = await openFullApp()
const empty = await openEmptyApp()

// Each state is checked in four combinations of language and theme: two on a desk, two on a phone.
const DEVICES = {
  desk: {
    viewport: DESKTOP,
    isPhone: false,
    looks: [
      ['es', 'light'],
      ['en', 'dark'],
    ],
  },
  phone: {
    viewport: PHONE,
    isPhone: true,
    looks: [
      ['en', 'light'],
      ['es', 'dark'],
    ],
  },
} as const

for (const [name, device] of Object.entries(DEVICES)) {
  for (const [session, states] of Map.groupBy(STATES, ({ session }) => session)) {
    test(`axe and geometry find nothing on a ${name}, with ${SESSIONS[session]}`, async () => {
      const app = session === 'empty' ? empty : full
      const visit = await openVisit(browser, app, { language: 'es', viewport: device.viewport })
      await startSession(visit, app, session)
      const findings: string[] = []
      for (const state of states) findings.push(...(await checkState(visit, app, state, device)))
      assert.deepEqual(findings, [])
      if (session === 'empty') assertClean(visit)
    })
  }
}

test('axe finds a low contrast, a nameless button and a missing language', async () => {
  const { page } = await openVisit(browser, full, { language: 'es' })
  await page.waitForSelector('.secret')
  await page.evaluate(() => {
    document.documentElement.lang = ''
    const button = document.createElement('button')
    const text = document.createElement('p')
    text.textContent = 'pale'
    text.style.color = '#ddd'
    document.querySelector('main')?.append(button, text)
  })
  assert.deepEqual((await axe(page)).map((finding) => finding.split(' ')[0]).sort(), [
    'button-name',
    'color-contrast',
    'html-has-lang',
  ])
})

test('geometry finds a wide element and a small target', async () => {
  const { page } = await openVisit(browser, full, { language: 'es', viewport: PHONE })
  await page.waitForSelector('.secret')
  await page.evaluate(() => {
    const button = document.createElement('button')
    button.textContent = 'x'
    button.style.cssText = 'width: 500px; height: 30px'
    document.querySelector('main')?.append(button)
  })
  const problems = await page.evaluate(geometry, MIN_TARGET)
  assert.equal(problems.length, 2, String(problems))
})

async function checkState(
  visit: Visit,
  app: PageApp,
  state: State,
  { isPhone, looks }: Device,
): Promise<string[]> {
  const { page } = visit
  const findings: string[] = []
  const undo = await openState(visit, app, state)
  for (const [language, colours] of looks) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: colours }])
    if ((await page.$eval('html', ({ lang }) => lang)) !== language)
      await page.$eval('.language', (button) => (button as HTMLElement).click())
    const problems = [...(await axe(page)), ...(await page.evaluate(geometry, isPhone ? MIN_TARGET : 0))]
    findings.push(...problems.map((finding) => `${state.name}, ${language}, ${colours}: ${finding}`))
  }
  await undo()
  return findings
}

type Device = (typeof DEVICES)[keyof typeof DEVICES]

/** Violations of axe: rule and elements. */
async function axe(page: Page): Promise<string[]> {
  if (!(await page.evaluate('Boolean(globalThis.axe)'))) await page.evaluate(AXE)
  const { violations } = await page.evaluate(
    (tags) =>
      (globalThis as unknown as { axe: typeof import('axe-core') }).axe.run({
        runOnly: tags,
        resultTypes: ['violations'],
        selectors: false,
        preload: false,
      }) as Promise<AxeResults>,
    TAGS,
  )
  return violations.map(({ id, nodes }) => `${id} ${nodes.map(({ html }) => html.slice(0, 150)).join(' ')}`)
}

/** Runs in the page: elements wider than the screen, and touch targets below a size. */
function geometry(least: number): string[] {
  const problems: string[] = []
  const { scrollWidth } = document.documentElement
  if (scrollWidth > innerWidth || (least > 0 && innerWidth > screen.width))
    problems.push(`${scrollWidth} px wide, on a screen of ${innerWidth}`)
  const open = document.querySelector('dialog[open]') ?? document
  const selector = 'a[href], button, input, select, summary, [role=button]'
  for (const target of open.querySelectorAll<HTMLElement>(selector)) {
    const { type } = target as HTMLInputElement
    if (type === 'range' || !target.checkVisibility({ visibilityProperty: true })) continue
    const hit = (type === 'radio' && target.closest('label')) || target
    const { width, height, left, right } = hit.getBoundingClientRect()
    if (width <= 2) continue // visible only with the focus
    const what = hit.outerHTML.slice(0, 120)
    if (Math.min(width, height) < least - 0.5)
      problems.push(`${width.toFixed(1)} x ${height.toFixed(1)}: ${what}`)
    if (left < 0 || right > innerWidth + 0.5) problems.push(`from ${left} to ${right}: ${what}`)
  }
  return problems
}
