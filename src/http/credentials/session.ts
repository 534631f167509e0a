// Whether a request has a session of the page instead of a key or token in a header. The session itself, and what it
// holds, is found by http/page/.

import type { H3Event } from 'h3'

/** The header that has the half of a session which no other website can send. It is never one that CORS allows. */
export const PAGE_HEADER = 'x-cambista-page'

/** Whether a request without a key or token in a header says that it has a session. */
export function isOfSession(event: H3Event): boolean {
  const { headers } = event.req
  return headers.has(PAGE_HEADER) && !headers.has('x-api-key') && !headers.has('authorization')
}
