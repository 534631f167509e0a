// A date that is refused has no figure beside it, and data that are missing are named.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'puppeteer-core'
import { loseDays, withinASecond } from '../api/support.ts'
import { enter, openBrowser, openPageApp, post, says, visit } from './support.ts'

const browser = await openBrowser()
const app = await openPageApp()
const FIGURES = '.dollar :is(.side-value, .change, .dollar-facts), .result, .currency-value'
const REFUSED = {
  en: { future: /May.*2027.* is in the future: today is /, before: /begins on/, unreadable: /complete date/ },
  es: { future: /2027 está en el futuro: hoy es /, before: /comienza el/, unreadable: /fecha completa/ },
}

for (const language of ['en', 'es'] as const) {
  test(`the page shows no figure beside a refused date, and asks for none (${language})`, async () => {
    const seen = await visit(browser, app, { language })
    const { page } = seen
    await enter(seen, app.key)
    await page.waitForSelector('.currency-value')
    for (const [typed, kind] of [
      ['2027-05-05', 'future'],
      ['1982-12-31', 'before'],
      ['', 'unreadable'],
    ] as const) {
      const before = seen.requests.length
      await typeDay(page, typed)
      await says(seen, '.dollar .notice', REFUSED[language][kind])
      assert.equal(await page.$(FIGURES), null, typed)
      assert.equal(
        await page.$eval('.dollar [type=date]', (field) => (field as HTMLInputElement).value),
        typed,
      )
      assert.deepEqual(
        seen.requests.slice(before).filter((one) => /latest|convert|\/rates\?/.test(one)),
        [],
      )
    }
    await typeDay(page, '2026-11-21') // tomorrow
    await page.waitForSelector('.dollar .side-value')
    await page.goto(`${seen.url}/#rates?on=2030-01-01`)
    await page.reload()
    await page.waitForSelector('.dollar .notice')
    assert.equal(await page.$(FIGURES), null)
    assert.deepEqual(
      seen.requests.filter((one) => /api.*on=2030/.test(one)),
      [],
    )
    await page.browserContext().close()
  })
}

test('histories name the days that were never synchronized, and the list of currencies what is left out', async () => {
  const holed = await openPageApp()
  await loseDays(holed, { from: '2026-10-01', to: '2026-10-05' })
  await loseDays(holed, { from: '2026-11-01', to: '2026-11-01' })
  const history = '/api/v1/series/1/history?from=2026-10-01'
  const holesOf = async () => (await holed.json<{ holes?: unknown[] }>(history)).holes?.length
  await withinASecond(async () => (await holesOf()) === 2, 'the days are lost')
  const seen = await visit(browser, holed)
  const { page } = seen
  await page.setRequestInterception(true)
  page.on('request', async (request) => {
    const { pathname } = new URL(request.url())
    if (!pathname.endsWith('/rates')) return request.continue()
    const answer = await holed.get(request.url().slice(seen.url.length))
    const headers = { 'X-Left-Out': '1' } // no day of this store lacks one of many
    const body = await answer.text()
    await request.respond({ status: 200, contentType: 'application/json', headers, body })
  })
  await enter(seen, holed.key)
  await says(seen, '.history .missing-days', /and 2 more periods/)
  await says(seen, '.left-out', /\w{3}\/\w{3}/)
  await page.$eval('.months', (part) => part.scrollIntoView())
  await says(seen, '.months .missing-days', /Oct.* and one more period/)
  await page.browserContext().close()
})

test('an empty box promises a sync only if the server has one planned', async () => {
  const empty = await openPageApp({ backfillFrom: '2026-11-20' })
  for (const [next_sync, words] of [
    [null, /Automatic sync is off/],
    ['2026-11-21T11:00:00Z', /The next automatic sync is on/],
  ] as const) {
    const seen = await visit(browser, empty)
    const { page } = seen
    await page.setRequestInterception(true)
    page.on('request', (request) => {
      const { pathname } = new URL(request.url())
      const answer = { '/api/v1/series': [], '/api/v1/status': { providers: [{ next_sync }] } }[pathname]
      if (!answer) return request.continue()
      return request.respond({ contentType: 'application/json', body: JSON.stringify(answer) })
    })
    await enter(seen, empty.key)
    await says(seen, '.door-card', words)
    assert.doesNotMatch(await page.$eval('.door-card', (card) => card.textContent ?? ''), /dawn/)
    await page.browserContext().close()
  }
})

test('each row of documents names its company and agent before a company is chosen', async () => {
  await post(app, [{ name: 'a.txt', mimetype: 'text/plain', content: 'a' }])
  const seen = await visit(browser, app, { path: '/#documents' })
  await enter(seen, app.token)
  await says(seen, '.document-of', /^Café Britt · Facturas$/)
  await seen.page.browserContext().close()
})

/** Sets the field as its own calendar does. */
async function typeDay(page: Page, day: string): Promise<void> {
  await page.$eval(
    '.dollar [type=date]',
    (field, day) => {
      const input = field as HTMLInputElement
      input.value = day
      input.dispatchEvent(new Event('input', { bubbles: true }))
    },
    day,
  )
}
