// Sessions of the page. Each has two halves of 192 random bits. The first is in a cookie, which programs on other
// ports of the host see too. The page sends the second in a header, which requests of other websites lack. Rows
// contain only hashes: of both halves, and of the secrets that opened the session. Sessions survive restarts and are
// valid on each node.

import { timingSafeEqual } from 'node:crypto'
import { hashOfSecret, makeCode } from '../../domain/access/secrets.ts'
import {
  expiryInstants,
  isCookieDue,
  lostCookieReason,
  sessionEnd,
} from '../../domain/access/session-lifetimes.ts'
import { type Log, logFailures } from '../../runtime/log.ts'
import {
  deletePageSession,
  endOtherSessions,
  findPageSession,
  findPageSessionByPage,
  insertPageSession,
  type PageSessionRow,
  updatePageSession,
} from '../../store/access/page-sessions.ts'
import type { ReadDb, SessionEnd, WriteDb } from '../../store/tables.ts'
import type { Clock } from '../../values/dates.ts'

/** Hashes of a key and of a token; at least one is defined. */
export type SecretHashes = { key: string | undefined; token: string | undefined }

export type Session = SecretHashes & {
  readonly id: string
  /** Name of the person whose link opened it. */
  readonly person: string | undefined
  /** True: it lasts for 30 days without a use, and its cookie survives the end of the browser. */
  readonly remember: boolean
  /** True if the browser gets the cookie again, for another 30 days. */
  readonly isCookieDue: boolean
  /** The half that the browser sent. */
  readonly cookie: string
}

/** A session that has ended, for its own browser. */
export type EndedSession = { reason: SessionEnd; remember: boolean }

/** Both halves of a session, for the client alone. */
type Halves = { cookie: string; page: string }

export type Sessions = {
  open(opened: SecretHashes & { person: string | undefined; remember: boolean }): Promise<Halves>
  /** Finds a session by both halves and records its use. `cookies`: all of the name, for other programs may set some. */
  find(cookies: readonly string[], page: string | undefined): Promise<Session | undefined>
  /** Finds the open session with an id. */
  findById(id: string): Promise<SecretHashes | undefined>
  /**
   * Explains the end of a session to a browser with the page's half of it. Undefined: there is no such session, or it is
   * open and the other half is missing.
   */
  explain(cookies: readonly string[], page: string | undefined): Promise<EndedSession | undefined>
  /** Adds or replaces a key or token of an open session, or changes its lifetime. */
  add(session: Session, opened: Partial<SecretHashes> & { remember?: boolean | undefined }): Promise<void>
  close(session: Session): Promise<void>
  /** Ends the other sessions of the person, or of the same key or token where there is no person. */
  closeOthers(session: Session): Promise<void>
}

const MOST_SESSIONS = 10_000
const USE_EVERY_MS = 10 * 60_000
const COOKIES_TRIED = 10 // each is a query

/** `reads`: read connection, so that requests never wait for write transactions. */
export function openSessions(deps: { db: WriteDb; reads: ReadDb; clock: Clock; log: Log }): Sessions {
  const { db, reads, clock } = deps
  const uses = new Map<string, string>() // last uses by session, until they are stored: a full disk ends no session
  const storeAll = logFailures(deps.log, 'the last use of sessions is not stored', async () => {
    for (const [id, used_at] of uses) {
      await updatePageSession(db, id, { used_at })
      const latest = uses.get(id)
      uses.delete(id)
      if (latest !== undefined && latest !== used_at) uses.set(id, latest) // moves to the end of the loop
    }
  })
  let isStoring = false // serializes writes, so that an earlier use never overwrites a later one
  const findOpen = async (id: string) => {
    const use = uses.get(id) // read before the query, for it may be stored during the query
    const row = await findPageSession(reads, id)
    if (!row) return undefined
    const used_at = uses.get(id) ?? use ?? row.used_at
    return sessionEnd({ ...row, used_at }, clock()) === undefined ? { ...row, used_at } : undefined
  }
  const recordUse = async ({ id, used_at }: PageSessionRow) => {
    const now = clock()
    if (Math.abs(now.getTime() - Date.parse(used_at)) < USE_EVERY_MS) return
    uses.set(id, now.toISOString())
    if (isStoring) return
    isStoring = true
    await storeAll()
    isStoring = false
  }
  return {
    async open({ key = null, token = null, person = null, remember }) {
      const halves = { cookie: makeCode(), page: makeCode() }
      const [id, page] = [hashOfSecret(halves.cookie), hashOfSecret(halves.page)]
      const now = clock()
      const row = { id, page, key, token, person, remember: Number(remember) }
      const times = {
        opened_at: now.toISOString(),
        used_at: now.toISOString(),
        ended_at: null,
        end_reason: null,
      }
      await insertPageSession(db, { ...row, ...times }, { ...expiryInstants(now), most: MOST_SESSIONS })
      return halves
    },
    async find(cookies, page) {
      if (!page) return undefined
      for (const cookie of cookies.slice(0, COOKIES_TRIED)) {
        const row = await findOpen(hashOfSecret(cookie))
        if (!row || !isHalf(row, page)) continue
        const isDue = isCookieDue(row, clock()) // before the use is recorded
        void recordUse(row)
        return asSession(row, cookie, isDue)
      }
      return undefined
    },
    async findById(id) {
      const row = await findOpen(id)
      return row && asHashes(row)
    },
    async explain(cookies, page) {
      const row = page ? await findPageSessionByPage(reads, hashOfSecret(page)) : undefined
      if (!row) return undefined
      const used_at = uses.get(row.id) ?? row.used_at
      const isCookieLost = !cookies.slice(0, COOKIES_TRIED).some((cookie) => hashOfSecret(cookie) === row.id)
      const reason = (isCookieLost ? lostCookieReason : sessionEnd)({ ...row, used_at }, clock())
      return reason && { reason, remember: row.remember === 1 }
    },
    add: ({ id }, { remember, ...hashes }) =>
      updatePageSession(db, id, remember === undefined ? hashes : { ...hashes, remember: Number(remember) }),
    close: ({ id }) => deletePageSession(db, id),
    async closeOthers({ id, person = null, key = null, token = null }) {
      await endOtherSessions(db, { id, person, key, token }, clock().toISOString())
    },
  }
}

/** Compares in constant time. */
function isHalf({ page }: PageSessionRow, sent: string): boolean {
  return timingSafeEqual(Buffer.from(page, 'latin1'), Buffer.from(hashOfSecret(sent), 'latin1'))
}

function asHashes({ key, token }: PageSessionRow): SecretHashes {
  return { key: key ?? undefined, token: token ?? undefined }
}

function asSession(row: PageSessionRow, cookie: string, isCookieDue: boolean): Session {
  const { id, person, remember } = row
  return { ...asHashes(row), id, person: person ?? undefined, remember: remember === 1, isCookieDue, cookie }
}
