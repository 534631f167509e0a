// Signs in and out, and shows sessions. `checkOwn` validates the host and the origin of each request, and that others
// cannot read its secrets on their way.

import type { H3Event } from 'h3'
import { REMEMBERED_DAYS } from '../../domain/access/session-lifetimes.ts'
import type { UploadedField } from '../../domain/documents/uploads/upload.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import { countEnabledIndicators } from '../../store/indicators/indicators.ts'
import type { ReadDb, WriteDb } from '../../store/tables.ts'
import type { Clock } from '../../values/dates.ts'
import type { FindSession, Keyring, SessionCredentials } from '../access/auth.ts'
import { isOpenPage, PAGE_HEADER } from '../access/session.ts'
import { openSessions, type SecretHashes, type Session, type Sessions } from '../access/sessions.ts'
import { openTickets, type Ticket, type Tickets } from '../access/tickets.ts'
import { createWrongSecrets } from '../access/wrong-secrets.ts'
import { baseMediaType } from '../endpoint/answers/forms.ts'
import { nodeContext } from '../endpoint/answers/send.ts'
import { readWholeBody } from '../endpoint/body.ts'
import { freshReply, type Reply } from '../endpoint/endpoint.ts'
import { parseFields } from '../endpoint/fields.ts'
import type { Exports } from '../figures/exports.ts'
import {
  checkPrivate,
  checkSameOrigin,
  type HostNames,
  isPrivate,
  type ServerOrigin,
  serverOrigin,
} from '../listener/own-origin.ts'
import { clientAddress } from '../listener/proxy.ts'
import { checkExport, openExport } from './export-ticket.ts'
import { createLogins } from './logins.ts'
import { checkOpenPage, type OpenPage, SIGN_IN } from './open-page.ts'
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
  openPage: OpenPage
  /** Letterhead of the page; undefined: none is set. */
  organization: Organization | undefined
}

/** Name and tax id of the organization that the server belongs to. */
export type Organization = { name: string; taxId: string | undefined }

type SessionHashes = SecretHashes & { person: string | undefined }

export type SignIn = {
  findSession: FindSession
  open(event: H3Event): Promise<Reply>
  /** Shows the key and token of a link's code, without using it up. */
  showCode(event: H3Event): Promise<Reply>
  show(event: H3Event): Promise<Reply>
  /** Ends the session, or with `others` the other ones of its person. */
  close(event: H3Event, query: { others: boolean }): Promise<Reply>
  makeTicket(event: H3Event): Promise<Reply>
  useTicket(event: H3Event, ticket: string): Promise<Reply>
}

const WRONG_A_MINUTE = 10
const TOO_MANY = 'Too many wrong secrets: try again in a minute'
const TICKET_WAS_USED = 'This link was used, or is older than a minute: ask for it again'
const NOTHING = { key: undefined, token: undefined, person: undefined }

export function createSignIn(deps: SignInDeps): SignIn {
  return new PageSignIn(deps)
}

class PageSignIn implements SignIn {
  readonly #deps: SignInDeps
  readonly #sessions: Sessions
  readonly #tickets: Tickets
  readonly #logins: ReturnType<typeof createLogins>
  readonly #wrongSecrets: ReturnType<typeof createWrongSecrets>

  constructor(deps: SignInDeps) {
    this.#deps = deps
    this.#sessions = openSessions(deps)
    this.#tickets = openTickets(deps)
    this.#logins = createLogins(deps)
    this.#wrongSecrets = createWrongSecrets(deps.clock, { perMinute: WRONG_A_MINUTE, message: TOO_MANY })
  }

  async findSession(event: H3Event): Promise<SessionCredentials> {
    if (isOpenPage(event)) {
      checkOpenPage(event, this.#deps.names)
      throw new AppError('unauthorized', SIGN_IN)
    }
    // Sessions are for the page alone, also if websites may use keys.
    event.context.cors = event.context.cors?.vary ? { vary: event.context.cors.vary } : undefined
    return this.#findCredentials(await this.#requireSession(event))
  }

  async open(event: H3Event): Promise<Reply> {
    const own = checkOwn(event, this.#deps.names)
    const { secret, code, ...fields } = await parseJsonFields(event, ['secret', 'code', 'remember'])
    const remember = parseRemember(fields.remember)
    const isCode = secret === undefined
    const text = requireText(isCode ? code : secret, isCode ? undefined : code)
    const hashes = await this.#limitWrongSecrets(event, () =>
      isCode ? this.#logins.use(event, text) : this.#logins.checkSecret(event, text),
    )
    const session = await this.#find(event, own)
    if (session && !isCode) {
      await this.#sessions.add(session, { ...hashes, remember })
      const headers: Record<string, string> = {}
      if (remember !== undefined) headers['set-cookie'] = setCookie(own, session.cookie, { remember })
      return { ...freshReply({ page: pageHalf(event) }), headers }
    }
    // A link was made by another person, so it replaces the session instead of adding to it.
    if (session) await this.#sessions.close(session)
    const lifetime = { remember: remember ?? false }
    const { cookie, page } = await this.#sessions.open({ ...NOTHING, ...hashes, ...lifetime })
    return { ...freshReply({ page }), headers: { 'set-cookie': setCookie(own, cookie, lifetime) } }
  }

  async showCode(event: H3Event): Promise<Reply> {
    checkOwn(event, this.#deps.names)
    const { code } = await parseJsonFields(event, ['code'])
    const { company, endsAt, ...opens } = await this.#limitWrongSecrets(event, () =>
      this.#logins.show(requireText(code)),
    )
    const person = opens.person ?? null
    const remember = person !== null
    return freshReply({ ...credentialsOut(opens), company, person, remember, ends_at: endsAt })
  }

  async show(event: H3Event): Promise<Reply> {
    const { names, openPage } = this.#deps
    const { req } = nodeContext(event)
    const own = serverOrigin(req, names)
    checkSameOrigin(req, own)
    // In an open network the state without a session needs no privacy.
    if (openPage.isOpen(event) && !isPrivate(req, own)) return freshReply(this.#stateOut(event))
    checkPrivate(req, own)
    return freshReply(await this.#describe(event, own, await this.#find(event, own)))
  }

  async close(event: H3Event, { others }: { others: boolean }): Promise<Reply> {
    const own = checkOwn(event, this.#deps.names)
    if (others) {
      const session = await this.#requireSession(event)
      await this.#sessions.closeOthers(session)
      return freshReply(await this.#describe(event, own, session))
    }
    const session = await this.#find(event, own)
    if (session) await this.#sessions.close(session)
    return { ...freshReply(this.#stateOut(event)), headers: { 'set-cookie': expiredCookie(own) } }
  }

  async makeTicket(event: H3Event): Promise<Reply> {
    const session = await this.#requireSession(event)
    const credentials = await this.#findCredentials(session)
    if (credentials.token) event.context.token = credentials.token
    const ticket = { ...(await this.#parseTicket(event, credentials)), session: session.id }
    return freshReply({ url: `/t/${await this.#tickets.make(ticket)}` })
  }

  async useTicket(event: H3Event, text: string): Promise<Reply> {
    checkOwn(event, this.#deps.names)
    const ticket = await this.#tickets.use(text, { onlyLook: event.req.method === 'HEAD' })
    if (!ticket) throw new AppError('not-found', TICKET_WAS_USED)
    const { document, format } = ticket
    const hashes = await this.#sessions.findById(ticket.session)
    const { key, token } = await this.#findCredentials({ ...NOTHING, ...hashes })
    if (format) return openExport(this.#deps.exports, key, format, event)
    return openPdf(pdfSources(this.#deps), token, Number(document), event)
  }

  async #find(event: H3Event, own: ServerOrigin): Promise<Session | undefined> {
    const session = await this.#sessions.find(readCookies(event, cookieName(own)), pageHalf(event))
    if (session?.isCookieDue) event.context.renewedCookie = setCookie(own, session.cookie, session)
    return session
  }

  async #requireSession(event: H3Event): Promise<Session> {
    const session = await this.#find(event, checkOwn(event, this.#deps.names))
    if (!session) throw new AppError('unauthorized', 'The session has ended: sign in again')
    return session
  }

  async #findCredentials(hashes: SessionHashes): Promise<SessionCredentials> {
    const { keyring } = this.#deps
    const credentials = lookUpCredentials(keyring, hashes)
    if (!credentials.key === !hashes.key && !credentials.token === !hashes.token) return credentials
    await keyring.lookUp() // another node may have just created it
    return lookUpCredentials(keyring, hashes)
  }

  #stateOut(event: H3Event, session?: Session, credentials: SessionCredentials = NOTHING) {
    const { openPage, names } = this.#deps
    const open = openPage.isOpen(event)
    return {
      ...credentialsOut(credentials),
      person: session?.person ?? null,
      organization: session || open ? organizationOut(this.#deps.organization) : null,
      remember: session?.remember ?? false,
      open,
      public_url: session || open ? names.publicUrl : undefined,
    }
  }

  /** Returns the session with its credentials, or why it has none. */
  async #describe(event: H3Event, own: ServerOrigin, session: Session | undefined) {
    const credentials = await this.#findCredentials(session ?? NOTHING)
    if (credentials.key || credentials.token) {
      const { reads } = this.#deps
      const hasIndicators = credentials.key !== undefined && (await countEnabledIndicators(reads)) > 0
      return { ...this.#stateOut(event, session, credentials), ...(hasIndicators && { indicators: true }) }
    }
    const sessionEnd = session
      ? { reason: 'withdrawn' as const, remember: session.remember }
      : await this.#sessions.explain(readCookies(event, cookieName(own)), pageHalf(event))
    return { ...this.#stateOut(event), ended: sessionEnd }
  }

  async #limitWrongSecrets<T>(event: H3Event, check: () => Promise<T>): Promise<T> {
    const address = () => clientAddress(nodeContext(event).req, this.#deps.names.proxies)
    return check().catch((error: unknown) => this.#wrongSecrets.refuse(address(), error))
  }

  async #parseTicket(event: H3Event, { key, token }: SessionCredentials): Promise<Omit<Ticket, 'session'>> {
    const { document_id: document, export: format } = await parseJsonFields(event, ['document_id', 'export'])
    if ((document === undefined) === (format === undefined)) {
      throw new AppError('bad-request', 'A ticket is for one thing: send document_id or export')
    }
    return format === undefined
      ? { document: await checkPdf(pdfSources(this.#deps), token, document), format }
      : { document: undefined, format: checkExport(key, format) }
  }
}

function lookUpCredentials(keyring: Keyring, { key, token, person }: SessionHashes): SessionCredentials {
  const valid = keyring.findTokenByHash(token)
  return {
    key: keyring.findKeyByHash(key),
    token: valid && person !== undefined ? { ...valid, person } : valid,
    person,
  }
}

function pdfSources({ reads, blobs, log }: SignInDeps) {
  return { db: reads, blobs, log }
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

function credentialsOut({ key, token }: SessionCredentials) {
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

function organizationOut(organization: Organization | undefined) {
  return organization ? { name: organization.name, tax_id: organization.taxId ?? null } : null
}

/** @throws AppError `bad-request` */
function parseRemember(value: UploadedField): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value
  throw new AppError('bad-request', 'remember must be true or false: whether this browser stays signed in')
}

/** Half of the session that the page sends in its header. */
function pageHalf(event: H3Event): string | undefined {
  return event.req.headers.get(PAGE_HEADER) ?? undefined
}

/**
 * Name of the session cookie. Browsers send cookies to all ports of a host, so over plain HTTP the name contains the port.
 * Over TLS the prefix `__Host-` makes browsers reject cookies set by another host or over plain HTTP.
 */
function cookieName({ scheme, port }: ServerOrigin): string {
  return scheme === 'https' ? '__Host-cambista' : `cambista-${port}`
}

/** Returns the header of a cookie. Without `remember` it is gone when the browser is closed. */
function setCookie(origin: ServerOrigin, value: string, { remember }: { remember: boolean }): string {
  const secure = origin.scheme === 'https' ? '; Secure' : ''
  const age = remember ? `; Max-Age=${REMEMBERED_DAYS * 86_400}` : ''
  return `${cookieName(origin)}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}${age}`
}

/** Returns the header that deletes the cookie of a session. */
function expiredCookie(origin: ServerOrigin): string {
  return `${setCookie(origin, '', { remember: false })}; Max-Age=0`
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
