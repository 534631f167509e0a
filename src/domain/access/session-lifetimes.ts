// Lifetimes of the page's sessions (decisions#sessions). A session that ended has neither key nor token, so it opens
// nothing on nodes of the previous version. Its row explains the end to its browser.

import { selectApiKeys } from '../../store/access/api-keys.ts'
import {
  type ListedSession,
  type PageSessionRow,
  selectOpenPageSessions,
} from '../../store/access/page-sessions.ts'
import { selectTokens } from '../../store/access/tokens.ts'
import type { ReadDb, SessionEnd } from '../../store/tables.ts'
import type { Clock } from '../../values/dates.ts'
import { expiryMs } from './rotation.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

type Lifetime = { idleMs: number; atMostMs: number }

export const REMEMBERED_DAYS = 30
const REMEMBERED: Lifetime = { idleMs: REMEMBERED_DAYS * DAY_MS, atMostMs: 180 * DAY_MS }
const BRIEF: Lifetime = { idleMs: 12 * HOUR_MS, atMostMs: 30 * DAY_MS }
const EXPLAINED_MS = 30 * DAY_MS

/** Number of hexadecimal digits of a session's id in lists: of the hash of its cookie. */
const SHORT_ID = 12

/** A session for an operator: an id without a secret, and the names of its key and token. */
export type OpenSession = {
  id: string
  person: string | null
  key: string | null
  token: string | null
  remember: boolean
  opened_at: string
  used_at: string
}

type Times = Pick<PageSessionRow, 'remember' | 'opened_at' | 'used_at' | 'end_reason'>

/** Returns why a session has ended; undefined: it is open. */
export function sessionEnd(row: Times, now: Date): SessionEnd | undefined {
  if (row.end_reason !== null) return row.end_reason
  const { idleMs, atMostMs } = row.remember ? REMEMBERED : BRIEF
  if (now.getTime() - Date.parse(row.used_at) >= idleMs) return 'idle'
  return now.getTime() - Date.parse(row.opened_at) >= atMostMs ? 'age' : undefined
}

/**
 * Returns why the browser of a session has lost its cookie. A cookie may be a day older than the last use. Undefined:
 * the session is open; its browser was closed, or the cookie was deleted.
 */
export function lostCookieReason(row: Times, now: Date): SessionEnd | undefined {
  return sessionEnd(row.remember ? { ...row, used_at: shift(new Date(row.used_at), -DAY_MS) } : row, now)
}

/** Returns true if a remembered session gets its cookie again: with its first use on each of its days. */
export function isCookieDue({ remember, opened_at, used_at }: Times, now: Date): boolean {
  const day = (instant: number) => Math.floor((instant - Date.parse(opened_at)) / DAY_MS)
  return remember === 1 && day(now.getTime()) !== day(Date.parse(used_at))
}

/** Last instants of sessions that have expired by now, and of the ends that are no longer explained. */
export function expiryInstants(now: Date) {
  const limits = ({ idleMs, atMostMs }: Lifetime) => ({
    used_at: shift(now, -idleMs),
    opened_at: shift(now, -atMostMs),
  })
  return {
    expired: [
      { remember: 0, ...limits(BRIEF) },
      { remember: 1, ...limits(REMEMBERED) },
    ],
    forgotten: shift(now, -EXPLAINED_MS),
  }
}

/** Lists the sessions that open something, the last used one first. */
export async function listSessions(db: ReadDb, clock: Clock): Promise<OpenSession[]> {
  const now = clock()
  const [keys, tokens] = [await selectApiKeys(db), await selectTokens(db)]
  const activeName = (rows: readonly Secret[], id: number | null) =>
    rows.find((one) => one.id === id && one.revoked_at === null && expiryMs(one) > now.getTime())?.name ??
    null
  return (await selectOpenPageSessions(db, now.toISOString()))
    .filter((row) => sessionEnd(row, now) === undefined)
    .map((row) => listed(row, activeName(keys, row.key_id), activeName(tokens, row.token_id)))
    .filter(({ key, token }) => key !== null || token !== null)
}

type Secret = Parameters<typeof expiryMs>[0] & { id: number; name: string; revoked_at: string | null }

function listed(row: ListedSession, key: string | null, token: string | null): OpenSession {
  const { person, opened_at, used_at } = row
  return {
    id: row.id.slice(0, SHORT_ID),
    person,
    key,
    token,
    remember: row.remember === 1,
    opened_at,
    used_at,
  }
}

function shift(instant: Date, ms: number): string {
  return new Date(instant.getTime() + ms).toISOString()
}
