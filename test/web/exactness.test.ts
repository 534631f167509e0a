// Compares the digits of the page with the API: days, conversions, typed amounts, and workbooks in a spreadsheet.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { HTTPRequest } from 'puppeteer-core'
import { addDays } from '../../src/values/dates.ts'
import { parseAmount } from '../../src/web/model/amount.ts'
import { scaled } from '../faults/scale.ts'
import { temporaryDirectory } from '../support/app.ts'
import { createRandom } from '../support/rates/random-bank.ts'
import { SEED } from '../support/seed.ts'
import { until } from '../support/terminal.ts'
import { openInCalc } from './output/calc.ts'
import {
  chooseFile,
  enterSecret,
  listDownloads,
  nextCopy,
  openEngine,
  openPageApp,
  openVisit,
  setDownloadFolder,
  TODAY,
  type Visit,
} from './support.ts'

const FIRST = '2024-01-01'
const DAYS = scaled({ short: 40, long: 200 })
const PAPERS = 4 // a certificate for each fourth conversion
const browser = await openEngine()
const app = await openPageApp({ backfillFrom: FIRST })
const random = createRandom(SEED)

type Latest = { compra: string | null; venta: string | null; rate_date: string }
type Rate = { pair: string; rate_type: string; value: string }
type Leg = { pair: string; rate_type: string; rate_date: string; value: string; inverse: boolean }
type Conversion = { rate: string; result: string; rate_date: string; legs: Leg[] }

test(`the page shows the digits of the API for ${DAYS} days and conversions (seed ${SEED})`, async () => {
  for (const language of ['es', 'en'] as const) {
    const visit = await openVisit(browser, app, { language })
    await enterSecret(visit, app.key)
    await visit.page.waitForSelector('.statistics td')
    await visit.page.keyboard.press('Shift') // renders the table of currencies
    await visit.page.waitForSelector('.row-count .link').then((link) => link?.click())
    const series = await app.json<{ base_currency: string; quote_currency: string }[]>('/api/v1/series')
    const codes = [...new Set(series.flatMap((one) => [one.base_currency, one.quote_currency]))]
    const papers: PaperView[] = []
    for (let turn = 0; turn < DAYS / 2; turn += 1) {
      const on = addDays(FIRST, Math.floor(random.next() * 1050))
      const [from, to] = [random.item(codes), random.item(codes)]
      const type = random.item(['compra', 'venta'])
      const amount = `${1 + Math.floor(random.next() * 10 ** random.item([2, 6, 12]))}.${turn + 1}7`
      const params = new URLSearchParams({ on, amount, source: from, target: to, side: type })
      await visit.page.evaluate((fragment) => {
        location.hash = fragment
      }, `rates?${params}`)
      const figures = await readFigures(visit, on, plainDecimal(amount))
      const context = `${language} ${params}`
      const answer = await app.get(`/api/v1/rates/latest?on=${on}`)
      if (answer.ok) {
        const { compra, venta } = (await answer.json()) as Latest
        assert.deepEqual(
          figures.sides,
          [compra, venta].map((value) => (value === null ? '' : plainDecimal(value))),
          context,
        )
      } else assert.deepEqual([answer.status, figures.sides], [404, []], context)
      const rates = await app.json<Rate[]>(`/api/v1/rates?on=${on}`)
      assert.deepEqual(
        figures.rates,
        rates.map(({ pair, value }) => `${pair} ${plainDecimal(value)}`).sort(),
        context,
      )
      const conversion = await app.get(
        `/api/v1/convert?${new URLSearchParams({ amount, from, to, type, on, details: 'true' })}`,
      )
      if (conversion.ok) {
        const expected = (await conversion.json()) as Conversion
        assert.deepEqual(figures.conversion, expectedFigures(expected), context)
        if (turn % PAPERS === 0) papers.push({ params, language, expected })
      } else assert.deepEqual([conversion.status, figures.conversion], [404, undefined], context)
    }
    for (const paper of papers) await assertPaper(visit, paper)
    await visit.page.browserContext().close()
  }
})

type PaperView = { params: URLSearchParams; language: string; expected: Conversion }

/** Compares rate and result of a certificate with the conversion: in its statement, and in its text without spaces. */
async function assertPaper({ page }: Visit, { params, language, expected }: PaperView): Promise<void> {
  const { rate, result } = expected
  await page.evaluate((fragment) => {
    location.hash = fragment
  }, `rates/certificate?${params}`)
  const amount = `amount=${params.get('amount')} ${params.get('source')}`
  const isShown = (line: string) =>
    document.querySelector('.statement pre')?.textContent?.includes(`${line}\n`) ?? false
  await page.waitForFunction(isShown, {}, amount)
  const [text = '', statement = ''] = await page.evaluate(() =>
    ['.paper', '.statement pre'].map((where) => document.querySelector(where)?.textContent ?? ''),
  )
  const lines = statement.split('\n')
  assert.ok(
    lines.includes(`rate=${rate}`) && lines.includes(`result=${result} ${params.get('target')}`),
    statement,
  )
  const digits = text.replaceAll(/\s/g, '').replaceAll(language === 'es' ? '.' : ',', '')
  for (const figure of [rate, result])
    assert.ok(digits.includes(language === 'es' ? figure.replace('.', ',') : figure), `${figure}: ${text}`)
}

/** Typed amounts, and the digits that they mean. */
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
  '100+50-12,5': '137.5',
  $1500: '1500',
  'US$ 1.500': '1500',
  '-150': '-150',
  '(1.500,25)': '-1500.25',
}

const REFUSED = {
  es: {
    '1.50.00': 'Ese monto se puede leer de dos maneras. Por ejemplo: 15.000,50 o 15,000.50.',
    '12 mil': '«12 mil» no es un monto.',
    '100 USD + 50 EUR': 'Una suma lleva una sola moneda.',
    '13 %': 'Un porcentaje no es un monto.',
    '0,00': 'El monto no puede ser cero.',
    '5-5': 'La suma da cero.',
    '1500 PAB': 'El BCCR no publica PAB.',
  },
  en: {
    '1.50.00': 'This amount can be read in two ways. For example: 15,000.50 or 15.000,50.',
    '12 mil': '“12 mil” is not an amount.',
    '100 USD + 50 EUR': 'A sum has a single currency.',
    '13 %': 'A percentage is not an amount.',
    '0,00': 'The amount cannot be zero.',
    '5-5': 'The sum is zero.',
    '1500 PAB': 'The BCCR does not publish PAB.',
  },
}

test('a currency in the amount becomes the source, or changes places with the target', async () => {
  const visit = await openVisit(browser, app, { language: 'es' })
  const { page } = visit
  await enterSecret(visit, app.key)
  await page.waitForSelector('.result output')
  const currencies = () =>
    page.$$eval('.converter select', (fields) => fields.map((field) => (field as HTMLSelectElement).value))
  for (const [text, source, target] of [
    ['1500 EUR', 'EUR', 'CRC'],
    ['15 euros', 'EUR', 'CRC'],
    ['₡1 500', 'CRC', 'EUR'],
    ['¥100', 'JPY', 'EUR'],
    ['20', 'JPY', 'EUR'],
    ['EUR 20', 'EUR', 'JPY'],
  ] as const) {
    await page.click('.amount', { count: 3 })
    await page.type('.amount', text)
    assert.deepEqual(await currencies(), [source, target], text)
  }
  await page.click('.amount', { count: 3 })
  await page.type('.amount', '¥100')
  assert.match(
    await page.$eval('.reading', (one) => one.textContent ?? ''),
    /100,00 JPY · ¥ se leyó como JPY/,
  )
  await page.select('.converter select', 'USD')
  assert.equal(await page.$eval('.amount', (field) => (field as HTMLInputElement).value), '100')
})

test('the support line has the legs of the answer, the sign and the time', async () => {
  const visit = await openVisit(browser, app, { language: 'es' })
  const { page } = visit
  await enterSecret(visit, app.key)
  for (const [text, from] of [
    ['1500 EUR', 'EUR'],
    ['(15.000 JPY)', 'JPY'],
    ['150 USD', 'USD'],
  ] as const) {
    await page.waitForSelector('.amount')
    await page.click('.amount', { count: 3 })
    await page.type('.amount', text)
    const { value } = parseAmount(text)
    const amount = (value ?? '').replace('-', '')
    const query = new URLSearchParams({ amount, from, to: 'CRC', type: 'venta', details: 'true' })
    const { result, legs } = await app.json<Conversion>(`/api/v1/convert?${query}`)
    const es = (decimal: string) => {
      const [whole = '', places = ''] = decimal.split('.')
      return `${whole.replace(/\B(?=(\d{3})+$)/g, ' ')},${places.padEnd(2, '0')}`
    }
    const signed = (figure: string) => (value?.startsWith('-') ? `(${figure})` : figure)
    const parts = legs.map(({ pair, rate_type, rate_date, value, inverse }, index) => {
      const sign = inverse ? '÷ ' : index > 0 ? '× ' : ''
      const side = rate_type === 'referencia' ? '' : ' venta'
      return `${sign}${pair}${side} ${es(value)} (${rate_date.split('-').reverse().join('/')})`
    })
    const expected =
      `${signed(es(amount))} ${from} = ${signed(es(roundHalfAway(result)))} CRC · ${parts.join(' ')} · ` +
      'BCCR, tipo de cambio de referencia · datos al 20/11/2026 12:'
    await until(async () => (await page.$$('.leg')).length === legs.length + 1)
    await page.click('.outcome .buttons button')
    await until(async () => {
      const { text: copied } = await nextCopy(visit)
      return (
        copied.startsWith(expected) && /^\d\d \(hora de Costa Rica\)$/.test(copied.slice(expected.length))
      )
    })
    await page.waitForFunction(() =>
      /Copiado/.test(document.querySelector('.outcome .buttons')?.textContent ?? ''),
    )
  }
})

test('the converter parses typed amounts, shows the parsed amount and requests it from the API', async () => {
  for (const language of ['es', 'en'] as const) {
    const visit = await openVisit(browser, app, { language })
    const { page } = visit
    await enterSecret(visit, app.key)
    for (const [typed, value] of Object.entries(SPELLINGS)) {
      const field = await page.waitForSelector('.field.amount')
      await field?.click({ count: 3 })
      await field?.type(typed)
      const figures = await readFigures(visit, TODAY, value)
      const positive = value.replace('-', '')
      // A sign in the amount has chosen the currencies.
      const [from = '', to = ''] = await page.$$eval('.converter select', (fields) =>
        fields.map((field) => (field as HTMLSelectElement).value),
      )
      const query = { amount: positive, from, to, type: 'venta', details: 'true' }
      const answer = await app.json<Conversion>(`/api/v1/convert?${new URLSearchParams(query)}`)
      const result = value === positive ? answer.result : `-${answer.result}`
      assert.deepEqual(figures.conversion, expectedFigures({ ...answer, result }), `${language} ${typed}`)
      const last = new URL(visit.requests.filter((one) => one.includes('/convert?')).at(-1) ?? '')
      assert.equal(last.searchParams.get('amount'), positive)
      await page.click('.copy')
      const digits = result.replace(/(\.\d{3})$/, '$10')
      assert.equal((await nextCopy(visit)).text, language === 'es' ? digits.replace('.', ',') : digits)
    }
    const field = await page.waitForSelector('.field.amount')
    for (const [refused, sentence] of Object.entries(REFUSED[language])) {
      await field?.click({ count: 3 })
      await field?.type(refused)
      await until(
        async () => (await page.$eval('.reading', (one) => one.textContent))?.includes(sentence) ?? false,
      )
      assert.equal(await page.$eval('.outcome', (one) => one.textContent), '—', refused)
    }
    await page.browserContext().close()
  }
})

test('workbooks open in a spreadsheet: days are dates, digits are numbers, no name is a formula', async (t) => {
  const visit = await openVisit(browser, app, { prepare: renameSeries })
  const { page } = visit
  await enterSecret(visit, app.key)
  const folder = temporaryDirectory(t)
  await setDownloadFolder(visit, folder)
  await page.waitForSelector('.statistics td')
  await page.keyboard.press('Shift') // renders the table of currencies
  await page.waitForSelector('.row-count .link').then((link) => link?.click())
  await page.waitForFunction(() => document.querySelectorAll('.currency').length > 20)
  await chooseFile(visit, '.history-tools', 'excel')
  await chooseFile(visit, '.currencies', 'excel')
  await until(() => listDownloads(folder).length === 2)
  const files = listDownloads(folder).sort()
  const sheets = await openInCalc(
    t,
    'fods',
    files.map((name) => join(folder, name)),
  )
  const [history = '', currencies = ''] = sheets.map((file) => readFileSync(file, 'utf8'))

  const { points } = await app.json<{ points: { rate_date: string; value: string }[] }>(
    `/api/v1/series/1/history?from=2025-11-21&to=2026-11-21`,
  )
  const rows = dataRows(history)
  assert.equal(rows.length, points.length)
  assert.ok(points.length > 300)
  const first = new Map(rows.map(([day, compra]) => [day, compra]))
  for (const { rate_date: date, value } of points)
    assert.equal(first.get(`date ${date}`), `float ${plainDecimal(value)}`, date)

  for (const sheet of [history, currencies]) assert.doesNotMatch(sheet, /table:formula/)
  const names = sheetRows(currencies).map(([, name]) => name)
  for (const [name] of FORMULAS) assert.ok(names.includes(`string ${name}`), `${name} in ${names}`)
  const rates = await app.json<Rate[]>('/api/v1/rates')
  assert.deepEqual(
    new Set(dataRows(currencies).map((row) => row.at(-1))),
    new Set(
      rates
        .filter(({ rate_type }) => rate_type !== 'compra')
        .map(({ value }) => `float ${plainDecimal(value)}`),
    ),
  )
})

const FORMULAS = [
  ['=1+2', 'XQA'],
  ['+1+2', 'XQB'],
  ['-1+2', 'XQC'],
  ['@SUM(1)', 'XQD'],
] as const

/** Replaces series by those of a provider with unknown currencies, whose names are formulas. */
async function renameSeries(page: Visit['page']): Promise<void> {
  const renamed = new Map<string, string>()
  const continueRenamed = (request: HTTPRequest) => {
    const body = [...renamed].reduce(
      (text, [code, original]) => text.replaceAll(`"from":"${code}"`, `"from":"${original}"`),
      request.postData() ?? '',
    )
    return request.continue({ postData: body })
  }
  await page.setRequestInterception(true)
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname === '/api/v1/convert/batch') return void continueRenamed(request)
    if (pathname !== '/api/v1/series') return void request.continue()
    type SeriesRow = { id: number; name: string; base_currency: string; quote_currency: string }
    void app.json<SeriesRow[]>(pathname + search).then((all) => {
      for (const one of all) {
        const [name, code] = FORMULAS[one.id - 3] ?? []
        if (code === undefined) continue
        one.name = name
        const side = one.base_currency === 'USD' ? 'quote_currency' : 'base_currency'
        renamed.set(code, one[side])
        one[side] = code
      }
      void request.respond({ contentType: 'application/json', body: JSON.stringify(all) })
    })
  })
}

/** Rows of the first sheet below its headings. */
function dataRows(sheet: string): string[][] {
  const rows = sheetRows(sheet.split('</table:table>')[0] ?? '')
  return rows.slice(6).filter((row) => row.some((cell) => cell !== ''))
}

/** Cells of the rows of a flat spreadsheet, as `kind value`. */
function sheetRows(sheet: string): string[][] {
  return [...sheet.matchAll(/<table:table-row[^>]*>(.*?)<\/table:table-row>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<table:table-cell([^>]*?)(?:\/>|>(.*?)<\/table:table-cell>)/gs)].flatMap(
      ([, facts = '', inner = '']) => {
        const attribute = (name: string) => new RegExp(`office:${name}="([^"]*)"`).exec(facts)?.[1]
        const kind = attribute('value-type')
        const text = /<text:p>(.*?)<\/text:p>/s.exec(inner)?.[1] ?? ''
        return kind === undefined ? [] : [`${kind} ${attribute('date-value') ?? attribute('value') ?? text}`]
      },
    ),
  )
}

/** Figures of an answer as the page shows them: rounded, unrounded, rate, and the legs with their days. */
function expectedFigures({ result, rate, legs }: Conversion) {
  return {
    rounded: plainDecimal(roundHalfAway(result)),
    exact: plainDecimal(result),
    rate: plainDecimal(rate),
    legs: legs.map(({ pair, value, rate_date, inverse, rate_type }) =>
      [inverse ? '÷' : '×', pair, rate_type, plainDecimal(value), rate_date].join(' '),
    ),
  }
}

/** Rounds to two places, or to six significant digits below 0.01: half away from zero, with whole numbers. */
function roundHalfAway(decimal: string): string {
  const [whole = '', fraction = ''] = decimal.replace('-', '').split('.')
  const isSmall = BigInt(whole) === 0n && /^00/.test(fraction) && /[1-9]/.test(fraction)
  const places = isSmall ? fraction.search(/[1-9]/) + 6 : 2
  const units = BigInt(whole + fraction.padEnd(places + 1, '0'))
  const step = 10n ** BigInt(Math.max(fraction.length, places + 1) - places)
  const digits = String(units / step + ((units % step) * 2n >= step ? 1n : 0n)).padStart(places + 1, '0')
  const sign = decimal.startsWith('-') ? '-' : ''
  return `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`
}

/** Waits until the page shows the day and amount, and reads its figures. */
async function readFigures({ page }: Visit, on: string, amount: string) {
  const read = () =>
    page.evaluate(() => {
      const texts = (where: string) =>
        [...document.querySelectorAll(where)].map((element) => {
          const copy = element.cloneNode(true) as Element
          for (const more of copy.querySelectorAll('small, .unseen, .sign, .awaited')) more.remove()
          return copy.textContent ?? ''
        })
      return {
        language: document.documentElement.lang,
        days: [...document.querySelectorAll<HTMLInputElement>('.dollar .date, .converter .date')].map(
          ({ value }) => value.split('/').reverse().join('-'),
        ),
        reading: texts('.reading strong')[0] ?? '',
        isBusy:
          document.querySelector(
            '.sides[aria-busy=true], .outcome[aria-busy=true], .currencies [aria-busy=true]',
          ) !== null,
        isRefused: texts('.outcome')[0] === '—',
        sides: texts('.side-value'),
        pairs: texts('.currency-pair'),
        values: texts('.currency-value'),
        result: document.querySelector('.result output [class^=figure]')?.textContent ?? undefined,
        digits: texts('.digits')[0] ?? '',
        legs: [...document.querySelectorAll('.leg')].map((leg) => ({
          isInverse: leg.querySelector('[aria-hidden]')?.textContent?.includes('÷') ?? false,
          name: leg.querySelector('.leg-name')?.textContent ?? '',
          value: leg.querySelector('.leg-value')?.textContent ?? '',
          day: leg.querySelector('.leg-day')?.textContent?.slice(-10) ?? '',
        })),
      }
    })
  let screen = await read()
  const digits = (text: string) => plainFigure(text, screen.language)
  await until(async () => {
    screen = await read()
    const isDay = screen.days.every((day) => day === on)
    return isDay && !screen.isBusy && !screen.isRefused && digits(screen.reading) === amount
  })
  return {
    sides: screen.sides.map(digits),
    rates: screen.values
      .flatMap((values, at) => values.split(' · ').map((value) => `${screen.pairs[at]} ${digits(value)}`))
      .sort(),
    conversion: conversionFigures(screen, digits),
  }
}

type ShownLeg = { isInverse: boolean; name: string; value: string; day: string }

function conversionFigures(
  screen: { result?: string | undefined; digits: string; legs: ShownLeg[] },
  digits: (text: string) => string,
) {
  if (screen.result === undefined) return undefined
  const [exact, shownRate] = [/^(?:Sin redondear|Unrounded): (.*?)(?: · |$)/, / = (.*)$/].map(
    (pattern) => pattern.exec(screen.digits)?.[1],
  )
  const rounded = digits(screen.result)
  const legs = screen.legs.slice(0, -1).map(({ isInverse, name, value, day }) => {
    const [pair = '', side = 'referencia'] = name.split(' ')
    const type = { buy: 'compra', sell: 'venta' }[side] ?? side
    const date = day.split('/').reverse().join('-')
    return [isInverse ? '÷' : '×', pair, type, digits(value), date].join(' ')
  })
  const whole = screen.legs.at(-1)
  return {
    rounded,
    exact: exact === undefined ? rounded : digits(exact),
    rate: digits(whole?.value ?? shownRate ?? screen.result),
    legs,
  }
}

/** The only figure of a text in the notation of the API, without trailing zeros. @throws if there are several */
function plainFigure(text: string, language: string): string {
  const figures = text.match(/\d[\d.,\s\u00a0\u202f]*/g) ?? []
  if (figures.length > 1) throw new Error(`${text} has several figures`)
  const [figure = ''] = figures
  const bare =
    language === 'es'
      ? figure.replace(/[.\s\u00a0\u202f]/g, '').replace(',', '.')
      : figure.replace(/[,\s]/g, '')
  return (/^\(.*\)$|^\(.*\) [A-Z]{3}$/.test(text.trim()) ? '-' : '') + plainDecimal(bare)
}

function plainDecimal(value: string): string {
  return value.includes('.') ? value.replace(/\.?0+$/, '') : value
}
