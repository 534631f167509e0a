// How the screens behave for eyes: nothing moves for those who asked for calm, themes and languages are remembered, and
// what is shown is in the address.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../support/terminal.ts'
import { openFullBox } from './box.ts'
import { enterAs, reach, rest, STATES } from './states.ts'
import { assertClean, openBrowser, openScreen, PHONE, visit } from './support.ts'

const browser = await openBrowser()
const box = await openFullBox()

for (const motion of ['reduce', 'no-preference']) {
  test(`with prefers-reduced-motion: ${motion}, ${motion === 'reduce' ? 'nothing' : 'something'} moves`, async () => {
    const seen = await visit(browser, box, { language: 'es' })
    const { page } = seen
    await enterAs(seen, box, 'both')
    await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: motion }])
    const loading = STATES.find(({ name }) => name === 'rates loading')
    assert.ok(loading)
    const undo = await reach(seen, box, loading)
    const running = await page.evaluate(() => document.getAnimations().length)
    await undo()
    await page.goto('about:blank')
    await page.goto(`${seen.url}/#rates`)
    await rest(page)
    const [at, later] = await page.evaluate(async () => {
      document.querySelector<HTMLElement>('.currency-list li:nth-child(30) button')?.scrollIntoView()
      document.querySelector<HTMLElement>('.currency-list li:nth-child(30) button')?.click()
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
      const first = scrollY
      let last = first
      for (let still = 0; still < 20; still = last === scrollY ? still + 1 : 0) {
        last = scrollY
        await new Promise((resolve) => requestAnimationFrame(resolve))
      }
      return [first, scrollY]
    })
    assert.equal(running === 0, motion === 'reduce', `${running} animations`)
    assert.equal(at === later, motion === 'reduce', `scrolled from ${at} to ${later}`)
  })
}

test('a walk over all screens on a phone breaks no rule of the page', async () => {
  const seen = await visit(browser, box, { language: 'es', viewport: PHONE })
  await enterAs(seen, box, 'both')
  for (const screen of ['status', 'rates', 'documents', 'rates'] as const) {
    await openScreen(seen, screen)
    await rest(seen.page)
  }
  assertClean(seen)
})

test('language and colours are kept, and a link opens what was looked at', async () => {
  const seen = await visit(browser, box, { language: 'es' })
  const { page } = seen
  await enterAs(seen, box, 'both')
  await page.goto(`${seen.url}/#rates?on=2019-03-12&pair=EUR/USD&span=5y&amount=15000&source=JPY`)
  await rest(page)
  await page.click('.language')
  await page.click('[title="Use dark colours"]')
  await page.reload()
  await until(async () => (await page.$eval('html', ({ lang }) => lang)) === 'en')
  await rest(page)
  const shown = await page.evaluate(() => ({
    theme: document.documentElement.dataset.theme,
    ground: getComputedStyle(document.documentElement).backgroundColor,
    day: document.querySelector('.dollar-day')?.textContent,
    pair: document.querySelector<HTMLSelectElement>('.pair')?.value,
    span: document.querySelector('.history input:checked + span')?.textContent,
    read: document.querySelector('.reading')?.textContent,
  }))
  assert.deepEqual(shown, {
    theme: 'dark',
    ground: 'rgb(14, 19, 17)',
    day: 'Tuesday, March 12, 2019Today',
    pair: 'EUR/USD',
    span: '5YFive years',
    read: 'Read as 15,000.00 JPY',
  })
  assertClean(seen)
})
