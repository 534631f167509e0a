// The keyboard of tests. The focus must be visible on each element on the way.

import assert from 'node:assert/strict'
import type { KeyInput, Page } from 'puppeteer-core'
import { waitForIdle } from './states.ts'

const MAX_STEPS = 150

/** Presses keys, and waits after each until the page is idle. */
export async function press(page: Page, ...keys: KeyInput[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
  await waitForIdle(page)
}

/** Presses Tab until the named element has the focus. Asserts a visible focus on each element on the way. */
export async function pressTab(page: Page, name: string | RegExp, modifier?: 'Shift'): Promise<void> {
  if (modifier) await page.keyboard.down(modifier)
  const path: string[] = []
  const isThere = (focused: string) => (typeof name === 'string' ? focused === name : name.test(focused))
  for (let step = 0; step < MAX_STEPS && !isThere(await focusName(page)); step++) {
    await page.keyboard.press('Tab')
    const isVisible = await page.evaluate(isFocusVisible)
    path.push(await focusName(page))
    assert.ok(isVisible, `the focus is visible on ${path.at(-1)}`)
  }
  if (modifier) await page.keyboard.up(modifier)
  assert.ok(isThere(await focusName(page)), `Tab leads to ${name}, not only to ${path}`)
}

/** Replaces the text of the focused field. */
export async function retype(page: Page, text: string): Promise<void> {
  await page.keyboard.press('a', { commands: ['SelectAll'] })
  await page.keyboard.type(text)
}

/** Accessible name of the focused element. */
export async function focusName(page: Page): Promise<string> {
  const cdp = await page.createCDPSession()
  try {
    const { result } = await cdp.send('Runtime.evaluate', { expression: 'document.activeElement' })
    const { nodes } = await cdp.send('Accessibility.getPartialAXTree', {
      objectId: result.objectId ?? '',
      fetchRelatives: false,
    })
    return String(nodes[0]?.name?.value ?? '').trim()
  } finally {
    await cdp.detach()
  }
}

/** Runs in the page. The browser's own controls count as visible. */
function isFocusVisible(): boolean {
  const { activeElement: active } = document
  if (!active || active === document.body) return true // the browser's own controls
  const box = active.getBoundingClientRect()
  const target = active.matches('input.unseen') ? active.nextElementSibling : active
  return target !== null && (getComputedStyle(target).outlineStyle !== 'none' || box.width <= 2)
}
