// GoMeta, paginasweb and price directives over random stores, with holes and one-sided days. Each value is that of
// /convert, digit for digit. A reader of a file has the rate of /convert on each settled day.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { addDays, dayNumber, earliest, type IsoDate } from '../../../src/values/dates.ts'
import { figure, scaled } from '../../faults/scale.ts'
import type { TestApp } from '../../support/app.ts'
import { listDays } from '../../support/rates/memory-bank.ts'
import {
  findLegs,
  holesOfLegs,
  holesOfPair,
  type PairSeries,
  readPairSeries,
} from '../../support/rates/pair-answers.ts'
import { createRandom, type Random } from '../../support/rates/random-bank.ts'
import { openRandomStore } from '../../support/rates/random-store.ts'
import { SEED } from '../../support/seed.ts'
import { runCommand } from '../../support/terminal.ts'
import { ask, printedNumber } from './support.ts'

const STORES = scaled({ short: 3, long: 60 })
const MOST_FURTHER_STORES = 20
/** Questions of each store: a pair, a day and a side. */
const QUESTIONS = 25
const CURRENCIES = ['USD', 'CRC', 'EUR', 'JPY', 'AUD']
const SIDES = ['compra', 'venta'] as const
const FORMATS = ['ledger', 'beancount'] as const
const HOLE = /not been synchronized/

type Side = (typeof SIDES)[number]
type Pair = { base: string; quote: string; side: Side }
type Asking = { app: TestApp; random: Random; store: readonly PairSeries[]; today: IsoDate; first: IsoDate }
type Conversion = { rate: string | undefined; rateDate: string | undefined; detail: string }

const counts = { dollars: 0, noDollar: 0, prices: 0, readings: 0, refused: 0, ends: 0 }

for (const seed of [...Array(STORES).keys()].map((at) => SEED + at)) {
  test(`GoMeta, paginasweb and price directives have the rates of /convert (seed ${seed})`, (t) =>
    checkStore(t, seed))
}

test('the random stores reach values, holes and ends of files', async (t) => {
  // Three stores may have no hole that a question meets.
  for (let at = 0; at < MOST_FURTHER_STORES && Object.values(counts).includes(0); at += 1)
    await checkStore(t, SEED + STORES + at)
  for (const [what, count] of Object.entries(counts)) {
    figure(t, what, count)
    assert.ok(count > 0, what)
  }
})

async function checkStore(t: TestContext, seed: number): Promise<void> {
  const random = createRandom(seed)
  const { app, today, first } = await openRandomStore(t, random)
  const asking = { app, random, store: await readPairSeries(app), today, first }
  for (let question = 0; question < QUESTIONS; question += 1) {
    const day = addDays(first, random.int(-65, dayNumber(today) - dayNumber(first)))
    await checkPaginasweb(asking, day)
    await checkHistory(asking, randomPair(random), day)
  }
  for (const format of FORMATS) await checkExport(asking, format)
  // The clock goes back at the end: GoMeta has the dollar of today alone.
  for (let question = 0; question < QUESTIONS; question += 1) {
    await checkGometa(asking, addDays(first, random.int(-65, dayNumber(today) - dayNumber(first))))
  }
}

function randomPair(random: Random): Pair {
  const base = random.item(CURRENCIES)
  const others = CURRENCIES.filter((code) => code !== base)
  return { base, quote: random.item(others), side: random.item(SIDES) }
}

/** Answers of /convert for one unit of a pair on each of the days. */
async function convertDays({ app }: Asking, { base, quote, side }: Pair, days: readonly IsoDate[]) {
  const items = days.map((on) => ({ amount: '1', from: base, to: quote, type: side, on }))
  const response = await fetch(`${app.app.url}/api/v1/convert/batch`, {
    method: 'POST',
    headers: { 'x-api-key': app.key, 'content-type': 'application/json' },
    body: JSON.stringify(items),
  })
  assert.equal(response.status, 200)
  const answers = (await response.json()) as { rate?: string; rate_date?: string; detail?: unknown }[]
  return new Map(
    answers.map(({ rate, rate_date: rateDate, detail }, at): [IsoDate, Conversion] => [
      days[at] ?? '',
      { rate, rateDate, detail: String(detail) },
    ]),
  )
}

async function convertDollar(asking: Asking, side: Side, day: IsoDate): Promise<Conversion> {
  const answers = await convertDays(asking, { base: 'USD', quote: 'CRC', side }, [day])
  return answers.get(day) ?? { rate: undefined, rateDate: undefined, detail: '' }
}

/** Checks both sides of the newest value of each, under its own day. */
async function checkGometa(asking: Asking, day: IsoDate): Promise<void> {
  const { app } = asking
  app.clock.now = new Date(`${day}T16:00:00Z`)
  const [compra, venta] = [
    await convertDollar(asking, 'compra', day),
    await convertDollar(asking, 'venta', day),
  ]
  const [status, body] = await ask(app, '/tdc/tdc.json')
  if (compra.rate === undefined || venta.rate === undefined) {
    assert.equal(status, 404, body)
    if (HOLE.test(compra.detail)) assert.equal(JSON.parse(body).error, compra.detail)
    counts.noDollar += 1
    return
  }
  assert.equal(status, 200, body)
  const { compra_date, venta_date } = JSON.parse(body)
  assert.deepEqual([compra_date, venta_date], [compra.rateDate, venta.rateDate])
  checkDollar(body, { compra: compra.rate, venta: venta.rate })
}

/** Checks both sides of the settled day. */
async function checkPaginasweb(asking: Asking, on: IsoDate): Promise<void> {
  const { app, random } = asking
  const [year = '', month = '', date = ''] = on.split('-')
  const paths = [
    `${date}/${month}/${year}`,
    `/${Number(date)}/${Number(month)}/${year}`,
    `${year}/${month}/${date}`,
  ]
  const [status, body] = await ask(app, `/api/${random.item(paths)}`)
  const response = await app.get(`/api/v1/rates/latest?on=${on}`)
  const latest = (await response.json()) as Record<string, string | null>
  if (response.status !== 200 || latest.compra === null || latest.venta === null) {
    assert.equal(status, 404, body)
    if (response.status === 404) assert.equal(JSON.parse(body).error, latest.detail)
    counts.noDollar += 1
    return
  }
  assert.equal(status, 200, body)
  const day = String(latest.rate_date)
  assert.equal(JSON.parse(body).fecha, day)
  const [compra, venta] = [
    await convertDollar(asking, 'compra', day),
    await convertDollar(asking, 'venta', day),
  ]
  checkDollar(body, { compra: compra.rate, venta: venta.rate })
}

function checkDollar(body: string, sides: Record<Side, string | undefined>): void {
  for (const side of SIDES) assert.equal(printedNumber(body, `"${side}":`), sides[side], body)
  counts.dollars += 1
}

/** Checks a range of both forms: each price, and the reading of each day, or the missing days. */
async function checkHistory(asking: Asking, pair: Pair, from: IsoDate): Promise<void> {
  const { app, random, store, today } = asking
  const to = earliest(addDays(from, random.int(0, 40)), today)
  if (from > to) return
  const { base, quote, side: type } = pair
  const legs = findLegs(store, { base, quote, type })
  assert.ok(legs)
  const [hole] = holesOfPair(legs, { from, to })
  const query = new URLSearchParams({ base, quote, type, from, to })
  for (const format of FORMATS) {
    const response = await app.get(`/api/v1/history.${format}?${query}`)
    const text = await response.text()
    if (hole) {
      counts.refused += 1
      const words = `the days from ${hole.from} to ${hole.to} have not been synchronized`
      assert.deepEqual([response.status, text], [503, words])
      continue
    }
    assert.equal(response.status, 200, text)
    await checkReadings(asking, pair, readPrices(text, format), { from, to })
  }
}

/** Checks the export of several pairs of a side: no price is older than the newest hole of its pair. */
async function checkExport(asking: Asking, format: (typeof FORMATS)[number]): Promise<void> {
  const { app, random, store, today } = asking
  const side = random.item(SIDES)
  const quote = random.item(['CRC', 'USD'])
  const bases = CURRENCIES.filter((code) => code !== quote)
  const words = ['--prices', format, '--base', bases.join(','), '--quote', quote, '--type', side]
  const read = () => runCommand(['export', '--data-dir', app.dataDir, ...words])
  const last = addDays(today, 1) // the row of tomorrow may be there, and the export has it
  const { code, out, err } = await read()
  assert.equal(code, 0, err)
  for (const base of bases) {
    const own = out.split('\n').filter((line) => line.includes(` ${base} `) || line.includes(`${base}/`))
    const legs = findLegs(store, { base, quote, type: side })
    assert.ok(legs)
    const hole = holesOfLegs(legs, { from: '1983-01-01', to: last }).at(-1)
    const prices = readPrices(own.join('\n'), format)
    assert.equal(
      own.some((line) => line.includes('not synchronized: ')),
      hole !== undefined,
      `${base} ${own.slice(0, 3).join('\n')}`,
    )
    if (hole) {
      counts.ends += 1
      assert.ok(
        own.some((line) => line.includes(`${hole.to}`)),
        own.slice(0, 3).join('\n'),
      )
      assert.ok(
        prices.keys().every((day) => day > hole.to),
        `${base} ${hole.to}`,
      )
    }
    await checkReadings(asking, { base, quote, side }, prices, {
      from: prices.keys().next().value ?? last,
      to: last,
    })
  }
}

/** Compares the last price at or before each settled day with /convert. Days before the first price have none. */
async function checkReadings(
  asking: Asking,
  pair: Pair,
  prices: ReadonlyMap<IsoDate, string>,
  { from, to }: { from: IsoDate; to: IsoDate },
): Promise<void> {
  const days = listDays(from, earliest(to, settledDay(asking, pair)))
  const conversions = await convertDays(asking, pair, days)
  let price: string | undefined
  for (const day of days) {
    price = prices.get(day) ?? price
    if (price === undefined) continue
    const { rate, detail } = conversions.get(day) ?? {}
    assert.equal(price, rate, `${JSON.stringify(pair)} ${day}: ${detail}`)
    counts.readings += 1
  }
  assert.ok(prices.keys().every((day) => day >= from && day <= to))
  counts.prices += prices.size
}

/** Last day on which each leg is known. After it /convert carries a leg that may get a value, and a file has no price. */
function settledDay({ store }: Asking, { base, quote, side: type }: Pair): IsoDate {
  const legs = findLegs(store, { base, quote, type }) ?? []
  return legs.reduce((day, { series }) => earliest(day, [...series.covered].toSorted().at(-1) ?? ''), '9999')
}

/** Prices of a text by day, which are ascending. */
function readPrices(text: string, format: (typeof FORMATS)[number]): Map<IsoDate, string> {
  const line =
    format === 'ledger'
      ? /^P (\d{4}-\d\d-\d\d) [A-Z]{3} ([\d.]+) [A-Z]{3}$/gm
      : /^(\d{4}-\d\d-\d\d) price [A-Z]{3} ([\d.]+) [A-Z]{3}$/gm
  const prices = text.matchAll(line).map(([, day = '', value = '']): [IsoDate, string] => [day, value])
  const byDay = new Map(prices)
  assert.deepEqual([...byDay.keys()], [...byDay.keys()].toSorted())
  return byDay
}
