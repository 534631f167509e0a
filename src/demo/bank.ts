// The stand-in bank: both services of the central bank on this machine, as they are known (upstream 1 and 2), with
// invented values. For `demo`, and for tests, which can make it misbehave.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { IsoDate } from '../dates.ts'
import { publicAnswer, type UnsynchronizedDays } from './bank-public.ts'
import { siteAnswer } from './bank-site.ts'
import { createBooks, type ValueOverride } from './books.ts'
import type { BankReply } from './reply.ts'

/** A request as the bank saw it. */
export type SeenRequest = {
  method: string
  path: string
  query: Record<string, string>
  /** Whether it carried an Authorization header; never what it said. */
  authorized: boolean
  userAgent: string
}

/** `cut`: half of an answer, then the connection ends; `reset`: none of it; `hang`: silence. */
export type Fault = 'pass' | 'cut' | 'reset' | 'hang' | BankReply

export type FaultHook = (request: SeenRequest) => Fault | undefined | Promise<Fault | undefined>

export type BankOptions = {
  /** 0, the default, takes any free one. */
  port?: number
  /** The one token that the public API accepts; undefined: none is. */
  token?: string
  today: () => IsoDate
  /** Replaces invented values: a text is published verbatim, null is a day without a value, undefined keeps the invented. */
  value?: ValueOverride
  /** The codes in table 520, known or not; by default all that the catalogue knows, and XDR. */
  codes?: readonly string[]
  /** Names instead of the bank's own. */
  names?: Record<string, string>
  faults?: FaultHook
  refusals?: Refusals
  /** Days that are answered as another cambista does which has not synchronized them, by code. */
  unsynchronized?: UnsynchronizedDays
  /** Answers over TLS, with this key and chain. */
  tls?: { key: string; cert: string }
}

/** Refusals that other banks began with in 2026. */
export type Refusals = {
  /** 406 for a request that does not say which form it takes. */
  withoutAccept?: boolean
  /** 403 for a User-Agent of another form. */
  userAgents?: RegExp
  /** 302 to this address, whatever is asked for. */
  movedTo?: string
}

export type Bank = {
  /** The base of both services. */
  url: string
  /** The last requests, oldest first. */
  requests: SeenRequest[]
  /** What goes wrong from now on; undefined: nothing. */
  faults: FaultHook | undefined
  close(): Promise<void>
}

const BASE = '/SDDE/api'
const REQUESTS_KEPT = 10_000

export async function startBank(options: BankOptions): Promise<Bank> {
  const books = createBooks(options)
  const csrfTokens = new Set<string>()
  const requests: SeenRequest[] = []

  const answer = (request: IncomingMessage, seen: SeenRequest): BankReply => {
    const refusal = refusalOf(request, options.refusals)
    if (refusal) return refusal
    if (seen.method !== 'GET' || !seen.path.startsWith(`${BASE}/`)) return { status: 404, body: '' }
    const path = seen.path.slice(BASE.length + 1)
    return (
      publicAnswer(books, options, path, seen.query, request.headers) ??
      siteAnswer(books, csrfTokens, path, seen.query, request.headers) ?? { status: 404, body: '' }
    )
  }

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const seen = see(request)
    requests.push(seen)
    if (requests.length > REQUESTS_KEPT) requests.shift()
    const fault = (await bank.faults?.(seen)) ?? 'pass'
    if (fault === 'hang') return
    if (fault === 'reset') return void response.destroy()
    const reply = typeof fault === 'object' ? fault : answer(request, seen)
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

function refusalOf({ headers }: IncomingMessage, refusals: Refusals = {}): BankReply | undefined {
  const { withoutAccept, userAgents, movedTo } = refusals
  if (movedTo !== undefined) return { status: 302, headers: { Location: movedTo }, body: '' }
  if (withoutAccept && [undefined, '*/*'].includes(headers.accept)) return { status: 406, body: '' }
  if (userAgents?.test(headers['user-agent'] ?? '') === false) return { status: 403, body: 'Forbidden' }
  return undefined
}

function see(request: IncomingMessage): SeenRequest {
  const url = new URL(request.url ?? '/', 'http://bank')
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    authorized: request.headers.authorization !== undefined,
    userAgent: request.headers['user-agent'] ?? '',
  }
}
