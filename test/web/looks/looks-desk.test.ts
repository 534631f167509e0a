// Screens on a desk. A page with faults shows that axe reports them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DESKTOP, openVisit } from '../support.ts'
import { axe, testLooks } from './looks.ts'

const { browser, full } = await testLooks({
  name: 'desk',
  viewport: DESKTOP,
  minTarget: 0,
  looks: [
    ['es', 'light'],
    ['en', 'dark'],
  ],
})

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
