// The kinds of requests that the budget has, each as the bytes of its next request.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { addDays } from '../../src/values/dates.ts'
import { TOKENS } from '../support/directory.ts'
import { createClave } from '../support/documents/invoice-xml.ts'
import type { ServerFacts } from './server.ts'

export type Kind = {
  name: string
  status: number
  /** Writes are fewer, and their work outside of JavaScript is counted too. */
  isWrite?: boolean
  /** The request with this number; each number comes once. */
  request(at: number): Buffer
  /** Reads the answer to a request. */
  read?(body: string): void
}

const FIRST_DAY = '2018-01-02'
const DAYS = 2900 // to the end of 2025
const KNOWN_DAYS = 400
const ASMX = '/Indicadores/Suscripciones/WS/wsindicadoreseconomicos.asmx/ObtenerIndicadoresEconomicosXML'
const INVOICE = readFileSync(
  join(import.meta.dirname, '../fixtures/invoices/examples/v44-factura-usd.xml'),
  'utf8',
)

const spreadDay = (at: number) => addDays(FIRST_DAY, (at * 7919) % DAYS)
/** Returns one of 400 days. */
const knownDay = (at: number) => spreadDay(at % KNOWN_DAYS)
/** Another day for each number below 2,500. */
const newDay = (at: number) => spreadDay(at + KNOWN_DAYS)

/** Lists the kinds in the order in which they run: claims need the uploads before them. */
export async function listKinds({ url, key }: ServerFacts): Promise<Kind[]> {
  const { etag, file } = await readFacts(url, key)
  const rates = { 'X-API-Key': key }
  const reads = { Authorization: `Bearer ${TOKENS.all}` }
  const get = (name: string, path: (at: number) => string, headers: object = rates, status = 200): Kind => ({
    name,
    status,
    request: (at) => frame('GET', path(at), headers),
  })
  const latest = '/api/v1/rates/latest'
  const soap = new URLSearchParams({
    Indicador: '318',
    FechaInicio: '02/03/2026',
    FechaFinal: '02/03/2026',
    Nombre: 'x',
    SubNiveles: 'N',
    CorreoElectronico: 'x@example.com',
    Token: key,
  })
  return [
    get('latest', () => latest),
    get('latest, known days', (at) => `${latest}?on=${knownDay(at)}`),
    get('latest, new days', (at) => `${latest}?on=${newDay(at)}`),
    get('convert, known days', (at) => `/api/v1/convert?amount=100&from=JPY&to=CRC&on=${knownDay(at)}`),
    get('convert, new amounts', (at) => `/api/v1/convert?amount=${at}.25&from=JPY&to=CRC&on=${knownDay(at)}`),
    get('all 47, known days', (at) => `/api/v1/rates?on=${knownDay(at)}`),
    get('all 47, new days', (at) => `/api/v1/rates?on=${newDay(at)}`),
    get(
      'a year of history',
      (at) => `/api/v1/series/2/history?from=${newDay(at)}&to=${addDays(newDay(at), 365)}`,
    ),
    get('unchanged (304)', () => latest, { ...rates, 'If-None-Match': etag }, 304),
    get('unknown path (404)', (at) => `/api/v1/nothing/${at}`, rates, 404),
    get('wrong day (422)', (at) => `${latest}?on=${at}`, rates, 422),
    get('no key (401)', () => latest, {}, 401),
    get('CSV', (at) => `/api/v1/rates.csv?on=${knownDay(at)}`),
    get('Frankfurter', (at) => `/v1/${knownDay(at)}?base=USD&symbols=CRC`),
    get('Hacienda', () => '/indicadores/tc'),
    get('old bank', () => `${ASMX}?${soap}`, {}),
    get('liveness', () => '/healthz', {}),
    get('file of the page', () => file, {}),
    post('MCP', '/mcp', rates, (at) => mcpCall(at)),
    { ...post('sign-in', '/session', {}, () => ({ secret: key })), isWrite: true },
    upload('upload of 3 KB', 1, (at) => `${at}`.padEnd(3000, 'a')),
    upload('upload of an invoice', 3, (at) =>
      INVOICE.replaceAll(/\b506\d{47}\b/g, createClave('FacturaElectronica', at + 1)),
    ),
    get('documents', () => '/api/v1/documents?limit=20&agent_id=1', reads),
    get('a document', (at) => `/api/v1/documents/${1 + (at % 100)}`, reads),
    get('content of a document', (at) => `/api/v1/documents/${1 + (at % 100)}/content`, reads),
    ...claims(),
  ]
}

async function readFacts(url: string, key: string): Promise<{ etag: string; file: string }> {
  const answer = await fetch(`${url}/api/v1/rates/latest`, { headers: { 'X-API-Key': key } })
  const page = await (await fetch(`${url}/`)).text()
  const [file = ''] = /page\/[\w.-]+\.js/.exec(page) ?? []
  return { etag: answer.headers.get('etag') ?? '', file: `/${file}` }
}

function frame(method: string, path: string, headers: object, body = ''): Buffer {
  const lines = Object.entries({
    Host: 'localhost',
    ...headers,
    ...(body && { 'Content-Length': Buffer.byteLength(body) }),
  })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${head}\r\n${body}`)
}

function post(name: string, path: string, headers: object, body: (at: number) => object): Kind {
  const all = {
    ...headers,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
  }
  return { name, status: 200, request: (at) => frame('POST', path, all, JSON.stringify(body(at))) }
}

function mcpCall(at: number): object {
  return {
    jsonrpc: '2.0',
    id: at,
    method: 'tools/call',
    params: { name: 'get_rate', arguments: { base: 'USD', quote: 'CRC', on: knownDay(at) } },
  }
}

function upload(name: string, agent: number, content: (at: number) => string): Kind {
  const body = (at: number) => ({
    company_id: agent === 3 ? 2 : 1,
    agent_id: agent,
    owner_id: agent === 3 ? 2 : 1,
    documents: [
      {
        name: `${at}.bin`,
        mimetype: 'application/octet-stream',
        base64: Buffer.from(content(at)).toString('base64'),
      },
    ],
  })
  const headers = { Authorization: `Bearer ${TOKENS.all}` }
  return { ...post(name, '/api/v1/documents/create', headers, body), isWrite: true }
}

/** Claims a document, and finishes it. */
function claims(): Kind[] {
  const headers = { Authorization: `Bearer ${TOKENS.work}` }
  const leases: { id: number; claim_id: string }[] = []
  const claim = post('claim', '/api/v1/documents/claim', headers, () => ({ agent_id: 1 }))
  return [
    {
      ...claim,
      isWrite: true,
      read(body) {
        const [one] = (JSON.parse(body) as { documents: typeof leases }).documents
        if (!one) throw new Error('there is nothing to claim')
        leases.push(one)
      },
    },
    {
      name: 'finish',
      status: 200,
      isWrite: true,
      request() {
        const { id, claim_id } = leases.shift() ?? { id: 0, claim_id: '' }
        return post('', `/api/v1/documents/${id}/finish`, headers, () => ({
          claim_id,
          outcome: 'done',
        })).request(0)
      },
    },
  ]
}
