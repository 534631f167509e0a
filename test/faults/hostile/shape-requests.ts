// Valid requests to every compat API, with the key in each of its possible places. Each key repeats a mark, so that
// any part of it is recognizable.

import type { IsoDate } from '../../../src/values/dates.ts'
import type { Random } from '../../support/rates/random-bank.ts'

export type ShapeRequest = {
  method: string
  /** Path and query as they go over the line. */
  target: string
  headers: Record<string, string>
  body?: Buffer | undefined
}

/** Keys of each kind; the bank key is valid from 10.8/16. */
export const KEYS = {
  header: 'cbk_zq7wzq7wzq7wheader',
  url: 'cbk_zq7wzq7wzq7wurl',
  compra: 'cbk_zq7wzq7wzq7wcompra',
  bank: 'ZQ7WZQ7WZQ',
} as const
/** Mark in every key, and in its encodings. */
export const MARK = /zq7w/i

export const OPEN_NETWORK = '10.7.0.0/16'
export const BANK_NETWORK = '10.8.0.0/16'

export const ASMX = '/Indicadores/Suscripciones/WS/wsindicadoreseconomicos.asmx'
const SDDE = '/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API'
const OPERATIONS = ['ObtenerIndicadoresEconomicos', 'ObtenerIndicadoresEconomicosXML']
const NAMES = ['access_key', 'app_id', 'apikey', 'api_key', 'key', 'Token']
const CODES = ['318', '317', '333', '3155', '999']
const ENVELOPES = ['http://schemas.xmlsoap.org/soap/envelope/', 'http://www.w3.org/2003/05/soap-envelope']

/** Days that do not exist, are far away, or have another format. */
export const DATES = [
  ...'2026-02-31 0000-00-00 9999-12-31 1900-01-01 1899-12-31 2999-12-31 3000-01-01 today 31/12/9999'.split(
    ' ',
  ),
  ...'1/1/1 1/1/1900 29/02/2025 -1 2026-1-1 2026-11-22T00:00:00Z %D9%A2026 2026-11-22.. ..2026-11-22'.split(
    ' ',
  ),
  ...['1900-01-01..2999-12-31', '99999999999-01-01', '2026%2F11%2F22', ''],
]

/** Replaces `cut` characters at a random place by a text. */
export function splice(random: Random, text: string, cut: number, insertion: string, from = 0): string {
  const at = random.int(from, text.length)
  return text.slice(0, at) + insertion + text.slice(at + cut)
}

/** Addresses of requests for the days from `from` to `to`, which have rates. */
export function listAddresses(from: IsoDate, to: IsoDate): string[] {
  const [d1, d2] = [from, to].map((day) => day.split('-').reverse().join('/'))
  const range = `from=${from}&to=${to}`
  const period = `start_date=${from}&end_date=${to}`
  const [year, month, day] = to.split('-')
  const frankfurter = [
    '/v1/latest?from=USD&to=CRC,EUR&amount=2.5',
    `/v1/${to}?base=CRC&symbols=USD`,
    `/v1/${from}..${to}?base=USD&symbols=CRC`,
    `/v1/${from}..?base=USD&tipo=compra`,
    '/v1/currencies',
    '/latest?from=USD&to=CRC',
    `/${to}?base=USD&symbols=CRC`,
    '/v2/rates?base=USD',
    `/v2/rates?base=USD&quotes=CRC,EUR&${range}&group=week`,
    `/v2/rates.csv?base=USD&date=${to}&dialecto=es-CR`,
    `/v2/rates?base=EUR&${range}&expand=providers`,
    `/v2/rate/USD/CRC?date=${to}`,
    '/v2/currencies',
    '/v2/currency/CRC',
    '/v2/providers',
  ]
  const bankAddresses = [
    '/indicadores/tc',
    '/indicadores/tc/dolar',
    `/indicadores/tc/euro?fecha=${to}&fechas=iso`,
    `/indicadores/tc/dolar/historico/?d=${from}&h=${to}`,
    '/compat/hacienda-2020/indicadores/tc',
    '/tdc/tdc.json?fbclid=x',
    '/stats/eurofxref/eurofxref-daily.xml?tipo=compra',
    '/stats/eurofxref/eurofxref-hist.csv',
    '/api/',
    `/api//${to.split('-').toReversed().join('/')}`,
    `/compat/valor?de=USD&a=CRC&fecha=${to}&decimal=,`,
    `${SDDE}/indicadoreseconomicos/318/series?fechaInicio=${from.replaceAll('-', '/')}&fechaFin=${to.replaceAll('-', '/')}`,
    `${SDDE}/cuadro/520/series?fechaInicio=${from}&fechaFin=${to}`,
    `${SDDE}/cuadro/1/metadata`,
    `${ASMX}?WSDL`,
    ...OPERATIONS.map((one) => `${ASMX}/${one}?Indicador=318&FechaInicio=${d1}&FechaFinal=${d2}&Token=T`),
  ]
  const keyedAddresses = [
    '/live?source=USD&currencies=CRC,EUR',
    `/historical?date=${to}`,
    `/convert?from=USD&to=CRC&amount=10.50&date=${to}`,
    `/timeframe?${period}&currencies=CRC`,
    '/list',
    '/fixer/latest?base=USD',
    '/api/latest?base=USD&symbols=CRC',
    `/api/${to}`,
    `/api/timeseries?${period}&symbols=CRC,USD`,
    '/api/latest.json',
    `/api/historical/${to}.json?symbols=CRC`,
    `/api/time-series.json?start=${from}&end=${to}&symbols=CRC`,
    '/api/convert/10/USD/CRC',
    '/api/usage.json',
    '/v6/latest/USD',
    '/v4/latest/USD',
    `/v6/KEY/latest/USD`,
    `/v6/KEY/pair/USD/CRC/12.5`,
    `/v6/KEY/history/USD/${year}/${month}/${day}/3`,
  ]
  return [...frankfurter, ...bankAddresses, ...keyedAddresses]
}

/** A valid request, with a key in one of its places. */
export function validRequest(random: Random, addresses: readonly string[]): ShapeRequest {
  const headers: Record<string, string> = { 'x-forwarded-for': randomClient(random) }
  if (random.chance(0.25)) return randomCall(random, headers, addresses)
  const address = random.item(addresses).replace('/KEY/', `/${random.item(Object.values(KEYS))}/`)
  return withKey(random, { method: 'GET', target: address.replace('Token=T', `Token=${KEYS.url}`), headers })
}

/** Address of a client: of the open network, the bank network, or any. */
function randomClient(random: Random): string {
  const byte = () => random.int(1, 254)
  return `${random.item(['10.7', '10.7', '10.8', `192.${byte()}`])}.${byte()}.${byte()}`
}

function withKey(random: Random, request: ShapeRequest): ShapeRequest {
  const { target, headers } = request
  const key = random.item(Object.values(KEYS))
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
  const ways: (() => ShapeRequest)[] = [
    () => request,
    () => ({ ...request, target: `/k/${key}${target}` }),
    () => ({
      ...request,
      target: `${target}${target.includes('?') ? '&' : '?'}${random.item(NAMES)}=${key}`,
    }),
    () => ({ ...request, headers: { ...headers, 'x-api-key': key } }),
    () => ({ ...request, headers: { ...headers, apikey: key } }),
    () => ({ ...request, headers: { ...headers, authorization: `Bearer ${key}` } }),
    () => ({ ...request, headers: { ...headers, authorization: basic(`any:${key}`) } }),
    () => ({ ...request, headers: { ...headers, authorization: basic(`${key}:`) } }),
  ]
  return random.item(ways)()
}

/** A call of the old web service with a body: a form, or SOAP 1.1 or 1.2. */
function randomCall(
  random: Random,
  headers: Record<string, string>,
  addresses: readonly string[],
): ShapeRequest {
  const [, query = ''] = addresses.find((one) => one.startsWith(`${ASMX}/`))?.split('?') ?? []
  const parameters = new URLSearchParams(query)
  parameters.set('Indicador', random.item(CODES))
  parameters.set('Token', random.item([KEYS.url, KEYS.bank, KEYS.compra]))
  const operation = random.item(OPERATIONS)
  const form = random.chance(0.3)
  if (form) {
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const request = { method: 'POST', target: `${ASMX}/${operation}`, headers: { ...headers, ...type } }
    return { ...request, body: Buffer.from(`${parameters}`) }
  }
  const at = random.int(0, 1)
  const xmlFields = [...parameters].map(([name, value]) => `<${name}>${value}</${name}>`).join('')
  const call = `<${operation} xmlns="http://ws.sdde.bccr.fi.cr">${xmlFields}</${operation}>`
  const body = `<?xml version="1.0" encoding="utf-8"?><s:Envelope xmlns:s="${ENVELOPES[at]}"><s:Body>${call}</s:Body></s:Envelope>`
  const type = {
    'content-type': at === 0 ? 'text/xml; charset=utf-8' : 'application/soap+xml; charset=utf-8',
  }
  const request = { method: 'POST', target: ASMX, headers: { ...headers, ...type }, body: Buffer.from(body) }
  return random.chance(0.8) ? request : withKey(random, request)
}
