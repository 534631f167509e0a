// Sends requests to the APIs. Returns a value or a failure that the page can explain, and throws nothing.

import { visibleText } from '../model/visible.ts'
import { setServerTime } from './clock.ts'
import { isOffline } from './connection.ts'
import { readPageSecret, recheckSession, session } from './session.ts'

export type Failure = {
  kind:
    | 'offline'
    | 'signed-out'
    | 'forbidden'
    | 'not-found'
    | 'too-many'
    | 'busy'
    | 'invalid'
    | 'stopped'
    | 'server'
  status: number
  /** Message of the server, in English. */
  detail: string
  /** Code of the cause, where the page decides by it. */
  reason?: string | undefined
  /** Id of the request in the log of the server. */
  requestId?: string | undefined
  /** Body of the response, for an error with fields of its own. */
  body?: string
}
export type Result<T> = { value: T; failure?: undefined } | { value?: undefined; failure: Failure }

export type RequestOptions = {
  method?: 'GET' | 'POST' | 'DELETE'
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
  /** Reads the response; without it the JSON of the body is the value. */
  read?: ((response: Response) => Promise<unknown>) | undefined
}

/** Header with the page's half of the session, or with OPEN_PAGE. */
export const PAGE_HEADER = 'X-Cambista-Page'
const OPEN_PAGE = 'open' // reads rates without a session

/** Returns the JSON of a response. */
export async function apiRequest<T>(path: string, options: RequestOptions = {}): Promise<Result<T>> {
  const response = await apiResponse(path, options)
  if (response.failure) return response
  try {
    const { read = (one: Response) => one.json() } = options
    return { value: (await read(response.value)) as T }
  } catch {
    return { failure: createFailure(0, '', options.signal) } // the connection was lost in the body
  }
}

/** Returns a response with an unread body. A proxy may serve the page below a path, so the address is relative. */
async function apiResponse(path: string, options: RequestOptions = {}): Promise<Result<Response>> {
  const { method = 'GET', body, signal = null } = options
  const pageSecret = readPageSecret()
  const half = pageSecret ?? (session.value.state === 'open' ? OPEN_PAGE : undefined)
  const headers: Record<string, string> = { ...(half && { [PAGE_HEADER]: half }), ...options.headers }
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  try {
    const json = body === undefined ? null : JSON.stringify(body)
    const response = await fetch(`.${path}`, { method, headers, body: json, signal, redirect: 'error' })
    setServerTime(response.headers.get('date'))
    isOffline.value = false
    if (response.ok) return { value: response }
    const requestId = response.headers.get('x-request-id') ?? undefined
    const text = await response.text()
    const facts = { reason: readReason(text), requestId, body: text }
    const failure = { ...createFailure(response.status, errorDetail(text)), ...facts }
    // The session has expired or one of its two secrets is revoked. A wrong secret at sign-in implies neither.
    if (failure.kind === 'signed-out' && !path.startsWith('/session')) recheckSession(pageSecret)
    return { failure }
  } catch {
    if (!signal?.aborted) isOffline.value = true
    return { failure: createFailure(0, '', signal) } // no connection, or the request was aborted
  }
}

export function createFailure(status: number, detail: string, signal?: AbortSignal | null): Failure {
  if (signal?.aborted) return { kind: 'stopped', status, detail }
  return { kind: failureKind(status), status, detail }
}

function failureKind(status: number): Failure['kind'] {
  if (status === 0) return 'offline'
  if (status === 401) return 'signed-out'
  if (status === 403) return 'forbidden'
  if (status === 404 || status === 410) return 'not-found'
  if (status === 429) return 'too-many'
  if (status === 502 || status === 503 || status === 504) return 'busy'
  return status < 500 ? 'invalid' : 'server'
}

/** Message of an error of either API, or the first of several, with names made visible. */
export function errorDetail(body: string): string {
  return visibleText(rawDetail(body))
}

/** Reason of an error of either API; undefined: it has none. */
function readReason(body: string): string | undefined {
  try {
    return (JSON.parse(body) as { reason?: string }).reason
  } catch {
    return undefined
  }
}

function rawDetail(body: string): string {
  try {
    const { detail, message, errors } = JSON.parse(body) as Record<string, unknown>
    const [first] = Array.isArray(errors) ? (errors as { message?: string }[]) : []
    if (Array.isArray(detail)) return String((detail as { msg?: string }[])[0]?.msg ?? '')
    return String(first?.message ?? detail ?? message ?? '')
  } catch {
    return '' // a proxy answers with HTML
  }
}
