// Tickets for requests without the page's header: a PDF in its own tab, or an export as a download. The URL is the
// secret, valid once, for 1 minute, for one document or export, and while its session is open.

import { hashOfSecret, makeCode } from '../../domain/access/secrets.ts'
import type { ExportFormat } from '../../domain/rates/export/export-format.ts'
import { findOneTime, insertOneTime, takeOneTime } from '../../store/access/one-time.ts'
import type { ReadDb, WriteDb } from '../../store/tables.ts'
import type { Clock } from '../../values/dates.ts'

/** A document or an export, and the id of the session. */
export type Ticket = { session: string; document: number | undefined; format: ExportFormat | undefined }

export type Tickets = {
  /** Creates a ticket and returns the last segment of its URL. */
  make(ticket: Ticket): Promise<string>
  /** Returns a ticket and uses it up, unless `onlyLook`. Undefined: used, expired or unknown. */
  use(text: string, how: { onlyLook: boolean }): Promise<Ticket | undefined>
}

const TICKET_MS = 60_000

export function openTickets({ db, reads, clock }: { db: WriteDb; reads: ReadDb; clock: Clock }): Tickets {
  return {
    async make({ session, document = null, format = null }) {
      const text = makeCode()
      const now = clock()
      const ends_at = new Date(now.getTime() + TICKET_MS).toISOString()
      const row = { hash: hashOfSecret(text), session_id: session, document_id: document, format, ends_at }
      await insertOneTime(db, 'page_tickets', row, now.toISOString())
      return text
    },
    async use(text, { onlyLook }) {
      const [hash, now] = [hashOfSecret(text), clock().toISOString()]
      const row = await (onlyLook
        ? findOneTime(reads, 'page_tickets', hash, now)
        : takeOneTime(db, 'page_tickets', hash, now))
      if (!row) return undefined
      const { session_id: session, document_id: document, format } = row
      return { session, document: document ?? undefined, format: (format as ExportFormat) ?? undefined }
    },
  }
}
