// Validators. An answer from the stored data is as good as the data revision: it has a strong ETag that
// changes with the revision, the database's epoch, the program's version and, where the answer depends on it,
// today's date (decisions 2.14). It names the URL too, so that a client that mixes up its tags is not told
// that another answer has not changed.

import { promisify } from 'node:util'
import { crc32, gzip as gzipLater, gzipSync } from 'node:zlib'
import type { H3Event } from 'h3'
import { VERSION } from '../../assets.ts'
import { type Clock, type IsoDate, todayIn } from '../../dates.ts'
import type { RateSnapshot, StoredAnswer } from '../../domain/rates/rate-cache.ts'
import type { Reply } from './endpoint.ts'

const gzip = promisify(gzipLater)
const WORTH_COMPRESSING = 1024
const TOO_LONG_TO_WAIT_FOR = 64 * 1024 // beyond it another thread compresses, for this one has others to serve
const ENTRY_BYTES = 300 // what a kept answer takes beside its texts: 270 were measured

/** The answer that was already given from this snapshot to the same URL, if it still holds. */
export function keptReply(
  event: H3Event,
  snapshot: RateSnapshot,
  clock: Clock,
): Reply | Promise<Reply> | undefined {
  const url = urlOf(event)
  const kept = snapshot.answers.get(url)
  if (!kept || (kept.today !== undefined && kept.today !== todayIn(clock))) return undefined
  return replyWith(event, snapshot, url, kept)
}

/**
 * A reply that a client may keep and must revalidate; a 304 when it holds it already. It is kept for who asks
 * again, and what is long is compressed for who takes it, once.
 * @param today the date the answer depends on, if it does
 * @param json makes the answer
 */
export function cachedReply(
  event: H3Event,
  snapshot: RateSnapshot,
  today: IsoDate | undefined,
  json: () => string | Uint8Array,
): Reply | Promise<Reply> {
  const url = urlOf(event)
  const tag = `${VERSION}-${snapshot.epoch}-${snapshot.revision}-${crc32(url).toString(36)}${today ? `-${today}` : ''}`
  const made = { tag, today, body: json() }
  snapshot.answers.put(url, made, sizeOf(url, made))
  return replyWith(event, snapshot, url, made)
}

function replyWith(
  event: H3Event,
  snapshot: RateSnapshot,
  url: string,
  answer: StoredAnswer,
): Reply | Promise<Reply> {
  const { tag, body, packed } = answer
  const { headers: sent } = event.req
  const held = sent.get('if-none-match')
  if (held) {
    for (const etag of [`"${tag}"`, `"${tag}-gzip"`]) {
      if (matchesTag(held, etag)) return { status: 304, body: '', headers: headersOf(etag) }
    }
  }
  const takesGzip = body.length > WORTH_COMPRESSING && takes(sent.get('accept-encoding'), 'gzip')
  const headers = headersOf(takesGzip ? `"${tag}-gzip"` : `"${tag}"`)
  if (takesGzip) headers['content-encoding'] = 'gzip'
  // `*` stands for any answer there is.
  if (held?.trim() === '*') return { status: 304, body: '', headers }
  if (!takesGzip) return { body, headers }
  if (packed) return { body: packed, headers }
  const keep = (bytes: Buffer) => {
    const both = { ...answer, packed: bytes }
    snapshot.answers.put(url, both, sizeOf(url, both))
    return { body: bytes, headers }
  }
  return body.length > TOO_LONG_TO_WAIT_FOR ? gzip(body).then(keep) : keep(gzipSync(body))
}

function urlOf(event: H3Event): string {
  return event.url.pathname + event.url.search
}

function headersOf(etag: string): Record<string, string> {
  return { etag, 'cache-control': 'private, no-cache', vary: 'Accept, Accept-Encoding' }
}

function sizeOf(url: string, { body, packed }: StoredAnswer): number {
  return ENTRY_BYTES + url.length + body.length + (packed?.length ?? 0)
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
