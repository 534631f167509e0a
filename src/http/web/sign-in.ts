// Signs in and out, and shows sessions. `checkOwn` validates the host and the origin of each request, and that others
// cannot read its secrets on their way.

import type { H3Event } from 'h3'
import type { UploadedField } from '../../domain/documents/upload.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import type { ReadDb, WriteDb } from '../../store/tables.ts'
import type { Clock } from '../../values/dates.ts'
import type { FindSession, Keyring, SessionCredentials } from '../access/auth.ts'
import { PAGE_HEADER } from '../access/session.ts'
import { openSessions, type SecretHashes, type Session } from '../access/sessions.ts'
import { openTickets, type Ticket } from '../access/tickets.ts'
import { createWrongSecrets } from '../access/wrong-secrets.ts'
import { parseFields } from '../documents/fields.ts'
import { readWholeBody } from '../endpoint/body.ts'
import { freshReply, type Reply } from '../endpoint/endpoint.ts'
import { baseMediaType } from '../endpoint/forms.ts'
import { nodeContext } from '../endpoint/send.ts'
import {
  checkPrivate,
  checkSameOrigin,
  type HostNames,
  type ServerOrigin,
  serverOrigin,
} from '../listener/own-origin.ts'
import { clientAddress } from '../listener/proxy.ts'
import type { Exports } from '../rates/export.ts'
import { checkExport, openExport } from './export-ticket.ts'
import { createLogins } from './logins.ts'
import { checkPdf, openPdf } from './pdf-ticket.ts'

export type SignInDeps = {
  /** For sessions, tickets and links. */
  db: WriteDb
  reads: ReadDb
  blobs: Blobs
  keyring: Keyring
  clock: Clock
  log: Log
  names: HostNames
  exports: Exports
}

export type SignIn = {
  findSession: FindSession
  open(event: H3Event): Promise<Reply>
  /** Shows the key and token of a link's code, without using it up. */
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
  const { db, reads, blobs, keyring, clock, names, log } = deps
  const sessions = openSessions({ db, reads, clock, log })
  const tickets = openTickets({ db, reads, clock })
  const pdfs = { db: reads, blobs, log }
  const wrong = createWrongSecrets(clock, { perMinute: WRONG_A_MINUTE, message: TOO_MANY })
  const lookUpCredentials = ({ key, token }: SecretHashes): SessionCredentials => ({
    key: keyring.findKeyByHash(key),
    token: keyring.findTokenByHash(token),
  })
  const findCredentials = async (hashes: SecretHashes): Promise<SessionCredentials> => {
    const credentials = lookUpCredentials(hashes)
    if (!credentials.key === !hashes.key && !credentials.token === !hashes.token) return credentials
    await keyring.lookUp() // another node may have just created it
    return lookUpCredentials(hashes)
  }
  const find = (event: H3Event, own: ServerOrigin): Promise<Session | undefined> =>
    sessions.find(readCookies(event, cookieName(own)), event.req.headers.get(PAGE_HEADER) ?? undefined)
  const requireSession = async (event: H3Event): Promise<Session> => {
    const session = await find(event, checkOwn(event, names))
    if (!session) throw new AppError('unauthorized', 'The session has ended: sign in again')
    return session
  }
  const logins = createLogins({ db, reads, keyring, clock })
  const limitWrongSecrets = <T>(event: H3Event, check: () => Promise<T>) =>
    check().catch((error: unknown) =>
      wrong.refuse(clientAddress(nodeContext(event).req, names.proxies), error),
    )
  const parseTicket = async (
    event: H3Event,
    { key, token }: SessionCredentials,
  ): Promise<Omit<Ticket, 'session'>> => {
    const { document_id: document, export: format } = await parseJsonFields(event, ['document_id', 'export'])
    if ((document === undefined) === (format === undefined)) {
      throw new AppError('bad-request', 'A ticket is for one thing: send document_id or export')
    }
    return format === undefined
      ? { document: await checkPdf(pdfs, token, document), format }
      : { document: undefined, format: checkExport(key, format) }
  }
  return {
    async findSession(event) {
      // Sessions are for the page alone, also if websites may use keys.
      event.context.cors = event.context.cors?.vary ? { vary: event.context.cors.vary } : undefined
      return findCredentials(await requireSession(event))
    },
    async open(event) {
      const own = checkOwn(event, names)
      const { secret, code } = await parseJsonFields(event, ['secret', 'code'])
      const isCode = secret === undefined
      const text = requireText(isCode ? code : secret, isCode ? undefined : code)
      const hashes = await limitWrongSecrets(event, () =>
        isCode ? logins.use(event, text) : logins.checkSecret(event, text),
      )
      const session = await find(event, own)
      if (session && !isCode) {
        await sessions.add(session, hashes)
        return freshReply({ page: event.req.headers.get(PAGE_HEADER) })
      }
      // A link was made by another person, so it replaces the session instead of adding to it.
      if (session) await sessions.close(session)
      const { cookie, page } = await sessions.open({ ...NOTHING, ...hashes })
      return { ...freshReply({ page }), headers: { 'set-cookie': setCookie(own, cookie) } }
    },
    async showCode(event) {
      checkOwn(event, names)
      const { code } = await parseJsonFields(event, ['code'])
      const opens = await limitWrongSecrets(event, () => logins.show(requireText(code)))
      return freshReply({ ...sessionOut(opens), company: opens.company })
    },
    async show(event) {
      const session = await find(event, checkOwn(event, names))
      return freshReply(sessionOut(await findCredentials(session ?? NOTHING)))
    },
    async close(event) {
      const own = checkOwn(event, names)
      const session = await find(event, own)
      if (session) await sessions.close(session)
      return { ...freshReply(sessionOut(NOTHING)), headers: { 'set-cookie': expiredCookie(own) } }
    },
    async makeTicket(event) {
      const session = await requireSession(event)
      const credentials = await findCredentials(session)
      if (credentials.token) event.context.token = credentials.token
      const ticket = { ...(await parseTicket(event, credentials)), session: session.id }
      return freshReply({ url: `/t/${await tickets.make(ticket)}` })
    },
    async useTicket(event, text) {
      checkOwn(event, names)
      const ticket = await tickets.use(text, { onlyLook: event.req.method === 'HEAD' })
      if (!ticket) throw new AppError('not-found', TICKET_WAS_USED)
      const { document, format } = ticket
      const { key, token } = await findCredentials((await sessions.findById(ticket.session)) ?? NOTHING)
      if (format) return openExport(deps.exports, key, format, event)
      return openPdf(pdfs, token, Number(document), event)
    },
  }
}

/** @throws AppError `misdirected` or `forbidden` */
function checkOwn(event: H3Event, names: HostNames): ServerOrigin {
  const { req } = nodeContext(event)
  const own = serverOrigin(req, names)
  checkSameOrigin(req, own)
  checkPrivate(req, own)
  return own
}

function requireText(value: UploadedField, other?: UploadedField): string {
  if (typeof value === 'string' && value !== '' && other === undefined) return value
  const text = 'secret must be the text of a key (cbk_…) or of a token (cbt_…)'
  throw new AppError('bad-request', `${text}, or instead of it code that of a link`)
}

function sessionOut({ key, token }: SessionCredentials) {
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

/**
 * Name of the session cookie. Browsers send cookies to all ports of a host, so over plain HTTP the name contains the port.
 * Over TLS the prefix `__Host-` makes browsers reject cookies set by another host or over plain HTTP.
 */
function cookieName({ scheme, port }: ServerOrigin): string {
  return scheme === 'https' ? '__Host-cambista' : `cambista-${port}`
}

function setCookie(origin: ServerOrigin, value: string): string {
  const secure = origin.scheme === 'https' ? '; Secure' : ''
  return `${cookieName(origin)}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}`
}

/** Returns the header that deletes the cookie of a session. */
function expiredCookie(origin: ServerOrigin): string {
  return `${setCookie(origin, '')}; Max-Age=0`
}

/** Returns the values of all cookies of a name. Other programs of the host may set cookies of the same name. */
function readCookies(event: H3Event, name: string): string[] {
  const cookies = (event.req.headers.get('cookie') ?? '').split(';').map((one) => one.trim())
  return cookies.filter((one) => one.startsWith(`${name}=`)).map((one) => one.slice(name.length + 1))
}

const JSON_TYPE = 'application/json'

/**
 * Parses the JSON body of a request of the page. A form of another website can send text or fields without a preflight,
 * but not JSON.
 * @throws AppError `unsupported` for another type, and as `readWholeBody` and `fieldsOf` do
 */
async function parseJsonFields<Name extends string>(
  event: H3Event,
  names: readonly Name[],
): Promise<Partial<Record<Name, UploadedField>>> {
  if (baseMediaType(event.req.headers.get('content-type') ?? '') !== JSON_TYPE) {
    throw new AppError('unsupported', `Content-Type must be ${JSON_TYPE}`, { details: JSON_TYPE })
  }
  return parseFields(await readWholeBody(event, { maxBytes: 4096 }), names)
}
