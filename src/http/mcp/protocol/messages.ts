// Messages of JSON-RPC 2.0, as MCP uses it. Batches are rejected: no supported version of the protocol has them.

import { isJsonObject } from '../../../values/json-object.ts'

export type Id = string | number

export type Request = { id: Id; method: string; params: Record<string, unknown> }

/** Error of JSON-RPC. */
export type RpcError = { code: number; message: string; data?: unknown }

/** Result of a message: the status for HTTP, and the answer; undefined: none is sent. */
export type RpcReply = { status: number; answer?: object }

/** Error codes of JSON-RPC and of MCP. */
export const CODES = {
  parse: -32_700,
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  /** Missing resource before 2026-07-28; since then `invalidParams`. */
  noResource: -32_002,
  headerMismatch: -32_020,
  unsupportedVersion: -32_022,
} as const

export type Message =
  | { kind: 'request'; request: Request }
  /** Notification, or an answer to a request that the server never sent: neither is answered. */
  | { kind: 'ignored' }
  | { kind: 'error'; error: RpcError; id: Id | null }

const INTEGER = /^-?\d+(\.0+)?(e\+?\d+)?$/i

/**
 * Parses the JSON of a message. Numbers other than safe integers become NaN, which no parameter accepts: a float could
 * lose a digit of an amount (decisions#mcp-results).
 * @throws SyntaxError
 */
export function parseMessage(text: string): unknown {
  return JSON.parse(text, (_, value: unknown, context?: { source?: string }) =>
    typeof value !== 'number' || (Number.isSafeInteger(value) && INTEGER.test(context?.source ?? ''))
      ? value
      : Number.NaN,
  )
}

/** Validates a message and returns its kind. */
export function toMessage(value: unknown): Message {
  if (Array.isArray(value)) return invalid(null, 'Send one message at a time: batches are not served')
  if (!isJsonObject(value) || value.jsonrpc !== '2.0')
    return invalid(null, 'This is no message of JSON-RPC 2.0')
  const { id, method, params } = value
  const isId = typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id))
  if (method === undefined && isId && (Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error'))) {
    return { kind: 'ignored' }
  }
  if (typeof method !== 'string') return invalid(isId ? id : null, 'method must be a text')
  if (id === undefined) return { kind: 'ignored' }
  if (!isId) return invalid(null, 'id must be a text or a whole number')
  if (params !== undefined && !isJsonObject(params)) return invalid(id, 'params must be an object')
  return { kind: 'request', request: { id, method, params: params ?? {} } }
}

export function resultMessage(id: Id, result: object): object {
  return { jsonrpc: '2.0', id, result }
}

/** `id`: null if the id of the request is unknown. */
export function errorMessage(id: Id | null, { code, message, data }: RpcError): object {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } }
}

function invalid(id: Id | null, message: string): Message {
  return { kind: 'error', id, error: { code: CODES.invalidRequest, message } }
}
