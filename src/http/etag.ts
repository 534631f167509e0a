// Validators. An answer from the stored data is as good as the data revision: it has a strong ETag that
// changes with the revision, the database's epoch, the program's version and, where the answer depends on it,
// today's date (decisions 2.14). It names the URL too, so that a client that mixes up its tags is not told
// that another answer has not changed.

import { crc32 } from 'node:zlib'
import type { H3Event } from 'h3'
import { VERSION } from '../assets.ts'
import type { RatePage } from '../store/rate-book.ts'
import type { Reply } from './api.ts'

/**
 * A reply that a client may keep and must revalidate; a 304 when it holds it already.
 * @param today the date the answer depends on, if it does
 */
export function cachedReply(
  event: H3Event,
  page: RatePage,
  today: string | undefined,
  value: () => unknown,
): Reply {
  const url = crc32(event.url.pathname + event.url.search).toString(36)
  const etag = `"${VERSION}-${page.epoch}-${page.revision}-${url}${today ? `-${today}` : ''}"`
  const headers = { etag, 'cache-control': 'private, no-cache', vary: 'Accept-Encoding' }
  const held = event.req.headers.get('if-none-match')
  if (held && matchesTag(held, etag)) return { status: 304, body: '', headers }
  const body = JSON.stringify(value())
  // `*` stands for any answer there is, so first there must be one.
  return held?.trim() === '*' ? { status: 304, body: '', headers } : { body, headers }
}

/** Whether an If-None-Match header names the tag, by weak comparison (RFC 9110, 13.1.2). */
export function matchesTag(held: string, etag: string): boolean {
  return held.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)
}
