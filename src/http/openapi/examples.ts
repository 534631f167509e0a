// Examples of requests that are valid on any day, and real answers. The test
// test/api/openapi/examples.test.ts sends each of them and compares the answers. `node test/api/openapi/examples.ts` updates answers.json.

import answers from './answers.json' with { type: 'json' }

/** Values of parameters by name, and a body by media type. */
export type RequestExample = {
  parameters: Readonly<Record<string, string | number>>
  body?: Readonly<Record<string, unknown>>
}

type ExampleRule = readonly [path: RegExp, example: Partial<RequestExample>]

const JSON_TYPE = 'application/json'
const ANY_TYPE = '*/*'
const DAY = '2026-03-02'
const IDS = { company_id: 1, agent_id: 1, owner_id: 1 }
/** Id of a claim in the answers. */
export const CLAIM_ID = '0198c6f0-5b7a-7c1e-9d55-3f0f6f1f2a10'
/** Code of a ticket, a link or a page of a session in the answers. */
export const EXAMPLE_CODE = 'jgj3nDfduU3KAZHzm6_suAUeMg8xMMy_'
/** Key in the request that opens a session. */
export const EXAMPLE_KEY = 'cbk_KEY'
const SOAP = `<?xml version="1.0" encoding="utf-8"?>
<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>
<ObtenerIndicadoresEconomicosXML xmlns="http://ws.sdde.bccr.fi.cr"><Indicador>318</Indicador><FechaInicio>02/03/2026</FechaInicio>
<FechaFinal>03/03/2026</FechaFinal><Nombre>Ana</Nombre><SubNiveles>N</SubNiveles><CorreoElectronico>ana@example.com</CorreoElectronico>
<Token>TOKEN</Token></ObtenerIndicadoresEconomicosXML></soap:Body></soap:Envelope>`
const INDICATOR = {
  ...{
    Indicador: '318',
    FechaInicio: '02/03/2026',
    FechaFinal: '03/03/2026',
    Nombre: 'Ana',
    SubNiveles: 'N',
  },
  ...{ CorreoElectronico: 'ana@example.com', Token: 'TOKEN' },
}

// The parameters of all matching rules are merged; the last one wins.
const RULES: readonly ExampleRule[] = [
  [/^\/api\/v1\/series\//, { parameters: { series_id: 1 } }],
  [/^\/api\/v1\/rates\/latest$/, { parameters: { base: 'USD', quote: 'CRC' } }],
  [/^\/api\/v1\/convert(\.|\/statement$|$)/, { parameters: { amount: '1500.50', from: 'EUR', to: 'CRC' } }],
  [
    /^\/api\/v1\/convert\/batch$/,
    { body: { [JSON_TYPE]: [{ id: 'F-1', amount: '1500.5', from: 'EUR', to: 'CRC' }] } },
  ],
  [/^\/api\/v1\/indicators\/\{code\}/, { parameters: { code: '423' } }],
  [/^\/api\/v1\/history/, { parameters: { base: 'EUR', quote: 'CRC' } }],
  [/^\/api\/v1\/history\.(ledger|beancount)$/, { parameters: { from: DAY, to: '2026-03-04' } }],
  [/^\/api\/v1\/(documents|companies)\/\{id\}/, { parameters: { id: 1 } }],
  [
    /^\/api\/v1\/documents$/,
    {
      parameters: { ...IDS, name: 'nota.txt' },
      body: { [ANY_TYPE]: 'Hola', 'multipart/form-data': { ...IDS, file: ['Hola'] } },
    },
  ],
  [
    /^\/api\/v1\/documents\/create$/,
    {
      body: {
        [JSON_TYPE]: {
          ...IDS,
          documents: [{ name: 'nota.txt', mimetype: 'text/plain', base64: 'SG9sYQ==' }],
        },
      },
    },
  ],
  [/^\/api\/v1\/documents\/claim$/, { body: { [JSON_TYPE]: { agent_id: 1, limit: 1, lease_seconds: 300 } } }],
  [/\/finish$/, { body: { [JSON_TYPE]: { claim_id: CLAIM_ID, outcome: 'done' } } }],
  [/\/extend$/, { body: { [JSON_TYPE]: { claim_id: CLAIM_ID, lease_seconds: 300 } } }],
  [/\/release$/, { body: { [JSON_TYPE]: { claim_id: CLAIM_ID } } }],
  [/get_by_company$/, { body: { [JSON_TYPE]: { company_id: 1, code: 'ACME' } } }],
  [/^\/mcp$/, { body: { [JSON_TYPE]: { jsonrpc: '2.0', id: 1, method: 'ping' } } }],
  [/^\/session$/, { body: { [JSON_TYPE]: { secret: EXAMPLE_KEY } } }],
  [/^\/session\/code$/, { body: { [JSON_TYPE]: { code: EXAMPLE_CODE } } }],
  [/^\/session\/ticket$/, { body: { [JSON_TYPE]: { export: 'csv' } } }],
  [/^\/t\//, { parameters: { ticket: EXAMPLE_CODE } }],
  [/^\/u\//, { parameters: { link: EXAMPLE_CODE }, body: { [ANY_TYPE]: 'Hola' } }],
  [/\.asmx/, { parameters: INDICATOR, body: { 'text/xml': SOAP } }],
  [
    /\.asmx\/\{operation\}$/,
    {
      parameters: { operation: 'ObtenerIndicadoresEconomicosXML' },
      body: { 'application/x-www-form-urlencoded': String(new URLSearchParams(INDICATOR)) },
    },
  ],
  [/^\/compat\/sdde\//, { parameters: { code: '318' } }],
  [/^\/compat\/sdde\/.*\/cuadro\//, { parameters: { code: '1' } }],
  [/^\/compat\/sdde\/.*\/series$/, { parameters: { fechaInicio: '2026/03/02', fechaFin: '2026/03/03' } }],
  [/^\/compat\/paginasweb\/api\//, { parameters: { day: '2', month: '3', year: '2026' } }],
  [/^\/compat\/hacienda.*\/historico$/, { parameters: { d: DAY, h: '2026-03-03' } }],
  [/^\/compat\/(frankfurter|fixer|currencylayer)\/.*\{day\}$/, { parameters: { day: DAY } }],
  [/^\/compat\/frankfurter\/\{day\}$/, { parameters: { day: DAY } }],
  [
    /^\/compat\/frankfurter\/(v1\/)?(latest|current|\{day\})$/,
    { parameters: { base: 'USD', symbols: 'CRC' } },
  ],
  [/^\/compat\/frankfurter\/v2\/.*rates/, { parameters: { base: 'USD', quotes: 'CRC' } }],
  [/^\/compat\/frankfurter\/v2\/rate\//, { parameters: { base: 'USD', quote: 'CRC' } }],
  [/^\/compat\/frankfurter\/v2\/currency\//, { parameters: { code: 'EUR' } }],
  [/^\/compat\/currencylayer\/(historical)$/, { parameters: { date: DAY } }],
  [
    /^\/compat\/currencylayer\/(live|historical|timeframe)$/,
    { parameters: { source: 'USD', currencies: 'CRC,EUR' } },
  ],
  [
    /^\/compat\/(currencylayer\/timeframe|fixer\/api\/timeseries)$/,
    { parameters: { start_date: DAY, end_date: '2026-03-03' } },
  ],
  [
    /^\/compat\/(currencylayer|fixer\/api)\/(latest|\{day\}|timeseries)$/,
    { parameters: { base: 'USD', symbols: 'CRC,EUR' } },
  ],
  [
    /^\/compat\/(currencylayer|fixer\/api)\/convert$/,
    { parameters: { from: 'USD', to: 'CRC', amount: '100' } },
  ],
  [/^\/compat\/oxr\/.*(latest|time-series|historical)/, { parameters: { base: 'USD', symbols: 'CRC,EUR' } }],
  [/^\/compat\/oxr\/.*historical/, { parameters: { file: `${DAY}.json` } }],
  [/^\/compat\/oxr\/.*time-series/, { parameters: { start: DAY, end: '2026-03-03' } }],
  [/^\/compat\/oxr\/.*convert/, { parameters: { value: '100', from: 'USD', to: 'CRC' } }],
  [/^\/compat\/exchangerate-api\//, { parameters: { base: 'USD', from: 'USD', to: 'CRC', amount: '100' } }],
  [/^\/compat\/exchangerate-api\/.*history/, { parameters: { year: '2026', month: '3', date: '2' } }],
  [/^\/compat\/valor$/, { parameters: { de: 'EUR', a: 'CRC' } }],
]

/** Returns the example of a request to a path. A GET has no body. */
export function requestExample(path: string, method: string): RequestExample {
  const fitting = RULES.filter(([pattern]) => pattern.test(path)).map(([, example]) => example)
  const isPost = method === 'POST'
  const hasBody = isPost || method === 'PUT'
  const parameters =
    path === '/api/v1/documents' && !isPost ? {} : Object.assign({}, ...fitting.map((one) => one.parameters))
  const body = hasBody ? fitting.findLast((one) => one.body)?.body : undefined
  return body ? { parameters, body } : { parameters }
}

/** Returns the answer to the example of an operation, with its media type; lists are cut after two items. */
export function answerExample(operationId: string): { type: string; value: unknown } | undefined {
  return (answers as Record<string, { type: string; value: unknown }>)[operationId]
}
