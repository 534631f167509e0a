// The rate of an invoice beside the published ones: random days and rates against exact fractions, and days without.

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import type { IsoDate } from '../../../src/values/dates.ts'
import { addDays } from '../../../src/values/dates.ts'
import { scaled } from '../../faults/scale.ts'
import { batch, CREATE, fillDirectory, post, read, TOKENS } from '../../support/directory.ts'
import { createClave, type SampleOptions, sampleInvoice } from '../../support/documents/invoice-xml.ts'
import { type MemoryApp, startMemoryApp } from '../../support/rates/memory-app.ts'
import { EUR, JPY, listDays } from '../../support/rates/memory-bank.ts'
import { createRandom } from '../../support/rates/random-bank.ts'
import { SEED } from '../../support/seed.ts'
import { until } from '../../support/terminal.ts'
import { inverted, parseFraction, rounded, times } from '../../unit/domain/support.ts'
import { loseDays } from '../support.ts'

type Check = Record<string, unknown>
type Invoice = { date: string; currency: string; exchange_rate: string; rate_check?: Check }
type Shown = { id: number; invoice?: Invoice }
type DayValues = { compra: string; venta: string; euro: string; yen: string }

const COUNT = scaled({ short: 200, long: 1000 })
const FIRST = '2025-12-01'
const TODAY = '2026-03-24'
const BATCH = 50
const KINDS = ['venta', 'compra', 'previous_venta', null]

const random = createRandom(SEED)
/** Values of the days on which the bank publishes. */
const published = new Map<IsoDate, DayValues>()
for (const day of listDays(FIRST, TODAY)) {
  if (day !== FIRST && random.chance(2 / 7)) continue
  const value = (low: number, high: number, decimals: number) =>
    canonical(BigInt(random.int(low, high)), decimals)
  const before = published.get(addDays(day, -1))
  const repeated = before && random.chance(0.2) ? before : undefined
  published.set(day, {
    compra: repeated?.compra ?? value(499_000, 500_000, 3),
    venta: repeated?.venta ?? value(505_000, 506_000, 3),
    euro: value(110_000, 125_000, 5),
    yen: value(1_400_000, 1_600_000, 4),
  })
}

let app: MemoryApp
let nextNumber = 1
before(async (t) => {
  app = await startMemoryApp(t as TestContext, { backfillFrom: FIRST })
  const { publish } = app.memory
  publish['317'] = (day) => published.get(day)?.compra
  publish['318'] = (day) => published.get(day)?.venta
  publish[EUR] = (day) => published.get(day)?.euro
  publish[JPY] = (day) => published.get(day)?.yen
  await app.sync()
  await fillDirectory(app)
})

/** Uploads invoices of days, currencies and rates, and returns their ids. */
async function upload(...invoices: (SampleOptions & { date?: IsoDate })[]): Promise<number[]> {
  const documents = invoices.map(({ date = TODAY, ...options }) => {
    const clave = createClave('FacturaElectronica', nextNumber++)
    const content = sampleInvoice({ clave, issuedAt: `${date}T09:30:00-06:00`, ...options })
    return {
      name: 'f.xml',
      mimetype: 'application/xml',
      base64: Buffer.from(content).toString('base64'),
    }
  })
  const response = await post(app, CREATE, batch(...documents))
  const body = (await response.json()) as { created_documents: { id: number }[] }
  assert.equal(response.status, 200, JSON.stringify(body))
  return body.created_documents.map(({ id }) => id)
}

async function readCheck(id: number | undefined): Promise<Check | undefined> {
  const document = (await (await read(app, `/api/v1/documents/${id}`)).json()) as Shown
  return document.invoice?.rate_check
}

test('the checks of random days and rates are those of exact fractions', async () => {
  const orders = drawOrders()
  const matches = new Map<unknown, number>()
  for (let at = 0; at < orders.length; at += BATCH) {
    const part = orders.slice(at, at + BATCH)
    const ids = await upload(...part)
    const path = `/api/v1/documents?limit=${BATCH}&after=${(ids[0] ?? 0) - 1}`
    const { documents } = (await (await read(app, path)).json()) as { documents: Shown[] }
    assert.deepEqual(
      documents.map(({ id }) => id),
      ids,
    )
    for (const [index, { id, invoice }] of documents.entries()) {
      const order = part[index] ?? assert.fail('a document of no order')
      const expectation = expectedCheck(order)
      assert.deepEqual(invoice?.rate_check, expectation, `${JSON.stringify(order)} ${SEED}`)
      if (index % 10 === 0) assert.deepEqual(await readCheck(id), expectation)
      const key = expectation.matches
      matches.set(key, (matches.get(key) ?? 0) + 1)
    }
  }
  for (const kind of KINDS)
    assert.ok((matches.get(kind) ?? 0) >= COUNT / 100, `${kind}: ${matches.get(kind)}`)
})

test('a claim has the check too, and an invoice in colones has none', async () => {
  const [dollars, colones] = await upload({ date: TODAY }, { currency: 'CRC', rate: '1' })
  const headers = { authorization: `Bearer ${TOKENS.work}` }
  const invoices = new Map<number, Invoice | undefined>()
  for (let isMore = true; isMore; ) {
    const claims = await post(app, '/api/v1/documents/claim', { agent_id: 1, limit: 50 }, headers)
    const { documents } = (await claims.json()) as { documents: Shown[] }
    for (const { id, invoice } of documents) invoices.set(id, invoice)
    isMore = documents.length > 0
  }
  assert.deepEqual(
    invoices.get(dollars ?? 0)?.rate_check,
    expectedCheck({ date: TODAY, currency: 'USD', rate: '509.25' }),
  )
  assert.equal(invoices.get(colones ?? 0)?.currency, 'CRC')
  assert.equal(invoices.get(colones ?? 0)?.rate_check, undefined)
})

test('a day without a published value has its reason', async () => {
  const [unsynced, future, unknown, none] = await upload(
    { date: addDays(FIRST, -1) },
    { date: addDays(TODAY, 2) },
    { currency: 'XYZ' },
    { date: TODAY, summary: '<ResumenFactura><TotalComprobante>1</TotalComprobante></ResumenFactura>' },
  )
  assert.deepEqual(await readCheck(unsynced), {
    published: null,
    reason: `No rate for USD -> CRC is stored on or before ${addDays(FIRST, -1)}`,
  })
  assert.deepEqual(await readCheck(future), {
    published: null,
    reason: `its date ${addDays(TODAY, 2)} is in the future: today is ${TODAY}`,
  })
  assert.deepEqual(await readCheck(unknown), {
    published: null,
    reason: 'Cannot convert: no rates of XYZ are stored',
  })
  assert.equal(await readCheck(none), undefined)
})

test('a correction changes the check, and a hole takes its value away', async () => {
  const days = [...published.keys()]
  const date = days.at(-20) ?? TODAY
  const { venta = '' } = published.get(date) ?? {}
  const [id] = await upload({ date, rate: venta })
  assert.deepEqual(await readCheck(id), expectedCheck({ date, currency: 'USD', rate: venta }))
  const values = published.get(date)
  if (values) values.venta = '777.77'
  await app.sync({ from: date, to: date })
  await until(async () => (await readCheck(id))?.published === '777.77')
  assert.deepEqual(await readCheck(id), expectedCheck({ date, currency: 'USD', rate: venta }))

  await loseDays(app, { from: date, to: date })
  await until(async () => (await readCheck(id))?.published === null)
  assert.deepEqual(await readCheck(id), {
    published: null,
    reason: `the days from ${date} to ${date} have not been synchronized`,
  })
})

type Order = { date: IsoDate; currency: string; rate: string }

/** Draws orders, and further ones until each kind of match has one in a hundred. */
function drawOrders(): Order[] {
  const orders = Array.from({ length: COUNT }, randomOrder)
  const isComplete = () => {
    const kinds = Map.groupBy(orders, (order) => expectedCheck(order).matches)
    return KINDS.every((kind) => (kinds.get(kind)?.length ?? 0) >= COUNT / 100)
  }
  while (!isComplete() && orders.length < 10 * COUNT) orders.push(randomOrder())
  return orders
}

/** Mostly rates that a program may have: published ones, rounded, of another side or day; and some of no origin. */
function randomOrder(): Order {
  const date = addDays(FIRST, random.int(1, 113))
  const currency = random.chance(0.7) ? 'USD' : random.chance(0.5) ? 'EUR' : 'JPY'
  const exact = publishedVenta(currency, date)
  const origins = [
    exact,
    exact,
    findValues(date).compra,
    previousVenta(date) ?? exact,
    previousVenta(addDays(date, -1)) ?? exact,
    canonical(BigInt(random.int(1, 90_000_000)), 5),
  ]
  const digits = atDecimals(
    origins[random.int(0, origins.length - 1)] ?? exact,
    random.int(1, 5),
    random.chance(0.5),
  )
  const slip = random.chance(0.1) ? canonical(BigInt(random.int(1, 300)), 5) : '0'
  const rate = slip === '0' ? digits : sum(digits, slip)
  return { date, currency, rate: random.chance(0.3) ? padZeros(rate) : rate }
}

/** The rule of the specification, in whole numbers alone. */
function expectedCheck({ date, currency, rate: sent }: Order): Check {
  const rate = canonical(parse(sent), 12)
  const value = publishedVenta(currency, date)
  const places = 30
  const gap = parse(rate, places) - parse(value, places)
  const isDollar = currency === 'USD'
  return {
    published: value,
    rate_date: findRateDay(date),
    ...(!isDollar && { via: 'USD' }),
    difference: signed(gap, places),
    percent: signed(roundHalf(gap * 10n ** 6n, parse(value, places), true), 4),
    matches: hasValue(rate, value)
      ? 'venta'
      : isDollar && hasValue(rate, findValues(date).compra)
        ? 'compra'
        : isDollar && hasValue(rate, previousVenta(date))
          ? 'previous_venta'
          : null,
  }
}

function hasValue(rate: string, value: string | undefined): boolean {
  if (value === undefined) return false
  const decimals = Math.max(2, rate.split('.')[1]?.length ?? 0)
  return rate === value || [true, false].some((isEven) => atDecimals(value, decimals, isEven) === rate)
}

/** The last other venta of the seven days before. */
function previousVenta(date: IsoDate): string | undefined {
  if (date < FIRST) return undefined
  const now = findValues(date).venta
  for (let back = 1; back <= 7; back += 1) {
    const day = addDays(date, -back)
    if (day < FIRST) return undefined
    if (findValues(day).venta !== now) return findValues(day).venta
  }
  return undefined
}

function publishedVenta(currency: string, date: IsoDate): string {
  const { venta, euro, yen } = findValues(date)
  if (currency === 'USD') return venta
  const perUnit = currency === 'EUR' ? parseFraction(euro) : inverted(parseFraction(yen))
  return rounded(times(perUnit, parseFraction(venta)), 15)
}

function findRateDay(date: IsoDate): IsoDate {
  return published.has(date) ? date : findRateDay(addDays(date, -1))
}

function findValues(date: IsoDate): DayValues {
  const values = published.get(findRateDay(date))
  assert.ok(values)
  return values
}

/** A decimal as a whole number of units of `10 ** -places`. */
function parse(decimal: string, places = 12): bigint {
  const [whole = '', decimals = ''] = decimal.split('.')
  return BigInt(whole + decimals.padEnd(places, '0'))
}

function canonical(units: bigint, places: number): string {
  const text = String(units).padStart(places + 1, '0')
  return `${text.slice(0, -places)}.${text.slice(-places)}`.replace(/\.?0+$/, '')
}

function signed(units: bigint, places: number): string {
  return units < 0n ? `-${canonical(-units, places)}` : canonical(units, places)
}

/** The nearest whole number; of two as near the even one, or the one that is further from 0. */
function roundHalf(over: bigint, under: bigint, isEven: boolean): bigint {
  const size = over < 0n ? -over : over
  const whole = size / under
  const twice = (size % under) * 2n
  const isUp = twice > under || (twice === under && (!isEven || whole % 2n === 1n))
  return (isUp ? whole + 1n : whole) * (over < 0n ? -1n : 1n)
}

function atDecimals(value: string, decimals: number, isEven: boolean): string {
  return canonical(roundHalf(parse(value, 30), 10n ** BigInt(30 - decimals), isEven), decimals)
}

function sum(a: string, b: string): string {
  return canonical(parse(a) + parse(b), 12)
}

function padZeros(rate: string): string {
  const [whole = '', decimals = ''] = rate.split('.')
  return `${whole}.${decimals.padEnd(5, '0')}`
}
