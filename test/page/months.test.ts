// The months of a year, and the export: what is shown, copied and kept are the digits of the API, and nothing is made up.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/terminal.ts'
import { openFullBox } from './box.ts'
import { enterAs, rest, scrollTo } from './states.ts'
import {
  assertClean,
  downloadInto,
  openBrowser,
  PHONE,
  type Visit,
  type VisitOptions,
  visit,
} from './support.ts'

const STATS = ['last', 'mean', 'low', 'high'] as const
type Side = 'compra' | 'venta'
type Point = { date: string; rate_date: string; value: string; partial?: true; rounded_to?: number }
type Answer = { rate_type: string; points: Point[] }

const browser = await openBrowser()
const box = await openFullBox()

/** Of each month the values of its columns, as the API has them. */
async function asked(pair: string, year: string) {
  const [base = '', quote = ''] = pair.split('/')
  const of = (type: Side, stat: string) =>
    box.json<Answer>(
      `/api/v1/history?${new URLSearchParams({ base, quote, type, from: `${year}-01-01`, to: `${year}-12-31`, every: 'month', stat })}`,
    )
  const isOne = (await of('venta', 'last')).rate_type === 'referencia'
  const sides: Side[] = isOne ? ['venta'] : ['compra', 'venta']
  const columns = await Promise.all(STATS.flatMap((stat) => sides.map((side) => of(side, stat))))
  const months = [...new Set(columns.flatMap(({ points }) => points.map(({ date }) => date)))].sort()
  return months.map((month) => columns.map(({ points }) => points.find(({ date }) => date === month)))
}

async function open(fragment: string, options: VisitOptions = {}): Promise<Visit> {
  const seen = await visit(browser, box, { language: 'es', ...options })
  await enterAs(seen, box, 'both')
  await show(seen, fragment)
  return seen
}

async function show(seen: Visit, fragment: string): Promise<void> {
  await seen.page.goto(`${seen.url}/${fragment}`)
  await rest(seen.page)
  await scrollTo('.months')(seen, box)
  await rest(seen.page)
}

/** The rows of the table: the month with its note, and of each cell the figure and what stands below it. */
function rowsIn({
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

function shown(value: string, language: string): string {
  const [whole = '', fraction = ''] = value.split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, language === 'es' ? '\u00a0' : ',')
  return `${grouped}${language === 'es' ? ',' : '.'}${fraction.padEnd(2, '0')}`
}

for (const language of ['es', 'en'] as const) {
  test(`each figure of a month has all digits of the API, in ${language}`, async () => {
    const seen = await open('#rates', { language })
    for (const [pair, year] of [
      ['USD/CRC', '2026'],
      ['USD/CRC', '1983'],
      ['EUR/CRC', '2025'],
      ['CRC/JPY', '2020'],
      ['EUR/USD', '1999'],
      ['USD/IDR', '2012'],
    ] as const) {
      await show(seen, `#rates?months=${pair}&year=${year}`)
      await until(async () =>
        (await seen.page.$eval('.months caption', (one) => one.textContent))?.includes(`${pair}, ${year}`),
      )
      await rest(seen.page)
      const expected = await asked(pair, year)
      assert.ok(expected.length >= 11)
      const rows = await rowsIn(seen)
      assert.deepEqual(
        rows.map(({ cells }) => cells),
        expected.map((points) => points.map((point) => shown(point?.value ?? '', language))),
        `${pair} ${year}`,
      )
      assert.deepEqual(
        rows.map(({ note }) => note !== ''),
        expected.map((points) => points.some((point) => point?.partial)),
        `${pair} ${year}`,
      )
    }
    assertClean(seen)
  })
}

test('a month that is missing is empty, and what is partial or rounded says so', async () => {
  const seen = await open('#rates?year=2025', { before: (page) => withFaults(page) })
  const rows = await rowsIn(seen)
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
  const [spoken, hint] = await seen.page.evaluate(() => [
    document.querySelector('.months td .unseen')?.textContent,
    document.querySelector('.months .hint')?.textContent,
  ])
  assert.match(spoken ?? '', /Redondeado por la fuente a 2 decimales/)
  assert.match(hint ?? '', /Parcial: .* r2: redondeado/)
})

/** Answers without June, with a rounded January, and with a March that is partial for one side. */
async function withFaults(page: Visit['page']): Promise<void> {
  await page.setRequestInterception(true)
  page.on('request', (request) => {
    const { pathname, search, searchParams } = new URL(request.url())
    if (pathname !== '/api/v1/history') return void request.continue()
    void box.json<Answer>(pathname + search).then((answer) => {
      const points = answer.points.filter(({ date }) => date !== '2025-06-01')
      for (const point of points) {
        if (point.date === '2025-01-01') point.rounded_to = 2
        if (point.date === '2025-03-01' && searchParams.get('type') === 'compra') point.partial = true
      }
      void request.respond({ contentType: 'application/json', body: JSON.stringify({ ...answer, points }) })
    })
  })
}

test('what is copied and kept is what is shown, in the notation that is chosen', async (t) => {
  const seen = await visit(browser, box, { language: 'es' })
  const { page } = seen
  // The clipboard is the machine's, and not there for a browser without a screen.
  await page.evaluateOnNewDocument(() => {
    navigator.clipboard.writeText = async (text) => {
      Object.assign(window, { copied: text })
    }
  })
  await page.reload()
  await enterAs(seen, box, 'both')
  await show(seen, '#rates')
  const folder = temporaryDirectory(t)
  await downloadInto(seen, folder)
  const [copy, csv, local] = await page.$$('.months .buttons button')
  await copy?.click()
  await csv?.click()
  await local?.click()
  const text = (name: string) => readFileSync(join(folder, name), 'utf8')
  const names = ['USD-CRC 2026.csv', 'USD-CRC 2026 es-CR.csv']
  await until(() => names.every((name) => readdirSync(folder).includes(name) && text(name).endsWith('\r\n')))
  const expected = await asked('USD/CRC', '2026')
  const rowsOf = (file: string, separator: string) =>
    file
      .trim()
      .split('\r\n')
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
  const inPlace = flat.map(([month = '', note = '', ...cells]) => [
    month,
    note,
    ...cells.map((cell) =>
      /^\d{4}-/.test(cell) ? cell.split('-').reverse().join('/') : cell.replace('.', ','),
    ),
  ])
  assert.deepEqual(rowsOf(text(names[0] ?? ''), ','), flat)
  assert.ok(text(names[1] ?? '').startsWith('\ufeffMes;Nota;USD/CRC Cierre Compra;'))
  assert.deepEqual(rowsOf(text(names[1] ?? ''), ';'), inPlace)
  const copied = await page.evaluate(() => (window as { copied?: string }).copied ?? '')
  assert.deepEqual(rowsOf(copied, '\t'), inPlace)
  assertClean(seen)
})

test('a clipboard that is refused is said', async () => {
  const seen = await open('#rates', {
    before: (page) =>
      page.evaluateOnNewDocument(() => {
        navigator.clipboard.writeText = () => Promise.reject(new Error('refused'))
      }),
  })
  await seen.page.click('.months .buttons button')
  await seen.page.waitForFunction(() =>
    /no permite copiar/.test(document.querySelector('.months')?.textContent ?? ''),
  )
})

test('year and currencies are chosen by keys, and stand in the address', async () => {
  const seen = await visit(browser, box, { language: 'es' })
  const { page } = seen
  await enterAs(seen, box, 'both')
  await page.goto(`${seen.url}/#rates`)
  await rest(page)
  assert.equal(await page.$('.months .data'), null, 'not made before it is needed')
  await page.keyboard.press('Tab')
  await page.waitForSelector('.months .last')
  await page.focus('.months .day-picker button')
  await page.keyboard.press('Enter')
  await page.focus('.months .convert-currency select')
  await page.keyboard.type('EUR')
  await page.waitForFunction(() =>
    /EUR\/CRC, 2025/.test(document.querySelector('.months caption')?.textContent ?? ''),
  )
  await rest(page)
  assert.equal(new URL(page.url()).hash, '#rates?months=EUR/CRC&year=2025')
  await page.reload()
  await rest(page)
  await scrollTo('.months')(seen, box)
  await rest(seen.page)
  assert.equal(await page.$eval('.months caption', (one) => one.textContent), 'EUR/CRC, 2025')
  assertClean(seen)
})

for (const format of ['csv', 'ndjson'] as const) {
  test(`the export as ${format} is kept by the browser, without passing through the page`, async (t) => {
    const seen = await visit(browser, box, { language: 'en', viewport: PHONE })
    await enterAs(seen, box, 'both')
    await seen.page.goto(`${seen.url}/#rates`)
    await rest(seen.page)
    await scrollTo('.export')(seen, box)
    await rest(seen.page)
    const folder = temporaryDirectory(t)
    await downloadInto(seen, folder)
    const [csv, ndjson] = await seen.page.$$('.export button')
    await (format === 'csv' ? csv : ndjson)?.click()
    const straight = Buffer.from(await (await box.get(`/api/v1/export.${format}`)).arrayBuffer())
    assert.ok(straight.length > 1_000_000)
    const file = join(folder, `cambista.${format}`)
    await until(
      () =>
        readdirSync(folder).includes(`cambista.${format}`) && readFileSync(file).length >= straight.length,
    )
    assert.ok(readFileSync(file).equals(straight), 'the very bytes')
    const fetched = await seen.page.evaluate(() =>
      performance.getEntriesByType('resource').map(({ name }) => name),
    )
    assert.deepEqual(
      fetched.filter((name) => /\/export|\/t\//.test(name)),
      [],
    )
    assert.match(
      await seen.page.$eval('.export', (one) => one.textContent ?? ''),
      /The browser keeps the file/,
    )
    assertClean(seen)
  })
}
