// Compares every way to read rates with a model, over random stores (decisions#day). The stores have holes,
// rejected rows, one-sided days and an unfinished month. To repeat one store: CAMBISTA_SEED=17 node --test
// test/api/rates/every-way.test.ts. `npm run test:long` runs hundreds.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Client } from '@modelcontextprotocol/client'
import { addDays, dayNumber, earliest, type IsoDate, latest } from '../../../src/values/dates.ts'
import { MISSING_DATA } from '../../../src/web/i18n/missing-data.ts'
import { inLanguage } from '../../../src/web/i18n/table-texts.ts'
import { mergeHoles } from '../../../src/web/model/rates/holes.ts'
import { figure, scaled } from '../../faults/scale.ts'
import {
  DAY_REQUESTS,
  type Days,
  exactJson,
  type HttpAnswer,
  type Pair,
  RANGE_REQUESTS,
  type RangeRequest,
  type Row,
  trimZeros,
} from '../../support/rates/compat-requests.ts'
import {
  EVERY,
  expectedPoints,
  expectedStatistics,
  findLegs,
  holesOfLegs,
  holesOfPair,
  type PairLeg,
  STATS,
} from '../../support/rates/pair-answers.ts'
import { createRandom, type Random } from '../../support/rates/random-bank.ts'
import { openRandomStore, type RandomStore } from '../../support/rates/random-store.ts'
import {
  type Expected,
  expectedAnswer,
  type Question,
  questionPath,
} from '../../support/rates/rates-answers.ts'
import { SEED } from '../../support/seed.ts'
import { type Answer, connect } from '../mcp/support.ts'

const CURRENCIES = ['USD', 'CRC', 'EUR', 'JPY', 'AUD']
const ROUNDS = 25
const UNSYNCHRONIZED = /not been synchronized|no se han sincronizado/
const SDDE = '/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API'
const ASMX = '/Indicadores/Suscripciones/WS/wsindicadoreseconomicos.asmx/ObtenerIndicadoresEconomicosXML'

type Seen = Record<'rates' | 'holes' | 'rows' | 'errors' | 'leftOut' | 'partial' | 'oneSided', number>
type Asking = RandomStore & { random: Random; client: Client; seen: Seen }

const total: Seen = { rates: 0, holes: 0, rows: 0, errors: 0, leftOut: 0, partial: 0, oneSided: 0 }

const STORES = scaled({ short: 3, long: 300 })
const MOST_FURTHER_STORES = 20

for (const seed of [...Array(STORES).keys()].map((at) => SEED + at))
  test(`every way to read rates has the values of the model, or its missing days (seed ${seed})`, (t) =>
    checkStore(t, seed))

test('the random stores reach every case', async (t: TestContext) => {
  // Three stores may have no hole that a question meets.
  for (let at = 0; at < MOST_FURTHER_STORES && Object.values(total).includes(0); at += 1)
    await checkStore(t, SEED + STORES + at)
  for (const [what, count] of Object.entries(total)) {
    figure(t, what, count)
    assert.ok(count > 0, what)
  }
})

async function checkStore(t: TestContext, seed: number): Promise<void> {
  const random = createRandom(seed)
  const store = await openRandomStore(t, random)
  const client = await connect(t, 'legacy', { app: store.app })
  const asking = { ...store, random, client, seen: total }
  for (let round = 0; round < ROUNDS; round += 1) {
    await checkDay(asking)
    await checkSeries(asking)
    await askOfRange(asking)
    await checkPair(asking)
  }
}

async function sendRequest(
  { app }: Asking,
  path: string,
  headers: Record<string, string> = {},
): Promise<HttpAnswer> {
  const response = await app.get(path, headers)
  return { status: response.status, headers: response.headers, body: await response.text() }
}

function randomDay({ random, first, today }: Asking): IsoDate {
  return addDays(first, random.int(-65, dayNumber(today) - dayNumber(first) + 1))
}

function randomRange(asking: Asking): Days {
  const from = earliest(randomDay(asking), asking.today)
  return { from, to: earliest(addDays(from, asking.random.int(0, 50)), asking.today) }
}

function randomPair({ random }: Asking): Pair {
  const base = random.item(CURRENCIES)
  const otherCurrencies = CURRENCIES.filter((one) => one !== base)
  return { base, quote: random.item(otherCurrencies), side: random.item(['compra', 'venta'] as const) }
}

function conversion({ model, today }: Asking, { base, quote, side }: Pair, on: IsoDate, amount = '1') {
  const question = { kind: 'convert', amount, from: base, to: quote, type: side, on, details: false } as const
  const expected = expectedAnswer(model, question, today)
  const isHole = expected.status === 404 && expected.details !== undefined
  return { question, expected, isHole, rate: expected.status === 200 ? expectedRate(expected) : undefined }
}

function expectedRate(expected: Expected): string {
  return expected.status === 200 ? (expected.body as { rate: string }).rate : ''
}

/** Compares an answer of our own API with the model. */
function checkOwn(answer: HttpAnswer, expected: Expected, path: string): void {
  assert.equal(answer.status, expected.status, path)
  if (expected.status === 200) {
    assert.deepEqual(JSON.parse(answer.body), JSON.parse(JSON.stringify(expected.body)), path)
    for (const name of ['x-left-out', 'x-future'] as const) {
      assert.equal(answer.headers.get(name), expected.notes?.[name] ?? null, `${name} of ${path}`)
    }
  } else if (expected.details) assert.ok(expected.details.includes(JSON.parse(answer.body).detail), path)
}

async function callTool(asking: Asking, name: string, args: Record<string, unknown>): Promise<Answer> {
  return (await asking.client.callTool({ name, arguments: args })) as Answer
}

/** Checks one day: our API in three forms, compat APIs, tools of agents, the page's list of missing rates. */
async function checkDay(asking: Asking): Promise<void> {
  const { random, today, seen } = asking
  const [pair, on] = [randomPair(asking), randomDay(asking)]
  const { base, quote, side } = pair
  const amount = random.item(['1', '1234.56', '0.01'])
  const { question, expected } = conversion(asking, pair, on, amount)
  const path = questionPath(question)
  checkOwn(await sendRequest(asking, path), expected, path)
  const line = await sendRequest(asking, path.replace('/convert', '/convert.ndjson'))
  assert.equal(line.status, expected.status, path)
  const csv = await sendRequest(asking, path.replace('/convert', '/convert.csv'))
  if (expected.status === 200) {
    seen.rates += 1
    assert.deepEqual(JSON.parse(line.body), expected.body)
    assert.deepEqual(parseCsv(csv.body, ['rate', 'rate_date', 'result']), [
      ['rate', 'rate_date', 'result'].map((name) => String((expected.body as Record<string, string>)[name])),
    ])
  } else if (expected.details) seen.holes += 1
  const answer = await callTool(asking, 'convert', { amount, from: base, to: quote, type: side, on })
  if (expected.status === 200) assert.deepEqual(answer.structuredContent, expected.body)
  else checkRefusal(answer, expected)

  for (const request of DAY_REQUESTS) {
    // Today is the last day of the compat APIs; /compat/valor, which is ours, has tomorrow.
    const day = request.name === 'valor' ? on : earliest(on, today)
    const { rate, isHole } = conversion(asking, pair, day)
    const path = request.path(pair, day)
    const answer = await sendRequest(asking, path)
    const expectedDigits = request.name === 'Frankfurter v2' ? lastPoint(asking, pair, day)?.rate : rate
    assert.equal(
      request.read(answer, pair),
      expectedDigits,
      `${request.name} ${path}: ${answer.body.slice(0, 200)}`,
    )
    if (request.name === 'valor' && isHole) assert.match(answer.body, UNSYNCHRONIZED)
    else if (
      isHole &&
      answer.status === 200 &&
      request.name !== 'ExchangeRate-API' &&
      !answer.body.includes('"success":false')
    )
      assert.ok(answer.headers.get('x-left-out')?.split(',').includes(quote), path)
  }
  await checkAllRates(asking, on, random.chance(0.3))
}

function checkRefusal(answer: Answer, expected: Expected): void {
  const text = answer.content.map((one) => one.text).join('\n')
  assert.equal(answer.isError, true, text)
  if (expected.status === 404 && expected.details) {
    assert.ok(
      expected.details.some((words) => text.includes(words)),
      text,
    )
  }
}

/** Checks the rates of a day, and the two sides of the dollar. */
async function checkAllRates(asking: Asking, on: IsoDate, exact: boolean): Promise<void> {
  const { model, today, seen } = asking
  const question: Question = { kind: 'rates', on, exact }
  const expected = expectedAnswer(model, question, today)
  assert.ok(expected.status === 200)
  const rows = expected.body as Record<string, unknown>[]
  const path = questionPath(question)
  checkOwn(await sendRequest(asking, path), expected, path)
  const leftOut = expected.notes?.['x-left-out']
  if (leftOut) seen.leftOut += 1
  for (const form of ['csv', 'ndjson'] as const) {
    const table = await sendRequest(asking, path.replace('/rates?', `/rates.${form}?`))
    assert.equal(table.headers.get('x-left-out'), leftOut ?? null, path)
    const columns = ['series_id', 'rate_date', 'value']
    const values = rows.map((row) => columns.map((name) => String(row[name])))
    if (form === 'csv') assert.deepEqual(parseCsv(table.body, columns), values)
    else assert.deepEqual(parseNdjson(table.body), JSON.parse(JSON.stringify(rows)))
  }
  const { headers } = await asking.app.get(path)
  assert.deepEqual((headers.get('x-left-out')?.match(/\d+/g) ?? []).join(','), leftOut ?? '')
  const agents = await callTool(asking, 'get_rates_on', { on, exact })
  assert.deepEqual(agents.structuredContent?.left_out?.join(','), leftOut)
  assert.equal(agents.structuredContent?.rates.length, rows.length)

  const latest: Question = { kind: 'latest', base: 'USD', quote: 'CRC', on }
  const sides = expectedAnswer(model, latest, today)
  checkOwn(await sendRequest(asking, questionPath(latest)), sides, questionPath(latest))
  const rate = await callTool(asking, 'get_rate', { on })
  const { covered_to, ...agentSides } = rate.structuredContent ?? {}
  if (sides.status === 200) {
    assert.deepEqual(agentSides, sides.body)
    const details = await sendRequest(asking, `${questionPath(latest)}&details=true`)
    assert.equal(covered_to, JSON.parse(details.body).covered_to)
  } else checkRefusal(rate, sides)
  const day = earliest(on, today)
  const compra = conversion(asking, { base: 'USD', quote: 'CRC', side: 'compra' }, day).rate
  const venta = conversion(asking, { base: 'USD', quote: 'CRC', side: 'venta' }, day).rate
  const hacienda = await sendRequest(asking, `/indicadores/tc/dolar?fecha=${day}`)
  if (compra === undefined || venta === undefined) assert.equal(hacienda.status, 404)
  else {
    const answer = exactJson(hacienda.body)
    assert.deepEqual([answer.compra.valor, answer.venta.valor], [compra, venta])
  }
}

/**
 * Checks a range of one series: our histories in three forms, the bank's services, Hacienda, the page's
 * sentence.
 */
async function checkSeries(asking: Asking): Promise<void> {
  const { model, today, random, seen } = asking
  const one = random.item(model.series)
  const range = randomRange(asking)
  const question: Question = { kind: 'history', id: one.id, ...range }
  const expected = expectedAnswer(model, question, today)
  assert.ok(expected.status === 200)
  const { points, holes = [] } = expected.body as {
    points: { rate_date: string; value: string }[]
    holes?: Days[]
  }
  const path = questionPath(question)
  checkOwn(await sendRequest(asking, path), expected, path)
  const holesHeader = holes.length > 0 ? holes.map(({ from, to }) => `${from}..${to}`).join(', ') : null
  for (const form of ['csv', 'ndjson'] as const) {
    const table = await sendRequest(asking, path.replace('/history?', `/history.${form}?`))
    assert.equal(table.headers.get('x-holes'), holesHeader, path)
    const values = points.map(({ rate_date, value }) => [rate_date, value])
    const columns = ['rate_date', 'value']
    if (form === 'csv') assert.deepEqual(parseCsv(table.body, columns), values)
    else assert.deepEqual(parseNdjson(table.body), points)
  }
  const [hole] = holes
  seen[hole ? 'errors' : 'rows'] += 1
  const slashed = `fechaInicio=${range.from.replaceAll('-', '/')}&fechaFin=${range.to.replaceAll('-', '/')}`
  const sdde = await sendRequest(asking, `${SDDE}/indicadoresEconomicos/${one.code}/series?${slashed}`)
  const local = (day: string) => day.split('-').reverse().join('/')
  const query = `Indicador=${one.code}&FechaInicio=${local(range.from)}&FechaFinal=${local(range.to)}&Nombre=N&SubNiveles=N&CorreoElectronico=a@b.cr&Token=x`
  const asmx = await sendRequest(asking, `${ASMX}?${query}`)
  if (hole) {
    assert.deepEqual(
      [sdde.status, exactJson(sdde.body).Mensaje],
      [503, `Los días del ${hole.from} al ${hole.to} no se han sincronizado.`],
    )
    assert.deepEqual(
      [asmx.status, asmx.body],
      [500, `The days from ${hole.from} to ${hole.to} have not been synchronized.`],
    )
  } else {
    const rows = exactJson(sdde.body).datos[0]?.series ?? []
    const rowPairs = rows.map((row: Record<string, string>) => [row.fecha, row.valorDatoPorPeriodo])
    const values = points.map(({ rate_date, value }) => [rate_date, value])
    assert.deepEqual(rowPairs, values, path)
    const pattern = /DES_FECHA&gt;(\d{4}-\d\d-\d\d)[\s\S]*?NUM_VALOR&gt;([\d.]+)/g
    assert.deepEqual(
      [...asmx.body.matchAll(pattern)].map(([, day, value]) => [day, trimZeros(value ?? '')]),
      values,
    )
  }
  await askOfTables(asking, range, slashed)
}

async function askOfTables(asking: Asking, range: Days, slashed: string): Promise<void> {
  const { model, seen } = asking
  for (const table of ['1', '520']) {
    const members = model.series.filter((one) => one.table === table)
    const lacking = members.filter((series) => holesOfLegs([{ series, inverse: false }], range).length > 0)
    const answer = await sendRequest(asking, `${SDDE}/cuadro/${table}/series?${slashed}`)
    if (lacking.length === members.length) {
      assert.equal(answer.status, 503)
      assert.match(answer.body, UNSYNCHRONIZED)
      continue
    }
    assert.equal(answer.status, 200)
    const codes = lacking.map(({ code }) => code).join(',')
    assert.equal(answer.headers.get('x-left-out') ?? '', codes)
    const [data] = exactJson(answer.body).datos
    const listed = (data?.indicadores ?? []) as { codigoIndicador: string; series: unknown[] }[]
    for (const { code, values } of members) {
      const table = listed.find(({ codigoIndicador }) => codigoIndicador === code)
      const days = [...values.keys()].filter((day) => day >= range.from && day <= range.to)
      const isLacking = lacking.some((one) => one.code === code)
      if (isLacking) assert.equal(table, undefined, code)
      else assert.equal(table?.series.length ?? 0, days.length, code)
    }
  }
  const sides = model.series.filter(({ table }) => table === '1')
  const legs: PairLeg[] = sides.map((series) => ({ series, inverse: false }))
  const holes = holesOfLegs(legs, range)
  const historico = await sendRequest(asking, `/indicadores/tc/dolar/historico?d=${range.from}&h=${range.to}`)
  const answers = []
  for (const { id } of sides) {
    const path = `/api/v1/series/${id}/history?from=${range.from}&to=${range.to}`
    answers.push(await asking.app.json<{ holes?: Days[] }>(path))
  }
  const page = mergeHoles(answers.map((one) => one.holes))
  assert.deepEqual(page, { holes, isUnknown: false })
  const [hole] = holes
  if (hole) {
    assert.equal(historico.status, 503)
    assert.equal(historico.headers.get('x-holes'), holes.map(({ from, to }) => `${from}..${to}`).join(', '))
    const words = inLanguage(MISSING_DATA, 'es').missingDays.holes(hole.from, hole.to, holes.length - 1)
    assert.ok(words.includes(hole.from) && words.includes(hole.to))
    return
  }
  const [compra, venta] = ['compra', 'venta'].map(
    (side) => sides.find(({ rateType }) => rateType === side)?.values,
  )
  const days = [...(compra?.keys() ?? [])].filter((day) => day >= range.from && day <= range.to).toSorted()
  const both = days.filter((day) => venta?.has(day))
  seen.oneSided += days.length - both.length
  assert.deepEqual(
    exactJson(historico.body),
    both.map((day) => ({
      fecha: `${day} 00:00:00`,
      compra: compra?.get(day)?.value,
      venta: venta?.get(day)?.value,
    })),
  )
}

/** Expected rows of a range of a pair in one way; undefined: days are missing. */
function expectedRows(
  asking: Asking,
  pair: Pair,
  { from, to }: Days,
  rows: RangeRequest['rows'],
): Row[] | undefined {
  const legs = findLegs(asking.model.series, { ...pair, type: pair.side }) ?? []
  if (holesOfLegs(legs, { from, to }).length > 0) return undefined
  const ends = new Map(legs.map(({ series }) => [series, [...series.covered].reduce(latest, '')]))
  const result: Row[] = []
  for (let day = from; day <= to; day = addDays(day, 1)) {
    const isPublished = legs.some(({ series }) => series.values.has(day))
    const { rate, isHole: isPairHole } = conversion(asking, pair, day)
    const isShown = rows === 'filled' || isPublished
    const begins = rows === 'begun' && day === from
    const isLegHole = () =>
      legs.some(({ series }) => conversion(asking, { ...series, side: pair.side }, day).isHole)
    // A leg beside one without any value has its holes too.
    const isHole = isPairHole || (isShown && rate === undefined && isLegHole())
    if (isHole && (isShown || begins)) return undefined
    const isKnown = legs.every(({ series }) => series.values.has(day) || (ends.get(series) ?? '') >= day)
    if (isShown && isKnown) {
      if (rate !== undefined) result.push({ day, quote: pair.quote, rate })
    } else if (begins || (rows === 'carried' && day === from)) {
      const point = lastPoint(asking, pair, day)
      if (point) result.push(point)
    }
  }
  return result
}

/** Last point of the history at or before a day. Undefined: none, or days since then were not synchronized. */
function lastPoint({ model, first, today }: Asking, pair: Pair, day: IsoDate): Row | undefined {
  const request = {
    ...pair,
    type: pair.side,
    from: addDays(first, -70),
    to: day,
    every: 'day',
    stat: 'last',
  } as const
  const legs = findLegs(model.series, request) ?? []
  const { date, value } = expectedPoints(legs, request, today).at(-1) ?? {}
  if (date === undefined || value === undefined) return undefined
  const holes = holesOfLegs(legs, { from: addDays(date, 1), to: day })
  return holes.length > 0 ? undefined : { day: date, quote: pair.quote, rate: value }
}

async function askOfRange(asking: Asking): Promise<void> {
  const { random, model, seen } = asking
  const pair = randomPair(asking)
  const range = randomRange(asking)
  const isNamed = random.chance(0.6)
  const all = [...new Set(model.series.flatMap(({ base, quote }) => [base, quote]))].toSorted()
  const quotes = isNamed ? [pair.quote] : all.filter((code) => code !== pair.base)
  for (const request of RANGE_REQUESTS) {
    const path = request.path(pair, isNamed ? quotes : [], range)
    const answer = await sendRequest(asking, path)
    const rows = request.read(answer, pair.base)?.filter(({ quote }) => quote !== pair.base)
    const hasColon = [pair.base, ...quotes].includes('CRC')
    const kind = request.rows === 'begun' && hasColon ? 'published' : request.rows
    const expected = new Map(
      quotes.map((quote) => [quote, expectedRows(asking, { ...pair, quote }, range, kind)]),
    )
    const lacking = quotes.filter((quote) => expected.get(quote) === undefined)
    const isEmpty = [...expected.values()].every((one) => !one || one.length === 0)
    const isError = lacking.length === quotes.length || isNamed || (request.needsRows && isEmpty)
    if (lacking.length > 0 && isError) {
      seen.errors += 1
      assert.equal(rows, undefined, `${request.name} ${path}: ${answer.body.slice(0, 200)}`)
      assert.match(answer.body, UNSYNCHRONIZED, path)
      continue
    }
    assert.ok(rows, `${request.name} ${path}: ${answer.body.slice(0, 200)}`)
    seen.rows += rows.length
    seen.leftOut += lacking.length
    assert.equal(answer.headers.get('x-left-out') ?? '', lacking.join(','), path)
    const order = (a: Row, b: Row) => (`${a.quote} ${a.day}` < `${b.quote} ${b.day}` ? -1 : 1)
    const cleaned = rows.map(({ day, quote, rate }) => ({ day, quote, rate })).toSorted(order)
    assert.deepEqual(
      cleaned,
      [...expected.values()].flatMap((one) => one ?? []).toSorted(order),
      `${request.name} ${path}`,
    )
  }
}

/** Checks the history of a pair: our own in three forms, the tools of agents, the months of the page. */
async function checkPair(asking: Asking): Promise<void> {
  const { random, model, today, seen } = asking
  const { base, quote, side } = randomPair(asking)
  const range = randomRange(asking)
  const [every, stat] = [random.item(EVERY), random.item(STATS)]
  const request = { base, quote, type: side, ...range, every, stat }
  const legs = findLegs(model.series, request)
  assert.ok(legs)
  const points = expectedPoints(legs, request, today)
  const holes = holesOfPair(legs, range)
  seen.partial += points.filter(({ partial }) => partial).length
  const query = `${new URLSearchParams(request)}`
  const json = await asking.app.json<{ points: unknown; holes?: Days[] }>(`/api/v1/history?${query}`)
  assert.deepEqual(json.points, points, query)
  assert.deepEqual(json.holes ?? [], holes, query)
  const holesHeader = holes.length > 0 ? holes.map(({ from, to }) => `${from}..${to}`).join(', ') : null
  const csv = await sendRequest(asking, `/api/v1/history.csv?${query}`)
  const lines = await sendRequest(asking, `/api/v1/history.ndjson?${query}`)
  assert.deepEqual([csv.headers.get('x-holes'), lines.headers.get('x-holes')], [holesHeader, holesHeader])
  assert.deepEqual(parseNdjson(lines.body), points)
  assert.deepEqual(
    parseCsv(csv.body, ['date', 'value', 'partial']),
    points.map(({ date, value, partial }) => [date, value, partial ? 'true' : '']),
  )
  const agents = (await callTool(asking, 'get_history', request)).structuredContent
  assert.deepEqual(agents?.points, points, query)
  assert.deepEqual(agents?.holes ?? [], holes, query)
  const statistics = await callTool(asking, 'rate_statistics', { base, quote, type: side, ...range })
  const figures = expectedStatistics(legs, range, today)
  const text = statistics.content.map((one) => one.text).join('\n')
  if (!figures) {
    assert.equal(statistics.isError, true)
    for (const { from, to } of holes.slice(0, 1)) assert.ok(text.includes(from) && text.includes(to), text)
    return
  }
  const { count, mean, low, high, partial, holes: missing = [] } = statistics.structuredContent ?? {}
  assert.deepEqual(
    { count, mean, low: low.value, high: high.value, isPartial: partial === true },
    figures,
    query,
  )
  assert.deepEqual(missing, holes, query)
  if (figures.isPartial) assert.match(text, /Partial/)
}

function parseCsv(csv: string, columns: readonly string[]): string[][] {
  const [head = '', ...lines] = csv.trimEnd().split('\n')
  const names = head.split(',')
  return lines.map((line) => {
    const cells = line.split(',')
    return columns.map((name) => cells[names.indexOf(name)] ?? `no ${name}`)
  })
}

function parseNdjson(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}
