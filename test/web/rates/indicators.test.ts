// Card of indicators: figures, chart, files, counters of 40 entities, and that a page without indicators does not load it.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'
import { COUNTERS, openIndicatorPage } from '../indicator-page.ts'
import { focusName, press, pressTab } from '../keys.ts'
import { axe, geometry, MIN_TARGET } from '../looks/looks.ts'
import { printedText } from '../paper.ts'
import { fill, startSession, waitForIdle } from '../states.ts'
import {
  assertClean,
  chooseFile,
  DESKTOP,
  listDownloads,
  openEngine,
  openPageApp,
  openVisit,
  PHONE,
  setDownloadFolder,
  type Visit,
  type VisitOptions,
} from '../support.ts'

type Point = { date: string; value: string }

const SPACE = /[\s\u00a0\u202f]/g

const browser = await openEngine()
const app = await openIndicatorPage()

async function open(fragment: string, options: VisitOptions = {}): Promise<Visit> {
  const visit = await openVisit(browser, app, { language: 'es', ...options })
  await startSession(visit, app, 'key')
  await show(visit, fragment)
  return visit
}

async function show({ page, url }: Visit, fragment: string): Promise<void> {
  await page.goto('about:blank')
  await page.goto(`${url}/${fragment}`)
  await page.waitForSelector('.history .statistics td')
  await page.keyboard.press('Shift') // renders the cards below
  await page.waitForSelector('.counter-table tbody td')
  await page.waitForSelector('.indicator-trend :is(.statistics td, .notice, .date-error)')
  await waitForIdle(page)
}

const points = async (code: string, query: string) =>
  (await app.json<{ points: Point[] }>(`/api/v1/indicators/${code}/history?${query}`)).points

/** Cells of the rows of a table, without spaces. */
function readRows({ page }: Visit, selector: string): Promise<string[][]> {
  return page.$$eval(`${selector} tbody tr`, (rows) =>
    rows.map((row) =>
      [...row.children].map((cell) => {
        const copy = cell.cloneNode(true) as Element
        for (const label of copy.querySelectorAll('.cell-label')) label.remove()
        return (copy.textContent ?? '').replace(/[\u00a0\u202f]/g, ' ')
      }),
    ),
  )
}

test('a page without indicators shows no card, and requests nothing for it', async () => {
  const plain = await openPageApp()
  const visit = await openVisit(browser, plain, { language: 'es' })
  await startSession(visit, plain, 'key')
  await visit.page.goto(`${visit.url}/#rates?indicator=423`)
  await visit.page.waitForSelector('.statistics td')
  await visit.page.keyboard.press('Shift')
  await visit.page.waitForSelector('.currency-table tbody td')
  await waitForIdle(visit.page)
  assert.equal(await visit.page.$('.indicators'), null)
  assert.deepEqual(
    visit.requests.filter((url) => /indicator|ventanilla/.test(url)),
    [],
  )
})

test('the list has the newest values with unit and day, and the chart that of a link', async () => {
  const visit = await open('#rates?indicator=98405&indicatorSpan=6m')
  const listed = await app.json<{ code: string; newest_value: string | null }[]>(
    '/api/v1/indicators?details=true',
  )
  const rows = await readRows(visit, '.indicator-table')
  assert.deepEqual(rows.slice(1, 3), [
    ['423Tasa básica pasiva calculada por el BCCR', '3,95', 'porcentaje anual', '20/11/2026'],
    ['777Serie 777', '—', '—', '—'],
  ])
  assert.equal(listed.find(({ code }) => code === '423')?.newest_value, '3.95')
  const months = await points('98405', 'from=2026-05-01&to=2026-11-01')
  assert.equal(months.length, 7)
  const statistics = await readRows(visit, '.indicator-trend .statistics')
  const [first, last] = [months[0]?.value ?? '', months.at(-1)?.value ?? '']
  assert.match(statistics[0]?.[1] ?? '', new RegExp(`^${first.replace('.', ',')}\\d?01/05/2026$`))
  assert.match(statistics[0]?.[5] ?? '', new RegExp(`^${last.replace('.', ',')}\\d?01/11/2026$`))
  const painted = await visit.page.$eval('.indicator-trend canvas', (canvas) => {
    const { width, height } = canvas as HTMLCanvasElement
    const pixels =
      (canvas as HTMLCanvasElement).getContext('2d')?.getImageData(0, 0, width, height).data ?? []
    const colours = new Set<number>()
    for (let at = 0; at < pixels.length; at += 4) colours.add(pixels[at + 1] ?? 0)
    return colours.size
  })
  assert.ok(painted > 3, 'the months are joined by a line')
  const options = await visit.page.$$eval('.converter option', (all) =>
    all.map(({ textContent }) => textContent),
  )
  assert.ok(options.length > 40 && !options.some((text) => /Tasa|423|Banco/.test(text ?? '')))
  assertClean(visit)
})

test('an interest rate changes by percentage points, and an indicator without a value has a notice', async () => {
  const visit = await open('#rates?indicator=3541')
  const [row] = await readRows(visit, '.indicator-trend .statistics')
  assert.match(row?.[6] ?? '', /puntos porcentuales$/)
  assert.match(row?.[2] ?? '', /^-0,25/)
  await show(visit, '#rates?indicator=777')
  const notice = await visit.page.$eval('.indicator-trend .notice', (one) => one.textContent)
  assert.match(notice ?? '', /Todavía no se ha recibido ningún valor/)
})

test('a wrong day is refused with words about values, and no figure is shown', async () => {
  const visit = await open('#rates?indicator=423')
  await fill(visit.page, '.indicator-trend .range-day:last-child .date', '05/05/2027')
  await visit.page.keyboard.press('Enter')
  const error = await visit.page.waitForSelector('.indicator-trend .date-error')
  const text = await error?.evaluate(({ textContent }) => textContent)
  assert.match(text ?? '', /Todavía no hay valor para el 05\/05\/2027; el último es del 20\/11\/2026\./)
  assert.equal(await visit.page.$('.indicator-trend .statistics td'), null)
})

test('the counters of 40 entities have the figures of the API, their days and the spread', async () => {
  const visit = await open('#rates')
  const counters = await app.json<Record<string, string>[]>('/api/v1/ventanilla')
  assert.equal(counters.length, COUNTERS.size)
  const comma = (text = '') => Number(text).toFixed(2).replace('.', ',')
  const rows = await readRows(visit, '.counter-table')
  assert.deepEqual(
    rows.map((row) => row.slice(0, 3)),
    counters.map(({ entity, compra, venta }) => [entity, comma(compra), comma(venta)]),
  )
  const spread = (one: Record<string, string>) => comma(String(Number(one.venta) - Number(one.compra)))
  assert.deepEqual(
    rows.map((row) => row[3]),
    counters.map(spread),
  )
  const days = rows.map((row) => row[4] ?? '')
  assert.equal(days.filter((day) => day === '20/11/2026').length, COUNTERS.size - 1)
  assert.ok(days.includes('compra 18/11/2026 · venta 20/11/2026'))
  const sellRates = async () => (await readRows(visit, '.counter-table')).map((row) => row[2] ?? '')
  await visit.page.click('.counter-table th:nth-child(3) .sort')
  const ascending = await sellRates()
  assert.deepEqual(ascending, ascending.toSorted())
  assert.equal(await visit.page.$eval('.counter-table th:nth-child(3)', (one) => one.ariaSort), 'ascending')
  await fill(visit.page, '.counters .search input', 'nacional')
  await until(async () => (await readRows(visit, '.counter-table')).length === 1)
  await visit.page.click('.counter-table .currency')
  await visit.page.waitForSelector('.indicator-trend .key-compra')
  assert.match(visit.page.url(), /indicator=3149/)
  const name = await visit.page.$eval('#indicator-name', (one) => one.textContent)
  assert.equal(name, 'Banco Nacional')
  assertClean(visit)
})

test('files of an indicator and of the counters have all digits', async (t) => {
  const visit = await open('#rates?indicator=347&indicatorFrom=2026-11-10&indicatorTo=2026-11-20')
  const folder = temporaryDirectory(t)
  await setDownloadFolder(visit, folder)
  const saved = async (name: string) => {
    await until(() => listDownloads(folder).includes(name))
    return readFileSync(join(folder, name), 'utf8')
  }
  await chooseFile(visit, '.indicator-trend', 'programs')
  const expected = await points('347', 'from=2026-11-10&to=2026-11-20')
  assert.equal(
    await saved('bccr-indicador-347-2026-11-10-2026-11-20.csv'),
    `date,value\n${expected.map(({ date, value }) => `${date},${value}\n`).join('')}`,
  )
  await chooseFile(visit, '.counter-files', 'programs')
  const lines = (await saved('bccr-ventanilla-2026-11-20.csv')).trim().split('\n')
  assert.equal(lines[0], 'entity,kind,compra,compra_date,venta,venta_date,spread')
  assert.equal(lines.length, COUNTERS.size + 1)
})

test('the card works by keyboard: an indicator, a span, a day, and the table', async () => {
  const visit = await open('#rates')
  const { page } = visit
  await page.focus('#indicators ~ .below .indicator-table tbody tr:nth-child(4) button')
  await press(page, 'Enter')
  await page.waitForFunction(() =>
    document.getElementById('indicator-name')?.textContent?.startsWith('Promedio'),
  )
  await pressTab(page, 'Un año')
  await press(page, 'ArrowLeft')
  assert.equal(await focusName(page), 'Seis meses')
  await pressTab(page, 'Día elegido')
  await press(page, 'ArrowLeft', 'ArrowLeft')
  const spoken = await page.evaluate(() => document.activeElement?.getAttribute('aria-valuetext') ?? '')
  assert.match(spoken.replace(SPACE, ''), /^18\/11\/2026,Valor4\d\d,\d\d$/)
  await pressTab(page, 'Ver como tabla')
  await press(page, 'Enter')
  const table = await page.waitForSelector('.indicator-trend .history-table tbody th')
  assert.equal(await table?.evaluate(({ textContent }) => textContent), '20/11/2026')
})

test('the card is printed with its tables, and without controls', async (t) => {
  const visit = await open('#rates?indicator=98405')
  await until(async () => (await visit.page.$('.indicator-trend .history-table tbody tr')) !== null)
  const text = await printedText(t, visit.page)
  assert.match(text, /Indicadores[\s\S]*Índice de precios al consumidor +11\d,\d+/)
  assert.match(text, /Índice de precios al consumidor, del 01\/11\/2025 al 01\/11\/2026/)
  assert.match(text, /Banco Nacional +4\d\d,\d\d +4\d\d,\d\d +\d+,\d\d +20\/11\/2026/)
  const [, card = ''] = text.split('Otras series que publica el BCCR')
  assert.doesNotMatch(card, /Buscar|Descargar|Ver como tabla|Desde/)
})

for (const [device, viewport, least] of [
  ['desk', DESKTOP, 0],
  ['phone', PHONE, MIN_TARGET],
  ['narrow phone', { ...PHONE, width: 320, height: 640 }, 0],
] as const) {
  test(`axe and geometry find nothing in the card on a ${device}, and its figures are whole`, async () => {
    const visit = await open('#rates?indicator=3446', { viewport })
    const findings: string[] = []
    for (const [language, colours] of [
      ['es', 'light'],
      ['en', 'dark'],
    ] as const) {
      await visit.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: colours }])
      if ((await visit.page.$eval('html', ({ lang }) => lang)) !== language)
        await visit.page.$eval('.language', (button) => (button as HTMLElement).click())
      await waitForIdle(visit.page)
      findings.push(...(await visit.page.evaluate(geometry, least)), ...(await axe(visit.page)))
      const wrapped = await visit.page.$$eval('.indicators .number', (cells) =>
        cells.filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map(({ textContent }) => textContent),
      )
      findings.push(...wrapped.map((text) => `${text} is wider than its cell`))
    }
    assert.deepEqual(findings, [])
    assertClean(visit)
  })
}
