// Detects requests with a session of the page instead of a key or token. http/web/ finds the session.

import type { H3Event } from 'h3'

/** Header with the half of a session that other websites cannot send. CORS must never allow it. */
export const PAGE_HEADER = 'x-cambista-page'

/** Value of the header in an open network, where there is no session. */
const OPEN_PAGE = 'open'

/** Returns true for a request of a page without a session. */
export function isOpenPage(event: H3Event): boolean {
  return event.req.headers.get(PAGE_HEADER) === OPEN_PAGE
}

/** Returns true for a request with the session header and without a key or token in a header. */
export function hasSession(event: H3Event): boolean {
  const { headers } = event.req
  return headers.has(PAGE_HEADER) && !headers.has('x-api-key') && !headers.has('authorization')
}
