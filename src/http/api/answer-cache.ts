// Answers that are made from stored data, and kept for the next client that asks the same: by route, effective parameters
// and form, for as long as the data are of the same revision. One that comes in more than one part is made while it is sent,
// and not kept. Each has a strong ETag that changes with the revision, the
// database's epoch, the program's version and what was asked (decisions 2.14).

import { promisify } from 'node:util'
import { crc32, gzip as gzipLater, gzipSync } from 'node:zlib'
import type { H3Event } from 'h3'
import { VERSION } from '../../assets.ts'
import { type CacheStats, createLruCache, type LruCache } from '../../lru.ts'
import { createTurns, type Turns } from '../../turns.ts'
import { acceptsCoding } from './accept.ts'
import type { Reply } from './endpoint.ts'
import { chunksOf, type TextParts, wholeOrParts } from './text-parts.ts'

const gzip = promisify(gzipLater)
const NONE = {}
const KEPT_BYTES = 12 * 1024 * 1024
const WORTH_COMPRESSING = 1024
const TOO_LONG_TO_WAIT_FOR = 64 * 1024 // beyond it another thread compresses, for this one has others to serve
const LONG_TEXT = 16 * 1024 // bytes are sent with a quarter less work than text, which is encoded each time
const ENTRY_BYTES = 300 // what a kept answer takes beside its texts: 270 were measured

/** Data that stand still: an answer from them holds for as long as they do. */
export type Revision = { readonly epoch: string; readonly revision: number }

/** What the description says of an endpoint whose answers are kept. */
export const REVALIDATED = {
  reads: ['If-None-Match'],
  also: { 304: 'The client holds this answer' },
} as const

export type AnswerCache = {
  /**
   * A reply that a client may keep and must revalidate; a 304 when it holds it already. What is long is compressed
   * for a client that takes it so, once.
   * @param key route, form and effective parameters: what makes one answer differ from another
   */
  reply(event: H3Event, data: Revision, answer: Answer): Reply | Promise<Reply>
  /** The same for an answer that is kept, and undefined for one that is not. */
  kept(event: H3Event, data: Revision, key: string): Reply | Promise<Reply> | undefined
  state(): CacheStats & { entries: number; bytes: number }
}

export type Answer = {
  /** Route, form and effective parameters: what makes one answer differ from another. */
  key: string
  contentType: string
  make(): Made | Promise<Made>
}

/** An answer, and its headers beside those of every kept answer. */
export type Made = { body: string | Uint8Array | TextParts; headers?: Readonly<Record<string, string>> }

type Head = { tag: string; contentType: string; headers: Readonly<Record<string, string>> }

type KeptAnswer = Head & { body: string | Uint8Array; packed?: Uint8Array }

export function createAnswerCache(): AnswerCache {
  const stats = { hits: 0, misses: 0 }
  const size = { entries: 0, bytes: 0 }
  const inTurns = createTurns()
  let newest: LruCache<KeptAnswer> | undefined
  const caches = new WeakMap<Revision, LruCache<KeptAnswer>>() // an older revision takes its answers along
  const cacheOf = (data: Revision) => {
    let cache = caches.get(data)
    if (!cache) {
      cache = createLruCache(KEPT_BYTES, stats)
      newest = cache
      caches.set(data, cache)
    }
    return cache
  }
  return {
    reply(event, data, { key, contentType, make }) {
      const cache = cacheOf(data)
      const known = cache.get(key)
      if (known) return replyWith(event, cache, key, known)
      const keep = ({ body: made, headers = NONE }: Made) => {
        const tag = `${VERSION}-${data.epoch}-${data.revision}-${crc32(key).toString(36)}`
        const head = { tag, contentType, headers }
        const all = typeof made === 'object' && 'next' in made ? wholeOrParts(made) : made
        if (typeof all === 'object' && !(all instanceof Uint8Array))
          return streamWith(event, head, all, inTurns)
        const body = typeof all === 'string' && all.length > LONG_TEXT ? Buffer.from(all) : all
        const answer = { ...head, body }
        cache.put(key, answer, sizeOf(key, answer))
        return replyWith(event, cache, key, answer)
      }
      const made = make()
      return made instanceof Promise ? made.then(keep) : keep(made)
    },
    kept(event, data, key) {
      const cache = cacheOf(data)
      const known = cache.get(key)
      return known && replyWith(event, cache, key, known)
    },
    state: () => ({ ...(newest?.size() ?? size), ...stats }),
  }
}

function replyWith(
  event: H3Event,
  cache: LruCache<KeptAnswer>,
  key: string,
  answer: KeptAnswer,
): Reply | Promise<Reply> {
  const { body, packed } = answer
  const { isHeld, takesGzip, headers } = negotiated(event, answer, body.length > WORTH_COMPRESSING)
  if (isHeld) return { status: 304, body: '', headers }
  if (!takesGzip) return { body, headers }
  if (packed) return { body: packed, headers }
  const keep = (bytes: Buffer) => {
    const both = { ...answer, packed: bytes }
    cache.put(key, both, sizeOf(key, both))
    return { body: bytes, headers }
  }
  return body.length > TOO_LONG_TO_WAIT_FOR ? gzip(body).then(keep) : keep(gzipSync(body))
}

/** A long text, of which a HEAD is told nothing but that it is there. */
function streamWith(event: H3Event, head: Head, parts: Iterable<string>, inTurns: Turns): Reply {
  const { isHeld, takesGzip, headers } = negotiated(event, head, true)
  if (isHeld) return { status: 304, body: '', headers }
  const sent = event.req.method === 'HEAD' ? [] : parts
  return { body: chunksOf(sent, inTurns, { packed: takesGzip }), headers }
}

/** Whether the client holds the answer, whether it is sent compressed, and the headers of either. */
function negotiated(event: H3Event, { tag, contentType, headers: own }: Head, isLong: boolean) {
  const { headers: sent, method } = event.req
  const held = method === 'POST' ? null : sent.get('if-none-match') // a 304 is for GET and HEAD
  const named = held && [`"${tag}"`, `"${tag}-gzip"`].find((etag) => matchesTag(held, etag))
  if (named) return { isHeld: true, takesGzip: false, headers: headersOf(named, own) }
  const takesGzip = isLong && acceptsCoding(sent.get('accept-encoding'), 'gzip')
  const headers = headersOf(takesGzip ? `"${tag}-gzip"` : `"${tag}"`, own)
  const isHeld = held?.trim() === '*' // which stands for any answer there is
  if (!isHeld) headers['content-type'] = contentType
  if (takesGzip) headers['content-encoding'] = 'gzip'
  return { isHeld, takesGzip, headers }
}

function headersOf(etag: string, own: Readonly<Record<string, string>>): Record<string, string> {
  return { etag, 'cache-control': 'private, no-cache', vary: 'Accept, Accept-Encoding', ...own }
}

function sizeOf(key: string, { body, packed }: KeptAnswer): number {
  return ENTRY_BYTES + key.length + body.length + (packed?.length ?? 0)
}

/** Whether an If-None-Match header names the tag, by weak comparison (RFC 9110, 13.1.2). */
export function matchesTag(held: string, etag: string): boolean {
  return held.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)
}
