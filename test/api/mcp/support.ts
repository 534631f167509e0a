// The official client of both protocol revisions, and messages that it cannot send.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { TestApp } from '../../support/app.ts'

export const ERAS = { modern: '2026-07-28', legacy: '2025-11-25' } as const
export type Era = keyof typeof ERAS

export type Answer = {
  content: { type: string; text: string }[]
  structuredContent?: Json
  isError?: boolean
}
// biome-ignore lint/suspicious/noExplicitAny: what a tool answers with is looked into freely
export type Json = Record<string, any>

export const RATE_TOOLS = [
  'get_rate',
  'get_rates_on',
  'convert',
  'get_history',
  'rate_statistics',
  'list_series',
  'freshness',
]
export const READ_TOOLS = ['list_documents', 'read_document', 'rate_for_document']
export const WAIT_TOOLS = ['wait_for_documents']
export const UPLOAD_TOOLS = ['upload_document']
export const WORK_TOOLS = ['claim_documents', 'finish_document', 'extend_document', 'release_document']

const META = 'io.modelcontextprotocol/'
const LARGEST = 32 * 1024
const LARGEST_LIST = 20 * 1024
const LARGEST_LIST_OF_TOKEN = 9 * 1024

/** Connects a client of a revision, over HTTP with `headers` or over another transport. */
export async function connect(
  t: Pick<TestContext, 'after'>,
  era: Era,
  to: { app: TestApp; headers?: Record<string, string> } | { transport: Transport },
): Promise<Client> {
  const mode = era === 'modern' ? { pin: ERAS.modern } : 'legacy'
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const transport = 'transport' in to ? to.transport : over(to.app, to.headers ?? { 'x-api-key': to.app.key })
  await client.connect(transport)
  t.after(() => client.close())
  assert.equal(client.getNegotiatedProtocolVersion(), ERAS[era])
  return client
}

function over({ app }: TestApp, headers: Record<string, string>): Transport {
  return new StreamableHTTPClientTransport(new URL(`${app.url}/mcp`), { requestInit: { headers } })
}

/** The names of the tools of a client; checks the size of the list. */
export async function listToolNames(client: Client): Promise<string[]> {
  const list = await client.listTools()
  const names = list.tools.map(({ name }) => name)
  const largest = names.includes('get_rate') ? LARGEST_LIST : LARGEST_LIST_OF_TOKEN
  assert.ok(Buffer.byteLength(JSON.stringify(list)) <= largest)
  return names
}

/**
 * Calls a tool and checks the rules of all results: one short sentence, and a value of the tool's schema. A
 * result has at most 32 KB.
 */
export async function call(client: Client, name: string, args: Json = {}): Promise<Answer> {
  const answer = (await client.callTool({ name, arguments: args })) as Answer
  const [first, ...others] = answer.content
  assert.equal(first?.type, 'text')
  assert.ok([...(first?.text ?? '')].length <= 300 && !/[\r\n]/.test(first?.text ?? ''))
  assert.deepEqual(others, [])
  if (name !== 'read_document') assert.ok(Buffer.byteLength(JSON.stringify(answer)) <= LARGEST)
  if (!answer.isError) await checkValue(client, name, answer.structuredContent)
  return answer
}

/** The value of a successful call. */
export async function callForValue(client: Client, name: string, args: Json = {}): Promise<Json> {
  const { isError, content, structuredContent } = await call(client, name, args)
  assert.ok(!isError && structuredContent, String(content[0]?.text))
  return structuredContent
}

/** The error text of a rejected call. */
export async function callForError(client: Client, name: string, args: Json = {}): Promise<string> {
  const { isError, content, structuredContent } = await call(client, name, args)
  assert.equal(isError, true, JSON.stringify(structuredContent))
  return content[0]?.text ?? ''
}

// A validator takes 200 ms to compile: each is compiled once, and each client lists its tools once.
const ajv = new Ajv2020({ strict: false })
const validators = new Map<string, ValidateFunction>()
const outputSchemas = new WeakMap<Client, Promise<ReadonlyMap<string, unknown>>>()

async function checkValue(client: Client, name: string, value: unknown): Promise<void> {
  const schemas = await outputSchemas.getOrInsertComputed(client, listOutputSchemas)
  const schema = schemas.get(name) ?? false
  const validate = validators.getOrInsertComputed(JSON.stringify(schema), () => ajv.compile(schema))
  assert.ok(validate(value), JSON.stringify(validate.errors))
}

async function listOutputSchemas(client: Client): Promise<ReadonlyMap<string, unknown>> {
  const { tools } = await client.listTools()
  return new Map(tools.map(({ name, outputSchema }) => [name, outputSchema]))
}

export type Raw = { status: number; headers: Headers; text: string; body: Json }

/** A POST of a message, or of raw bytes. */
export async function send(app: TestApp, body: unknown, headers: Record<string, string> = {}): Promise<Raw> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  const response = await fetch(`${app.app.url}/mcp`, {
    method: 'POST',
    headers: { 'x-api-key': app.key, 'content-type': 'application/json', ...headers },
    body: isRaw ? (body as string) : JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: text ? JSON.parse(text) : {} }
}

/** A request of a client of 2026: message and headers. */
export function modern(
  method: string,
  params: Json = {},
  version = '2026-07-28',
): [Json, Record<string, string>] {
  const _meta = { [`${META}protocolVersion`]: version, [`${META}clientCapabilities`]: {} }
  const name = params.name ?? params.uri
  const headers = {
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(name !== undefined && { 'mcp-name': String(name) }),
  }
  return [{ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }, headers]
}

export function legacy(method: string, params: Json = {}): Json {
  return { jsonrpc: '2.0', id: 1, method, params }
}
