// Tickets: what a browser opens or keeps by itself, a PDF in a tab of its own or an export as a file. It sends no header of
// the page with such a request, so the URL itself is the secret: good once, for a minute, for one thing, and only while the
// session is open that made it. In memory, or rows where several nodes answer a browser (shared-sessions.ts).

import type { Clock } from '../../dates.ts'
import type { ExportFormat } from '../../domain/rates/export-format.ts'
import { hashOfSecret, makeCode } from '../../domain/secrets.ts'

/** What a ticket opens, for the session of an id; one of the two is there. */
export type Ticket = { session: string; document: number | undefined; format: ExportFormat | undefined }

export type Tickets = {
  /** A ticket, as the last part of a URL. */
  make(ticket: Ticket): Promise<string>
  /** What it is for; it is used up unless it is only looked at. Undefined: it was used, has ended, or never was. */
  use(text: string, how: { onlyLook: boolean }): Promise<Ticket | undefined>
}

export const TICKET_MS = 60_000
const MOST = 1000

export function createTickets(clock: Clock): Tickets {
  const tickets = new Map<string, Ticket & { until: number }>() // the oldest first
  return {
    async make(ticket) {
      const text = makeCode()
      const now = clock().getTime()
      for (const [digest, { until }] of tickets) {
        if (tickets.size < MOST && until > now) break
        tickets.delete(digest)
      }
      tickets.set(hashOfSecret(text), { ...ticket, until: now + TICKET_MS })
      return text
    },
    async use(text, { onlyLook }) {
      const digest = hashOfSecret(text)
      const found = tickets.get(digest)
      if (!onlyLook) tickets.delete(digest)
      return found && found.until > clock().getTime() ? found : undefined
    },
  }
}
