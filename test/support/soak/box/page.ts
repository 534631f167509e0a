// Tab of a browser that stays open for the whole soak. A client opens days in it, and sometimes loads the page again.
// The shown dollar has the digits of the bank, and the console has no error.

import type { TestContext } from 'node:test'
import { launch, type Page } from 'puppeteer-core'
import { inventedValue } from '../../../../src/demo/invented-rates.ts'
import { addDays, dayNumber } from '../../../../src/values/dates.ts'
import { plainDigits } from '../../rates/shape-questions.ts'
import { count, fault, rest, type Soak } from '../world.ts'

export type PageReader = { key: string; from: string; to: string }

const { CAMBISTA_CHROMIUM: CHROMIUM = '/usr/bin/chromium' } = process.env
const SIDES = `[...document.querySelectorAll('.side-value')]
  .map((one) => one.textContent.match(/\\d+\\.?\\d*?(?=0*(?:\\D|$))/)?.[0].replace(/\\.$/, '')).join(' ')`
const PATIENCE_MS = 60_000

/** Reads the page until the soak is over. */
export async function readPage(
  t: Pick<TestContext, 'after'>,
  soak: Soak,
  { key, from, to }: PageReader,
): Promise<void> {
  const { random } = soak
  const { page, errors } = await openPage(t)
  page.setDefaultTimeout(PATIENCE_MS)
  await page.goto(`${soak.urls()[0]}/`)
  const field = await page.waitForSelector('form.secret [type=password]')
  await field?.type(key)
  await page.click('form.secret [type=submit]')
  await page.waitForSelector('.side-value')
  while (!soak.isOver) {
    const day = addDays(from, random.int(0, dayNumber(to) - dayNumber(from)))
    await page.evaluate(`location.hash = 'rates?on=${day}'`)
    if (random.chance(0.2)) await page.reload().then(() => count(soak, 'page loaded again'))
    await compareSides(soak, page, day)
    await rest(soak, 100, 500)
  }
  if (errors.size > 0) fault(soak, `page: ${[...errors]}`)
}

async function openPage(t: Pick<TestContext, 'after'>): Promise<{ page: Page; errors: Set<string> }> {
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [] // the sandbox does not run as root
  const browser = await launch({
    ...{ executablePath: CHROMIUM, pipe: true, protocolTimeout: 300_000 }, // the pipe ends the browser with this process
    args: [...asRoot, '--disable-dev-shm-usage', '--lang=en'],
  })
  t.after(() => browser.close())
  const page = await browser.newPage()
  const errors = new Set<string>()
  page.on('pageerror', (error) => errors.add(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 404 /.test(message.text())) errors.add(message.text())
  })
  return { page, errors }
}

/** Waits until both sides are those of the bank. */
async function compareSides(soak: Soak, page: Page, day: string): Promise<void> {
  const expected = ['317', '318'].map((code) => plainDigits(inventedValue(code, day))).join(' ')
  try {
    await page.waitForFunction(`${SIDES} === ${JSON.stringify(expected)}`)
    count(soak, 'days of the page compared')
  } catch {
    fault(soak, `page of ${day}: ${await page.evaluate(SIDES)}, not ${expected}`)
  }
}
