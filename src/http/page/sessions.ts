// Sessions of the page, in memory alone. Each has two halves of 192 random bits: one in a cookie, which other programs on
// other ports of the same host get to see too, and one that the page keeps and sends in a header, which no request that
// another website brings about has. Only hashes are kept, of the halves and of the secrets that a session was opened with.

import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../dates.ts'
import { hashOfSecret, makeCode } from '../../domain/secrets.ts'

/** The hashes of a key and of a token; one of them is there. */
export type Opened = { key: string | undefined; token: string | undefined }

export type Session = Opened & {
  readonly id: string
  readonly page: Buffer
  readonly openedAt: number
  usedAt: number
}

/** Both halves, for the client alone. */
export type Halves = { cookie: string; page: string }

export type Sessions = {
  open(opened: Opened): Halves
  /** The session of both halves, used just now. `cookies`: each that has the name, for other programs may set some too. */
  find(cookies: readonly string[], page: string | undefined): Session | undefined
  /** Adds what an open session has not, or puts another in its place. */
  add(session: Session, opened: Partial<Opened>): void
  /** Whether a session has neither ended nor been closed. */
  isOpen(session: Session): boolean
  close(session: Session): void
}

const MOST = 1000
const HOUR_MS = 3_600_000
const IDLE_MS = 12 * HOUR_MS
const AT_MOST_MS = 30 * 24 * HOUR_MS

export function createSessions(clock: Clock): Sessions {
  const sessions = new Map<string, Session>() // in the order of their last use
  const isOver = ({ openedAt, usedAt }: Session, now: number) =>
    now - usedAt >= IDLE_MS || now - openedAt >= AT_MOST_MS
  const isOpen = (session: Session) =>
    sessions.get(session.id) === session && !isOver(session, clock().getTime())
  return {
    open(opened) {
      const now = clock().getTime()
      for (const [id, session] of sessions) {
        if (sessions.size < MOST && !isOver(session, now)) break
        sessions.delete(id)
      }
      const halves = { cookie: makeCode(), page: makeCode() }
      const id = hashOfSecret(halves.cookie)
      sessions.set(id, { ...opened, id, page: bytesOf(halves.page), openedAt: now, usedAt: now })
      return halves
    },
    find(cookies, page) {
      if (!page) return undefined
      const digest = bytesOf(page)
      for (const cookie of cookies) {
        const session = sessions.get(hashOfSecret(cookie))
        if (!session || !timingSafeEqual(session.page, digest) || !isOpen(session)) continue
        session.usedAt = clock().getTime()
        sessions.delete(session.id)
        sessions.set(session.id, session)
        return session
      }
      return undefined
    },
    add: (session, opened) => void Object.assign(session, opened),
    isOpen,
    close: ({ id }) => void sessions.delete(id),
  }
}

function bytesOf(half: string): Buffer {
  return Buffer.from(hashOfSecret(half), 'latin1')
}
