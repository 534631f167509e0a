// Cache of answers made from stored data, by route, form and effective parameters. Answers of an older revision of the
// data are dropped. An answer of several parts is generated while it is sent, and is not cached. The strong ETag
// contains program version, database epoch, data revision and a checksum of the key (decisions#caching).

import { promisify } from 'node:util'
import { crc32, gzip as gzipLater, gzipSync } from 'node:zlib'
import type { H3Event } from 'h3'
import { VERSION } from '../../../runtime/assets.ts'
import { createInterleaver, type Interleave } from '../../../runtime/interleave.ts'
import { type CacheStats, createCachesByOwner, type LruCache } from '../../../runtime/lru.ts'
import type { Chunks } from '../../../store/blobs/chunks.ts'
import type { IsoDate } from '../../../values/dates.ts'
import type { Reply } from '../endpoint.ts'
import { acceptsCoding } from './accept.ts'
import { finishedStore } from './finished.ts'
import { nodeContext } from './send.ts'
import { encodeChunks, type TextParts, wholeOrParts } from './text-parts.ts'

const gzip = promisify(gzipLater)
const NONE = {}
const CACHE_BYTES = 12 * 1024 * 1024
const COMPRESSED_BYTES = 1024 // shorter answers are sent as they are
const THREAD_BYTES = 64 * 1024 // longer answers are compressed in another thread, so that requests do not wait
const LONG_TEXT = 16 * 1024 // as bytes it takes a quarter less work than text, which is encoded for each send
const ENTRY_BYTES = 300 // overhead of an entry beside its texts: 270 were measured

/** Version of the data: answers are valid while it is the same. */
export type Revision = { readonly epoch: string; readonly revision: number }

/** OpenAPI fields of an endpoint whose answers are cached. */
export const REVALIDATED = {
  reads: ['If-None-Match'],
  also: { 304: 'The client holds this answer' },
} as const

export type AnswerCache = {
  /**
   * Returns the cached or a new reply, which clients may cache and must revalidate; 304 if the client has it. An
   * answer over 1 KiB is compressed once, for clients that accept gzip.
   * @param key route, form and effective parameters: what makes one answer differ from another
   */
  reply(event: H3Event, data: Revision, answer: CacheableAnswer): Reply | Promise<Reply>
  /**
   * Returns a reply that is made while it is sent, and never cached. For a client that has the answer nothing is
   * computed. For a HEAD no body is made.
   */
  stream(event: H3Event, data: Revision, answer: StreamedAnswer): Reply | Promise<Reply>
  state(): CacheStats & { entries: number; bytes: number }
}

export type CacheableAnswer = {
  /** Route, form and effective parameters: what makes one answer differ from another. */
  key: string
  contentType: string
  /** Day of the answer, if equal requests have it from the same data on that day. */
  today?: IsoDate | undefined
  make(): RenderedAnswer | Promise<RenderedAnswer>
}

/** Bytes that are made as a whole before they are sent; a client that disconnects ends the work. */
export type MakeBytes = (interleave: Interleave) => Promise<Uint8Array>

export type StreamedAnswer = {
  key: string
  contentType: string
  /** Headers of every reply, of a 304 too. */
  headers?: Readonly<Record<string, string>>
  make(): StreamedBody | Promise<StreamedBody>
}

/** A body in parts or whole, and further headers of a 200. */
export type StreamedBody = { body: Iterable<string> | MakeBytes; headers?: Readonly<Record<string, string>> }

/** A body, and its headers beside those of every cached answer. */
export type RenderedAnswer = {
  body: string | Uint8Array | TextParts
  headers?: Readonly<Record<string, string>>
}

type Head = { tag: string; contentType: string; headers: Readonly<Record<string, string>> }

type CachedAnswer = Head & { body: string | Uint8Array; packed?: Uint8Array }

export function createAnswerCache(): AnswerCache {
  const stats = { hits: 0, misses: 0 }
  const interleave = createInterleaver()
  const caches = createCachesByOwner<CachedAnswer>(CACHE_BYTES, stats) // by revision of the data
  return {
    reply(event, data, { key, contentType, today, make }) {
      const cache = caches.of(data)
      const cachedAnswer = cache.get(key)
      if (cachedAnswer) {
        const sources = today === undefined ? undefined : { data, today }
        return replyFromCache(event, cache, key, cachedAnswer, sources)
      }
      const store = ({ body: content, headers = NONE }: RenderedAnswer) => {
        const head = { tag: answerTag(data, key), contentType, headers }
        const all = typeof content === 'object' && 'next' in content ? wholeOrParts(content) : content
        if (typeof all === 'object' && !(all instanceof Uint8Array))
          return streamReply(event, head, all, interleave)
        const body = typeof all === 'string' && all.length > LONG_TEXT ? Buffer.from(all) : all
        const answer = { ...head, body }
        cache.put(key, answer, entrySize(key, answer))
        return replyFromCache(event, cache, key, answer, undefined) // finished when it is repeated
      }
      const rendered = make()
      return rendered instanceof Promise ? rendered.then(store) : store(rendered)
    },
    stream(event, data, { key, contentType, headers, make }) {
      const tag = answerTag(data, key)
      const match = matchedTag(event, tag)
      if (match) return { status: 304, body: '', headers: answerHeaders(match, headers ?? NONE) }
      const reply = ({ body, headers: own }: StreamedBody): Reply | Promise<Reply> => {
        const head = { tag, contentType, headers: { ...headers, ...own } }
        return typeof body === 'function'
          ? wholeReply(event, head, body, interleave)
          : streamReply(event, head, body, interleave)
      }
      const body = make()
      return body instanceof Promise ? body.then(reply) : reply(body)
    },
    state: () => ({ ...caches.size(), ...stats }),
  }
}

function replyFromCache(
  event: H3Event,
  cache: LruCache<CachedAnswer>,
  key: string,
  answer: CachedAnswer,
  sources: { data: Revision; today: IsoDate } | undefined,
): Reply | Promise<Reply> {
  const { body, packed } = answer
  const { isHeld, takesGzip, headers } = negotiated(event, answer, body.length > COMPRESSED_BYTES)
  const reply = (bytes: string | Uint8Array, status = 200): Reply => {
    return { status, body: bytes, headers, onSent: sources && finishedStore(event, sources, bytes) }
  }
  if (isHeld) return reply('', 304)
  if (!takesGzip) return reply(body)
  if (packed) return reply(packed)
  const store = (bytes: Buffer) => {
    const both = { ...answer, packed: bytes }
    cache.put(key, both, entrySize(key, both))
    return reply(bytes)
  }
  return body.length > THREAD_BYTES ? gzip(body).then(store) : store(gzipSync(body))
}

/** Reply with a long text in parts; a HEAD gets the headers alone. */
function streamReply(event: H3Event, head: Head, parts: Iterable<string>, interleave: Interleave): Reply {
  const { isHeld, takesGzip, headers } = negotiated(event, head, true)
  if (isHeld) return { status: 304, body: '', headers }
  const bodyParts = event.req.method === 'HEAD' ? [] : parts
  return { body: encodeChunks(bodyParts, interleave, { gzip: takesGzip }), headers }
}

/** Reply with bytes that are made as a whole, uncompressed; a HEAD gets the headers alone. */
async function wholeReply(
  event: H3Event,
  head: Head,
  make: MakeBytes,
  interleave: Interleave,
): Promise<Reply> {
  const { isHeld, headers } = negotiated(event, head, false)
  if (isHeld) return { status: 304, body: '', headers }
  if (event.req.method === 'HEAD') return { body: noChunks(), headers }
  const { res } = nodeContext(event)
  const body = await make(async function* untilClosed(parts) {
    for await (const part of interleave(parts)) {
      if (res.closed) return
      yield part
    }
  })
  return { body, headers }
}

async function* noChunks(): Chunks {}

function answerTag({ epoch, revision }: Revision, key: string): string {
  return `${VERSION}-${epoch}-${revision}-${crc32(key).toString(36)}`
}

/** Returns the ETag of the request that names the answer; undefined: none. A 304 is for GET and HEAD. */
function matchedTag({ req }: H3Event, tag: string): string | undefined {
  const ifNoneMatch = req.method === 'POST' ? null : req.headers.get('if-none-match')
  if (!ifNoneMatch) return undefined
  return [`"${tag}"`, `"${tag}-gzip"`].find((etag) => matchesTag(ifNoneMatch, etag))
}

/** Decides whether to answer 304 (`isHeld`) and whether to compress, and returns the headers. */
function negotiated(event: H3Event, { tag, contentType, headers: own }: Head, isLong: boolean) {
  const { headers: sent, method } = event.req
  const match = matchedTag(event, tag)
  if (match) return { isHeld: true, takesGzip: false, headers: answerHeaders(match, own) }
  const takesGzip = isLong && acceptsCoding(sent.get('accept-encoding'), 'gzip')
  const headers = answerHeaders(takesGzip ? `"${tag}-gzip"` : `"${tag}"`, own)
  const isHeld = method !== 'POST' && sent.get('if-none-match')?.trim() === '*' // matches any answer
  if (!isHeld) headers['content-type'] = contentType
  if (takesGzip) headers['content-encoding'] = 'gzip'
  return { isHeld, takesGzip, headers }
}

function answerHeaders(etag: string, own: Readonly<Record<string, string>>): Record<string, string> {
  return { etag, 'cache-control': 'private, no-cache', vary: 'Accept, Accept-Encoding', ...own }
}

function entrySize(key: string, { body, packed }: CachedAnswer): number {
  return ENTRY_BYTES + key.length + body.length + (packed?.length ?? 0)
}

/** Returns true if an If-None-Match header has the tag, by weak comparison (RFC 9110, 13.1.2). */
export function matchesTag(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)
}
