// What comes out of the printer, read back from a PDF of the browser.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/terminal.ts'
import { openFullBox } from './box.ts'
import { enterAs, rest, scrollTo } from './states.ts'
import { openBrowser, visit } from './support.ts'

const run = promisify(execFile)

const browser = await openBrowser()
const box = await openFullBox()

for (const [how, colours, fragment] of [
  ['closed', 'light', '#rates?span=3m'],
  ['closed', 'dark', '#rates?span=3m'],
  ['open', 'light', '#rates?span=3m&table=true'],
] as const) {
  test(`a page with the table ${how} on the screen prints it, from ${colours} colours`, async (t) => {
    const seen = await visit(browser, box, { language: 'es', colours })
    await enterAs(seen, box, 'both')
    await seen.page.goto(`${seen.url}/${fragment}`)
    await rest(seen.page)
    const { points } = await box.json<{ points: { rate_date: string; value: string }[] }>(
      '/api/v1/series/1/history?from=2026-08-21&to=2026-11-21',
    )
    await until(() =>
      seen.page.evaluate(
        (rows) => document.querySelectorAll('.history-table tbody tr').length === rows,
        points.length,
      ),
    )
    const shown = await seen.page.$('.history-table')
    assert.equal(await shown?.isVisible(), how === 'open')
    const file = join(temporaryDirectory(t), 'page.pdf')
    writeFileSync(file, await seen.page.pdf({ format: 'A4', printBackground: true }))
    const { stdout } = await run('pdftotext', ['-layout', file, '-'])
    const rows = stdout.match(/^ *\d{1,2} \p{L}+ \d{4} +\d+,\d\d +\d+,\d\d *$/gmu) ?? []
    assert.equal(rows.length, points.length, stdout)
    for (const { value } of points) assert.ok(stdout.includes(value.replace('.', ',')), `${value} is printed`)
    assert.doesNotMatch(
      stdout,
      /Convertir|Todas las monedas|Tipos de cambio|Excel|Cierres|Exportar/,
      'what is there to be pressed is not',
    )
    await seen.page.emulateMediaType('print')
    const ink = await seen.page.$eval('.history-table td', (cell) => getComputedStyle(cell).color)
    assert.equal(ink, 'rgb(0, 0, 0)')
    assert.equal(
      await seen.page.$eval('html', (root) => getComputedStyle(root).backgroundColor),
      'rgba(0, 0, 0, 0)',
    )
  })
}

test('the months are printed when they were looked at, all columns of them', async (t) => {
  const seen = await visit(browser, box, { language: 'es' })
  await enterAs(seen, box, 'both')
  await seen.page.goto(`${seen.url}/#rates?span=1m&months=EUR/CRC&year=2025`)
  await rest(seen.page)
  await scrollTo('.months')(seen, box)
  await rest(seen.page)
  const file = join(temporaryDirectory(t), 'page.pdf')
  writeFileSync(file, await seen.page.pdf({ format: 'A4' }))
  const { stdout } = await run('pdftotext', ['-layout', file, '-'])
  assert.match(stdout, /Cierres y promedios por mes\s+EUR\/CRC, 2025/)
  assert.doesNotMatch(stdout, /Expresada en|Copiar|Exportar/)
  for (const [stat, column] of [
    ['last', 0],
    ['high', 7],
  ] as const) {
    const type = stat === 'last' ? 'compra' : 'venta'
    const { points } = await box.json<{ points: { value: string }[] }>(
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
