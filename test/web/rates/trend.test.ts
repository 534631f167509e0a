// Trend of a pair, its comparisons and the table of currencies, against figures that are computed here.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../support/terminal.ts'
import { openFullApp } from '../apps.ts'
import { fill, showSection, startSession, waitForIdle } from '../states.ts'
import { assertClean, openEngine, openVisit, type Visit, type VisitOptions, waitForText } from '../support.ts'

type Side = 'compra' | 'venta'
type Point = { date: string; rate_date: string; value: string }
type Conversion = { rate: string; legs: { pair: string; rate_date: string; value: string }[] }
/** Fraction of two whole numbers. */
type Fraction = [over: bigint, under: bigint]

const FROM = '2025-11-21'
const TO = '2026-11-20'
const SPACE = /[\s\u00a0\u202f]/g

const browser = await openEngine()
const app = await openFullApp()

async function open(fragment: string, options: VisitOptions = {}): Promise<Visit> {
  const visit = await openVisit(browser, app, { language: 'es', ...options })
  await startSession(visit, app, 'both')
  await show(visit, fragment)
  return visit
}

async function show({ page, url }: Visit, fragment: string): Promise<void> {
  await page.goto('about:blank')
  await page.goto(`${url}/${fragment}`)
  await page.waitForSelector('.statistics td')
  await waitForIdle(page)
}

async function history(pair: string, type: Side, from = FROM, to = TO): Promise<Point[]> {
  const [base = '', quote = ''] = pair.split('/')
  const query = new URLSearchParams({ base, quote, type, from, to })
  return (await app.json<{ points: Point[] }>(`/api/v1/history?${query}`)).points
}

function fraction(text: string): Fraction {
  const [whole = '', places = ''] = text.split('.')
  return [BigInt(whole + places), 10n ** BigInt(places.length)]
}

/** Writes a fraction in Spanish, rounded half away from zero. */
function rounded([over, under]: Fraction, places: number): string {
  const scaled = (2n * (over < 0n ? -over : over) * 10n ** BigInt(places) + under) / (2n * under)
  const digits = scaled.toString().padStart(places + 1, '0')
  return `${over < 0n ? '-' : ''}${digits.slice(0, -places)},${digits.slice(-places)}`
}

/** Rate in Spanish: two places, or six significant digits below 10. */
function crossFigure(value: Fraction): string {
  const [over, under] = value
  if (over >= 10n * under) return rounded(value, 2)
  let places = 5
  while (over * 10n ** BigInt(places - 5) < under) places += 1
  return rounded(value, places).replace(/(,\d\d\d*?)0+$/, '$1')
}

function sum(points: readonly Point[]): Fraction {
  return points.reduce<Fraction>(
    ([over, under], { value }) => {
      const [more, base] = fraction(value)
      return [over * base + more * under, under * base]
    },
    [0n, 1n],
  )
}

/** Cells of the statistics by row, with the small text below each figure. */
function readStatistics({ page }: Visit): Promise<string[][]> {
  return page.$$eval('.statistics tbody tr', (rows) =>
    rows.map((row) =>
      [...row.children].flatMap((cell) => {
        const small = cell.querySelector('small')?.textContent ?? ''
        return [(cell.textContent ?? '').slice(0, small === '' ? undefined : -small.length), small]
      }),
    ),
  )
}

const day = (date: string) => date.split('-').reverse().join('/')

for (const [pair, names] of [
  ['EUR/CRC', ['compra', 'venta']],
  ['JPY/CRC', ['compra', 'venta']],
  ['XDR/EUR', ['venta']],
] as const) {
  test(`the trend of ${pair} has the figures of the API, and exact statistics`, async () => {
    const visit = await open(`#rates?pair=${pair}`)
    const rows = await readStatistics(visit)
    assert.equal(rows.length, names.length)
    const readout = await visit.page.$eval('.readout', (one) => one.textContent ?? '')
    for (const [at, side] of names.entries()) {
      const points = await history(pair, side)
      const [first, last] = [points[0], points.at(-1)]
      assert.ok(first && last && points.length > 200)
      const figure = (point: Point) => crossFigure(fraction(point.value))
      const isLess = (a: Point, b: Point) => {
        const [left, right] = [fraction(a.value), fraction(b.value)]
        return left[0] * right[1] < right[0] * left[1]
      }
      const low = points.reduce((least, one) => (isLess(one, least) ? one : least))
      const high = points.reduce((most, one) => (isLess(most, one) ? one : most))
      const [over, under] = sum(points)
      const [start, end] = [fraction(first.value), fraction(last.value)]
      const change: Fraction = [end[0] * start[1] - start[0] * end[1], start[0] * end[1]]
      const percent = rounded([change[0] * 100n, change[1]], 2)
      const label = names.length === 1 ? 'Referencia' : side === 'compra' ? 'Compra' : 'Venta'
      assert.deepEqual(rows[at]?.slice(0, -1), [
        ...[label, ''],
        ...[first, low, high].flatMap((point) => [figure(point), day(point.date)]),
        ...[crossFigure([over, under * BigInt(points.length)]), `${points.length} días`],
        ...[figure(last), day(last.date)],
        `${change[0] > 0n ? '+' : ''}${percent}\u00a0%`,
      ])
      assert.ok(readout.includes(figure(last)), readout)
    }
    assert.ok(readout.includes('20/11/2026'))
    assert.equal(await visit.page.$('.chart canvas').then(Boolean), true)
    assertClean(visit)
  })
}

test('the read-out names the days of the legs where they differ', async () => {
  const visit = await open('#rates?pair=EUR/CRC&from=2026-11-09&to=2026-11-15')
  const readout = () => visit.page.$eval('.readout', (one) => one.textContent ?? '')
  await until(async () =>
    (await readout()).endsWith('Euro: publicado para el 13/11; dólar estadounidense: para el 15/11'),
  )
  await visit.page.focus('.slider input')
  await visit.page.keyboard.press('Home')
  await until(async () => (await readout()).startsWith('09/11/2026'))
  assert.doesNotMatch(await readout(), /publicado/)
})

test('two currencies are an index of exact fractions, and the same months of a year are values', async () => {
  const visit = await open('#rates?pair=EUR/CRC&compare=USD')
  const [euro, dollar] = await Promise.all([history('EUR/CRC', 'venta'), history('USD/CRC', 'venta')])
  const readout = () =>
    visit.page.$$eval('.readout-line', (lines) => lines.map((line) => (line.textContent ?? '').trim()))
  const index = (points: Point[], on: string) => {
    const [first, now] = [points[0], points.find(({ date }) => date === on)].map((one) =>
      fraction(one?.value ?? ''),
    )
    return first && now && rounded([now[0] * first[1] * 100n, now[1] * first[0]], 2)
  }
  const real = (points: Point[], on: string) =>
    crossFigure(fraction(points.find(({ date }) => date === on)?.value ?? ''))
  const expected = (on: string) => [
    `Euro ${index(euro, on)} (₡${real(euro, on)})`,
    `Dólar estadounidense ${index(dollar, on)} (₡${real(dollar, on)})`,
  ]
  assert.deepEqual(await readout(), expected(TO))
  await visit.page.focus('.slider input')
  for (let step = 0; step < 5; step += 1) await visit.page.keyboard.press('PageDown')
  const on = await visit.page.$eval('.readout-day', (one) => one.textContent ?? '')
  assert.notEqual(on, day(TO))
  assert.deepEqual(await readout(), expected(on.trim().split('/').reverse().join('-')))

  await visit.page.select('.pair-fields > :last-child select', '2023')
  await waitForIdle(visit.page)
  assert.match(visit.page.url(), /compare=2023/)
  const older = await history('EUR/CRC', 'venta', '2022-11-21', '2023-11-20')
  assert.deepEqual(await readout(), [`2026 ${real(euro, TO)}`, `2023 ${real(older, '2023-11-20')}`])
  await visit.page.click('.history .card-head .link')
  await waitForIdle(visit.page)
  assert.equal((await readout())[0]?.slice(0, 6), 'Compra')

  await visit.page.goto(`${visit.url}/#rates?pair=USD/CRC&compare=EUR`)
  await waitForText(visit, '.trend-source', /^Fuente: BCCR, indicadores 317 y 318 y tabla de paridades\./)
  assertClean(visit)
})

test('an empty period names the pair and the first day that has values', async () => {
  const visit = await openVisit(browser, app, { language: 'es' })
  await startSession(visit, app, 'both')
  await visit.page.goto(`${visit.url}/#rates?pair=EUR/USD&from=2026-11-14&to=2026-11-15`)
  await visit.page.waitForSelector('.history .notice')
  await waitForIdle(visit.page)
  const notice = await visit.page.$eval('.history .notice', (one) => one.textContent ?? '')
  assert.match(
    notice,
    /^No hay valores de EUR\/USD en este períodoEl primer valor es del \d\d\/\d\d\/\d{4}\.$/,
  )
})

test('the currencies are loaded by one batch when they are scrolled to, and have the figures of the API', async () => {
  const visit = await open('#rates')
  const { page, requests } = visit
  const batches = () => requests.filter((url) => url.endsWith('/convert/batch'))
  assert.deepEqual(batches(), [])
  await showSection('.currencies')(visit, app)
  await page.waitForSelector('.row-count .link').then((link) => link?.click())
  await page.waitForSelector('.currency-table tbody tr:nth-child(46)')
  assert.equal(batches().length, 1)
  const cells = () =>
    page.$$eval('.currency-table tbody tr', (rows) =>
      rows.map((row) =>
        ['code', 'buy', 'sell', 'change', 'pair', 'value', 'day'].map(
          (name) => row.querySelector(`.currency-${name}`)?.textContent ?? '',
        ),
      ),
    )
  const rows = await cells()
  assert.deepEqual(
    rows.slice(0, 10).map(([code]) => code),
    ['USD', 'EUR', 'CAD', 'GBP', 'MXN', 'JPY', 'CHF', 'CNY', 'NIO', 'COP'],
  )
  const convert = (from: string, type: Side, on: string) =>
    app.json<Conversion>(
      `/api/v1/convert?${new URLSearchParams({ amount: '1', from, to: 'CRC', type, on, details: 'true' })}`,
    )
  for (const [code = '', buy, sell, change, pair, value, date] of rows.filter(([one]) => one !== 'USD')) {
    const [buyer, seller] = [await convert(code, 'compra', TO), await convert(code, 'venta', TO)]
    const before = fraction((await convert(code, 'venta', '2026-10-20')).rate)
    const now = fraction(seller.rate)
    const [over, under] = [now[0] * before[1] - before[0] * now[1], before[0] * now[1]]
    const published = seller.legs.find((leg) => leg.pair !== 'USD/CRC')
    const digits = (published?.value ?? '').replace(/^(\d+)$/, '$1.00').replace(/(\.\d)$/, '$10')
    assert.deepEqual(
      [buy, sell, change, pair, value, date].map((text) => text?.replace(SPACE, '')),
      [
        ...[crossFigure(fraction(buyer.rate)), crossFigure(now)],
        `${over > 0n ? '+' : ''}${rounded([over * 100n, under], 2)}%`,
        published?.pair,
        digits.replace('.', ','),
        day(published?.rate_date ?? ''),
      ],
      code,
    )
  }
  const first = async () => (await cells())[0]?.[0]
  await page.click('.currency-table .column-sell .sort')
  await until(async () => (await first()) !== 'USD')
  assert.equal(
    await page.$eval('.currency-table .column-sell', (one) => one.getAttribute('aria-sort')),
    'descending',
  )
  await page.click('.currency-table .column-sell .sort')
  await until(async () => (await first()) === 'VND')
  for (const [query, codes] of [
    ['japon', ['JPY']],
    ['colón', ['USD']],
    ['tailandés', ['THB']],
    ['alemania', ['EUR']],
  ] as const) {
    await fill(page, '.search input', query)
    await until(async () => String((await cells()).map(([code]) => code)) === String(codes))
  }
  await page.click('.currency-table .currency')
  await page.waitForFunction(() => location.hash.includes('pair=EUR/CRC'))
  assert.equal(batches().length, 1)
  assertClean(visit)
})
