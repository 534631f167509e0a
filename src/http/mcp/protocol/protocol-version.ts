// Detects the protocol version of a request. Since 2026-07-28 each request has it in `_meta`. Over HTTP it has it in a
// header too, and both must be equal. Clients of older versions begin with `initialize`. The server stores no state
// between requests, so it serves all versions at once.

import { isJsonObject } from '../../../values/json-object.ts'
import { CODES, type Request, type RpcError } from './messages.ts'

export const MODERN = '2026-07-28'
/** Newest first. */
export const LEGACY: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']

const META = 'io.modelcontextprotocol/'
const VERSION = `${META}protocolVersion`
const CAPABILITIES = `${META}clientCapabilities`
/** Key of the server's name and version in `_meta` of a result. */
export const SERVER_INFO = `${META}serverInfo`

export type ProtocolVersion = 'modern' | 'legacy'

/** Headers that repeat fields of the body; null: absent. */
export type MessageHeaders = { version: string | null; method: string | null; name: string | null }

/** Parameter that the header Mcp-Name repeats, by method. */
const NAME_PARAMETERS: Record<string, string> = {
  'tools/call': 'name',
  'resources/read': 'uri',
  'prompts/get': 'name',
}
const BASE64_HEADER = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/
const PLAIN_HEADER = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/

/** Returns the version of a request, or the error of an unsupported one. `headers`: undefined on stdin. */
export function detectVersion(request: Request, headers?: MessageHeaders): ProtocolVersion | RpcError {
  const meta = isJsonObject(request.params._meta) ? request.params._meta : {}
  const version = meta[VERSION]
  if (version === undefined) return detectLegacyVersion(request, headers)
  if (typeof version !== 'string') return invalidMeta(`${VERSION} must be a text`)
  if (headers) {
    const mismatch = findMismatch(request, headers, version)
    if (mismatch) return { code: CODES.headerMismatch, message: `Header mismatch: ${mismatch}` }
  }
  if (version !== MODERN) return unsupported(version, [MODERN])
  if (!isJsonObject(meta[CAPABILITIES])) return invalidMeta(`${CAPABILITIES} must be an object`)
  return 'modern'
}

/** Headers that repeat the body of a request, for a relay over HTTP; none before 2026-07-28. */
export function requestHeaders({ method, params }: Request): Record<string, string> {
  const version = isJsonObject(params._meta) ? params._meta[VERSION] : undefined
  if (typeof version !== 'string') return {}
  const name = params[NAME_PARAMETERS[method] ?? '']
  return {
    'mcp-protocol-version': encodeHeader(version),
    'mcp-method': encodeHeader(method),
    ...(typeof name === 'string' && { 'mcp-name': encodeHeader(name) }),
  }
}

function detectLegacyVersion(
  { method }: Request,
  headers: MessageHeaders | undefined,
): ProtocolVersion | RpcError {
  const version = headers?.version ?? null
  if (version === null || LEGACY.includes(version) || method === 'initialize') return 'legacy'
  if (version === MODERN) return invalidMeta(`${VERSION} is missing in params._meta`)
  return unsupported(version, [MODERN, ...LEGACY])
}

function findMismatch(
  { method, params }: Request,
  headers: MessageHeaders,
  version: string,
): string | undefined {
  if (headers.version?.trim() !== version) return `MCP-Protocol-Version must be ${version}, as in the body`
  if (headers.method?.trim() !== method) return 'Mcp-Method must be the method in the body'
  const field = NAME_PARAMETERS[method]
  const name = field === undefined ? undefined : params[field]
  if (field === undefined || typeof name !== 'string') return undefined
  return decodeHeader(headers.name) === name ? undefined : `Mcp-Name must be the ${field} in the body`
}

/** Decodes a header in base64, which clients use for text that headers do not allow. */
function decodeHeader(header: string | null): string | undefined {
  const text = header?.trim()
  const [, encoded] = BASE64_HEADER.exec(text ?? '') ?? []
  return encoded === undefined ? text : Buffer.from(encoded, 'base64').toString()
}

function encodeHeader(text: string): string {
  if (PLAIN_HEADER.test(text) && !BASE64_HEADER.test(text)) return text
  return `=?base64?${Buffer.from(text).toString('base64')}?=`
}

function invalidMeta(message: string): RpcError {
  return { code: CODES.invalidParams, message }
}

function unsupported(requested: string, supported: readonly string[]): RpcError {
  return {
    code: CODES.unsupportedVersion,
    message: 'Unsupported protocol version',
    data: { supported, requested },
  }
}
