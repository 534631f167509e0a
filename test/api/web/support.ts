// A browser as these tests need it. Stores the cookie and the page's half of a session, and sends an Origin
// with changes. Tests can replace its headers.

import assert from 'node:assert/strict'
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import { request as requestTls } from 'node:https'
import type { TestApp } from '../../support/app.ts'
import { runJson } from '../../support/company.ts'

export type Answer = { status: number; headers: IncomingHttpHeaders; body: string }

export type Asked = {
  method?: string
  headers?: OutgoingHttpHeaders
  /** The body, as JSON. */
  json?: unknown
  body?: string
  /** The local address of the connection. */
  from?: string
}

/** A request without any default headers. */
export function ask(url: string, { method, headers = {}, json, body, from }: Asked = {}): Promise<Answer> {
  const content = json === undefined ? body : JSON.stringify(json)
  const type = json === undefined ? {} : { 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? requestTls : request
    const options = {
      method: method ?? (content === undefined ? 'GET' : 'POST'),
      headers: { ...type, ...headers },
      agent: false as const,
      rejectUnauthorized: false,
      localAddress: from,
    }
    const outgoing = send(url, options, async (response) => {
      const { statusCode: status = 0, headers } = response
      resolve({ status, headers, body: Buffer.concat(await response.toArray()).toString() })
    })
    outgoing.on('error', reject).end(content)
  })
}

export type Browser = {
  /** The cookie as it is sent; the page's half is apart. */
  cookie: string
  page: string
  /** The headers of both halves. */
  halves(): Record<string, string>
  /** A request of the page, in its session. */
  ask(path: string, asked?: Asked): Promise<Answer>
}

/** Signs in, from an address and with headers of a proxy. */
export async function signIn(
  url: string,
  secret: string,
  headers: Record<string, string> = {},
): Promise<Browser> {
  const answer = await ask(`${url}/session`, { json: { secret }, headers })
  assert.equal(answer.status, 200, answer.body)
  return openBrowser(url, answer, headers)
}

export function openBrowser(url: string, answer: Answer, headers: Record<string, string> = {}): Browser {
  const [set = ''] = answer.headers['set-cookie'] ?? []
  const browser: Browser = {
    cookie: set.split(';', 1)[0] ?? '',
    page: JSON.parse(answer.body).page,
    halves: () => ({ cookie: browser.cookie, 'x-cambista-page': browser.page }),
    ask: (path, options = {}) =>
      ask(url + path, { ...options, headers: { ...headers, ...browser.halves(), ...options.headers } }),
  }
  return browser
}

/** A token made on the command line. */
export async function makeToken(
  { dataDir }: TestApp,
  name: string,
  ...words: string[]
): Promise<{ id: number; token: string }> {
  const allow = words.includes('--allow') ? [] : ['--allow', 'documents:GET', '--allow', 'documents:POST']
  return runJson(dataDir, 'token', 'create', name, ...allow, ...words)
}

export const readDetail = ({ body }: Answer): string => JSON.parse(body).detail
