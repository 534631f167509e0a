// Prints the page as PDF and reads its text.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../support/terminal.ts'
import { openFullApp } from './apps.ts'
import { printedText } from './paper.ts'
import { startSession, waitForIdle } from './states.ts'
import { openBrowser, openVisit } from './support.ts'

const browser = await openBrowser()
const app = await openFullApp()

for (const [state, colours, fragment] of [
  ['closed', 'light', '#rates?span=3m'],
  ['closed', 'dark', '#rates?span=3m'],
  ['open', 'light', '#rates?span=3m&table=true'],
] as const) {
  test(`a page in ${colours} colours prints the table of the history that is ${state} on the screen`, async (t) => {
    const visit = await openVisit(browser, app, { language: 'es', colours })
    await startSession(visit, app, 'both')
    await visit.page.goto(`${visit.url}/${fragment}`)
    await waitForIdle(visit.page)
    const { points } = await app.json<{ points: { rate_date: string; value: string }[] }>(
      '/api/v1/series/1/history?from=2026-08-21&to=2026-11-21',
    )
    await until(() =>
      visit.page.evaluate(
        (rows) => document.querySelectorAll('.history-table tbody tr').length === rows,
        points.length,
      ),
    )
    assert.equal(await visit.page.$eval('.letterhead', (one) => one.checkVisibility()), false)
    const screen = await visit.page.$('.history-table')
    assert.equal(await screen?.isVisible(), state === 'open')
    const text = await printedText(t, visit.page)
    const rows = text.match(/^ *\d\d\/\d\d\/\d{4} +\d+,\d\d +\d+,\d\d *$/gm) ?? []
    assert.equal(rows.length, points.length, text)
    assert.match(text, /cambista +Impreso el 20\/11\/2026 a las \d\d:\d\d, hora de Costa Rica/)
    assert.match(text, /USD\/CRC venta/, 'the legs of the converter')
    assert.match(text, /http:\/\/\S+\/#rates\?span=3m/)
    assert.match(text, /^ +Página 1 de \d+$/m, 'the pages are numbered')
    for (const { value } of points) assert.ok(text.includes(value.replace('.', ',')), `${value} is printed`)
    assert.doesNotMatch(
      text,
      /Todas las monedas|Compra o venta|Descargar|Excel|Cierres|Exportar|Copiar|Imprimir/,
      'controls are not printed',
    )
    await visit.page.emulateMediaType('print')
    const ink = await visit.page.$eval('.history-table td', (cell) => getComputedStyle(cell).color)
    assert.equal(ink, 'rgb(0, 0, 0)')
    assert.equal(
      await visit.page.$eval('html', (root) => getComputedStyle(root).backgroundColor),
      'rgba(0, 0, 0, 0)',
    )
  })
}

test('the view of months prints all columns of its table', async (t) => {
  const visit = await openVisit(browser, app, { language: 'es' })
  await startSession(visit, app, 'both')
  await visit.page.goto(`${visit.url}/#rates/closes?months=EUR/CRC&year=2025`)
  await visit.page.waitForSelector('.months .data')
  await waitForIdle(visit.page)
  const text = await printedText(t, visit.page)
  assert.match(text, /Cierres y promedios\s+Euro en colones \(EUR\/CRC\), 2025, por mes/)
  assert.match(text, /Fuente: BCCR, indicadores 317 y 318 y paridad EUR\/USD\./)
  assert.doesNotMatch(text, /Copiar|Exportar|Más decimales|Trimestre/)
  const printed = [...text.matchAll(/^ *\p{Lu}\p{Ll}+ +\d\d\/\d\d((?: +\d+,\d\d){8}) *$/gmu)].map(
    ([, cells = '']) => cells.trim().split(/ +/),
  )
  const { points } = await app.json<{ points: { last: { value: string } }[] }>(
    '/api/v1/history?base=EUR&quote=CRC&type=compra&from=2025-01-01&to=2025-12-31&every=month&stat=all',
  )
  assert.equal(printed.length, 12, text)
  for (const [index, { last }] of points.entries())
    assert.ok(Math.abs(Number(printed[index]?.[0]?.replace(',', '.')) - Number(last.value)) <= 0.005)
})
