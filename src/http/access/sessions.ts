// Sessions of the page. Each has two halves of 192 random bits. The first is in a cookie, which programs on other
// ports of the host see too. The page sends the second in a header, which requests of other websites lack. Rows
// contain only hashes: of both halves, and of the secrets that opened the session. Sessions survive restarts and are valid on each
// node.

import { timingSafeEqual } from 'node:crypto'
import { hashOfSecret, makeCode } from '../../domain/access/secrets.ts'
import { type Log, logFailures } from '../../runtime/log.ts'
import {
  deletePageSession,
  findPageSession,
  insertPageSession,
  type PageSessionRow,
  updatePageSession,
} from '../../store/access/page-sessions.ts'
import type { ReadDb, WriteDb } from '../../store/tables.ts'
import type { Clock } from '../../values/dates.ts'

/** Hashes of a key and of a token; at least one is defined. */
export type SecretHashes = { key: string | undefined; token: string | undefined }

export type Session = SecretHashes & { readonly id: string }

/** Both halves of a session, for the client alone. */
type Halves = { cookie: string; page: string }

export type Sessions = {
  open(opened: SecretHashes): Promise<Halves>
  /** Finds a session by both halves and records its use. `cookies`: all of the name, for other programs may set some. */
  find(cookies: readonly string[], page: string | undefined): Promise<Session | undefined>
  /** Finds the open session with an id. */
  findById(id: string): Promise<Session | undefined>
  /** Adds or replaces a key or token of an open session. */
  add(session: Session, opened: Partial<SecretHashes>): Promise<void>
  close(session: Session): Promise<void>
}

const MOST_SESSIONS = 10_000
const HOUR_MS = 3_600_000
const IDLE_MS = 12 * HOUR_MS
const AT_MOST_MS = 30 * 24 * HOUR_MS
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
    const now = clock().getTime()
    const used_at = uses.get(id) ?? use ?? row.used_at
    const hasExpired = now - Date.parse(used_at) >= IDLE_MS || now - Date.parse(row.opened_at) >= AT_MOST_MS
    return hasExpired ? undefined : { ...row, used_at }
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
    async open({ key = null, token = null }) {
      const halves = { cookie: makeCode(), page: makeCode() }
      const [id, page] = [hashOfSecret(halves.cookie), hashOfSecret(halves.page)]
      const now = clock()
      const before = (ms: number) => new Date(now.getTime() - ms).toISOString()
      const over = { opened_at: before(AT_MOST_MS), used_at: before(IDLE_MS) }
      const row = { id, page, key, token, opened_at: before(0), used_at: before(0) }
      await insertPageSession(db, row, { over, most: MOST_SESSIONS })
      return halves
    },
    async find(cookies, page) {
      if (!page) return undefined
      for (const cookie of cookies.slice(0, COOKIES_TRIED)) {
        const row = await findOpen(hashOfSecret(cookie))
        if (!row || !isHalf(row, page)) continue
        void recordUse(row)
        return asSession(row)
      }
      return undefined
    },
    async findById(id) {
      const row = await findOpen(id)
      return row && asSession(row)
    },
    add: ({ id }, opened) => updatePageSession(db, id, opened),
    close: ({ id }) => deletePageSession(db, id),
  }
}

/** Compares in constant time. */
function isHalf({ page }: PageSessionRow, sent: string): boolean {
  return timingSafeEqual(Buffer.from(page, 'latin1'), Buffer.from(hashOfSecret(sent), 'latin1'))
}

function asSession({ id, key, token }: PageSessionRow): Session {
  return { id, key: key ?? undefined, token: token ?? undefined }
}
