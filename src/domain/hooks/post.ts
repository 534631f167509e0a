// One try to send a message: signed, posted, and judged by the status of the answer (decisions 5.2). By node:http: a message
// by fetch takes two and a half times as long, and its streams leave three times as much memory behind. Both go through a
// proxy where Node is told so (NODE_USE_ENV_PROXY).

import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { VERSION } from '../assets.ts'
import { signatureOf } from '../domain/hooks/seal.ts'
import { networkReason } from '../errors.ts'

export type Outgoing = {
  url: string
  /** Those that it is signed with. */
  secrets: readonly string[]
  /** The same in each try. */
  id: string
  body: string
  now: Date
}

/** `failure`: why it did not arrive, in words without the address; undefined: it did. */
export type Outcome = { status: number | undefined; ms: number; failure: string | undefined }

const TRY_MS = 10_000
// What is read of an answer's body, and nothing is made of it: a receiver that were cut off at once may stop its work.
const BODY_BYTES = 65_536
const BODY_MS = 1000

/**
 * Posts a message. A try ends after `tryMs`, whatever the receiver sends until then; a body that drips is not waited for.
 * A redirect is a failure. `stop` ends it at once, as a failure.
 */
export async function post(message: Outgoing, stop: AbortSignal, tryMs = TRY_MS): Promise<Outcome> {
  const begun = performance.now()
  const ending = new AbortController()
  const end = () => ending.abort()
  // Not AbortSignal.timeout(), which would hold each message for the whole time, long after it has arrived.
  const timer = setTimeout(end, tryMs)
  stop.addEventListener('abort', end)
  if (stop.aborted) end()
  let status: number | undefined
  let failure: string | undefined
  try {
    status = await statusOf(message, ending.signal)
    failure = failureOf(status)
  } catch (error) {
    failure = ending.signal.aborted ? `no answer within ${tryMs / 1000} s` : networkReason(error)
  } finally {
    clearTimeout(timer)
    stop.removeEventListener('abort', end)
  }
  return { status, ms: Math.round(performance.now() - begun), failure }
}

function statusOf({ url, secrets, id, body, now }: Outgoing, signal: AbortSignal): Promise<number> {
  const seconds = Math.floor(now.getTime() / 1000)
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'User-Agent': `cambista/${VERSION}`,
    Connection: 'close', // one that is kept may be closed by its receiver just when the next message is sent
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatureOf(secrets, { id, seconds, body }),
  }
  const send = url.startsWith('https:') ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const request = send(url, { method: 'POST', headers, signal })
    let answered = false
    const fail = (error: Error) => answered || reject(error) // once the status has come, it says what became of it
    request.on('response', (response) => {
      answered = true
      const { statusCode = 0 } = response
      readStart(request, response).then(() => resolve(statusCode))
    })
    request.on('error', fail)
    request.on('close', () => fail(new Error('the connection was closed without an answer')))
    request.end(body)
  })
}

/** Waits for the end of an answer's body, or until enough of it was read. */
function readStart(request: ClientRequest, response: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0
    const end = () => {
      clearTimeout(timer)
      resolve()
      request.destroy()
    }
    const timer = setTimeout(end, BODY_MS)
    response.on('data', (some: Buffer) => {
      bytes += some.length
      if (bytes > BODY_BYTES) end()
    })
    response.on('error', end).on('close', end)
  })
}

function failureOf(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined
  return status >= 300 && status < 400
    ? `HTTP ${status}, a redirect, which is not followed`
    : `HTTP ${status}`
}
