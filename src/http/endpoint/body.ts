// Request bodies: bounded in size, and in how long a client may be silent. A body is read only after the
// request was let in, so that a client that is refused need not send it.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../../errors.ts'

export type BodyLimits = {
  maxBytes: number
  /** How long a client may keep us waiting for each `LEAST_BYTES`, or for the end. */
  idleMs: number
  /** Called now and then with the bytes read so far; may throw to end the reading. */
  watch?: (bytes: number) => Promise<void>
}

/** In 30 s it is 550 bytes a second, which the slowest line brings: a client that sends less holds a turn for nothing. */
const LEAST_BYTES = 16 * 1024
const WATCH_EVERY = 32 * 1024 * 1024
const DRAIN_MS = 10_000
const ENDED_EARLY = 'The request body ended early'

/**
 * The body of a request in pieces.
 * @throws AppError `too-large`, `unsupported`, `timeout`, or `bad-request` when the client breaks off
 */
export async function* bodyOf(
  req: IncomingMessage,
  res: ServerResponse,
  limits: BodyLimits,
): AsyncGenerator<Uint8Array, void> {
  checkLength(req, limits.maxBytes)
  checkCoding(req)
  if (isExpecting(req)) res.writeContinue()
  const pieces = req.iterator({ destroyOnReturn: false })
  let bytes = 0
  let watched = 0
  let timely = 0 // the bytes for which the waiting began anew
  let waited = 0 // since then, for the client alone: our own disk may take its time
  try {
    for (;;) {
      const asked = performance.now()
      const next = await withinIdle(pieces.next(), limits.idleMs, waited)
      if (next.done && req.complete) return
      if (next.done) throw new AppError('bad-request', ENDED_EARLY)
      waited += performance.now() - asked
      bytes += next.value.length
      if (bytes - timely >= LEAST_BYTES) {
        timely = bytes
        waited = 0
      }
      if (bytes > limits.maxBytes) throw tooLarge(limits.maxBytes)
      if (limits.watch && bytes - watched >= WATCH_EVERY) {
        watched = bytes
        await limits.watch(bytes)
      }
      yield next.value
    }
  } finally {
    // Lets go of the request, so that what is left of it can be drained. Not awaited: a silent client's next
    // piece may never come.
    pieces.return?.().catch(() => {})
  }
}

/** Whether the client sends the body when it is told to, and not before. */
export function isExpecting({ headers }: IncomingMessage): boolean {
  return /^100-continue$/i.test(headers.expect ?? '')
}

/** The length that the client states, if it does. @throws AppError `too-large` when it is over the limit */
export function checkLength(req: IncomingMessage, maxBytes: number): number | undefined {
  const stated = req.headers['content-length']
  if (stated === undefined) return undefined
  if (Number(stated) > maxBytes) throw tooLarge(maxBytes)
  return Number(stated)
}

/** Only what is sent as it is can be counted as it comes; of a zip bomb the limit would see a spark. */
function checkCoding({ headers }: IncomingMessage): void {
  const content = headers['content-encoding']
  if (content !== undefined && !/^(identity)?$/i.test(content)) {
    throw new AppError('unsupported', 'The request body must not be compressed (Content-Encoding)')
  }
  // node:http takes any list that ends in chunked, and undoes only that.
  const transfer = headers['transfer-encoding']
  if (transfer !== undefined && !/^chunked$/i.test(transfer)) {
    throw new AppError('unsupported', 'Of Transfer-Encoding only chunked is understood')
  }
}

/** A small body as a whole. @throws AppError like `bodyOf` */
export async function wholeBodyOf(
  req: IncomingMessage,
  res: ServerResponse,
  limits: BodyLimits,
): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of bodyOf(req, res, limits)) pieces.push(piece)
  return Buffer.concat(pieces)
}

/**
 * Takes what a client still sends after it was answered, so that it can read the answer and use the connection
 * again; one that sends on and on is cut off. A connection that is closed after the answer is lingering.ts's.
 */
export function drainAfter(req: IncomingMessage, res: ServerResponse): void {
  if (req.headers['content-length'] === undefined && req.headers['transfer-encoding'] === undefined) return
  res.once('finish', () => {
    if (req.complete || req.destroyed || req.socket.writableEnded) return
    const cut = setTimeout(() => req.destroy(), DRAIN_MS).unref()
    req.once('close', () => clearTimeout(cut))
    req.once('end', () => clearTimeout(cut))
    req.resume()
  })
}

async function withinIdle<T>(next: Promise<T>, idleMs: number, waitedMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new AppError('timeout', `The request body all but stopped for ${idleMs / 1000} seconds`)),
      idleMs - waitedMs,
    )
  })
  try {
    return await Promise.race([next, silence])
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('bad-request', ENDED_EARLY, { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('too-large', `The request body must be at most ${maxBytes} bytes`)
}
