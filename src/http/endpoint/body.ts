// Reads request bodies, with a limit of size and a time-out for slow clients. A body is read only after authentication,
// so that a rejected client need not send it.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { H3Event } from 'h3'
import { AppError } from '../../runtime/errors.ts'
import { nodeContext } from './answers/send.ts'

type BodyLimits = {
  maxBytes: number
  /** Longest wait for each `LEAST_BYTES`, or for the end. */
  idleMs: number
  /** Called every 32 MiB with the bytes read; may throw to stop reading. */
  watch?: (bytes: number) => Promise<void>
}

/** In 30 s this is 550 bytes a second, which the slowest line reaches. Slower clients would block a slot for nothing. */
const LEAST_BYTES = 16 * 1024
const WATCH_EVERY = 32 * 1024 * 1024
const DRAIN_MS = 10_000
const SMALL_BODY: BodyLimits = { maxBytes: 64 * 1024, idleMs: 30_000 }
const ENDED_EARLY = 'The request body ended early'

/**
 * Reads the body of a request in pieces.
 * @throws AppError `too-large`, `unsupported`, `timeout`, or `bad-request` when the client disconnects
 */
export async function* readBody(
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
  let timely = 0 // bytes at the last restart of the time-out
  let waitMs = 0 // wait for the client since then; time of our own disk does not count
  try {
    for (;;) {
      const start = performance.now()
      const next = await withinIdle(pieces.next(), limits.idleMs, waitMs)
      if (next.done && req.complete) return
      if (next.done) throw new AppError('bad-request', ENDED_EARLY)
      waitMs += performance.now() - start
      bytes += next.value.length
      if (bytes - timely >= LEAST_BYTES) {
        timely = bytes
        waitMs = 0
      }
      if (bytes > limits.maxBytes) throw tooLarge(limits.maxBytes)
      if (limits.watch && bytes - watched >= WATCH_EVERY) {
        watched = bytes
        await limits.watch(bytes)
      }
      yield next.value
    }
  } finally {
    // Releases the request, so that the rest can be drained. Not awaited: a silent client may never send the next
    // piece.
    pieces.return?.().catch(() => {})
  }
}

/** Returns true if the client waits for 100 Continue before it sends the body. */
export function isExpecting({ headers }: IncomingMessage): boolean {
  return /^100-continue$/i.test(headers.expect ?? '')
}

/** Returns Content-Length; undefined without one. @throws AppError `too-large` when it is over the limit */
export function checkLength(req: IncomingMessage, maxBytes: number): number | undefined {
  const stated = req.headers['content-length']
  if (stated === undefined) return undefined
  if (Number(stated) > maxBytes) throw tooLarge(maxBytes)
  return Number(stated)
}

/** Rejects compressed bodies: the limit counts bytes as received, so a zip bomb would pass it. */
function checkCoding({ headers }: IncomingMessage): void {
  const content = headers['content-encoding']
  if (content !== undefined && !/^(identity)?$/i.test(content)) {
    throw new AppError('unsupported', 'The request body must not be compressed (Content-Encoding)')
  }
  // node:http accepts any list that ends in chunked, and decodes only that coding.
  const transfer = headers['transfer-encoding']
  if (transfer !== undefined && !/^chunked$/i.test(transfer)) {
    throw new AppError('unsupported', 'Of Transfer-Encoding only chunked is understood')
  }
}

/** Reads a small body as a whole, by default one of at most 64 KiB. @throws AppError like `readBody` */
export async function readWholeBody(event: H3Event, limits: Partial<BodyLimits> = {}): Promise<Buffer> {
  const { req, res } = nodeContext(event)
  const pieces: Uint8Array[] = []
  for await (const piece of readBody(req, res, { ...SMALL_BODY, ...limits })) pieces.push(piece)
  return Buffer.concat(pieces)
}

/**
 * Drains the rest of a body after the answer, so that the client can reuse the connection. After
 * 10 s the connection is cut. Connections that close after the answer are handled by lingering.ts.
 */
export function drainBody(req: IncomingMessage, res: ServerResponse): void {
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
