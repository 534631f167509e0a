// The ECB's files over random stores with holes, one-sided days and rejected rows. Expected rows are computed from the
// stored values and covered days, and each rate is that of /convert. No file shows a price that a reader could carry
// over a hole.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addDays, type IsoDate } from '../../../../src/values/dates.ts'
import { LONG, scaled } from '../../../faults/scale.ts'
import type { TestApp } from '../../../support/app.ts'
import {
  expectedPoints,
  findLegs,
  holesOfLegs,
  type PairSeries,
  readPairSeries,
} from '../../../support/rates/pair-answers.ts'
import { createRandom } from '../../../support/rates/random-bank.ts'
import { openRandomStore } from '../../../support/rates/random-store.ts'
import { SEED } from '../../../support/seed.ts'
import { send } from '../../support.ts'

const STORES = scaled({ short: 3, long: 60 })
const MOST_FURTHER_STORES = 20
const SIDES = ['compra', 'venta'] as const

type Side = (typeof SIDES)[number]
/** Rates by day, then by currency. */
type Table = Map<IsoDate, Map<string, string>>
type Question = { app: TestApp; store: readonly PairSeries[]; quotes: string[]; side: Side; today: IsoDate }

test(`the ECB's files have the rates of /convert, over ${STORES} random stores`, async (t) => {
  const counts = { rows: 0, rates: 0, refused: 0, cut: 0, leftOut: 0, recentRows: 0 }
  const needed = LONG ? (Object.keys(counts) as (keyof typeof counts)[]) : (['rates'] as const)
  const isComplete = () => needed.every((what) => counts[what] > 0)
  // Three stores may have a hole in their newest days, after which there is no rate.
  for (let at = 0; at < STORES || (!isComplete() && at < STORES + MOST_FURTHER_STORES); at += 1) {
    const random = createRandom(SEED + at)
    await t.test(`seed ${SEED + at}`, async (each) => {
      const { app, today } = await openRandomStore(each, random)
      const store = await readPairSeries(app)
      const codes = new Set(store.flatMap(({ base, quote }) => [base, quote]))
      const quotes = ['USD', ...[...codes].filter((code) => !['EUR', 'USD'].includes(code)).toSorted()]
      for (const side of SIDES) {
        const question = { app, store, quotes, side, today }
        await checkHistories(question, counts)
        await checkRecentDays(question, counts)
        await checkNewestDay(question)
      }
    })
  }
  t.diagnostic(JSON.stringify(counts))
  for (const what of needed) assert.ok(counts[what] > 0, `no ${what}`)
})

async function checkHistories(question: Question, counts: Record<string, number>): Promise<void> {
  const { app, quotes, side, today } = question
  const { days, holes } = rowDays(question, '1983-01-01')
  const newestHole = holes.at(-1)?.to ?? ''
  const rowDates = days.filter((day) => day > newestHole)
  const xml = await send(`${app.app.url}/stats/eurofxref/eurofxref-hist.xml?tipo=${side}`)
  const csv = await send(`${app.app.url}/stats/eurofxref/eurofxref-hist.csv?tipo=${side}`)
  const [oldest] = rowDates
  if (oldest === undefined) {
    assert.deepEqual([xml.status, csv.status], days.length + holes.length > 0 ? [503, 503] : [404, 404])
    return
  }
  assert.deepEqual([xml.status, csv.status], [200, 200], xml.body.slice(0, 200))
  const { table, leftOut } = await expectedTable(question, rowDates, oldest, 'cut')
  const shownTable = parseXml(xml.body)
  assert.deepEqual(shownTable, table)
  assert.deepEqual(parseCsv(csv.body, quotes), table)
  assert.deepEqual([...shownTable.keys()], rowDates.toReversed(), 'newest first')
  for (const { headers } of [xml, csv]) {
    assert.equal(headers['x-ends-at'], newestHole ? oldest : undefined)
    assert.equal(headers['x-left-out'], leftOut.join(',') || undefined)
  }
  await checkCarriedRates(question, shownTable)
  counts.rows = (counts.rows ?? 0) + table.size
  for (const rates of table.values()) counts.rates = (counts.rates ?? 0) + rates.size
  if (newestHole > '2000') counts.cut = (counts.cut ?? 0) + 1
  counts.leftOut = (counts.leftOut ?? 0) + leftOut.length
  assert.ok(rowDates.every((day) => day <= today))
}

async function checkRecentDays(question: Question, counts: Record<string, number>): Promise<void> {
  const { app, side, today } = question
  const { days, holes } = rowDays(question, addDays(today, -90))
  const answer = await send(`${app.app.url}/stats/eurofxref/eurofxref-hist-90d.xml?tipo=${side}`)
  const [hole] = holes
  if (hole) {
    counts.refused = (counts.refused ?? 0) + 1
    const words = `the days from ${hole.from} to ${hole.to} have not been synchronized`
    assert.deepEqual([answer.status, answer.body], [503, words])
    return
  }
  const [oldest] = days
  if (oldest === undefined) return assert.equal(answer.status, 404)
  assert.equal(answer.status, 200)
  const { table, leftOut } = await expectedTable(question, days, oldest, 'left out')
  assert.deepEqual(parseXml(answer.body), table)
  assert.equal(answer.headers['x-left-out'], leftOut.join(',') || undefined)
  counts.recentRows = (counts.recentRows ?? 0) + table.size
  await checkCarriedRates(question, table)
}

async function checkNewestDay(question: Question): Promise<void> {
  const { app, store, quotes, side } = question
  const newest = rowDays(question, '1983-01-01').days.at(-1)
  const answer = await send(`${app.app.url}/stats/eurofxref/eurofxref-daily.xml?tipo=${side}`)
  if (newest === undefined) return assert.equal(answer.status, 404)
  const rates = new Map<string, string>()
  const leftOut: string[] = []
  for (const [key, conversion] of await convertAll(question, [newest])) {
    const [, quote = ''] = key.split(' ')
    const legs = findLegs(store, { base: 'EUR', quote, type: side }) ?? []
    const lacksDay = holesOfLegs(legs, { from: newest, to: newest }).length > 0
    if (conversion.rate !== undefined) rates.set(quote, conversion.rate)
    else if (conversion.isHole || lacksDay) leftOut.push(quote)
  }
  assert.deepEqual(parseXml(answer.body), new Map([[newest, rates]]))
  assert.equal(answer.headers['x-left-out'], leftOut.join(',') || undefined)
  assert.ok(quotes.length > 0)
}

/** Points of the euro in colones with a dollar of the day, and days that lack a leg. */
function rowDays({ store, side, today }: Question, from: IsoDate) {
  const request = { base: 'EUR', quote: 'CRC', type: side, from, to: today }
  const legs = findLegs(store, request) ?? []
  const dollar = legs.find(({ series }) => series.rateType === side)?.series
  const points = expectedPoints(legs, { ...request, every: 'day', stat: 'last' }, today)
  const days = points.map(({ date }) => date).filter((day) => dollar?.values.has(day))
  return { days, holes: holesOfLegs(legs, request) }
}

/** Rates of each row. A currency with a hole begins after its newest one, or is left out. */
async function expectedTable(question: Question, days: IsoDate[], oldest: IsoDate, rule: 'cut' | 'left out') {
  const { quotes, store, side, today } = question
  const conversions = await convertAll(question, days)
  const leftOut = new Set<string>()
  const since = new Map<string, IsoDate>()
  for (const quote of quotes) {
    const legs = findLegs(store, { base: 'EUR', quote, type: side }) ?? []
    const hole = holesOfLegs(legs, { from: oldest, to: today }).at(-1)
    if (hole || conversions.get(`${oldest} ${quote}`)?.isHole) leftOut.add(quote)
    if (hole) since.set(quote, rule === 'cut' ? addDays(hole.to, 1) : '9999')
  }
  const table: Table = new Map()
  for (const day of days.toReversed()) {
    const rates = quotes.flatMap((quote) => {
      const rate = day >= (since.get(quote) ?? '') ? conversions.get(`${day} ${quote}`)?.rate : undefined
      return rate === undefined ? [] : [[quote, rate] as const]
    })
    table.set(day, new Map(rates))
  }
  return { table, leftOut: quotes.filter((quote) => leftOut.has(quote)) }
}

/** Checks that a reader of the newest row at or before any day carries no rate over a hole. */
async function checkCarriedRates(question: Question, table: Table): Promise<void> {
  const { quotes, store, side, today } = question
  const rows = [...table]
  for (const quote of quotes) {
    const legs = findLegs(store, { base: 'EUR', quote, type: side }) ?? []
    for (const [at, [day, rates]] of rows.entries()) {
      if (!rates.has(quote)) continue
      const before = rows[at - 1]?.[0] // the next newer row
      const to = before === undefined ? today : addDays(before, -1)
      if (day < to) assert.deepEqual(holesOfLegs(legs, { from: addDays(day, 1), to }), [], `${quote} ${day}`)
    }
  }
}

/** Answers of /convert for one euro, by day and currency. */
async function convertAll({ app, quotes, side }: Question, days: readonly IsoDate[]) {
  const items = days.flatMap((on) => quotes.map((to) => ({ amount: '1', from: 'EUR', to, type: side, on })))
  const answers = new Map<string, { rate: string | undefined; isHole: boolean }>()
  for (let first = 0; first < items.length; first += 2000) {
    const some = items.slice(first, first + 2000)
    const response = await fetch(`${app.app.url}/api/v1/convert/batch`, {
      method: 'POST',
      headers: { 'x-api-key': app.key, 'content-type': 'application/json' },
      body: JSON.stringify(some),
    })
    const body = (await response.json()) as { rate?: string; detail?: unknown }[]
    for (const [at, { rate, detail }] of body.entries()) {
      const { on = '', to = '' } = some[at] ?? {}
      answers.set(`${on} ${to}`, { rate, isHole: /not been synchronized/.test(String(detail)) })
    }
  }
  return answers
}

/** Rates of the XML, by the regular expressions of the ECB's page. */
function parseXml(xml: string): Table {
  const table: Table = new Map()
  let row = new Map<string, string>()
  for (const line of xml.split('\n')) {
    const [, day] = /time='([0-9-]+)'/.exec(line) ?? []
    const [, code] = /currency='([A-Za-z]+)'/.exec(line) ?? []
    const [, rate] = /rate='([!-~]+)'/.exec(line) ?? []
    if (day !== undefined) {
      row = new Map()
      table.set(day, row)
    }
    if (code !== undefined && rate !== undefined) row.set(code, rate)
  }
  return table
}

function parseCsv(csv: string, quotes: readonly string[]): Table {
  const [head, ...lines] = csv.split('\n')
  assert.equal(head, `Date,${quotes.join(',')},`)
  assert.equal(lines.pop(), '')
  return new Map(
    lines.map((line) => {
      const [day = '', ...cells] = line.split(',')
      assert.deepEqual([cells.length, cells.pop()], [quotes.length + 1, ''])
      const rates = cells.flatMap((cell, at) => (cell === 'N/A' ? [] : [[quotes[at] ?? '', cell] as const]))
      return [day, new Map(rates)]
    }),
  )
}
