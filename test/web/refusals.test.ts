// Date fields: forms, keys, calendar. Refused dates show no figure, and missing data are named.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'puppeteer-core'
import { loseDays } from '../api/support.ts'
import { runJson } from '../support/company.ts'
import { until } from '../support/terminal.ts'
import { fill, waitForIdle } from './states.ts'
import { createDocuments, enterSecret, openEngine, openPageApp, openVisit, waitForText } from './support.ts'

const browser = await openEngine()
const app = await openPageApp()
const DAY = '.dollar .date'
const FIGURES =
  '.dollar :is(.side-value, .dollar-facts strong, .trend strong), .converter .figure, .currency-value'
const REFUSED = {
  en: {
    '31/02/2027': '31/02/2027 does not exist. Back to 20/11/2026',
    '5/5/1982': 'There are no values before 01/01/1983. Back to 20/11/2026',
    '05/05/2027': 'There is no rate for 05/05/2027 yet; the last is of 21/11/2026. Back to 20/11/2026',
    '22 nov 2026': 'There is no rate for 22/11/2026 yet; the last is of 21/11/2026. Back to 20/11/2026',
    'next week': 'Write the date like this: 20/11/2026. Back to 20/11/2026',
  },
  es: {
    '31/02/2027': 'El 31/02/2027 no existe. Volver al 20/11/2026',
    '5/5/1982': 'No hay valores antes del 01/01/1983. Volver al 20/11/2026',
    '05/05/2027':
      'Todavía no hay tipo de cambio para el 05/05/2027; el último es del 21/11/2026. Volver al 20/11/2026',
    '22 nov 2026':
      'Todavía no hay tipo de cambio para el 22/11/2026; el último es del 21/11/2026. Volver al 20/11/2026',
    'la semana pasada': 'Escriba la fecha así: 20/11/2026. Volver al 20/11/2026',
  },
}
const RATES = /latest\?on|convert|\/rates\?|\/rates$/

for (const language of ['en', 'es'] as const) {
  test(`the page shows and requests no figure for a refused date (${language})`, async () => {
    const visit = await openVisit(browser, app, { language })
    const { page } = visit
    await enterSecret(visit, app.key)
    await page.waitForSelector('.statistics td')
    await page.keyboard.press('Shift') // renders the table of currencies
    await page.waitForSelector('.currency-value')
    await waitForIdle(page)
    assert.equal(await page.$('input[type=date]'), null)
    const todayFigures = await readTexts(page, '.dollar .side-value')
    for (const [text, sentence] of Object.entries(REFUSED[language])) {
      for (const card of ['.dollar', '.converter']) {
        const before = visit.requests.length
        await typeDate(page, `${card} .date`, text)
        await page.waitForSelector(`${card} .date-error`)
        assert.deepEqual(await readTexts(page, `${card} .date-error`), [sentence])
        const invalid = await page.$eval(`${card} .date`, (field) => [
          (field as HTMLInputElement).value,
          field.getAttribute('aria-invalid'),
        ])
        assert.deepEqual(invalid, [text, 'true'])
        const figures = card === '.dollar' ? '.dollar .side-value' : '.outcome .figure'
        assert.deepEqual(new Set(await readTexts(page, figures)), new Set(['—']), `${card} ${text}`)
        assert.equal(await page.$(`${card} :is(.dollar-facts strong, .trend strong, .legs, .digits)`), null)
        assert.deepEqual(
          visit.requests.slice(before).filter((one) => RATES.test(one)),
          [],
        )
        await page.click(`${card} .date-error button`)
        await waitForIdle(page)
        assert.equal(
          await page.$eval(`${card} .date`, (field) => (field as HTMLInputElement).value),
          '20/11/2026',
        )
      }
    }
    assert.deepEqual(await readTexts(page, '.dollar .side-value'), todayFigures)
    await page.goto(`${visit.url}/#rates?on=2030-01-01&from=2025-01-01&to=2030-01-01`)
    await page.reload()
    await page.waitForSelector('.dollar .date-error')
    await page.waitForSelector('.history .date-error')
    assert.deepEqual(
      (await readTexts(page, FIGURES)).filter((text) => /\d/.test(text) && !/1.000/.test(text)),
      [],
    )
    assert.deepEqual(
      visit.requests.filter((one) => /\/api.*(2030|2027|2026-11-2[2-9])/.test(one)),
      [],
    )
    await page.browserContext().close()
  })
}

test('tomorrow is a day of the page once its rate is published', async () => {
  const late = await openPageApp({ now: '2026-11-19T18:00:00Z' })
  for (const [now, tomorrow, isPublished] of [
    ['2026-11-19T18:00:00Z', '20/11/2026', true],
    ['2026-11-20T18:00:00Z', '21/11/2026', false], // without a sync
  ] as const) {
    late.clock.now = new Date(now)
    const visit = await openVisit(browser, late, { language: 'es' })
    const { page } = visit
    await enterSecret(visit, late.key)
    await waitForIdle(page)
    await typeDate(page, DAY, tomorrow)
    await waitForIdle(page)
    assert.deepEqual(
      await readTexts(page, '.dollar .date-error'),
      isPublished
        ? []
        : [
            'Todavía no hay tipo de cambio para el 21/11/2026; el último es del 20/11/2026. Volver al 20/11/2026',
          ],
    )
    assert.equal(
      await page.$eval('.dollar [aria-label="Día siguiente"]', (one) => (one as HTMLButtonElement).disabled),
      true,
    )
  }
})

test('each form of a date is read, and the keys move by days, months and years', async () => {
  const visit = await openVisit(browser, app, { language: 'es' })
  const { page } = visit
  await enterSecret(visit, app.key)
  await waitForIdle(page)
  const value = () => page.$eval(DAY, (field) => (field as HTMLInputElement).value)
  const forms = [
    ...['12/3/2019', '12-3-19', '12.03.2019', '12032019', '12 mar 2019', '12 de marzo de 2019', '2019-03-12'],
  ]
  for (const form of forms) {
    await typeDate(page, DAY, 'hoy')
    assert.equal(await value(), '20/11/2026')
    await typeDate(page, DAY, form)
    assert.equal(await value(), '12/03/2019', form)
    assert.match((await readTexts(page, '.dollar-day'))[0] ?? '', /Martes, 12 de marzo de 2019/)
  }
  await typeDate(page, DAY, 'ayer')
  assert.equal(await value(), '19/11/2026')
  const moves = [
    [['ArrowDown'], '18/11/2026'],
    [['ArrowUp', 'ArrowUp'], '20/11/2026'],
    [['ArrowUp', 'ArrowUp', 'PageUp'], '21/11/2026'], // the second and third lead out of the range
    [['PageDown'], '21/10/2026'],
    [['PageUp'], '21/11/2026'],
  ] as const
  for (const [keys, day] of moves) {
    for (const key of keys) await page.keyboard.press(key)
    assert.equal(await value(), day, String(keys))
  }
  await page.keyboard.down('Shift')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.up('Shift')
  assert.equal(await value(), '21/11/2025')
})

test('the calendar works by keyboard, and returns the focus', async () => {
  const visit = await openVisit(browser, app, { language: 'es' })
  const { page } = visit
  await enterSecret(visit, app.key)
  await waitForIdle(page)
  const focusedLabel = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
  await page.focus('.dollar .calendar-button')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.calendar')
  assert.equal(await focusedLabel(), 'Viernes, 20 de noviembre de 2026')
  const weekdays = await readTexts(page, '.days th')
  assert.deepEqual(weekdays, ['lu', 'ma', 'mi', 'ju', 'vi', 'sá', 'do'])
  assert.equal((await page.$$('.day:disabled')).length, 9, 'the days after tomorrow')
  for (const [key, label] of [
    ['ArrowRight', 'Sábado, 21 de noviembre de 2026'],
    ['ArrowRight', 'Sábado, 21 de noviembre de 2026'],
    ['Home', 'Lunes, 16 de noviembre de 2026'],
    ['ArrowUp', 'Lunes, 9 de noviembre de 2026'],
    ['ArrowLeft', 'Domingo, 8 de noviembre de 2026'],
    ['PageUp', 'Jueves, 8 de octubre de 2026'],
    ['End', 'Domingo, 11 de octubre de 2026'],
  ] as const) {
    await page.keyboard.press(key)
    assert.equal(await focusedLabel(), label, key)
  }
  await page.keyboard.press('Escape')
  assert.equal(await page.$('.calendar'), null)
  assert.equal(await focusedLabel(), 'Calendario: Fecha')
  assert.deepEqual(await readTexts(page, '.dollar-day'), ['Viernes, 20 de noviembre de 2026'])
  await page.keyboard.press('Enter')
  await page.waitForSelector('.calendar')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  assert.equal(await page.$('.calendar'), null)
  assert.equal(await page.$eval(DAY, (field) => (field as HTMLInputElement).value), '13/11/2026')
  await page.click('.converter .calendar-button')
  await page.waitForSelector('.calendar')
  await page.click('.calendar-foot button:last-child')
  assert.equal(
    await page.$eval('.converter .date', (field) => (field as HTMLInputElement).value),
    '31/10/2026',
  )
  assert.match(page.url(), /day=2026-11-13&on=2026-10-31/)
})

test('histories name the days that were never synchronized, and the table of currencies those that are missing', async () => {
  const holedApp = await openPageApp()
  await loseDays(holedApp, { from: '2026-10-01', to: '2026-10-05' })
  await loseDays(holedApp, { from: '2026-11-01', to: '2026-11-01' })
  const history = '/api/v1/series/1/history?from=2026-10-01'
  const countHoles = async () => (await holedApp.json<{ holes?: unknown[] }>(history)).holes?.length
  await until(async () => (await countHoles()) === 2)
  const visit = await openVisit(browser, holedApp)
  const { page } = visit
  await enterSecret(visit, holedApp.key)
  await waitForText(visit, '.history .missing-days', /and 2 more periods/)
  await page.evaluate(() => {
    location.hash = 'rates?day=2026-11-01'
  })
  await page.keyboard.press('Shift')
  await waitForText(visit, '.left-out', /: USD, EUR, CAD, /)
  await page.click('.view-links a[href^="#rates/closes"]')
  await waitForText(visit, '.months .missing-days', /01\/10\/2026 to 05\/10\/2026 and one more period/)
  await page.browserContext().close()
})

test('the page of an empty database has no promise that the state of the server denies', async () => {
  const empty = await openPageApp({ backfillFrom: '2026-11-20' })
  const next_sync = '2026-11-21T11:00:00Z'
  for (const [status, words, command] of [
    [
      { scheduler: { enabled: false, running: false }, providers: [{ next_sync: null }], runs: [] },
      'La sincronización automática está desactivada: avise a quien administra el servidor.',
      true,
    ],
    [
      { scheduler: { enabled: true, running: true }, providers: [{ next_sync }], runs: [] },
      'El servidor está recibiendo los datos del BCCR. La próxima consulta es a las 05:00.',
      false,
    ],
    [
      {
        ...{ scheduler: { enabled: true, running: true }, providers: [{ next_sync }] },
        runs: [{ status: 'error' }],
      },
      'La última sincronización falló. La próxima consulta es a las 05:00.',
      false,
    ],
  ] as const) {
    const visit = await openVisit(browser, empty, { language: 'es' })
    const { page } = visit
    await page.setRequestInterception(true)
    page.on('request', (request) => {
      const { pathname } = new URL(request.url())
      const answer = { '/api/v1/series': [], '/api/v1/status': status }[pathname]
      if (!answer) return request.continue()
      return request.respond({ contentType: 'application/json', body: JSON.stringify(answer) })
    })
    await enterSecret(visit, empty.key)
    await page.waitForSelector('.door-card h1 + p:not([role])')
    assert.deepEqual(await readTexts(page, '.door-card h1 + p'), [words])
    assert.equal((await page.$('.door-card .command')) !== null, command)
    await page.browserContext().close()
  }
})

test('each row of documents names its agent, and its company if the token has several', async () => {
  await createDocuments(app, [{ name: 'a.txt', mimetype: 'text/plain', content: 'a' }])
  const visit = await openVisit(browser, app, { path: '/#documents' })
  await enterSecret(visit, app.token)
  await waitForText(visit, '.document-of', /^Facturas$/)
  await runJson(app.dataDir, 'company', 'create', '--name', 'Otra', '--code', 'OTRA', '--id', '8')
  await visit.page.reload()
  await waitForText(visit, '.document-of', /^Café Britt · Facturas$/)
  await visit.page.browserContext().close()
})

async function typeDate(page: Page, selector: string, text: string): Promise<void> {
  await fill(page, selector, text)
  await page.keyboard.press('Enter')
}

/** Texts of elements, without text for screen readers only. */
function readTexts(page: Page, selector: string): Promise<string[]> {
  return page.$$eval(selector, (elements) =>
    elements.map((element) => {
      const copy = element.cloneNode(true) as Element
      for (const unseen of copy.querySelectorAll('.unseen')) unseen.remove()
      return copy.textContent?.trim() ?? ''
    }),
  )
}
