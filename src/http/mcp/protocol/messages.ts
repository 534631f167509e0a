// JSON-RPC 2.0 as MCP uses it: one message at a time. Batches are refused: neither revision that is served has them.

export type Id = string | number

export type Request = { id: Id; method: string; params: Record<string, unknown> }

/** What is wrong with a message, or with what it asks for. */
export type Fault = { code: number; message: string; data?: unknown }

/** What became of a message: the status where it came over HTTP, and what its sender is told; undefined: nothing. */
export type Outcome = { status: number; answer?: object }

/** The codes of JSON-RPC, and those that MCP adds to them. */
export const CODES = {
  parse: -32_700,
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  /** What 2025 called a resource that is not there; 2026 says invalid params. */
  noResource: -32_002,
  headerMismatch: -32_020,
  unsupportedVersion: -32_022,
} as const

export type Message =
  | { kind: 'request'; request: Request }
  /** A notification, or an answer to a question that was never put: nothing is said to either. */
  | { kind: 'silent' }
  | { kind: 'fault'; fault: Fault; id: Id | null }

const INTEGER = /^-?\d+(\.0+)?(e\+?\d+)?$/i

/**
 * The JSON value of a message. A number that is no whole one that a float holds exactly comes as NaN: nothing here takes
 * one, and a digit of an amount must not get lost (decisions 6.3).
 * @throws SyntaxError
 */
export function parseMessage(text: string): unknown {
  return JSON.parse(text, (_, value: unknown, context?: { source?: string }) =>
    typeof value !== 'number' || (Number.isSafeInteger(value) && INTEGER.test(context?.source ?? ''))
      ? value
      : Number.NaN,
  )
}

export function messageOf(value: unknown): Message {
  if (Array.isArray(value)) return invalid(null, 'Send one message at a time: batches are not served')
  if (!isRecord(value) || value.jsonrpc !== '2.0') return invalid(null, 'This is no message of JSON-RPC 2.0')
  const { id, method, params } = value
  const isId = typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id))
  if (method === undefined && isId && (Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error'))) {
    return { kind: 'silent' }
  }
  if (typeof method !== 'string') return invalid(isId ? id : null, 'method must be a text')
  if (id === undefined) return { kind: 'silent' }
  if (!isId) return invalid(null, 'id must be a text or a whole number')
  if (params !== undefined && !isRecord(params)) return invalid(id, 'params must be an object')
  return { kind: 'request', request: { id, method, params: params ?? {} } }
}

export function resultMessage(id: Id, result: object): object {
  return { jsonrpc: '2.0', id, result }
}

/** `id`: null where it is not known which request it is about. */
export function errorMessage(id: Id | null, { code, message, data }: Fault): object {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(id: Id | null, message: string): Message {
  return { kind: 'fault', id, fault: { code: CODES.invalidRequest, message } }
}
