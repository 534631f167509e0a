// Posts a signed message once and judges the status of the answer (decisions#tries). Uses node:http: fetch needs 2.5
// times as long a message, and its streams use 3 times the memory. Only https uses a proxy (decisions#outgoing).

import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { VERSION } from '../../runtime/assets.ts'
import { networkReason } from '../../runtime/errors.ts'
import type { HookRow } from '../../store/hooks/hooks.ts'
import { addressFault, createPrivateLookup } from './private-addresses.ts'
import { signatureHeader, type UnsealedHook } from './seal.ts'

export type OutgoingMessage = UnsealedHook & {
  hook: Pick<HookRow, 'url' | 'allow_http'>
  /** Identical in each attempt. */
  id: string
  body: string
  now: Date
}

/** `failure`: reason without the address; undefined: the message arrived. */
export type AttemptOutcome = { status: number | undefined; ms: number; failure: string | undefined }

/** Limit of an attempt. */
export const ATTEMPT_MS = 10_000
// Bytes of the response to drain; some receivers abort when the client closes early.
const BODY_BYTES = 65_536
const BODY_MS = 1000

/**
 * Posts a message. An attempt ends after `attemptMs`, also while the receiver is still sending. The rest of a slow
 * body is not awaited. A redirect is a failure. `stop` ends the attempt at once, as a failure.
 */
export async function postMessage(
  message: OutgoingMessage,
  stop: AbortSignal,
  attemptMs = ATTEMPT_MS,
): Promise<AttemptOutcome> {
  const start = performance.now()
  const abort = new AbortController()
  const end = () => abort.abort()
  // Not AbortSignal.timeout(): it would retain each message for the whole 10 s, long after its arrival.
  const timer = setTimeout(end, attemptMs)
  stop.addEventListener('abort', end)
  if (stop.aborted) end()
  let status: number | undefined
  let failure: string | undefined
  try {
    status = await sendMessage(message, abort.signal)
    failure = statusFailure(status)
  } catch (error) {
    failure = abort.signal.aborted ? `no answer within ${attemptMs / 1000} s` : networkReason(error)
  } finally {
    clearTimeout(timer)
    stop.removeEventListener('abort', end)
  }
  return { status, ms: Math.round(performance.now() - start), failure }
}

function sendMessage(message: OutgoingMessage, signal: AbortSignal): Promise<number> {
  signal.throwIfAborted()
  const { hook, secrets, id, body, now } = message
  const seconds = Math.floor(now.getTime() / 1000)
  const headers = {
    ...message.headers,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'User-Agent': `cambista/${VERSION}`,
    Connection: 'close', // a receiver may close a persistent connection just when the next message is sent
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatureHeader(secrets, { id, seconds, body }),
  }
  const url = new URL(hook.url)
  const isSecure = url.protocol === 'https:'
  const fault = hook.allow_http ? addressFault(url.hostname) : undefined // no lookup of an address in the URL
  if (fault !== undefined) return Promise.reject(new Error(`its address ${fault}`))
  const options = {
    ...{ method: 'POST', headers, signal },
    ...(!isSecure && { agent: false }), // without a proxy, whatever the environment has
    ...(hook.allow_http && { lookup: createPrivateLookup() }),
  }
  return new Promise((resolve, reject) => {
    const request = (isSecure ? httpsRequest : httpRequest)(url, options)
    let hasStatus = false
    const fail = (error: Error) => hasStatus || reject(error) // after the status, errors no longer change the outcome
    request.on('response', (response) => {
      hasStatus = true
      const { statusCode = 0 } = response
      readStart(request, response).then(() => resolve(statusCode))
    })
    request.on('error', fail)
    signal.addEventListener('abort', () => fail(new Error('aborted'))) // a request without a socket has no error
    request.on('close', () => fail(new Error('the connection was closed without an answer')))
    request.end(body)
  })
}

/** Waits for the end of the response body, at most 1 s and 64 KB. */
function readStart(request: ClientRequest, response: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0
    const end = () => {
      clearTimeout(timer)
      resolve()
      request.destroy()
    }
    const timer = setTimeout(end, BODY_MS)
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > BODY_BYTES) end()
    })
    response.on('error', end).on('close', end)
  })
}

function statusFailure(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined
  return status >= 300 && status < 400
    ? `HTTP ${status}, a redirect, which is not followed`
    : `HTTP ${status}`
}
