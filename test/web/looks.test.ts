// Every screen and state, in both languages, light and dark, on a desk and on a phone: axe finds nothing, nothing is wider
// than the phone, and a finger hits what is to be hit.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import type { AxeResults } from 'axe-core'
import type { Page } from 'puppeteer-core'
import { openEmptyBox, openFullBox } from './box.ts'
import { enterAs, reach, STATES, type State } from './states.ts'
import { assertClean, DESKTOP, openBrowser, type PageApp, PHONE, type Visit, visit } from './support.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const TARGET = 40
const SESSIONS: Record<State['as'], string> = {
  nobody: 'no session',
  key: 'a key',
  token: 'a token',
  both: 'a key and a token',
  empty: 'an empty box',
}

const browser = await openBrowser()
const full = await openFullBox()
const empty = await openEmptyBox()

// On a desk and on a phone the other two: together each state is seen in all four.
const PLACES = {
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

for (const [name, place] of Object.entries(PLACES)) {
  for (const [as, states] of Map.groupBy(STATES, ({ as }) => as)) {
    test(`axe and the ruler find nothing on a ${name}, with ${SESSIONS[as]}`, async () => {
      const box = as === 'empty' ? empty : full
      const seen = await visit(browser, box, { language: 'es', viewport: place.viewport })
      await enterAs(seen, box, as)
      const findings: string[] = []
      for (const state of states) findings.push(...(await findingsIn(seen, box, state, place)))
      assert.deepEqual(findings, [])
      if (as === 'empty') assertClean(seen)
    })
  }
}

test('axe would find a low contrast, a nameless button and a missing language', async () => {
  const { page } = await visit(browser, full, { language: 'es' })
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

test('a wide element and a small target would be found', async () => {
  const { page } = await visit(browser, full, { language: 'es', viewport: PHONE })
  await page.waitForSelector('.secret')
  await page.evaluate(() => {
    const button = document.createElement('button')
    button.textContent = 'x'
    button.style.cssText = 'width: 500px; height: 30px'
    document.querySelector('main')?.append(button)
  })
  const found = await page.evaluate(geometry, TARGET)
  assert.equal(found.length, 2, String(found))
})

async function findingsIn(
  seen: Visit,
  box: PageApp,
  state: State,
  { isPhone, looks }: Place,
): Promise<string[]> {
  const { page } = seen
  const findings: string[] = []
  const undo = await reach(seen, box, state)
  for (const [language, colours] of looks) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: colours }])
    if ((await page.$eval('html', ({ lang }) => lang)) !== language)
      await page.$eval('.language', (button) => (button as HTMLElement).click())
    const found = [...(await axe(page)), ...(await page.evaluate(geometry, isPhone ? TARGET : 0))]
    findings.push(...found.map((finding) => `${state.name}, ${language}, ${colours}: ${finding}`))
  }
  await undo()
  return findings
}

type Place = (typeof PLACES)[keyof typeof PLACES]

/** Rules of axe that are broken, with what breaks them. */
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

/** Runs in the page: what is wider than the screen, and targets that are too small for a finger. */
function geometry(least: number): string[] {
  const found: string[] = []
  const { scrollWidth } = document.documentElement
  if (scrollWidth > innerWidth || (least > 0 && innerWidth > screen.width))
    found.push(`${scrollWidth} px wide, on a screen of ${innerWidth}`)
  const open = document.querySelector('dialog[open]') ?? document
  const selector = 'a[href], button, input, select, summary, [role=button]'
  for (const target of open.querySelectorAll<HTMLElement>(selector)) {
    const { type } = target as HTMLInputElement
    if (type === 'range' || !target.checkVisibility({ visibilityProperty: true })) continue
    const hit = (type === 'radio' && target.closest('label')) || target
    const { width, height, left, right } = hit.getBoundingClientRect()
    if (width <= 2) continue // seen only when it has the focus
    const what = hit.outerHTML.slice(0, 120)
    if (Math.min(width, height) < least - 0.5)
      found.push(`${width.toFixed(1)} x ${height.toFixed(1)}: ${what}`)
    if (left < 0 || right > innerWidth + 0.5) found.push(`from ${left} to ${right}: ${what}`)
  }
  return found
}
