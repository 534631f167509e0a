// Copies of the page in LibreOffice: a number means the same in each locale, whatever the language of the page.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Conversion } from '../../../src/web/api/responses.ts'
import { decimalText, parseUnits, roundPlaces } from '../../../src/web/model/decimal.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { fill, startSession, waitForIdle } from '../states.ts'
import { nextCopy, openEngine, openPageApp, openVisit, type Visit } from '../support.ts'
import { openInCalc } from './calc.ts'

const STATS = ['last', 'mean', 'low', 'high']
const LOCALES = ['es-CR', 'es-ES', 'en-US']
const ROWS = [
  ['03/04/2026', '=1+1', '4133,544', 'CRC'],
  ['28/10/2026', '00100001010000000123', '-1.250,5', 'USD'],
  ['12/11/2026', '1.234', '184.000', 'JPY'],
  ['', '50603112600310112345600100001010000000123188888888', '10,125', 'EUR'],
]

const browser = await openEngine()
const app = await openPageApp()

async function show(language: 'es' | 'en', fragment: string): Promise<Visit> {
  const visit = await openVisit(browser, app, { language })
  await startSession(visit, app, 'key')
  await visit.page.goto(`${visit.url}/${fragment}`)
  await waitForIdle(visit.page)
  return visit
}

/** Clicks a button that copies a table, and opens the HTML in each locale. @returns cells by locale */
async function openCopy(t: TestContext, visit: Visit, button: string): Promise<string[][]> {
  await visit.page.waitForSelector(`${button}:enabled`)
  await visit.page.click(button)
  const { html } = await nextCopy(visit)
  const file = join(temporaryDirectory(t), 'copy.html')
  writeFileSync(file, html)
  const all: string[][] = []
  for (const locale of LOCALES) {
    const [sheet = ''] = await openInCalc(t, 'fods', [file], locale)
    all.push(sheetCells(readFileSync(sheet, 'utf8')))
  }
  return all
}

/** Cells with their type. */
function sheetCells(fods: string): string[] {
  const body = fods.slice(fods.indexOf('<office:spreadsheet>'))
  const cells = body.matchAll(/<table:table-cell[^>]*?office:value-type="(\w+)"([^>]*)>\s*<text:p>([^<]*)/g)
  return [...cells].map(([, type, attributes = '', text]) => {
    const [, value] = /office:(?:date-)?value="([^"]*)"/.exec(attributes) ?? []
    return type === 'string' ? `text ${text}` : `${type} ${value}`
  })
}

function sum(figures: readonly string[]): string {
  return decimalText({ units: figures.reduce((total, one) => total + parseUnits(one, 20), 0n), scale: 20 })
}

/** Number with the digits that a spreadsheet has. */
function rounded(figure: string): string {
  const format = new Intl.NumberFormat('en', { maximumSignificantDigits: 15, useGrouping: false })
  return format.format(figure as Intl.StringNumericLiteral)
}

function numbers(cells: readonly string[]): string[] {
  return cells.flatMap((cell) => (cell.startsWith('float ') ? [cell.slice(6)] : []))
}

for (const language of ['es', 'en'] as const) {
  test(`the result in ${language} is one number in each locale`, async (t) => {
    const visit = await show(language, '#rates?amount=10.04&source=JPY')
    const { page } = visit
    await page.waitForSelector('.result .figure, .result output')
    const query = 'amount=10.04&from=JPY&to=CRC&type=venta&details=true'
    const { result } = await app.json<Conversion>(`/api/v1/convert?${query}`)
    const cells = await openCopy(t, visit, '.result .copy')
    const value = `float ${rounded(result)}`
    assert.deepEqual(
      cells,
      LOCALES.map(() => [value]),
    )
    await page.click('.result .copy')
    const { text } = await nextCopy(visit)
    assert.equal(text.replace(',', '.').replace(/(\.\d{3})0$/, '$1'), result)
    assert.equal(text.includes(','), language === 'es')
  })

  test(`closes in ${language} have the sum of the API in each locale`, async (t) => {
    const visit = await show(language, '#rates/closes?months=EUR/CRC&year=2026')
    const figures: string[] = []
    for (const type of ['compra', 'venta']) {
      const { points } = await app.json<{ points: Record<string, { value: string }>[] }>(
        `/api/v1/history?base=EUR&quote=CRC&type=${type}&from=2026-01-01&to=2026-12-31&every=month&stat=all`,
      )
      figures.push(...points.flatMap((point) => STATS.map((stat) => rounded(point[stat]?.value ?? ''))))
    }
    assert.ok(figures.length > 10)
    for (const cells of await openCopy(t, visit, '.months .buttons button')) {
      assert.equal(sum(numbers(cells)), sum(figures), String(cells))
      assert.ok(cells.includes('date 2026-11-01'))
    }
  })

  test(`a list in ${language} has texts, days and the sum of the API in each locale`, async (t) => {
    const visit = await show(language, '#rates/list')
    const { page } = visit
    await fill(page, 'textarea.pasted', ROWS.map((row) => row.join('\t')).join('\n'))
    await page.waitForSelector('.convert-rows:enabled')
    await page.click('.convert-rows')
    await page.waitForSelector('.list-table')
    await waitForIdle(page)
    const results: string[] = []
    for (const [on, amount, from] of [
      ['2026-04-03', '4133.544', 'CRC'],
      ['2026-10-28', '1250.5', 'USD'],
      ['2026-11-12', '184000', 'JPY'],
    ] as const) {
      const query = new URLSearchParams({ amount, from, to: 'CRC', type: 'venta', on })
      const { rate, result } = await app.json<Conversion>(`/api/v1/convert?${query}`)
      results.push(rate, roundPlaces(from === 'USD' ? `-${result}` : result, 2))
    }
    const figures = ['1', '2', '3', '4', '4133.544', '-1250.5', '184000', '10.125', ...results]
    for (const cells of await openCopy(t, visit, '.list-result .buttons > button')) {
      assert.equal(sum(numbers(cells)), sum(figures.map(rounded)), String(cells))
      assert.deepEqual(
        cells.filter((cell) => cell.startsWith('date ')),
        ['date 2026-04-03', 'date 2026-10-28', 'date 2026-11-12'],
      )
      for (const [, detail] of ROWS) assert.ok(cells.includes(`text ${detail}`), `${detail} in ${cells}`)
    }
  })
}

test('a link is copied as text alone', async () => {
  const visit = await show('es', '#rates')
  await visit.page.click('.view-tools button')
  const { text, html } = await nextCopy(visit)
  assert.match(text, /#rates/)
  assert.equal(html, '')
})
