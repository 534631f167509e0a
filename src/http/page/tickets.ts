// Tickets: a PDF in a tab of its own. A browser opens a URL there without the header of the page, so the URL itself is the
// secret: good once, for a minute, for one document, and only while the session is open that made it. Nothing but what
// begins as a PDF is shown: it is the one kind of document that a browser puts into a viewer, and not into this origin.

import type { H3Event } from 'h3'
import type { Clock } from '../../dates.ts'
import { checkId } from '../../domain/documents/documents.ts'
import { documentBy } from '../../domain/documents/queries.ts'
import type { UploadedField } from '../../domain/documents/upload.ts'
import { hashOfSecret, makeCode } from '../../domain/secrets.ts'
import { AppError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import type { Db } from '../../store/tables.ts'
import { accessOf, checkAllowed, type HeldToken } from '../api/auth.ts'
import type { Reply } from '../api/endpoint.ts'
import { dispositionOf, watched } from '../documents/documents.ts'
import type { Session } from './sessions.ts'

export type Tickets = {
  /** A ticket for a document that the session may read. @throws AppError */
  make(session: Session, documentId: UploadedField): Promise<string>
  /** The PDF of a ticket, which is used up unless the request is a HEAD. @throws AppError `not-found` */
  use(event: H3Event, ticket: string): Promise<Reply>
}

type Ticket = { session: Session; documentId: number; until: number }

const GOOD_FOR_MS = 60_000
const MOST = 1000
const BEGIN = '%PDF-'
const PDF = 'application/pdf'
const NOT_GOOD = 'This link was used, or is older than a minute: open the document again'
// With all of it the viewers of Chromium 156 and Firefox 153 show a PDF, and ask for it once.
const POLICY =
  "default-src 'none'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'; sandbox allow-downloads"
const HEADERS = {
  'content-type': PDF,
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

export function createTickets(deps: {
  db: Db
  blobs: Blobs
  clock: Clock
  log: Log
  /** The token of a session that is open. */
  tokenOf(session: Session): HeldToken | undefined
}): Tickets {
  const { db, blobs, clock, log, tokenOf } = deps
  const tickets = new Map<string, Ticket>() // the oldest first
  const readable = async (session: Session, id: number) => {
    const token = tokenOf(session)
    if (!token) throw new AppError('unauthorized', 'This session has no token: sign in with one')
    checkAllowed(token, 'documents:GET')
    const document = await documentBy(db, accessOf(token), id)
    if (document.content === 'lost') throw new AppError('gone', 'The content was lost')
    return { token, document }
  }
  return {
    async make(session, documentId) {
      const { document } = await readable(session, checkId('document_id', documentId))
      if (!(await isPdf(blobs, document))) {
        throw new AppError('unsupported', 'Only a PDF opens in a tab of its own', { details: PDF })
      }
      const ticket = makeCode()
      const now = clock().getTime()
      for (const [digest, { until }] of tickets) {
        if (tickets.size < MOST && until > now) break
        tickets.delete(digest)
      }
      tickets.set(hashOfSecret(ticket), { session, documentId: document.id, until: now + GOOD_FOR_MS })
      return ticket
    },
    async use(event, ticket) {
      const digest = hashOfSecret(ticket)
      const found = tickets.get(digest)
      const isHead = event.req.method === 'HEAD'
      if (!isHead) tickets.delete(digest)
      if (!found || found.until <= clock().getTime()) throw new AppError('not-found', NOT_GOOD)
      const { document, token } = await readable(found.session, found.documentId)
      event.context.token = token
      const content = await blobs.read(document.sha256)
      if (content?.size !== document.size) {
        throw new Error(`the blob ${document.sha256} is missing or has another size`)
      }
      const headers = {
        ...HEADERS,
        'content-disposition': dispositionOf(document.name, 'inline'),
        'content-length': String(document.size),
      }
      if (isHead) return { body: '', headers }
      return { body: watched(content.chunks(), log, String(event.context.requestId)), headers }
    },
  }
}

async function isPdf(blobs: Blobs, { sha256, size }: { sha256: string; size: number }): Promise<boolean> {
  if (size < BEGIN.length) return false
  const head = await blobs.read(sha256, { start: 0, end: BEGIN.length - 1 })
  let text = ''
  if (head) for await (const chunk of head.chunks()) text += chunk.toString('latin1')
  return text === BEGIN
}
