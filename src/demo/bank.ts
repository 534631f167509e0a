// Fake bank for `demo` and tests: both services of the central bank (upstream 1 and 2) with invented values. Tests can
// make it misbehave.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { IsoDate } from '../values/dates.ts'
import { publicAnswer, type UnsynchronizedDays } from './bank-public.ts'
import { siteAnswer } from './bank-site.ts'
import { createBooks, type Indicator, type ValueOverride } from './books.ts'
import type { BankReply } from './reply.ts'

/** Request that the bank received. */
export type BankRequest = {
  method: string
  path: string
  query: Record<string, string>
  /** The request had an Authorization header, whose value is not stored. */
  authorized: boolean
  userAgent: string
}

/** `cut`: half of an answer, then the connection ends; `reset`: it ends at once; `hang`: no answer. */
export type BankFault = 'pass' | 'cut' | 'reset' | 'hang' | BankReply

export type FaultHook = (request: BankRequest) => BankFault | undefined | Promise<BankFault | undefined>

export type BankOptions = {
  /** 0, the default: any free port. */
  port?: number
  /** Only valid token of the public API; undefined: none is. */
  token?: string
  today: () => IsoDate
  value?: ValueOverride
  /** Codes in table 520; by default those of the catalogue, and XDR. */
  codes?: readonly string[]
  /** Names instead of the bank's own. */
  names?: Record<string, string>
  /** Further indicators of the public API; `value` has their values. */
  indicators?: readonly Indicator[]
  faults?: FaultHook
  refusals?: Refusals
  /** Unsynchronized days of another cambista, by code. */
  unsynchronized?: UnsynchronizedDays
  /** Key and chain; without them, plain HTTP. */
  tls?: { key: string; cert: string }
}

/** Refusals that other banks introduced in 2026. */
export type Refusals = {
  /** 406 for a request without `Accept`. */
  withoutAccept?: boolean
  /** 403 for a User-Agent that does not match. */
  userAgents?: RegExp
  /** 302 to this address for each request. */
  redirectUrl?: string
}

export type Bank = {
  /** Base URL of both services. */
  url: string
  /** Last requests, oldest first. */
  requests: BankRequest[]
  /** Faults of further requests. */
  faults: FaultHook | undefined
  close(): Promise<void>
}

const BASE = '/SDDE/api'
const MOST_REQUESTS = 10_000

export async function startBank(options: BankOptions): Promise<Bank> {
  const books = createBooks(options)
  const csrfTokens = new Set<string>()
  const requests: BankRequest[] = []

  const answer = (request: IncomingMessage, bankRequest: BankRequest): BankReply => {
    const refusal = findRefusal(request, options.refusals)
    if (refusal) return refusal
    if (bankRequest.method !== 'GET' || !bankRequest.path.startsWith(`${BASE}/`))
      return { status: 404, body: '' }
    const path = bankRequest.path.slice(BASE.length + 1)
    return (
      publicAnswer(books, options, path, bankRequest.query, request.headers) ??
      siteAnswer(books, csrfTokens, path, bankRequest.query, request.headers) ?? { status: 404, body: '' }
    )
  }

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const bankRequest = parseRequest(request)
    requests.push(bankRequest)
    if (requests.length > MOST_REQUESTS) requests.shift()
    const fault = (await bank.faults?.(bankRequest)) ?? 'pass'
    if (fault === 'hang') return
    if (fault === 'reset') return void response.destroy()
    const reply = typeof fault === 'object' ? fault : answer(request, bankRequest)
    const body = Buffer.from(reply.body ?? '')
    response.writeHead(reply.status, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': body.byteLength,
      Date: new Date(`${options.today()}T18:00:00Z`).toUTCString(),
      ...reply.headers,
    })
    if (fault !== 'cut') return void response.end(body)
    response.write(body.subarray(0, body.byteLength / 2), () => response.destroy())
  }

  const listener = (request: IncomingMessage, response: ServerResponse) => {
    // Clients see a cut connection, as with a broken bank.
    serve(request, response).catch(() => response.destroy())
  }
  const server = options.tls ? createTlsServer(options.tls, listener) : createServer(listener)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const bank: Bank = {
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}${BASE}`,
    requests,
    faults: options.faults,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return bank
}

function findRefusal({ headers }: IncomingMessage, refusals: Refusals = {}): BankReply | undefined {
  const { withoutAccept, userAgents, redirectUrl } = refusals
  if (redirectUrl !== undefined) return { status: 302, headers: { Location: redirectUrl }, body: '' }
  if (withoutAccept && [undefined, '*/*'].includes(headers.accept)) return { status: 406, body: '' }
  if (userAgents?.test(headers['user-agent'] ?? '') === false) return { status: 403, body: 'Forbidden' }
  return undefined
}

function parseRequest(request: IncomingMessage): BankRequest {
  const url = new URL(request.url ?? '/', 'http://bank')
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    authorized: request.headers.authorization !== undefined,
    userAgent: request.headers['user-agent'] ?? '',
  }
}
