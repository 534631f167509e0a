// Prints the page as PDF and reads its text.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/terminal.ts'
import { openFullApp } from './apps.ts'
import { startSession, waitForIdle } from './states.ts'
import { openBrowser, openVisit } from './support.ts'

const run = promisify(execFile)

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
    const screen = await visit.page.$('.history-table')
    assert.equal(await screen?.isVisible(), state === 'open')
    const file = join(temporaryDirectory(t), 'page.pdf')
    writeFileSync(file, await visit.page.pdf({ format: 'A4', printBackground: true }))
    const { stdout } = await run('pdftotext', ['-layout', file, '-'])
    const rows = stdout.match(/^ *\d\d\/\d\d\/\d{4} +\d+,\d\d +\d+,\d\d *$/gm) ?? []
    assert.equal(rows.length, points.length, stdout)
    for (const { value } of points) assert.ok(stdout.includes(value.replace('.', ',')), `${value} is printed`)
    assert.doesNotMatch(
      stdout,
      /Convertir|Todas las monedas|Tipos de cambio|Excel|Cierres|Exportar|Copiar|Imprimir/,
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
  const file = join(temporaryDirectory(t), 'page.pdf')
  writeFileSync(file, await visit.page.pdf({ format: 'A4' }))
  const { stdout } = await run('pdftotext', ['-layout', file, '-'])
  assert.match(stdout, /Cierres y promedios\s+EUR\/CRC, 2025/)
  assert.doesNotMatch(stdout, /Colón|Copiar|Exportar/)
  for (const [stat, column] of [
    ['last', 0],
    ['high', 7],
  ] as const) {
    const type = stat === 'last' ? 'compra' : 'venta'
    const { points } = await app.json<{ points: { value: string }[] }>(
      `/api/v1/history?base=EUR&quote=CRC&type=${type}&from=2025-01-01&to=2025-12-31&every=month&stat=${stat}`,
    )
    const printed = [...stdout.matchAll(/^ *\p{Lu}\p{Ll}+((?: +\d+,\d+){8}) *$/gmu)].map(
      ([, cells = '']) => cells.trim().split(/ +/)[column],
    )
    assert.deepEqual(
      printed,
      points.map(({ value }) => value.replace('.', ',')),
    )
  }
})
