// Sessions of the page, in memory alone. Each has two halves of 192 random bits: one in a cookie, which other programs on
// other ports of the same host get to see too, and one that the page keeps and sends in a header, which no request that
// another website brings about has. Only hashes are kept, of the halves and of the secrets that a session was opened with.
// Where several nodes answer a browser they are rows (shared-sessions.ts).

import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../dates.ts'
import { hashOfSecret, makeCode } from '../../domain/secrets.ts'

/** The hashes of a key and of a token; one of them is there. */
export type Opened = { key: string | undefined; token: string | undefined }

export type Session = Opened & { readonly id: string }

/** Both halves, for the client alone. */
export type Halves = { cookie: string; page: string }

export type Sessions = {
  open(opened: Opened): Promise<Halves>
  /** The session of both halves, used just now. `cookies`: each that has the name, for other programs may set some too. */
  find(cookies: readonly string[], page: string | undefined): Promise<Session | undefined>
  /** That of an id, while it has neither ended nor been closed. */
  ofId(id: string): Promise<Session | undefined>
  /** Adds what an open session has not, or puts another in its place. */
  add(session: Session, opened: Partial<Opened>): Promise<void>
  close(session: Session): Promise<void>
}

export const MOST_SESSIONS = 1000
const HOUR_MS = 3_600_000
export const IDLE_MS = 12 * HOUR_MS
export const AT_MOST_MS = 30 * 24 * HOUR_MS

type Kept = Session & { page: string; openedAt: number; usedAt: number }

export function createSessions(clock: Clock): Sessions {
  const sessions = new Map<string, Kept>() // in the order of their last use
  const isOver = ({ openedAt, usedAt }: Kept, now: number) =>
    now - usedAt >= IDLE_MS || now - openedAt >= AT_MOST_MS
  const openOf = (id: string) => {
    const session = sessions.get(id)
    return session && !isOver(session, clock().getTime()) ? session : undefined
  }
  return {
    async open(opened) {
      const now = clock().getTime()
      for (const [id, session] of sessions) {
        if (sessions.size < MOST_SESSIONS && !isOver(session, now)) break
        sessions.delete(id)
      }
      const { halves, id, page } = makeHalves()
      sessions.set(id, { ...opened, id, page, openedAt: now, usedAt: now })
      return halves
    },
    async find(cookies, page) {
      if (!page) return undefined
      for (const cookie of cookies) {
        const session = openOf(hashOfSecret(cookie))
        if (!session || !isHalf(session, page)) continue
        session.usedAt = clock().getTime()
        sessions.delete(session.id)
        sessions.set(session.id, session)
        return session
      }
      return undefined
    },
    ofId: async (id) => openOf(id),
    add: async (session, opened) => void Object.assign(session, opened),
    close: async ({ id }) => void sessions.delete(id),
  }
}

/** Both halves of a new session, and what is kept of them. */
export function makeHalves(): { halves: Halves; id: string; page: string } {
  const halves = { cookie: makeCode(), page: makeCode() }
  return { halves, id: hashOfSecret(halves.cookie), page: hashOfSecret(halves.page) }
}

/** Whether what the page sent is its half of a session, of which the hash is kept. */
export function isHalf({ page }: { page: string }, sent: string): boolean {
  return timingSafeEqual(Buffer.from(page, 'latin1'), Buffer.from(hashOfSecret(sent), 'latin1'))
}
