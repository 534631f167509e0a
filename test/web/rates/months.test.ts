// Closes and means of periods, and the export. The screen rounds; clipboard and files have exactly the digits of the API.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scaled } from '../../faults/scale.ts'
import { createRandom } from '../../support/rates/random-bank.ts'
import { SEED } from '../../support/seed.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'
import { openFullApp } from '../apps.ts'
import { openExport, startSession, waitForIdle } from '../states.ts'
import {
  assertClean,
  chooseFile,
  elementText,
  listDownloads,
  nextCopy,
  openEngine,
  openVisit,
  PHONE,
  setDownloadFolder,
  type Visit,
  type VisitOptions,
} from '../support.ts'

const STATS = ['last', 'mean', 'low', 'high'] as const
type Figure = { value: string; rate_date: string; day: string; rounded_to?: number }
type Point = { date: string; partial?: true } & Record<(typeof STATS)[number], Figure>
type Answer = { rate_type: string; points: Point[]; holes?: { from: string; to: string }[] }

const VIEWS = scaled({ short: 5, long: 150 })
const browser = await openEngine()
const app = await openFullApp()

/** Answers of the API for each side of a pair. */
async function apiSides(pair: string, every: string, year: string): Promise<Answer[]> {
  const [base = '', quote = ''] = pair.split('/')
  const range =
    year === '' ? { from: '1983-01-01', to: '2026-12-31' } : { from: `${year}-01-01`, to: `${year}-12-31` }
  const history = (type: string) =>
    app.json<Answer>(
      `/api/v1/history?${new URLSearchParams({ base, quote, type, ...range, every, stat: 'all', details: 'true' })}`,
    )
  const sell = await history('venta')
  return sell.rate_type === 'referencia' ? [sell] : [await history('compra'), sell]
}

async function open(fragment: string, options: VisitOptions = {}): Promise<Visit> {
  const visit = await openVisit(browser, app, { language: 'es', ...options })
  await startSession(visit, app, 'key')
  await show(visit, fragment)
  return visit
}

async function show(visit: Visit, fragment: string): Promise<void> {
  await visit.page.goto(`${visit.url}/${fragment}`)
  await visit.page.waitForSelector('.months :is(.closes-foot, .notice)')
  await waitForIdle(visit.page)
}

/** Rows of the table: period, chip, day of the close, figures, and the small text below each figure. */
function readRows({ page }: Visit) {
  return page.$$eval('.months .data tbody tr', (rows) =>
    rows.map((row) => {
      const own = (cell: Element | null) => cell?.firstChild?.textContent?.trim() ?? ''
      const small = (cell: Element) => {
        const copy = cell.querySelector('small')?.cloneNode(true) as Element | undefined
        for (const unseen of copy?.querySelectorAll('.unseen') ?? []) unseen.remove()
        return copy?.textContent?.trim() ?? ''
      }
      const [day = null, ...cells] = row.querySelectorAll('td')
      return {
        period: own(row.querySelector('th')),
        chip: own(row.querySelector('.chip')),
        title: row.querySelector('.chip')?.getAttribute('title') ?? '',
        day: own(day),
        cells: cells.map(own),
        below: cells.map(small),
        titles: cells.map((cell) => cell.getAttribute('title') ?? ''),
      }
    }),
  )
}

/** Rounds to two decimals, or to six significant digits below 10, half away from zero. */
function roundFigure(value: string, language: string): string {
  const [whole = '', fraction = ''] = value.split('.')
  const zeros = /^0*/.exec(fraction)?.[0].length ?? 0
  const places = whole.length > 1 ? 2 : whole === '0' ? zeros + 6 : 5
  const digits = BigInt(whole + fraction.padEnd(places + 1, '0').slice(0, places + 1)) + 5n
  const text = (digits / 10n).toString().padStart(places + 1, '0')
  const decimals = text.slice(-places).replace(/0+$/, '').padEnd(2, '0')
  const grouped = text.slice(0, -places).replace(/\B(?=(\d{3})+$)/g, language === 'es' ? '\u00a0' : ',')
  return `${grouped}${language === 'es' ? ',' : '.'}${decimals}`
}

const shortDay = (day: string) => day.split('-').slice(1).reverse().join('/')

type PeriodsView = { pair: string; every: string; year: string; language: string }

/** Compares the table of periods with the API, and returns the number of its rows. */
async function assertTable(visit: Visit, { pair, every, year, language }: PeriodsView): Promise<number> {
  const sides = await apiSides(pair, every, year)
  const dates = [...new Set(sides.flatMap(({ points }) => points.map(({ date }) => date)))].sort()
  if (every === 'year') dates.reverse()
  const expected = dates.map((date) => {
    const points = sides.map((side) => side.points.find((point) => point.date === date))
    const figures = STATS.flatMap((stat) => points.map((point) => ({ stat, figure: point?.[stat] })))
    return {
      cells: figures.map(({ figure }) => (figure ? roundFigure(figure.value, language) : '—')),
      below: figures.map(({ stat, figure }) =>
        figure && (stat === 'low' || stat === 'high') ? shortDay(figure.day) : '',
      ),
      isPartial: points.some((point) => point?.partial),
    }
  })
  const rows = await readRows(visit)
  assert.deepEqual(
    rows.map(({ cells, below, chip }) => ({ cells, below, isPartial: chip !== '' })),
    expected,
    `${pair} ${every} ${year}`,
  )
  return rows.length
}

for (const language of ['es', 'en'] as const) {
  test(`the table of periods rounds the figures of the API and has their days, in ${language}`, async () => {
    const visit = await open('#rates/closes', { language })
    for (const [pair, every, year] of [
      ['USD/CRC', 'month', '2026'],
      ['EUR/CRC', 'month', '2025'],
      ['CRC/JPY', 'quarter', '2020'],
      ['EUR/USD', 'year', ''],
      ['VND/CRC', 'month', '2012'],
    ] as const) {
      await show(visit, `#rates/closes?months=${pair}&year=${year}&every=${every}`)
      await until(async () =>
        (await elementText(visit, '.months .data caption')).includes([pair, year].filter(Boolean).join(', ')),
      )
      await waitForIdle(visit.page)
      assert.ok((await assertTable(visit, { pair, every, year, language })) >= 4)
    }
    assertClean(visit)
  })

  test(`${VIEWS} random tables of periods have the figures of the API, in ${language} (seed ${SEED})`, async () => {
    const random = createRandom(SEED)
    const series = await app.json<{ base_currency: string; quote_currency: string }[]>('/api/v1/series')
    const codes = [...new Set(series.flatMap((one) => [one.base_currency, one.quote_currency]))]
    const visit = await open('#rates/closes', { language })
    let rows = 0
    // Random pairs may have few rows, or none.
    for (let turn = 0; turn < VIEWS || (rows <= VIEWS && turn < 5 * VIEWS); turn += 1) {
      const [base, quote] = [random.item(codes), random.item(codes)]
      if (base === quote) continue
      const every = random.item(['month', 'quarter', 'year'])
      const year = every === 'year' ? '' : `${random.int(2019, 2026)}`
      await show(visit, `#rates/closes?months=${base}/${quote}&year=${year}&every=${every}`)
      rows += await assertTable(visit, { pair: `${base}/${quote}`, every, year, language })
    }
    assert.ok(rows > VIEWS)
    assertClean(visit)
  })
}

test('February has the days of its lowest and highest within February, and the older leg in the title', async () => {
  const visit = await open('#rates/closes?months=EUR/CRC&year=2025')
  const february = (await readRows(visit))[1]
  assert.match(february?.day ?? '', /^2[5-8]\/02$/)
  for (const below of february?.below.slice(4) ?? []) assert.match(below, /^\d\d\/02$/)
  const titles = (await readRows(visit)).flatMap((row) => row.titles).filter((title) => title !== '')
  assert.ok(titles.length > 0)
  for (const title of titles) assert.match(title, /^El valor más antiguo es del \d\d\/\d\d\/\d{4}\.$/)
})

test('the table of periods shows missing months empty, and marks incomplete and rounded figures', async () => {
  const visit = await open('#rates/closes?year=2025', { prepare: (page) => alterPeriods(page) })
  const rows = await readRows(visit)
  assert.equal(rows.length, 12)
  assert.deepEqual(
    [rows[5]?.day, ...(rows[5]?.cells ?? [])],
    Array.from({ length: 9 }, () => '—'),
  )
  assert.deepEqual(
    rows.map(({ chip }) => chip).filter((chip) => chip !== ''),
    ['incompleto'],
  )
  assert.equal(rows[2]?.title, 'Compra. Faltan días sin sincronizar: 03/03/2025 a 05/03/2025.')
  assert.equal(rows[0]?.below[0], 'r2')
  assert.match(rows[0]?.below[4] ?? '', /^\d\d\/01 · r2$/)
  assert.match(
    await visit.page.$eval('.months td .unseen', (one) => one.textContent ?? ''),
    /Redondeado por la fuente/,
  )
  assert.match(await elementText(visit, '.months'), /r2: redondeado por la fuente a 2 decimales/)
})

/** Replaces responses: without June, with a rounded January, with a March that is partial for one side. */
async function alterPeriods(page: Visit['page']): Promise<void> {
  await page.setRequestInterception(true)
  page.on('request', (request) => {
    const { pathname, search, searchParams } = new URL(request.url())
    if (pathname !== '/api/v1/history') return void request.continue()
    void app.json<Answer>(pathname + search).then((answer) => {
      const points = answer.points.filter(({ date }) => date !== '2025-06-01')
      for (const point of points) {
        if (point.date === '2025-01-01') for (const stat of STATS) point[stat].rounded_to = 2
        if (point.date === '2025-03-01' && searchParams.get('type') === 'compra') point.partial = true
      }
      const holes = searchParams.get('type') === 'compra' ? [{ from: '2025-03-03', to: '2025-03-05' }] : []
      const body = JSON.stringify({ ...answer, points, holes })
      void request.respond({ contentType: 'application/json', body })
    })
  })
}

test('clipboard and files have all digits of the periods, in their notation', async (t) => {
  const visit = await openVisit(browser, app, { language: 'en' })
  const { page } = visit
  await startSession(visit, app, 'key')
  await show(visit, '#rates/closes')
  await page.click('.months .buttons button')
  const { text: clipboard } = await nextCopy(visit)
  const [buy, sell] = await apiSides('USD/CRC', 'month', '2026')
  const months = (buy?.points ?? []).map((point, index) => ({ compra: point, venta: sell?.points[index] }))
  const parseRows = (file: string, separator: string) =>
    file
      .trim()
      .split(/\r?\n/)
      .map((line) => line.split(separator))
  const figures = months.map(({ compra, venta }) =>
    STATS.flatMap((stat) => [compra[stat].value, venta?.[stat].value ?? '']),
  )
  const [, ...copied] = parseRows(clipboard, '\t')
  assert.deepEqual(
    copied.map((cells) => [cells[0], ...cells.slice(2, 10)]),
    months.map(({ compra }, index) => [
      compra.date,
      ...(figures[index] ?? []).map((figure) => figure.replace(/\.\d{3}$/, '$&0')), // never like thousands
    ]),
  )

  const names = { spanish: 'bccr-cierres-USD-CRC-2026-es.csv', programs: 'bccr-cierres-USD-CRC-2026.csv' }
  const saved = async (file: keyof typeof names) => {
    const name = names[file]
    const folder = temporaryDirectory(t)
    await setDownloadFolder(visit, folder)
    await chooseFile(visit, '.months', file)
    await until(() => listDownloads(folder).includes(name))
    return readFileSync(join(folder, name), 'utf8')
  }
  const spanish = await saved('spanish')
  assert.ok(
    spanish.startsWith('\ufeffMes;Día del cierre;Cierre compra;Cierre venta;Promedio compra;'),
    spanish,
  )
  assert.deepEqual(
    parseRows(spanish, ';')
      .slice(1)
      .map((cells) => cells.slice(0, 10)),
    months.map(({ compra }, index) => [
      ...[compra.date, compra.last.day].map((day) => day.split('-').reverse().join('/')),
      ...(figures[index] ?? []).map((value) => value.replace('.', ',')),
    ]),
  )
  const [titles = [], ...rows] = parseRows(await saved('programs'), ',')
  assert.deepEqual(
    rows.map((cells) => titles.map((title, index) => [title, cells[index]])),
    months.map(({ compra, venta }) => [
      ['date', compra.date],
      ...Object.entries({ compra, venta }).flatMap(([side, point]) => [
        ...STATS.flatMap((stat) =>
          (['value', 'rate_date', 'day', 'rounded_to'] as const).map((field) => [
            `${side}_${stat}_${field}`,
            String(point?.[stat][field] ?? ''),
          ]),
        ),
        [`${side}_partial`, point?.partial ? 'true' : ''],
      ]),
    ]),
  )
  assertClean(visit)
})

test('the copy button reports a refused clipboard', async () => {
  const visit = await open('#rates/closes', {
    prepare: (page) =>
      page.evaluateOnNewDocument(() => {
        navigator.clipboard.writeText = () => Promise.reject(new Error('refused'))
        document.execCommand = () => false
      }),
  })
  await visit.page.click('.months .buttons button')
  await visit.page.waitForFunction(() =>
    /no permite copiar/.test(document.querySelector('.months')?.textContent ?? ''),
  )
})

test('keys select year, period and currencies, and the address has them', async () => {
  const visit = await openVisit(browser, app, { language: 'es' })
  const { page } = visit
  await startSession(visit, app, 'key')
  await page.waitForSelector('.view-links')
  await page.focus('.view-links a:nth-child(2)')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.months .last')
  assert.equal(new URL(page.url()).hash, '#rates/closes')
  await page.focus('.months .day-picker button')
  await page.keyboard.press('Enter')
  await page.focus('.months .convert-currency select')
  await page.keyboard.type('EUR')
  await page.focus('.months .segmented :checked')
  await page.keyboard.press('ArrowRight')
  const caption = (text: string) =>
    page.waitForFunction(
      (text) => document.querySelector('.months .data caption')?.textContent === text,
      {},
      text,
    )
  await caption('EUR/CRC, 2025')
  await page.waitForFunction(() => document.querySelectorAll('.months .data tbody tr').length === 4)
  assert.equal(new URL(page.url()).hash, '#rates/closes?months=EUR/CRC&year=2025&every=quarter')
  assert.equal(await elementText(visit, '.months .data tbody th'), 'I trimestre')
  await page.reload()
  await caption('EUR/CRC, 2025')
  await page.goto(`${visit.url}/#rates?on=2026-01-05&months=USD/CRC&year=2024`)
  await caption('USD/CRC, 2024')
  assertClean(visit)
})

for (const width of [1280, 720, 390, 320]) {
  test(`periods are whole on ${width} px, as a table or as cards`, async () => {
    const visit = await open('#rates/closes?months=EUR/CRC&year=2025', { viewport: { width, height: 900 } })
    for (const fragment of [
      'months=EUR/CRC&year=2025',
      'months=VND/CRC&year=2025',
      'months=EUR/CRC&every=year',
    ]) {
      await show(visit, `#rates/closes?${fragment}`)
      const state = await visit.page.evaluate(() => {
        const visible = [...document.querySelectorAll<HTMLElement>('.closes :is(td, .scroll)')].filter(
          (one) => one.checkVisibility(),
        )
        return {
          wide: visible.filter((one) => one.scrollWidth > one.clientWidth + 1).length,
          page: document.documentElement.scrollWidth,
          isTable: document.querySelector('.table-frame')?.checkVisibility(),
          cards: document.querySelectorAll('.period-card').length,
        }
      })
      assert.ok(state.cards >= 12)
      assert.deepEqual([state.wide, state.page, state.isTable], [0, width, width === 1280], fragment)
    }
  })
}

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
    await until(() => listDownloads(folder).length > 0)
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
