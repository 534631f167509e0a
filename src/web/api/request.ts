// A request to the server, and what became of it: an answer, or a failure that the page has words for. Nothing is
// thrown but by mistakes of our own.

import { visibleText } from '../words/visible.ts'
import { noteDate } from './clock.ts'
import { doubtSession, pageHalf } from './session.ts'

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
  /** What the server says of it, in English. */
  detail: string
}
export type Result<T> = { value: T; failure?: undefined } | { value?: undefined; failure: Failure }

export type Question = {
  method?: 'GET' | 'POST' | 'DELETE'
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
  /** Reads the answer, where its JSON is not all that is wanted. */
  read?: ((answer: Response) => Promise<unknown>) | undefined
}

export const PAGE_HEADER = 'X-Cambista-Page'

/** The JSON of an answer. */
export async function ask<T>(path: string, question: Question = {}): Promise<Result<T>> {
  const answer = await askBytes(path, question)
  if (answer.failure) return answer
  try {
    const { read = (response: Response) => response.json() } = question
    return { value: (await read(answer.value)) as T }
  } catch {
    return { failure: failureOf(0, '', question.signal) } // it broke off
  }
}

/** An answer whose body is still to be read. */
export async function askBytes(path: string, question: Question = {}): Promise<Result<Response>> {
  const { method = 'GET', body, signal = null } = question
  const headers: Record<string, string> = { ...question.headers }
  const half = pageHalf()
  if (half !== undefined) headers[PAGE_HEADER] = half
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  try {
    const sent = body === undefined ? null : JSON.stringify(body)
    const answer = await fetch(path, { method, headers, body: sent, signal, redirect: 'error' })
    noteDate(answer.headers.get('date'))
    if (answer.ok) return { value: answer }
    const failure = failureOf(answer.status, detailIn(await answer.text()))
    // The session may be over, or one of its two secrets revoked; a wrong secret at sign-in says neither.
    if (failure.kind === 'signed-out' && !path.startsWith('/session')) doubtSession(half)
    return { failure }
  } catch {
    return { failure: failureOf(0, '', signal) }
  }
}

export function failureOf(status: number, detail: string, signal?: AbortSignal | null): Failure {
  if (signal?.aborted) return { kind: 'stopped', status, detail }
  return { kind: kindOf(status), status, detail }
}

function kindOf(status: number): Failure['kind'] {
  if (status === 0) return 'offline'
  if (status === 401) return 'signed-out'
  if (status === 403) return 'forbidden'
  if (status === 404 || status === 410) return 'not-found'
  if (status === 429) return 'too-many'
  if (status === 502 || status === 503 || status === 504) return 'busy'
  return status < 500 ? 'invalid' : 'server'
}

/** The sentence in an error of either API; of several faults the first. It may quote a name. */
export function detailIn(body: string): string {
  return visibleText(rawDetail(body))
}

function rawDetail(body: string): string {
  try {
    const { detail, message, errors } = JSON.parse(body) as Record<string, unknown>
    const [first] = Array.isArray(errors) ? (errors as { message?: string }[]) : []
    if (Array.isArray(detail)) return String((detail as { msg?: string }[])[0]?.msg ?? '')
    return String(first?.message ?? detail ?? message ?? '')
  } catch {
    return ''
  }
}
