// Validators. An answer from the stored data is as good as the data revision: it has a strong ETag that
// changes with the revision, the database's epoch, the program's version and, where the answer depends on it,
// today's date (decisions 2.14). It names the URL too, so that a client that mixes up its tags is not told
// that another answer has not changed.

import { promisify } from 'node:util'
import { crc32, gzip as gzipLater, gzipSync } from 'node:zlib'
import type { H3Event } from 'h3'
import { VERSION } from '../assets.ts'
import type { RatePage } from '../store/rate-book.ts'
import type { Reply } from './api.ts'

const gzip = promisify(gzipLater)
const WORTH_COMPRESSING = 1024
const TOO_LONG_TO_WAIT_FOR = 64 * 1024 // beyond it another thread compresses, for this one has others to serve

/**
 * A reply that a client may keep and must revalidate; a 304 when it holds it already. What is long is
 * compressed for who takes it, once for each URL and page.
 * @param today the date the answer depends on, if it does
 * @param value makes the answer: a value to be written as JSON, or JSON as bytes
 */
export function cachedReply(
  event: H3Event,
  page: RatePage,
  today: string | undefined,
  value: () => unknown,
): Reply | Promise<Reply> {
  const url = crc32(event.url.pathname + event.url.search).toString(36)
  const tag = `${VERSION}-${page.epoch}-${page.revision}-${url}${today ? `-${today}` : ''}`
  const plain = { etag: `"${tag}"`, 'cache-control': 'private, no-cache', vary: 'Accept-Encoding' }
  const packed = { ...plain, etag: `"${tag}-gzip"` }
  const held = event.req.headers.get('if-none-match')
  if (held && matchesTag(held, plain.etag)) return { status: 304, body: '', headers: plain }
  if (held && matchesTag(held, packed.etag)) return { status: 304, body: '', headers: packed }

  const made = value()
  const body = made instanceof Uint8Array ? made : JSON.stringify(made)
  const takesGzip = body.length > WORTH_COMPRESSING && takes(event.req.headers.get('accept-encoding'), 'gzip')
  const headers = takesGzip ? { ...packed, 'content-encoding': 'gzip' } : plain
  // `*` stands for any answer there is, so first there must be one.
  if (held?.trim() === '*') return { status: 304, body: '', headers }
  if (!takesGzip) return { body, headers }
  const kept = page.shelf.get(packed.etag)
  if (kept) return { body: kept, headers }
  const keep = (bytes: Buffer) => {
    page.shelf.put(packed.etag, bytes)
    return { body: bytes, headers }
  }
  return body.length > TOO_LONG_TO_WAIT_FOR ? gzip(body).then(keep) : keep(gzipSync(body))
}

/** Whether an Accept-Encoding header takes a coding (RFC 9110, 12.5.3). */
function takes(accepted: string | null, coding: string): boolean {
  for (const one of accepted?.split(',') ?? []) {
    const [name, ...parameters] = one.split(';').map((part) => part.trim().toLowerCase())
    if (name === coding) return !parameters.some((part) => /^q=0(\.0*)?$/.test(part))
  }
  return false
}

/** Whether an If-None-Match header names the tag, by weak comparison (RFC 9110, 13.1.2). */
export function matchesTag(held: string, etag: string): boolean {
  return held.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)
}
