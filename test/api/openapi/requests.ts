// Sends the example of an operation, and returns its answer as the description has it.

import { CLAIM_ID, EXAMPLE_CODE } from '../../../src/http/openapi/examples.ts'
import type { TestApp } from '../../support/app.ts'
import { TOKENS } from '../../support/directory.ts'
import type { Operation } from './description.ts'
import { runSample } from './samples.ts'

export type Sent = {
  id: string
  path: string
  operation: Operation
  status: number
  type: string
  text: string
  headers: Headers
}

type Example = { example?: unknown }

/** Changes to a request: further headers, and texts to replace in its URL and body. */
export type RequestChanges = { headers?: Record<string, string>; texts?: Record<string, string> }

const MOST_ITEMS = 2
const MOST_TEXT = 8000
const MOST_LINES = 12 // lines of a longer text
const UUID = /\b[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\b/g // the id of a claim, a random value

/** Values of answers that differ between servers. */
const VOLATILE: Readonly<Record<string, readonly [pattern: RegExp, replacement: string][]>> = {
  status: [
    [/"version":"[^"]+"/, '"version":"1.0.0"'],
    [/"free_bytes":\d+/, '"free_bytes":73177354240'],
  ],
  session: [[/"page":"[^"]+"/, `"page":"${EXAMPLE_CODE}"`]],
  get_session: [[/"name":"test [^"]+"/, '"name":"erp"']],
  session_code: [[/"name":"test [^"]+"/, '"name":"erp"']],
  session_ticket: [[/"\/t\/[^"]+"/, `"/t/${EXAMPLE_CODE}"`]],
}

/** Sends the example of an operation with the credentials that it requires: by its command, if it has one. */
export async function sendExample(
  app: TestApp,
  { path, method, operation }: { path: string; method: string; operation: Operation },
  { headers: changedHeaders = {}, texts = {} }: RequestChanges = {},
): Promise<Sent> {
  let address = path
  const query = new URLSearchParams()
  for (const { name, in: place, example } of operation.parameters as (Example & {
    name: string
    in: string
  })[]) {
    if (example === undefined) continue
    if (place === 'path') address = address.replace(`{${name}}`, encodeURIComponent(String(example)))
    else query.set(name, String(example))
  }
  const headers: Record<string, string> = {}
  for (const scheme of operation.security.flatMap((one) => Object.keys(one))) {
    if (scheme === 'apiKey' || scheme === 'mcp') headers['x-api-key'] = app.key
    if (scheme === 'bearer') headers.authorization = `Bearer ${chooseToken(operation)}`
  }
  const replaceTexts = (text: string) =>
    Object.entries(texts).reduce((result, [from, to]) => result.replaceAll(from, to), text)
  let body: string | null = null
  const content = chooseBody(operation)
  if (content) {
    headers['content-type'] = content.type
    body = replaceTexts(content.text)
  }
  const [sample] = operation['x-codeSamples'] ?? []
  if (sample) {
    const secrets = { CAMBISTA_KEY: app.key, CAMBISTA_TOKEN: chooseToken(operation) }
    const answer = await runSample(replaceTexts(sample.source), { CAMBISTA_URL: app.app.url, ...secrets })
    return { id: operation.operationId, path, operation, type: mediaType(answer.headers), ...answer }
  }
  const url = `${app.app.url}${replaceTexts(address)}${query.size > 0 ? `?${query}` : ''}`
  const init = { method: method.toUpperCase(), headers: { ...headers, ...changedHeaders }, body }
  const response = await fetch(url, init)
  return {
    ...{ id: operation.operationId, path, operation, status: response.status, text: await response.text() },
    type: mediaType(response.headers),
    headers: response.headers,
  }
}

function mediaType(headers: Headers): string {
  return (headers.get('content-type') ?? '').split(';', 1)[0] ?? ''
}

/** Returns the example of the body. Any bytes are sent as a text; a form is not sent. */
function chooseBody({ requestBody }: Operation): { type: string; text: string } | undefined {
  const contents = Object.entries((requestBody?.content ?? {}) as Record<string, Example>).filter(
    ([type, { example }]) => example !== undefined && type !== 'multipart/form-data',
  )
  const [[type, { example }] = ['', { example: undefined }]] = contents
  if (example === undefined) return undefined
  return {
    type: type === '*/*' ? 'text/plain' : type,
    text: typeof example === 'string' ? example : JSON.stringify(example),
  }
}

function chooseToken({ operationId }: Operation): string {
  if (/_retry$|^delete_/.test(operationId)) return TOKENS.remove
  return /_(claim|finish|extend|release)$/.test(operationId) ? TOKENS.work : TOKENS.all
}

/** Returns the media type of an answer in its description: its own, or that of any bytes. */
export function describedType({ type, operation }: Sent): string {
  return operation.responses[200]?.content?.[type] === undefined ? '*/*' : type
}

/** An answer as the description has it; undefined for bytes, and if the description has no such media type. */
export function shownAnswer(exchange: Sent): { type: string; value: unknown } | undefined {
  const { id, operation } = exchange
  const type = describedType(exchange)
  if (operation.responses[200]?.content?.[type] === undefined) return undefined
  if (type === 'application/zip') return undefined
  const text = (VOLATILE[id] ?? []).reduce(
    (result, [pattern, replacement]) => result.replace(pattern, replacement),
    exchange.text,
  )
  if (type === 'application/json') return { type, value: shorten(JSON.parse(text.replace(UUID, CLAIM_ID))) }
  const isTable = type === 'text/csv' || type === 'application/x-ndjson'
  const isShown = !isTable && text.length <= MOST_TEXT
  const lines = text.split('\n').slice(0, isTable ? MOST_ITEMS + 1 : MOST_LINES)
  return { type, value: isShown ? text : `${lines.join('\n')}\n` }
}

/** Shortens lists to two items, and tables to their first two currencies. */
function shorten(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, MOST_ITEMS).map(shorten)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const isTable = entries.length > MOST_ITEMS && entries.every(([name]) => /^[A-Z]{3,6}$/.test(name))
  return Object.fromEntries(
    (isTable ? entries.slice(0, MOST_ITEMS) : entries).map(([name, one]) => [name, shorten(one)]),
  )
}
