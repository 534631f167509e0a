// Which revision of MCP a request is of. Since 2026-07-28 each request says so itself, in `_meta`, and over HTTP once more
// in headers, which must not say anything else; before, a client opened with `initialize`. Nothing is remembered between
// two requests of either, so that both are served side by side.

import { CODES, type Fault, isRecord, type Request } from './messages.ts'

export const MODERN = '2026-07-28'
/** The newest first. */
export const LEGACY: readonly string[] = ['2025-11-25', '2025-06-18']

const META = 'io.modelcontextprotocol/'
const VERSION = `${META}protocolVersion`
const CAPABILITIES = `${META}clientCapabilities`
/** Where a result says which server it is from. */
export const SERVER_INFO = `${META}serverInfo`

export type Era = 'modern' | 'legacy'

/** The headers that repeat what the body says; null: not sent. */
export type MessageHeaders = { version: string | null; method: string | null; name: string | null }

/** Which parameter the header Mcp-Name repeats. */
const NAMED: Record<string, string> = { 'tools/call': 'name', 'resources/read': 'uri', 'prompts/get': 'name' }
const ENCODED = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/
const BARE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/

/** The revision of a request, which is served; or why it is not. `headers`: undefined where there are none, as on stdin. */
export function eraOf(request: Request, headers?: MessageHeaders): Era | Fault {
  const meta = isRecord(request.params._meta) ? request.params._meta : {}
  const claimed = meta[VERSION]
  if (claimed === undefined) return legacyEra(request, headers)
  if (typeof claimed !== 'string') return badMeta(`${VERSION} must be a text`)
  if (headers) {
    const mismatch = mismatchOf(request, headers, claimed)
    if (mismatch) return { code: CODES.headerMismatch, message: `Header mismatch: ${mismatch}` }
  }
  if (claimed !== MODERN) return unsupported(claimed, [MODERN])
  if (!isRecord(meta[CAPABILITIES])) return badMeta(`${CAPABILITIES} must be an object`)
  return 'modern'
}

/** The headers of a request that is sent on over HTTP; it may say of which revision it is. */
export function headersOf({ method, params }: Request): Record<string, string> {
  const version = isRecord(params._meta) ? params._meta[VERSION] : undefined
  if (typeof version !== 'string') return {}
  const name = params[NAMED[method] ?? '']
  return {
    'mcp-protocol-version': asHeader(version),
    'mcp-method': asHeader(method),
    ...(typeof name === 'string' && { 'mcp-name': asHeader(name) }),
  }
}

function legacyEra({ method }: Request, headers: MessageHeaders | undefined): Era | Fault {
  const version = headers?.version ?? null
  if (version === null || LEGACY.includes(version) || method === 'initialize') return 'legacy'
  if (version === MODERN) return badMeta(`${VERSION} is missing in params._meta`)
  return unsupported(version, [MODERN, ...LEGACY])
}

function mismatchOf({ method, params }: Request, sent: MessageHeaders, claimed: string): string | undefined {
  if (sent.version?.trim() !== claimed) return `MCP-Protocol-Version must be ${claimed}, as in the body`
  if (sent.method?.trim() !== method) return 'Mcp-Method must be the method in the body'
  const field = NAMED[method]
  const named = field === undefined ? undefined : params[field]
  if (field === undefined || typeof named !== 'string') return undefined
  return nameIn(sent.name) === named ? undefined : `Mcp-Name must be the ${field} in the body`
}

/** What does not fit into a header is sent in base64. */
function nameIn(sent: string | null): string | undefined {
  const text = sent?.trim()
  const [, encoded] = ENCODED.exec(text ?? '') ?? []
  return encoded === undefined ? text : Buffer.from(encoded, 'base64').toString()
}

function asHeader(text: string): string {
  if (BARE.test(text) && !ENCODED.test(text)) return text
  return `=?base64?${Buffer.from(text).toString('base64')}?=`
}

function badMeta(message: string): Fault {
  return { code: CODES.invalidParams, message }
}

function unsupported(requested: string, supported: readonly string[]): Fault {
  return {
    code: CODES.unsupportedVersion,
    message: 'Unsupported protocol version',
    data: { supported, requested },
  }
}
