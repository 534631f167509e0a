// What the page shows are the digits of the API: days, conversions, amounts as they are typed, and workbooks as a
// spreadsheet opens them.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { addDays } from '../../src/dates.ts'
import { temporaryDirectory } from '../support/app.ts'
import { until } from '../support/terminal.ts'
import { downloadInto, enter, openBrowser, openPageApp, TODAY, type Visit, visit } from './support.ts'

const FIRST = '2024-01-01'
const DAYS = 200
const { CAMBISTA_SEED = '17' } = process.env
const browser = await openBrowser()
const app = await openPageApp({ backfillFrom: FIRST })
const random = randomNumbers(Number(CAMBISTA_SEED))

type Latest = { compra: string | null; venta: string | null; rate_date: string }
type Rate = { pair: string; rate_type: string; value: string }
type Conversion = { rate: string; result: string; rate_date: string }

test(`the digits of ${DAYS} days and conversions are those of the API (seed ${CAMBISTA_SEED})`, async () => {
  for (const language of ['es', 'en'] as const) {
    const seen = await visit(browser, app, { language })
    await enter(seen, app.key)
    await seen.page.waitForSelector('.side-value')
    const series = await app.json<{ base_currency: string; quote_currency: string }[]>('/api/v1/series')
    const codes = [...new Set(series.flatMap((one) => [one.base_currency, one.quote_currency]))]
    for (let turn = 0; turn < DAYS / 2; turn += 1) {
      const on = addDays(FIRST, Math.floor(random() * 1050))
      const [from, to] = [oneOf(codes), oneOf(codes)]
      const type = oneOf(['compra', 'venta'])
      const amount = `${1 + Math.floor(random() * 10 ** oneOf([2, 6, 12]))}.${turn + 1}7`
      const asked = new URLSearchParams({ on, amount, source: from, target: to, side: type })
      await seen.page.evaluate((fragment) => {
        location.hash = fragment
      }, `rates?${asked}`)
      const shown = await shownFor(seen, on, plain(amount))
      const what = `${language} ${asked}`
      const answer = await app.get(`/api/v1/rates/latest?on=${on}`)
      if (answer.ok) {
        const { compra, venta } = (await answer.json()) as Latest
        assert.deepEqual(
          shown.sides,
          [compra, venta].map((value) => (value === null ? '' : plain(value))),
          what,
        )
      } else assert.deepEqual([answer.status, shown.sides], [404, []], what)
      const rates = await app.json<Rate[]>(`/api/v1/rates?on=${on}`)
      assert.deepEqual(
        shown.rates,
        rates.map(({ pair, value }) => `${pair} ${plain(value)}`),
        what,
      )
      const converted = await app.get(
        `/api/v1/convert?${new URLSearchParams({ amount, from, to, type, on })}`,
      )
      if (converted.ok) {
        const { rate, result } = (await converted.json()) as Conversion
        assert.deepEqual(shown.conversion, [plain(result), plain(rate)], what)
      } else assert.deepEqual([converted.status, shown.conversion], [404, []], what)
    }
    await seen.page.browserContext().close()
  }
})

/** How the same amounts are typed, and which digits they are. */
const SPELLINGS: Record<string, string> = {
  '15.000,50': '15000.5',
  '15,000.50': '15000.5',
  '15 000.50': '15000.5',
  '15.000': '15000',
  '15,5': '15.5',
  '0,125': '0.125',
  '₡1.234.567,891': '1234567.891',
  "1'000'000": '1000000',
  '1234567890123456789012345': '1234567890123456789012345',
  '1.234.567.890.123.456.789.012.345,67': '1234567890123456789012345.67',
}

test('an amount is read as it is meant, the page says how, and the API is asked for just that', async () => {
  for (const language of ['es', 'en'] as const) {
    const seen = await visit(browser, app, { language })
    const { page } = seen
    // The clipboard is the machine's, and not there for a browser without a screen.
    await page.evaluateOnNewDocument(() => {
      navigator.clipboard.writeText = async (text) => {
        Object.assign(window, { copied: text })
      }
    })
    await page.reload()
    await enter(seen, app.key)
    for (const [typed, value] of Object.entries(SPELLINGS)) {
      const field = await page.waitForSelector('.field.amount')
      await field?.click({ count: 3 })
      await field?.type(typed)
      const shown = await shownFor(seen, TODAY, value)
      const query = { amount: value, from: 'USD', to: 'CRC', type: 'venta' }
      const { result, rate } = await app.json<Conversion>(`/api/v1/convert?${new URLSearchParams(query)}`)
      assert.deepEqual(shown.conversion, [plain(result), plain(rate)], `${language} ${typed}`)
      const last = new URL(seen.requests.filter((one) => one.includes('/convert?')).at(-1) ?? '')
      assert.equal(last.searchParams.get('amount'), value)
      await page.click('.copy')
      assert.equal(await page.evaluate(() => (window as { copied?: string }).copied), result)
    }
    const field = await page.waitForSelector('.field.amount')
    for (const unreadable of ['1.50.00', '1e5', '-5', '0']) {
      await field?.click({ count: 3 })
      await field?.type(unreadable)
      await page.waitForSelector('.reading.refusal')
      assert.equal(await page.$('.result-facts'), null, unreadable)
    }
    await page.browserContext().close()
  }
})

test('workbooks open in a spreadsheet: days are dates, digits are numbers, no name is a formula', async (t) => {
  const seen = await visit(browser, app, { before: renameSeries })
  const { page } = seen
  await enter(seen, app.key)
  const folder = temporaryDirectory(t)
  await downloadInto(seen, folder)
  await page.waitForFunction(() => document.querySelectorAll('.currency').length > 3)
  await page.waitForSelector('.history-tools .buttons button:last-child:not([disabled])')
  await page.click('.history-tools .buttons button:last-child')
  await page.click('.currencies .buttons button:last-child')
  const files = () => readdirSync(folder).filter((name) => name.endsWith('.xlsx'))
  await until(() => files().length === 2)
  const out = join(folder, 'out')
  mkdirSync(out)
  const profile = `-env:UserInstallation=file://${folder}/profile`
  const convert = ['--headless', profile, '--convert-to', 'fods', '--outdir', out]
  const words = [...convert, ...files().map((name) => join(folder, name))]
  await promisify(execFile)('soffice', words, { env: { PATH: process.env.PATH, HOME: folder } })
  const [currencies = '', history = ''] = ['2', 'U'].map((begin) => {
    const name = readdirSync(out).find((one) => one.startsWith(begin)) ?? ''
    return readFileSync(join(out, name), 'utf8')
  })

  const { points } = await app.json<{ points: { rate_date: string; value: string }[] }>(
    `/api/v1/series/1/history?from=2025-11-21&to=2026-11-21`,
  )
  const rows = rowsOf(history).slice(1)
  assert.equal(rows.length, points.length)
  assert.ok(points.length > 300)
  const first = new Map(rows.map(([day, compra]) => [day, compra]))
  for (const { rate_date: date, value } of points)
    assert.equal(first.get(`date ${date}`), `float ${plain(value)}`, date)

  for (const sheet of [history, currencies]) assert.doesNotMatch(sheet, /table:formula/)
  const names = rowsOf(currencies).map(([, name]) => name)
  for (const [name] of FORMULAS) assert.ok(names.includes(`string ${name}`), `${name} in ${names}`)
  const rates = await app.json<Rate[]>('/api/v1/rates')
  assert.deepEqual(
    rowsOf(currencies)
      .slice(1)
      .map((row) => row.at(-1)),
    rates.map(({ value }) => `float ${plain(value)}`),
  )
})

const FORMULAS = [
  ['=1+2', 'XQA'],
  ['+1+2', 'XQB'],
  ['-1+2', 'XQC'],
  ['@SUM(1)', 'XQD'],
] as const

/** As a provider would have it whose currencies the browser does not know, and whose names are formulas. */
async function renameSeries(page: Visit['page']): Promise<void> {
  await page.setRequestInterception(true)
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname !== '/api/v1/series' && pathname !== '/api/v1/rates') return void request.continue()
    type Named = {
      id?: number
      series_id?: number
      name?: string
      base_currency: string
      quote_currency: string
    }
    void app.json<Named[]>(pathname + search).then((all) => {
      for (const one of all) {
        const [name, code] = FORMULAS[(one.id ?? one.series_id ?? 0) - 3] ?? []
        if (code === undefined) continue
        if (one.name !== undefined) one.name = name
        if (one.base_currency !== 'USD') one.base_currency = code
        else one.quote_currency = code
      }
      void request.respond({ contentType: 'application/json', body: JSON.stringify(all) })
    })
  })
}

/** The cells of the rows of a flat spreadsheet, each as its kind and its value. */
function rowsOf(sheet: string): string[][] {
  return [...sheet.matchAll(/<table:table-row[^>]*>(.*?)<\/table:table-row>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<table:table-cell([^>]*?)(?:\/>|>(.*?)<\/table:table-cell>)/gs)].flatMap(
      ([, facts = '', inner = '']) => {
        const of = (name: string) => new RegExp(`office:${name}="([^"]*)"`).exec(facts)?.[1]
        const kind = of('value-type')
        const text = /<text:p>(.*?)<\/text:p>/s.exec(inner)?.[1] ?? ''
        return kind === undefined ? [] : [`${kind} ${of('date-value') ?? of('value') ?? text}`]
      },
    ),
  )
}

/** What stands on the page once it shows this day and amount. */
async function shownFor({ page }: Visit, on: string, amount: string) {
  const read = () =>
    page.evaluate(() => {
      const texts = (where: string) =>
        [...document.querySelectorAll(where)].map((found) => {
          const copy = found.cloneNode(true) as Element
          for (const more of copy.querySelectorAll('small, .unseen, .sign, .awaited')) more.remove()
          return copy.textContent ?? ''
        })
      const pairs = [...document.querySelectorAll('.currency-name small')].map((one) => one.textContent ?? '')
      return {
        language: document.documentElement.lang,
        day: document.querySelector<HTMLInputElement>('.day-picker input')?.value,
        reading: texts('.reading')[0] ?? '',
        isBusy:
          document.querySelector(
            '.sides[aria-busy=true], .outcome[aria-busy=true], .currencies[aria-busy=true]',
          ) !== null,
        isOut: texts('.outcome')[0] === '',
        sides: texts('.side-value'),
        pairs,
        values: texts('.currency-value'),
        facts: texts('.result-facts dd'),
      }
    })
  let shown = await read()
  const digits = (text: string) => digitsIn(text, shown.language)
  await until(async () => {
    shown = await read()
    return shown.day === on && !shown.isBusy && !shown.isOut && digits(shown.reading) === amount
  })
  const [exact, rate] = shown.facts
  return {
    sides: shown.sides.map(digits),
    rates: shown.values.map((value, at) => `${shown.pairs[at]?.slice(0, 7)} ${digits(value)}`),
    conversion: exact === undefined ? [] : [digits(exact), digits((rate ?? '').replace(/^.*=/, ''))],
  }
}

/** The one figure in a text, as the API writes it but for zeros at its end. */
function digitsIn(text: string, language: string): string {
  const figures = text.match(/\d[\d.,\s\u00a0\u202f]*/g) ?? []
  if (figures.length > 1) throw new Error(`${text} has several figures`)
  const [figure = ''] = figures
  const bare =
    language === 'es'
      ? figure.replace(/[.\s\u00a0\u202f]/g, '').replace(',', '.')
      : figure.replace(/[,\s]/g, '')
  return plain(bare)
}

function plain(value: string): string {
  return value.includes('.') ? value.replace(/\.?0+$/, '') : value
}

function oneOf<T>(all: readonly T[]): T {
  return all[Math.floor(random() * all.length)] as T
}

/** mulberry32 */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
