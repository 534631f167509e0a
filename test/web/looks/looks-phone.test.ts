// Screens on a phone. A page with faults shows that geometry reports them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openVisit, PHONE } from '../support.ts'
import { geometry, MIN_TARGET, testLooks } from './looks.ts'

const { browser, full } = await testLooks({
  name: 'phone',
  viewport: PHONE,
  minTarget: MIN_TARGET,
  looks: [
    ['en', 'light'],
    ['es', 'dark'],
  ],
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
