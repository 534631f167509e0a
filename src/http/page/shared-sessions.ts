// Sessions and tickets of the page as rows: the next request of a browser may come to another node. They are what those in
// memory are, but that a session's last use is written down once a minute.

import type { Clock } from '../../dates.ts'
import type { ExportFormat } from '../../domain/rates/export-format.ts'
import { hashOfSecret, makeCode } from '../../domain/secrets.ts'
import {
  deletePageSession,
  findPageSession,
  findPageTicket,
  insertPageSession,
  insertPageTicket,
  type PageSessionRow,
  takePageTicket,
  updatePageSession,
} from '../../store/nodes/page-sessions.ts'
import type { Db } from '../../store/tables.ts'
import {
  AT_MOST_MS,
  IDLE_MS,
  isHalf,
  MOST_SESSIONS,
  makeHalves,
  type Session,
  type Sessions,
} from './sessions.ts'
import { TICKET_MS, type Tickets } from './tickets.ts'

type Deps = { db: Db; reads: Db; clock: Clock }

const USE_EVERY_MS = 60_000
const COOKIES_TRIED = 10 // each is a query

export function openSharedSessions(deps: Deps): { sessions: Sessions; tickets: Tickets } {
  return { sessions: sessionsIn(deps), tickets: ticketsIn(deps) }
}

function sessionsIn({ db, reads, clock }: Deps): Sessions {
  const over = () => ({ openedAt: textBefore(clock, AT_MOST_MS), usedAt: textBefore(clock, IDLE_MS) })
  const isFresh = ({ used_at }: PageSessionRow) => used_at > textBefore(clock, USE_EVERY_MS)
  return {
    async open({ key = null, token = null }) {
      const { halves, id, page } = makeHalves()
      const now = clock().toISOString()
      const row = { id, page, key, token, opened_at: now, used_at: now }
      await insertPageSession(db, row, { over: over(), most: MOST_SESSIONS })
      return halves
    },
    async find(cookies, page) {
      if (!page) return undefined
      for (const cookie of cookies.slice(0, COOKIES_TRIED)) {
        const row = await findPageSession(reads, hashOfSecret(cookie), over())
        if (!row || !isHalf(row, page)) continue
        if (!isFresh(row)) await updatePageSession(db, row.id, { used_at: clock().toISOString() })
        return sessionOf(row)
      }
      return undefined
    },
    async ofId(id) {
      const row = await findPageSession(reads, id, over())
      return row && sessionOf(row)
    },
    async add({ id }, opened) {
      await updatePageSession(db, id, opened)
    },
    close: ({ id }) => deletePageSession(db, id),
  }
}

function ticketsIn({ db, clock }: Deps): Tickets {
  return {
    async make({ session, document = null, format = null }) {
      const text = makeCode()
      const now = clock()
      const ends_at = new Date(now.getTime() + TICKET_MS).toISOString()
      const row = { hash: hashOfSecret(text), session_id: session, document_id: document, format, ends_at }
      await insertPageTicket(db, row, now.toISOString())
      return text
    },
    async use(text, { onlyLook }) {
      const find = onlyLook ? findPageTicket : takePageTicket
      const row = await find(db, hashOfSecret(text), clock().toISOString())
      if (!row) return undefined
      const { session_id: session, document_id: document, format } = row
      return { session, document: document ?? undefined, format: (format as ExportFormat) ?? undefined }
    },
  }
}

function sessionOf({ id, key, token }: PageSessionRow): Session {
  return { id, key: key ?? undefined, token: token ?? undefined }
}

function textBefore(clock: Clock, ms: number): string {
  return new Date(clock().getTime() - ms).toISOString()
}
