// Rates under the days that answers name, of each API, file and tool (decisions#shapes). A period and a table of
// `latest` have none, and `rate_date` of a cross is none.

import type { Client } from '@modelcontextprotocol/client'
import type { IsoDate } from '../../../src/values/dates.ts'
import type { TestApp } from '../app.ts'
import { runCommand } from '../terminal.ts'
import {
  DAY_REQUESTS,
  type Days,
  exactJson,
  type Pair,
  RANGE_REQUESTS,
  type Row,
  trimZeros,
} from './compat-requests.ts'

/** `continues`: as /convert, the answer has the last value also on a day on which a leg is not known. */
export type NamedRate = Row & { base: string; side: string; name: string; continues: boolean }

export type Door = { app: TestApp; client: Client }

const SDDE = '/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API'
const ASMX = '/Indicadores/Suscripciones/WS/wsindicadoreseconomicos.asmx/ObtenerIndicadoresEconomicosXML'
const SIDES = ['compra', 'venta'] as const
const ECB_CUBES = /<Cube time='([\d-]+)'>|<Cube currency='([A-Z]{3})' rate='([\d.]+)'\/>/g
const PRICE = /^(?:P )?(\d{4}-\d\d-\d\d) (?:price )?([A-Z]{3}) ([\d.]+) ([A-Z]{3})$/gm

type Point = { date: IsoDate; value: string }
type Figure = { day: IsoDate; value: string }

/** Reads the rates of a pair on a day, and of all currencies on it. */
export async function readDay(door: Door, pair: Pair, day: IsoDate): Promise<NamedRate[]> {
  const { base, quote, side } = pair
  const rates: NamedRate[] = []
  for (const request of DAY_REQUESTS) {
    const answer = await fetchAnswer(door, request.path(pair, day))
    const rate = request.read(answer, pair)
    if (rate === undefined) continue
    const isDated = request.name.startsWith('Frankfurter')
    const row = { day: isDated ? exactJson(answer.body).date : day, quote, rate }
    rates.push(...nameRows(request.name, pair, [row], request.name !== 'Frankfurter v2'))
  }
  const query = `base=${base}&tipo=${side}&date=${day}`
  const table = await fetchJson(door, `/v2/rates?${query}`)
  rates.push(...nameRows('Frankfurter v2, all', pair, (table ?? []).map(datedRow)))
  const lines = await fetchAnswer(door, `/v2/rates?${query}`, { accept: 'application/x-ndjson' })
  rates.push(...nameRows('Frankfurter v2, lines', pair, splitLines(lines.body).map(exactJson).map(datedRow)))
  const csv = await fetchAnswer(door, `/v2/rates.csv?${query}`)
  rates.push(...nameRows('Frankfurter v2, CSV', pair, splitLines(csv.body).slice(1).map(csvRow)))
  const old = await fetchJson(door, `/v1/${day}?base=${base}&tipo=${side}`)
  const rows = Object.entries<string>(old?.rates ?? {}).map(([code, rate]) => ({
    ...{ day: old?.date, quote: code, rate },
  }))
  rates.push(...nameRows('Frankfurter v1, all', pair, rows, true))
  const conversion = { amount: '1', from: base, to: quote, type: side, on: day }
  for (const [name, converted] of [
    ['/convert', await fetchJson(door, `/api/v1/convert?${new URLSearchParams(conversion)}`)],
    ['convert', await callTool(door, 'convert', conversion)],
  ]) {
    if (converted) rates.push(...nameRows(name, pair, [{ day, quote, rate: converted.rate }], true))
  }
  return rates
}

/** Reads the rates of a pair in a range. */
export async function readRange(door: Door, pair: Pair, { from, to }: Days): Promise<NamedRate[]> {
  const { base, quote, side } = pair
  const rates: NamedRate[] = []
  for (const request of RANGE_REQUESTS) {
    const answer = await fetchAnswer(door, request.path(pair, [quote], { from, to }))
    const rows = request.read(answer, base) ?? []
    rates.push(...nameRows(`range of ${request.name}`, pair, rows))
  }
  const range = { base, quote, type: side, from, to }
  const query = `${new URLSearchParams(range)}`
  const pointRows = (points: readonly Point[] = []) =>
    points.map(({ date, value }) => ({ day: date, quote, rate: value }))
  const history = await fetchJson(door, `/api/v1/history?${query}`)
  rates.push(...nameRows('/history', pair, pointRows(history?.points)))
  const lines = await fetchAnswer(door, `/api/v1/history.ndjson?${query}`)
  rates.push(...nameRows('/history.ndjson', pair, pointRows(splitLines(lines.body).map(exactJson))))
  const weeks = await fetchJson(door, `/api/v1/history?${query}&every=week&stat=all&details=true`)
  const figures: Figure[] = (weeks?.points ?? []).flatMap(
    ({ last, low, high }: Record<'last' | 'low' | 'high', Figure>) => [last, low, high],
  )
  const figureRows = figures.map(({ day, value }) => ({ day, quote, rate: value }))
  rates.push(...nameRows('/history, of weeks', pair, figureRows))
  for (const format of ['ledger', 'beancount']) {
    const { body } = await fetchAnswer(door, `/api/v1/history.${format}?${query}`)
    rates.push(...readPrices(`/history.${format}`, side, body))
  }
  const agents = await callTool(door, 'get_history', range)
  rates.push(...nameRows('get_history', pair, pointRows(agents?.points)))
  const { first, last, low, high } = (await callTool(door, 'rate_statistics', range)) ?? {}
  const points = [first, last, low, high].filter((point) => point !== undefined)
  rates.push(...nameRows('rate_statistics', pair, pointRows(points)))
  return rates
}

/** Reads the published values of a day and of a range, in the direction of their series. */
export async function readPublished(door: Door, day: IsoDate, { from, to }: Days): Promise<NamedRate[]> {
  const rates: NamedRate[] = []
  const add = (name: string, pair: Omit<Pair, 'side'> & { side: string }, rows: Omit<Row, 'quote'>[]) => {
    rates.push(
      ...nameRows(
        name,
        pair,
        rows.map((row) => ({ ...row, quote: pair.quote })),
      ),
    )
  }
  const addSides = (
    name: string,
    sides: Record<string, { day?: IsoDate; rate?: string | null } | undefined>,
  ) => {
    for (const side of SIDES) {
      const { day: own, rate } = sides[side] ?? {}
      if (own && rate) add(name, { base: 'USD', quote: 'CRC', side }, [{ day: own, rate }])
    }
  }
  const series = (await fetchJson(door, '/api/v1/series')) ?? []
  for (const { id, external_code: code, ...one } of series) {
    const pair = { base: one.base_currency, quote: one.quote_currency, side: one.rate_type }
    const history = await fetchJson(door, `/api/v1/series/${id}/history?from=${from}&to=${to}`)
    const pointRows = (points: { rate_date: IsoDate; value: string }[] = []) =>
      points.map(({ rate_date, value }) => ({ day: rate_date, rate: value }))
    add('/series', pair, pointRows(history?.points))
    const [begin, end] = [from, to].map((iso) => iso.replaceAll('-', '/'))
    const sdde = await fetchJson(
      door,
      `${SDDE}/indicadoresEconomicos/${code}/series?fechaInicio=${begin}&fechaFin=${end}`,
    )
    const values = (sdde?.datos?.[0]?.series ?? []) as { fecha: IsoDate; valorDatoPorPeriodo: string }[]
    add(
      'SDDE',
      pair,
      values.map(({ fecha, valorDatoPorPeriodo: rate }) => ({ day: fecha, rate })),
    )
    const [first, last] = [from, to].map((iso) => iso.split('-').toReversed().join('/'))
    const { body } = await fetchAnswer(
      door,
      `${ASMX}?Indicador=${code}&FechaInicio=${first}&FechaFinal=${last}&Nombre=N&SubNiveles=N&CorreoElectronico=a@b.cr&Token=x`,
    )
    const rows = body.matchAll(/DES_FECHA&gt;(\d{4}-\d\d-\d\d)[\s\S]*?NUM_VALOR&gt;([\d.]+)/g)
    add(
      'asmx',
      pair,
      Array.from(rows, ([, own = '', rate = '']) => ({ day: own, rate })),
    )
  }
  for (const [name, listed] of [
    ['/rates', await fetchJson(door, `/api/v1/rates?on=${day}`)],
    ['get_rates_on', (await callTool(door, 'get_rates_on', { on: day }))?.rates],
  ]) {
    for (const { pair, rate_type: side, rate_date, value, ...one } of listed ?? []) {
      const [base = '', quote = ''] = pair?.split('/') ?? [one.base_currency, one.quote_currency]
      add(name, { base, quote, side }, [{ day: rate_date, rate: value }])
    }
  }
  for (const [name, latest] of [
    ['/rates/latest', await fetchJson(door, `/api/v1/rates/latest?on=${day}`)],
    ['get_rate', await callTool(door, 'get_rate', { on: day })],
  ]) {
    const own = latest?.rate_date
    addSides(name, {
      compra: { day: own, rate: latest?.compra },
      venta: { day: own, rate: latest?.venta },
    })
  }
  const hacienda = await fetchJson(door, `/indicadores/tc/dolar?fecha=${day}`)
  addSides('Hacienda', {
    compra: { day: hacienda?.compra.fecha, rate: hacienda?.compra.valor },
    venta: { day: hacienda?.venta.fecha, rate: hacienda?.venta.valor },
  })
  for (const row of (await fetchJson(door, `/indicadores/tc/dolar/historico?d=${from}&h=${to}`)) ?? []) {
    const own = row.fecha.slice(0, 10)
    addSides('historico', { compra: { day: own, rate: row.compra }, venta: { day: own, rate: row.venta } })
  }
  const gometa = await fetchJson(door, '/tdc/tdc.json')
  addSides('GoMeta', {
    compra: { day: gometa?.compra_date, rate: gometa?.compra },
    venta: { day: gometa?.venta_date, rate: gometa?.venta },
  })
  const copy = await fetchJson(door, `/api/${day.split('-').toReversed().join('/')}`)
  addSides('paginasweb', {
    compra: { day: copy?.fecha, rate: copy?.compra },
    venta: { day: copy?.fecha, rate: copy?.venta },
  })
  return rates
}

/** Reads whole files: those of the ECB, and prices of several pairs. */
export async function readFiles(door: Door, side: Pair['side']): Promise<NamedRate[]> {
  const rates: NamedRate[] = []
  for (const file of ['daily.xml', 'hist-90d.xml', 'hist.xml', 'hist.csv']) {
    const { status, body } = await fetchAnswer(door, `/stats/eurofxref/eurofxref-${file}?tipo=${side}`)
    if (status !== 200) continue
    const rows = file.endsWith('csv') ? ecbCsvRows(body) : ecbRows(body)
    rates.push(...nameRows(`ECB ${file}`, { base: 'EUR', side }, rows, true))
  }
  for (const quote of ['CRC', 'USD']) {
    const bases = ['USD', 'EUR', 'JPY', 'AUD'].filter((code) => code !== quote)
    const words = ['--prices', 'ledger', '--base', bases.join(','), '--quote', quote, '--type', side]
    const { code, out } = await runCommand(['export', '--data-dir', door.app.dataDir, ...words])
    if (code === 0) rates.push(...readPrices('export --prices', side, out))
  }
  return rates
}

function ecbRows(xml: string): Row[] {
  let day = ''
  return Array.from(xml.matchAll(ECB_CUBES)).flatMap(([, time, quote = '', rate = '']) => {
    if (time === undefined) return { day, quote, rate }
    day = time
    return []
  })
}

function ecbCsvRows(csv: string): Row[] {
  const [head = '', ...lines] = splitLines(csv)
  const codes = head.split(',')
  return lines.flatMap((line) => {
    const [day = '', ...cells] = line.split(',')
    return cells.flatMap((rate, at) =>
      rate === '' || rate === 'N/A' ? [] : { day, quote: codes[at + 1] ?? '', rate },
    )
  })
}

function readPrices(name: string, side: string, text: string): NamedRate[] {
  return Array.from(text.matchAll(PRICE)).flatMap(([, day = '', base = '', rate = '', quote = '']) =>
    nameRows(name, { base, side }, [{ day, quote, rate }]),
  )
}

/** Rates of rows; a currency in itself is left out. Parities and their crosses have no side. */
function nameRows(
  name: string,
  { base, side }: { base: string; side: string },
  rows: readonly Row[],
  continues = false,
): NamedRate[] {
  return rows.flatMap(({ day, quote, rate }) => {
    if (quote === base) return []
    const isSided = [base, quote].includes('CRC')
    return { day, quote, rate: trimZeros(rate), base, side: isSided ? side : 'referencia', name, continues }
  })
}

function datedRow({ date, quote, rate }: { date: IsoDate; quote: string; rate: string }): Row {
  return { day: date, quote, rate }
}

function csvRow(line: string): Row {
  const [day = '', , quote = '', rate = ''] = line.split(',')
  return { day, quote, rate }
}

function splitLines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}

async function fetchAnswer({ app }: Door, path: string, headers: Record<string, string> = {}) {
  const response = await app.get(path, headers)
  return { status: response.status, headers: response.headers, body: await response.text() }
}

/** The body of a 200; undefined: an error. */
async function fetchJson(door: Door, path: string) {
  const { status, body } = await fetchAnswer(door, path)
  return status === 200 ? exactJson(body) : undefined
}

async function callTool({ client }: Door, name: string, args: Record<string, unknown>) {
  const answer = await client.callTool({ name, arguments: args })
  // biome-ignore lint/suspicious/noExplicitAny: the result of a tool has no type
  return answer.isError ? undefined : (answer.structuredContent as any)
}
