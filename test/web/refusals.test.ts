// Rejected dates show no figure, and missing data are named.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'puppeteer-core'
import { loseDays, withinASecond } from '../api/support.ts'
import { createDocuments, enterSecret, openBrowser, openPageApp, openVisit, waitForText } from './support.ts'

const browser = await openBrowser()
const app = await openPageApp()
const FIGURES = '.dollar :is(.side-value, .change, .dollar-facts), .result, .currency-value'
const REFUSED = {
  en: { future: /May.*2027.* is in the future: today is /, before: /begins on/, unreadable: /complete date/ },
  es: { future: /2027 está en el futuro: hoy es /, before: /comienza el/, unreadable: /fecha completa/ },
}

for (const language of ['en', 'es'] as const) {
  test(`the page shows and requests no figure for a rejected date (${language})`, async () => {
    const visit = await openVisit(browser, app, { language })
    const { page } = visit
    await enterSecret(visit, app.key)
    await page.waitForSelector('.currency-value')
    for (const [day, kind] of [
      ['2027-05-05', 'future'],
      ['1982-12-31', 'before'],
      ['', 'unreadable'],
    ] as const) {
      const before = visit.requests.length
      await typeDay(page, day)
      await waitForText(visit, '.dollar .notice', REFUSED[language][kind])
      assert.equal(await page.$(FIGURES), null, day)
      assert.equal(await page.$eval('.dollar [type=date]', (field) => (field as HTMLInputElement).value), day)
      assert.deepEqual(
        visit.requests.slice(before).filter((one) => /latest|convert|\/rates\?/.test(one)),
        [],
      )
    }
    await typeDay(page, '2026-11-21') // tomorrow
    await page.waitForSelector('.dollar .side-value')
    await page.goto(`${visit.url}/#rates?on=2030-01-01`)
    await page.reload()
    await page.waitForSelector('.dollar .notice')
    assert.equal(await page.$(FIGURES), null)
    assert.deepEqual(
      visit.requests.filter((one) => /api.*on=2030/.test(one)),
      [],
    )
    await page.browserContext().close()
  })
}

test('histories name the days that were never synchronized, and the list of currencies the missing series', async () => {
  const holedApp = await openPageApp()
  await loseDays(holedApp, { from: '2026-10-01', to: '2026-10-05' })
  await loseDays(holedApp, { from: '2026-11-01', to: '2026-11-01' })
  const history = '/api/v1/series/1/history?from=2026-10-01'
  const countHoles = async () => (await holedApp.json<{ holes?: unknown[] }>(history)).holes?.length
  await withinASecond(async () => (await countHoles()) === 2, 'the days are lost')
  const visit = await openVisit(browser, holedApp)
  const { page } = visit
  await page.setRequestInterception(true)
  page.on('request', async (request) => {
    const { pathname } = new URL(request.url())
    if (!pathname.endsWith('/rates')) return request.continue()
    const answer = await holedApp.get(request.url().slice(visit.url.length))
    const headers = { 'X-Left-Out': '1' } // in this store all series have the same days
    const body = await answer.text()
    await request.respond({ status: 200, contentType: 'application/json', headers, body })
  })
  await enterSecret(visit, holedApp.key)
  await waitForText(visit, '.history .missing-days', /and 2 more periods/)
  await waitForText(visit, '.left-out', /\w{3}\/\w{3}/)
  await page.$eval('.months', (part) => part.scrollIntoView())
  await waitForText(visit, '.months .missing-days', /Oct.* and one more period/)
  await page.browserContext().close()
})

test('the page of an empty database announces a sync only if the server has scheduled one', async () => {
  const empty = await openPageApp({ backfillFrom: '2026-11-20' })
  for (const [next_sync, words] of [
    [null, /Automatic sync is off/],
    ['2026-11-21T11:00:00Z', /The next automatic sync is on/],
  ] as const) {
    const visit = await openVisit(browser, empty)
    const { page } = visit
    await page.setRequestInterception(true)
    page.on('request', (request) => {
      const { pathname } = new URL(request.url())
      const answer = { '/api/v1/series': [], '/api/v1/status': { providers: [{ next_sync }] } }[pathname]
      if (!answer) return request.continue()
      return request.respond({ contentType: 'application/json', body: JSON.stringify(answer) })
    })
    await enterSecret(visit, empty.key)
    await waitForText(visit, '.door-card', words)
    assert.doesNotMatch(await page.$eval('.door-card', (card) => card.textContent ?? ''), /dawn/)
    await page.browserContext().close()
  }
})

test('each row of documents names its company and agent before a company is selected', async () => {
  await createDocuments(app, [{ name: 'a.txt', mimetype: 'text/plain', content: 'a' }])
  const visit = await openVisit(browser, app, { path: '/#documents' })
  await enterSecret(visit, app.token)
  await waitForText(visit, '.document-of', /^Café Britt · Facturas$/)
  await visit.page.browserContext().close()
})

/** Sets the field as the calendar of the browser does. */
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
