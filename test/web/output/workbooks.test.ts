// Workbooks of the page in LibreOffice: figures have the decimals of the screen, and paper one readable page.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'
import { openFullApp } from '../apps.ts'
import { startSession, waitForIdle } from '../states.ts'
import {
  chooseFile,
  listDownloads,
  openEngine,
  openVisit,
  setDownloadFolder,
  type Visit,
} from '../support.ts'
import { openInCalc } from './calc.ts'

const MIN_HEIGHT = 8 // points of a line, in a font that is a third wider than Excel's
const POSITIONS = [
  ['Cliente Distribuidora Pacífico, factura 118', 'asset', '1250', 'USD', '2026-09-03'],
  ['Proveedor Kyoto', 'liability', '184000', 'JPY', '2026-10-12'],
  ['Préstamo Banco de Costa Rica', 'liability', '25000.5', 'USD', '2026-08-31'],
  ['Anticipo a Ferretería El Roble', 'asset', '312.4', 'EUR', '2026-10-07'],
  ['Cuenta en córdobas', 'asset', '98000', 'NIO', '2026-09-30'],
  ['Nota de crédito 7', 'asset', '-150', 'USD', '2026-10-14'],
].map(([detail, type, balance, currency, day]) => ({ detail, type, balance, currency, day }))

const browser = await openEngine()
const app = await openFullApp()

async function show(fragment: string): Promise<Visit> {
  const visit = await openVisit(browser, app, {
    prepare: (page) =>
      page.evaluateOnNewDocument((positions) => {
        localStorage.setItem('cambista-positions', positions)
      }, JSON.stringify(POSITIONS)),
  })
  await startSession(visit, app, 'key')
  await visit.page.goto(`${visit.url}/${fragment}`)
  await waitForIdle(visit.page)
  return visit
}

async function saveWorkbook(t: TestContext, visit: Visit, selector: string): Promise<string> {
  const folder = temporaryDirectory(t)
  await setDownloadFolder(visit, folder)
  await chooseFile(visit, selector, 'excel')
  await until(() => listDownloads(folder).length === 1)
  return join(folder, listDownloads(folder)[0] ?? '')
}

/** Figures of the first sheet as they are shown, by row. */
async function shownFigures(t: TestContext, file: string): Promise<string[][]> {
  const [sheet = ''] = await openInCalc(t, 'fods', [file])
  const [, first = ''] = readFileSync(sheet, 'utf8').split('<table:table ')
  return first.split('<table:table-row ').flatMap((row) => {
    const cells = row.matchAll(/office:value-type="float"[^>]*>\s*<text:p>([^<]*)/g)
    const figures = [...cells].map(([, text = '']) => text)
    return figures.length > 0 ? [figures] : []
  })
}

function screenFigures({ page }: Visit, rows: string, cells: string): Promise<string[][]> {
  return page.$$eval(
    rows,
    (all, cells) =>
      all.map((row) =>
        [...row.querySelectorAll(cells)].flatMap((cell) => {
          const [figure = ''] = (cell.firstChild?.textContent ?? '').split(/\s/)
          return /^\d[\d,.]*$/.test(figure) ? [figure] : []
        }),
      ),
    cells,
  )
}

test('a workbook of currencies has all rows, and each figure as the table has it', async (t) => {
  const visit = await show('#rates')
  const { page } = visit
  await page.keyboard.press('Shift') // renders the table of currencies
  await page.waitForSelector('.currency-change .change-up')
  assert.equal(await page.$$eval('.currency-table tbody tr', (rows) => rows.length), 10)
  const file = await saveWorkbook(t, visit, '.currencies')
  await page.click('.row-count .link')
  await page.waitForSelector('.currency-table tr:nth-child(40)')
  const screen = await page.$$eval('.currency-table tbody tr', (rows) =>
    rows.map((row) =>
      ['buy', 'sell', 'change', 'value'].flatMap((key) => {
        const text = row.querySelector(`.currency-${key}`)?.textContent ?? ''
        const [figure = ''] = text.split(' · ').slice(-1)
        return /\d/.test(figure) ? [figure.replace(/[+\s%]/g, '')] : []
      }),
    ),
  )
  assert.ok(screen.length > 40)
  assert.deepEqual(await shownFigures(t, file), screen)
})

for (const [pair, decimals] of [
  ['VND/CRC', /^0\.0\d{4,6}$/],
  ['JPY/CRC', /^[34]\.\d{2,5}$/],
  ['EUR/CRC', /^\d{3}\.\d\d$/],
] as const) {
  test(`a workbook of closes of ${pair} has the decimals of the screen`, async (t) => {
    const visit = await show(`#rates/closes?months=${pair}&year=2026`)
    await visit.page.waitForSelector('.closes tbody .last, .closes tbody td.number')
    const screen = await screenFigures(visit, '.closes tbody tr', 'td.number:not(.day-column)')
    const rows = screen.filter((row) => row.length > 0)
    const figures = (await shownFigures(t, await saveWorkbook(t, visit, '.months'))).slice(0, rows.length)
    assert.deepEqual(figures, rows)
    for (const figure of figures.flat()) assert.match(figure, decimals)
  })
}

test('a workbook of a cross has six digits, and its index two decimals', async (t) => {
  const visit = await show('#rates?pair=EUR/CRC&compare=JPY&span=1m')
  await visit.page.waitForSelector('.key-other')
  await waitForIdle(visit.page)
  const rows = await shownFigures(t, await saveWorkbook(t, visit, '.history-tools'))
  assert.ok(rows.length > 15)
  for (const [euro = '', index = '', yen = '', other = ''] of rows) {
    assert.match(euro, /^\d{3}\.\d\d$/)
    assert.match(yen, /^[34]\.\d{2,5}$/)
    for (const one of [index, other]) assert.match(one, /^\d{2,3}\.\d\d$/)
  }
})

test('the differential prints one landscape page without its sources, at a readable size', async (t) => {
  const visit = await show('#rates/differential?closing=2026-10-31')
  await visit.page.waitForSelector('.positions .download .button:enabled')
  const file = await saveWorkbook(t, visit, '.positions')
  const [pdf = ''] = await openInCalc(t, 'pdf', [file])
  const info = execFileSync('pdfinfo', [pdf], { encoding: 'utf8' })
  assert.match(info, /Pages: +1\n/)
  assert.match(info, /Page size: +792 x 612/)
  const words = execFileSync('pdftotext', ['-bbox', pdf, '-'], { encoding: 'utf8' })
  const heights = [
    ...words.matchAll(/yMin="([\d.]+)" xMax="[\d.]+" yMax="([\d.]+)">(1,250\.00|Kyoto)</g),
  ].map(([, top, end]) => Number(end) - Number(top))
  assert.equal(heights.length, 2)
  for (const height of heights) assert.ok(height > MIN_HEIGHT, `${height} points`)
  for (const { detail } of POSITIONS)
    for (const word of detail?.split(' ') ?? []) assert.ok(words.includes(word))
  assert.match(execFileSync('pdftotext', ['-layout', pdf, '-'], { encoding: 'utf8' }), /Page 1 of 1/)
})
