// Screens: reduced motion, stored language and theme, and links to a view.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../support/terminal.ts'
import { openFullApp } from './apps.ts'
import { openState, STATES, startSession, waitForIdle } from './states.ts'
import { assertClean, openEngine, openScreen, openVisit, PHONE } from './support.ts'

const browser = await openEngine()
const app = await openFullApp()

for (const motion of ['reduce', 'no-preference']) {
  test(`the page ${motion === 'reduce' ? 'stops' : 'runs'} animations for prefers-reduced-motion: ${motion}`, async () => {
    const visit = await openVisit(browser, app, { language: 'es' })
    const { page } = visit
    await startSession(visit, app, 'both')
    await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: motion }])
    const loading = STATES.find(({ name }) => name === 'rates loading')
    assert.ok(loading)
    const undo = await openState(visit, app, loading)
    const running = await page.evaluate(() => document.getAnimations().length)
    await undo()
    await page.goto('about:blank')
    await page.goto(`${visit.url}/#rates`)
    await page.waitForSelector('.statistics td')
    await page.keyboard.press('Shift')
    const row = await page.waitForSelector('button.currency')
    // The duration of a smooth scroll depends on the machine, so the call is compared.
    const behaviors = await row?.evaluate((button) => {
      const calls: unknown[] = []
      HTMLElement.prototype.scrollIntoView = (options) => {
        calls.push((options as ScrollIntoViewOptions).behavior)
      }
      button.click()
      return calls
    })
    assert.equal(running === 0, motion === 'reduce', `${running} animations`)
    assert.deepEqual(behaviors, [motion === 'reduce' ? 'auto' : 'smooth'])
  })
}

test('a walk through all screens on a phone violates no policy', async () => {
  const visit = await openVisit(browser, app, { language: 'es', viewport: PHONE })
  await startSession(visit, app, 'both')
  for (const screen of ['status', 'rates', 'documents', 'rates'] as const) {
    await openScreen(visit, screen)
    await waitForIdle(visit.page)
  }
  assertClean(visit)
})

test('the page stores language and theme, and a link opens its view', async () => {
  const visit = await openVisit(browser, app, { language: 'es' })
  const { page } = visit
  await startSession(visit, app, 'both')
  await page.goto(`${visit.url}/#rates?on=2019-03-12&pair=EUR/USD&span=5y&amount=15000&source=JPY`)
  await waitForIdle(page)
  await page.click('.language')
  await page.click('[title="Use dark colours"]')
  await page.reload()
  await until(async () => (await page.$eval('html', ({ lang }) => lang)) === 'en')
  await waitForIdle(page)
  const screen = await page.evaluate(() => ({
    theme: document.documentElement.dataset.theme,
    ground: getComputedStyle(document.documentElement).backgroundColor,
    day: document.querySelector('.dollar-day')?.textContent,
    fields: [...document.querySelectorAll<HTMLInputElement>('.dollar .date, .converter .date')].map(
      ({ value }) => value,
    ),
    pair: [...document.querySelectorAll<HTMLSelectElement>('.pair-fields select')].map(({ value }) => value),
    span: document.querySelector('.history input:checked + span')?.textContent,
    read: document.querySelector('.reading')?.textContent,
  }))
  assert.deepEqual(screen, {
    theme: 'dark',
    ground: 'rgb(14, 19, 17)',
    day: 'Tuesday, 12 March 2019',
    fields: ['12/03/2019', '12/03/2019'],
    pair: ['EUR', 'USD', ''],
    span: '5YFive years',
    read: 'Amount read as: 15,000.00 JPYTuesday, 12 March 2019',
  })
  assertClean(visit)
})

test('the narrowest phone shows the whole names of the chosen currencies', async () => {
  const visit = await openVisit(browser, app, { language: 'es', viewport: { ...PHONE, width: 320 } })
  const { page } = visit
  await startSession(visit, app, 'both')
  await page.goto(`${visit.url}/#rates?source=USD&target=EUR&pair=USD/CRC`)
  await waitForIdle(page)
  const fields = await page.evaluate(() => {
    const measured = document.createElement('span')
    document.body.append(measured)
    return [...document.querySelectorAll('.convert-currency select')].map((field) => {
      const { fontFamily, fontSize, fontWeight, paddingLeft, paddingRight } = getComputedStyle(field)
      Object.assign(measured.style, { fontFamily, fontSize, fontWeight, whiteSpace: 'nowrap' })
      const [option] = (field as HTMLSelectElement).selectedOptions
      const text = option?.text ?? ''
      measured.textContent = text
      const space = field.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight)
      return { text, isCut: measured.getBoundingClientRect().width > space }
    })
  })
  assert.deepEqual(fields, [
    { text: 'USD · Dólar estadounidense', isCut: false },
    { text: 'EUR · Euro', isCut: false },
    { text: 'USD · Dólar estadounidense', isCut: false },
    { text: 'CRC · Colón costarricense', isCut: false },
    { text: 'Nada', isCut: false },
  ])
})
