// Months of a year and the export: screen, clipboard and files have exactly the digits of the API.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/terminal.ts'
import { openFullApp } from './apps.ts'
import { openExport, startSession, waitForIdle } from './states.ts'
import {
  assertClean,
  chooseFile,
  openBrowser,
  openVisit,
  PHONE,
  setDownloadFolder,
  type Visit,
  type VisitOptions,
} from './support.ts'

const STATS = ['last', 'mean', 'low', 'high'] as const
type Side = 'compra' | 'venta'
type Point = { date: string; rate_date: string; value: string; partial?: true; rounded_to?: number }
type Answer = { rate_type: string; points: Point[] }

const browser = await openBrowser()
const app = await openFullApp()

/** Points of the API by month and column. */
async function apiRows(pair: string, year: string) {
  const [base = '', quote = ''] = pair.split('/')
  const history = (type: Side, stat: string) =>
    app.json<Answer>(
      `/api/v1/history?${new URLSearchParams({ base, quote, type, from: `${year}-01-01`, to: `${year}-12-31`, every: 'month', stat })}`,
    )
  const isOne = (await history('venta', 'last')).rate_type === 'referencia'
  const sides: Side[] = isOne ? ['venta'] : ['compra', 'venta']
  const columns = await Promise.all(STATS.flatMap((stat) => sides.map((side) => history(side, stat))))
  const months = [...new Set(columns.flatMap(({ points }) => points.map(({ date }) => date)))].sort()
  return months.map((month) => columns.map(({ points }) => points.find(({ date }) => date === month)))
}

async function open(fragment: string, options: VisitOptions = {}): Promise<Visit> {
  const visit = await openVisit(browser, app, { language: 'es', ...options })
  await startSession(visit, app, 'both')
  await show(visit, fragment)
  return visit
}

async function show(visit: Visit, fragment: string): Promise<void> {
  await visit.page.goto(`${visit.url}/${fragment}`)
  await visit.page.waitForSelector('.months :is(.data, .notice)')
  await waitForIdle(visit.page)
}

/** Rows of the table: month, note, figures, and the small text below each figure. */
function readRows({
  page,
}: Visit): Promise<{ month: string; note: string; cells: string[]; below: string[] }[]> {
  return page.$$eval('.months tbody tr', (rows) =>
    rows.map((row) => {
      const own = (cell: Element | null) => cell?.firstChild?.textContent ?? ''
      const cells = [...row.querySelectorAll('td')]
      const small = (cell: Element | null) => {
        const copy = cell?.querySelector('small')?.cloneNode(true) as Element | undefined
        for (const unseen of copy?.querySelectorAll('.unseen') ?? []) unseen.remove()
        return copy?.textContent?.trim() ?? ''
      }
      return {
        month: own(row.querySelector('th')),
        note: small(row.querySelector('th')),
        cells: cells.map(own),
        below: cells.map(small),
      }
    }),
  )
}

function formatFigure(value: string, language: string): string {
  const [whole = '', fraction = ''] = value.split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, language === 'es' ? '\u00a0' : ',')
  return `${grouped}${language === 'es' ? ',' : '.'}${fraction.padEnd(2, '0')}`
}

for (const language of ['es', 'en'] as const) {
  test(`the table of months shows all digits of the API, in ${language}`, async () => {
    const visit = await open('#rates/closes', { language })
    for (const [pair, year] of [
      ['USD/CRC', '2026'],
      ['USD/CRC', '1983'],
      ['EUR/CRC', '2025'],
      ['CRC/JPY', '2020'],
      ['EUR/USD', '1999'],
      ['USD/IDR', '2012'],
    ] as const) {
      await show(visit, `#rates/closes?months=${pair}&year=${year}`)
      await until(async () =>
        (await visit.page.$eval('.months caption', (one) => one.textContent))?.includes(`${pair}, ${year}`),
      )
      await waitForIdle(visit.page)
      const expected = await apiRows(pair, year)
      assert.ok(expected.length >= 11)
      const rows = await readRows(visit)
      assert.deepEqual(
        rows.map(({ cells }) => cells),
        expected.map((points) => points.map((point) => formatFigure(point?.value ?? '', language))),
        `${pair} ${year}`,
      )
      assert.deepEqual(
        rows.map(({ note }) => note !== ''),
        expected.map((points) => points.some((point) => point?.partial)),
        `${pair} ${year}`,
      )
    }
    assertClean(visit)
  })
}

test('the table of months shows missing months empty, and marks partial and rounded figures', async () => {
  const visit = await open('#rates/closes?year=2025', { prepare: (page) => alterMonths(page) })
  const rows = await readRows(visit)
  assert.equal(rows.length, 12)
  assert.deepEqual(
    rows[5]?.cells,
    Array.from({ length: 8 }, () => '—'),
  )
  assert.deepEqual(
    rows.map(({ note }) => note).filter((note) => note !== ''),
    ['parcial: compra'],
  )
  assert.equal(rows[2]?.note, 'parcial: compra')
  assert.match(rows[0]?.below[0] ?? '', /^31 ene · r2$/)
  assert.equal(rows[0]?.below[2], 'r2', 'a mean is of no day')
  assert.equal(rows[1]?.below[0], '28 feb')
  const [spoken, hint] = await visit.page.evaluate(() => [
    document.querySelector('.months td .unseen')?.textContent,
    document.querySelector('.months .hint')?.textContent,
  ])
  assert.match(spoken ?? '', /Redondeado por la fuente a 2 decimales/)
  assert.match(hint ?? '', /Parcial: .* r2: redondeado/)
})

/** Replaces responses: without June, with a rounded January, with a March that is partial for one side. */
async function alterMonths(page: Visit['page']): Promise<void> {
  await page.setRequestInterception(true)
  page.on('request', (request) => {
    const { pathname, search, searchParams } = new URL(request.url())
    if (pathname !== '/api/v1/history') return void request.continue()
    void app.json<Answer>(pathname + search).then((answer) => {
      const points = answer.points.filter(({ date }) => date !== '2025-06-01')
      for (const point of points) {
        if (point.date === '2025-01-01') point.rounded_to = 2
        if (point.date === '2025-03-01' && searchParams.get('type') === 'compra') point.partial = true
      }
      void request.respond({ contentType: 'application/json', body: JSON.stringify({ ...answer, points }) })
    })
  })
}

test('clipboard and files have the figures of the table of months, in their notation', async (t) => {
  const visit = await openVisit(browser, app, { language: 'es' })
  const { page } = visit
  // A headless browser has no clipboard.
  await page.evaluateOnNewDocument(() => {
    navigator.clipboard.writeText = async (text) => {
      Object.assign(window, { copied: text })
    }
  })
  await page.reload()
  await startSession(visit, app, 'both')
  await show(visit, '#rates/closes')
  const folder = temporaryDirectory(t)
  await setDownloadFolder(visit, folder)
  await page.click('.months .buttons button')
  await chooseFile(visit, '.months', 'programs')
  const name = 'bccr-cierres-USD-CRC-2026.csv'
  const text = (name: string) => readFileSync(join(folder, name), 'utf8')
  await until(() => readdirSync(folder).includes(name) && text(name).endsWith('\n'))
  const expected = await apiRows('USD/CRC', '2026')
  const parseRows = (file: string, separator: string) =>
    file
      .trim()
      .split(/\r?\n/)
      .slice(1)
      .map((line) => line.split(separator))
  const flat = expected.map((points) => [
    points[0]?.date.slice(0, 7) ?? '',
    points.some((point) => point?.partial) ? 'parcial' : '',
    ...points.flatMap((point, at) => [
      point?.value ?? '',
      ...(STATS[Math.floor(at / 2)] === 'mean' ? [] : [point?.rate_date ?? '']),
    ]),
  ])
  const localRows = flat.map(([month = '', note = '', ...cells]) => [
    month,
    note,
    ...cells.map((cell) =>
      /^\d{4}-/.test(cell) ? cell.split('-').reverse().join('/') : cell.replace('.', ','),
    ),
  ])
  assert.deepEqual(parseRows(text(name), ','), flat)
  const clipboard = await page.evaluate(() => (window as { copied?: string }).copied ?? '')
  assert.deepEqual(parseRows(clipboard, '\t'), localRows)
  assertClean(visit)
})

test('the copy button reports a refused clipboard', async () => {
  const visit = await open('#rates/closes', {
    prepare: (page) =>
      page.evaluateOnNewDocument(() => {
        navigator.clipboard.writeText = () => Promise.reject(new Error('refused'))
      }),
  })
  await visit.page.click('.months .buttons button')
  await visit.page.waitForFunction(() =>
    /no permite copiar/.test(document.querySelector('.months')?.textContent ?? ''),
  )
})

test('keys select year and currencies of the months, and the address has them', async () => {
  const visit = await openVisit(browser, app, { language: 'es' })
  const { page } = visit
  await startSession(visit, app, 'both')
  await page.goto(`${visit.url}/#rates`)
  await waitForIdle(page)
  assert.equal(await page.$('.months'), null, 'a view of its own')
  await page.focus('.view-links a:last-child')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.months .last')
  assert.equal(new URL(page.url()).hash, '#rates/closes')
  assert.equal(
    await page.$eval('.view-links [aria-current]', (one) => one.textContent),
    'Cierres y promedios',
  )
  await page.focus('.months .day-picker button')
  await page.keyboard.press('Enter')
  await page.focus('.months .convert-currency select')
  await page.keyboard.type('EUR')
  await page.waitForFunction(() =>
    /EUR\/CRC, 2025/.test(document.querySelector('.months caption')?.textContent ?? ''),
  )
  await waitForIdle(page)
  assert.equal(new URL(page.url()).hash, '#rates/closes?months=EUR/CRC&year=2025')
  await page.reload()
  await page.waitForSelector('.months .data')
  await waitForIdle(page)
  assert.equal(await page.$eval('.months caption', (one) => one.textContent), 'EUR/CRC, 2025')
  await page.goto(`${visit.url}/#rates?on=2026-01-05&months=USD/CRC&year=2024`)
  await page.waitForFunction(() => document.querySelector('.months caption')?.textContent === 'USD/CRC, 2024')
  assertClean(visit)
})

for (const format of ['csv', 'ndjson'] as const) {
  test(`the browser downloads the export as ${format}, which does not pass through the page`, async (t) => {
    const visit = await openVisit(browser, app, { language: 'en', viewport: PHONE })
    await startSession(visit, app, 'both')
    await visit.page.goto(`${visit.url}/#status`)
    await waitForIdle(visit.page)
    await openExport(visit)
    await waitForIdle(visit.page)
    const folder = temporaryDirectory(t)
    await setDownloadFolder(visit, folder)
    const [csv, ndjson] = await visit.page.$$('.export button')
    await (format === 'csv' ? csv : ndjson)?.click()
    const expected = Buffer.from(await (await app.get(`/api/v1/export.${format}`)).arrayBuffer())
    assert.ok(expected.length > 1_000_000)
    const file = join(folder, `cambista.${format}`)
    await until(
      () =>
        readdirSync(folder).includes(`cambista.${format}`) && readFileSync(file).length >= expected.length,
    )
    assert.ok(readFileSync(file).equals(expected), 'the bytes of the API')
    const resources = await visit.page.evaluate(() =>
      performance.getEntriesByType('resource').map(({ name }) => name),
    )
    assert.deepEqual(
      resources.filter((name) => /\/export|\/t\//.test(name)),
      [],
    )
    assert.match(
      await visit.page.$eval('.export', (one) => one.textContent ?? ''),
      /Your browser is saving the file/,
    )
    assertClean(visit)
  })
}
