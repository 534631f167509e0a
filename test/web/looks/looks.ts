// Checks states in both languages and themes, on a desk and on a phone. Axe finds nothing, nothing is wider than
// the screen, and touch targets are large enough. The short form opens each screen once on each device; language and
// theme alternate from screen to screen.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import type { AxeResults } from 'axe-core'
import type { Browser, Page, Viewport } from 'puppeteer-core'
import { LONG } from '../../faults/scale.ts'
import { openEmptyApp, openFullApp } from '../apps.ts'
import { openState, STATES, type State, startSession } from '../states.ts'
import { assertClean, openEngine, openVisit, type PageApp, type Visit } from '../support.ts'
import { findWidthFaults } from './widths.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
export const MIN_TARGET = 40
const GROUP = 20
const CHECKED = STATES.filter(({ isShort }) => LONG || isShort)
const SESSIONS: Record<State['session'], string> = {
  nobody: 'no session',
  key: 'a key',
  token: 'a token',
  both: 'a key and a token',
  empty: 'an empty database',
}

type Look = readonly [language: 'es' | 'en', colours: 'light' | 'dark']
export type Device = {
  name: 'desk' | 'phone'
  viewport: Viewport
  /** Least size of touch targets; 0: any. */
  minTarget: number
  looks: readonly [Look, Look]
}

/** Declares the tests of a device. Desk and phone are two files, which run beside each other. */
export async function testLooks(device: Device): Promise<{ browser: Browser; full: PageApp }> {
  const browser = await openEngine()
  const full = await openFullApp()
  const empty = await openEmptyApp()
  for (const [session, states] of stateGroups()) {
    const [first = '', last = ''] = [states[0]?.name, states.at(-1)?.name]
    const range = `${first} to ${last}`
    test(`axe and geometry find nothing on a ${device.name}, with ${SESSIONS[session]}: ${range}`, async () => {
      const app = session === 'empty' ? empty : full
      const visit = await openVisit(browser, app, { language: 'es', viewport: device.viewport })
      await startSession(visit, app, session)
      const findings: string[] = []
      for (const state of states) findings.push(...(await checkState(visit, app, state, device)))
      assert.deepEqual(findings, [])
      if (session === 'empty') assertClean(visit)
    })
  }
  return { browser, full }
}

/** Groups of at most 20 states of a session. */
function stateGroups(): [State['session'], State[]][] {
  return [...Map.groupBy(CHECKED, ({ session }) => session)].flatMap(([session, states]) =>
    Array.from({ length: Math.ceil(states.length / GROUP) }, (_, at): [State['session'], State[]] => [
      session,
      states.slice(at * GROUP, (at + 1) * GROUP),
    ]),
  )
}

async function checkState(visit: Visit, app: PageApp, state: State, device: Device): Promise<string[]> {
  const { page } = visit
  const findings: string[] = []
  const undo = await openState(visit, app, state)
  const own = device.looks[CHECKED.indexOf(state) % device.looks.length] ?? device.looks[0]
  for (const [language, colours] of LONG ? device.looks : [own]) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: colours }])
    if ((await page.$eval('html', ({ lang }) => lang)) !== language)
      await page.$eval('.language', (button) => (button as HTMLElement).click())
    const problems = await page.evaluate(geometry, device.minTarget)
    problems.push(...(await axe(page)))
    if (device.name === 'desk') problems.push(...(await findWidthFaults(page)))
    findings.push(...problems.map((finding) => `${state.name}, ${language}, ${colours}: ${finding}`))
  }
  await undo()
  return findings
}

/** Violations of axe: rule and elements. */
export async function axe(page: Page): Promise<string[]> {
  if (!(await page.evaluate('Boolean(globalThis.axe)'))) await page.evaluate(AXE)
  const { violations } = await page.evaluate(
    (tags) =>
      (globalThis as unknown as { axe: typeof import('axe-core') }).axe.run({
        runOnly: tags,
        rules: { 'skip-link': { enabled: false } }, // a link of a row that is scrolled to the side is none
        resultTypes: ['violations'],
        selectors: false,
        preload: false,
      }) as Promise<AxeResults>,
    TAGS,
  )
  return violations.map(({ id, nodes }) => `${id} ${nodes.map(({ html }) => html.slice(0, 150)).join(' ')}`)
}

/** Runs in the page: elements wider than the screen, and touch targets below a size. */
export function geometry(least: number): string[] {
  const problems: string[] = []
  const { scrollWidth } = document.documentElement
  if (scrollWidth > innerWidth || (least > 0 && innerWidth > screen.width))
    problems.push(`${scrollWidth} px wide, on a screen of ${innerWidth}`)
  const open = document.querySelector('dialog[open]') ?? document
  const scrolls = (element: Element) =>
    /auto|scroll/.test(getComputedStyle(element).overflowX) && element.scrollWidth > element.clientWidth
  const isInRow = (element: Element | null): boolean =>
    element !== null && element !== document.body && (scrolls(element) || isInRow(element.parentElement))
  const selector = 'a[href], button, input, select, summary, [role=button]'
  for (const target of open.querySelectorAll<HTMLElement>(selector)) {
    const { type } = target as HTMLInputElement
    if (type === 'range' || !target.checkVisibility({ visibilityProperty: true })) continue
    const hit = (['radio', 'checkbox'].includes(type) && target.closest('label')) || target
    const { width, height, left, right } = hit.getBoundingClientRect()
    if (width <= 2) continue // visible only with the focus
    const what = hit.outerHTML.slice(0, 120)
    if (Math.min(width, height) < least - 0.5)
      problems.push(`${width.toFixed(1)} x ${height.toFixed(1)}: ${what}`)
    const isOutside = left < 0 || right > innerWidth + 0.5
    if (isOutside && !isInRow(hit.parentElement)) problems.push(`from ${left} to ${right}: ${what}`)
  }
  return problems
}
