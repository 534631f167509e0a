// Tickets: what a browser opens or keeps by itself, a PDF in a tab of its own or an export as a file. It sends no header of
// the page with such a request, so the URL itself is the secret: good once, for a minute, for one thing, and only while the
// session is open that made it.

import type { H3Event } from 'h3'
import type { Clock } from '../../dates.ts'
import { hashOfSecret, makeCode } from '../../domain/secrets.ts'
import { AppError } from '../../errors.ts'
import type { Reply } from '../api/endpoint.ts'

/** Answers a request with a ticket; whether the session may still see it is its to check. */
export type Opening = (event: H3Event) => Promise<Reply>

export type Tickets = {
  /** A ticket, as the last part of a URL. */
  make(open: Opening): string
  /** What a ticket is for. It is used up unless the request is a HEAD. @throws AppError `not-found` */
  use(event: H3Event, ticket: string): Promise<Reply>
}

const GOOD_FOR_MS = 60_000
const MOST = 1000
const NOT_GOOD = 'This link was used, or is older than a minute: ask for it again'

export function createTickets(clock: Clock): Tickets {
  const tickets = new Map<string, { open: Opening; until: number }>() // the oldest first
  return {
    make(open) {
      const ticket = makeCode()
      const now = clock().getTime()
      for (const [digest, { until }] of tickets) {
        if (tickets.size < MOST && until > now) break
        tickets.delete(digest)
      }
      tickets.set(hashOfSecret(ticket), { open, until: now + GOOD_FOR_MS })
      return ticket
    },
    async use(event, ticket) {
      const digest = hashOfSecret(ticket)
      const found = tickets.get(digest)
      if (event.req.method !== 'HEAD') tickets.delete(digest)
      if (!found || found.until <= clock().getTime()) throw new AppError('not-found', NOT_GOOD)
      return found.open(event)
    },
  }
}
