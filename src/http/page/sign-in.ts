// Signing in and out, and what a session holds. Each request passes the same checks first: it is for a name of this server,
// no other website sends it, and what it brings cannot be read on its way.

import type { H3Event } from 'h3'
import type { Clock } from '../../dates.ts'
import type { UploadedField } from '../../domain/documents/upload.ts'
import { AppError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import type { Db } from '../../store/tables.ts'
import type { Keyring, SessionHolds, SessionOf } from '../api/auth.ts'
import { freshReply, type Reply } from '../api/endpoint.ts'
import { nodeOf } from '../api/send.ts'
import { PAGE_HEADER } from '../credentials/session.ts'
import { createWrongSecrets } from '../credentials/wrong-secrets.ts'
import {
  checkPrivate,
  checkSameOrigin,
  type OwnNames,
  type OwnOrigin,
  ownOriginOf,
} from '../listener/own-origin.ts'
import { clientBehind } from '../listener/proxy.ts'
import type { Exports } from '../rates/export.ts'
import { cookieName, cookiesNamed, endedCookie, setCookie } from './cookie.ts'
import { checkExport, openExport } from './export-ticket.ts'
import { jsonFieldsOf } from './json-body.ts'
import { createLogins } from './logins.ts'
import { checkPdf, openPdf } from './pdf-ticket.ts'
import { createSessions, type Opened, type Session, type Sessions } from './sessions.ts'
import { createTickets, type Ticket, type Tickets } from './tickets.ts'

export type SignInDeps = {
  /** For what only reads. */
  db: Db
  /** The same database, for the links that are used up. */
  writes: Db
  blobs: Blobs
  keyring: Keyring
  clock: Clock
  log: Log
  names: OwnNames
  exports: Exports
  /** Where several nodes answer a browser; undefined: in memory. */
  shared: { sessions: Sessions; tickets: Tickets } | undefined
}

export type SignIn = {
  sessionOf: SessionOf
  open(event: H3Event): Promise<Reply>
  /** What the code of a link opens, without using it up. */
  showCode(event: H3Event): Promise<Reply>
  show(event: H3Event): Promise<Reply>
  close(event: H3Event): Promise<Reply>
  makeTicket(event: H3Event): Promise<Reply>
  useTicket(event: H3Event, ticket: string): Promise<Reply>
}

const WRONG_A_MINUTE = 10
const TOO_MANY = 'Too many wrong secrets: try again in a minute'
const TICKET_WAS_USED = 'This link was used, or is older than a minute: ask for it again'
const NOTHING = { key: undefined, token: undefined }

export function createSignIn(deps: SignInDeps): SignIn {
  const { keyring, clock, names } = deps
  const { sessions, tickets } = deps.shared ?? {
    sessions: createSessions(clock),
    tickets: createTickets(clock),
  }
  const wrong = createWrongSecrets(clock, { aMinute: WRONG_A_MINUTE, message: TOO_MANY })
  const holdsNow = ({ key, token }: Opened): SessionHolds => ({
    key: keyring.keyOfHash(key),
    token: keyring.tokenOfHash(token),
  })
  const holdsOf = async (opened: Opened): Promise<SessionHolds> => {
    const holds = holdsNow(opened)
    if (!holds.key === !opened.key && !holds.token === !opened.token) return holds
    await keyring.lookUp() // another node may have let it in a moment ago
    return holdsNow(opened)
  }
  const find = (event: H3Event, own: OwnOrigin): Promise<Session | undefined> =>
    sessions.find(cookiesNamed(event, cookieName(own)), event.req.headers.get(PAGE_HEADER) ?? undefined)
  const needed = async (event: H3Event): Promise<Session> => {
    const session = await find(event, checkOwn(event, names))
    if (!session) throw new AppError('unauthorized', 'The session has ended: sign in again')
    return session
  }
  const logins = createLogins(deps)
  const counted = <T>(event: H3Event, check: () => Promise<T>) =>
    check().catch((error: unknown) => wrong.refuse(clientBehind(nodeOf(event).req, names.proxies), error))
  const ticketOf = async (event: H3Event, { key, token }: SessionHolds): Promise<Omit<Ticket, 'session'>> => {
    const { document_id: document, export: format } = await jsonFieldsOf(event, ['document_id', 'export'])
    if ((document === undefined) === (format === undefined)) {
      throw new AppError('bad-request', 'A ticket is for one thing: send document_id or export')
    }
    return format === undefined
      ? { document: await checkPdf(deps, token, document), format }
      : { document: undefined, format: checkExport(key, format) }
  }
  return {
    async sessionOf(event) {
      // Whichever websites may ask with a key, a session is for the page alone.
      event.context.cors = event.context.cors?.vary ? { vary: event.context.cors.vary } : undefined
      return holdsOf(await needed(event))
    },
    async open(event) {
      const own = checkOwn(event, names)
      const { secret, code } = await jsonFieldsOf(event, ['secret', 'code'])
      const isCode = secret === undefined
      const text = textOf(isCode ? code : secret, isCode ? undefined : code)
      const opened = await counted(event, () => (isCode ? logins.use(event, text) : logins.of(event, text)))
      const session = await find(event, own)
      if (session && !isCode) {
        await sessions.add(session, opened)
        return freshReply({ page: event.req.headers.get(PAGE_HEADER) })
      }
      // A link is another's word for what is opened, so it opens a session of its own, in place of the one that is.
      if (session) await sessions.close(session)
      const { cookie, page } = await sessions.open({ ...NOTHING, ...opened })
      return { ...freshReply({ page }), headers: { 'set-cookie': setCookie(own, cookie) } }
    },
    async showCode(event) {
      checkOwn(event, names)
      const { code } = await jsonFieldsOf(event, ['code'])
      const opens = await counted(event, () => logins.show(textOf(code)))
      return freshReply({ ...shown(opens), company: opens.company })
    },
    async show(event) {
      const session = await find(event, checkOwn(event, names))
      return freshReply(shown(await holdsOf(session ?? NOTHING)))
    },
    async close(event) {
      const own = checkOwn(event, names)
      const session = await find(event, own)
      if (session) await sessions.close(session)
      return { ...freshReply(shown(NOTHING)), headers: { 'set-cookie': endedCookie(own) } }
    },
    async makeTicket(event) {
      const session = await needed(event)
      const holds = await holdsOf(session)
      if (holds.token) event.context.token = holds.token
      const ticket = { ...(await ticketOf(event, holds)), session: session.id }
      return freshReply({ url: `/t/${await tickets.make(ticket)}` })
    },
    async useTicket(event, text) {
      checkOwn(event, names)
      const ticket = await tickets.use(text, { onlyLook: event.req.method === 'HEAD' })
      if (!ticket) throw new AppError('not-found', TICKET_WAS_USED)
      const { document, format } = ticket
      const { key, token } = await holdsOf((await sessions.ofId(ticket.session)) ?? NOTHING)
      if (format) return openExport(deps.exports, key, format, event)
      return openPdf(deps, token, Number(document), event)
    },
  }
}

/** @throws AppError `misdirected` or `forbidden` */
function checkOwn(event: H3Event, names: OwnNames): OwnOrigin {
  const { req } = nodeOf(event)
  const own = ownOriginOf(req, names)
  checkSameOrigin(req, own)
  checkPrivate(req, own)
  return own
}

function textOf(sent: UploadedField, other?: UploadedField): string {
  if (typeof sent === 'string' && sent !== '' && other === undefined) return sent
  const text = 'secret must be the text of a key (cbk_…) or of a token (cbt_…)'
  throw new AppError('bad-request', `${text}, or instead of it code that of a link`)
}

function shown({ key, token }: SessionHolds) {
  return {
    key: key ? { name: key.name } : null,
    token: token
      ? {
          name: token.name,
          allow: token.allow,
          company_id: token.company_id,
          expires_at: token.expires_at,
        }
      : null,
  }
}
