// What the commands for keys and for tokens have in common.

import { todayIn } from '../../dates.ts'
import { AppError } from '../../errors.ts'
import type { FormerSecret } from '../../store/secrets/former-secrets.ts'

type Kind = 'key' | 'token'

export const ROTATION = `The new secret has the name, the id and all else of the one before, its last day too unless --expires gives another.
The one before goes on for --overlap and then ends by itself: time to give the new one to all who use it. Secrets of
earlier rotations end then too, if they have not. When a secret got into wrong hands, --overlap 0 ends it at once.`

/** The last day of a new secret; undefined: not given. @throws AppError `usage` for one that is past */
export function lastDayOf(day: string | undefined): string | undefined {
  const today = todayIn(() => new Date())
  if (day === undefined || day >= today) return day
  throw new AppError('usage', `--expires ${day} is past: today in Costa Rica is ${today}`)
}

/** The error for a name that an active key or token has. */
export function taken(kind: Kind, twin: { id: number; name: string }): AppError {
  const advice = `revoke it or choose another name; cambista ${kind} rotate gives it a new secret`
  return new AppError('conflict', `${kind} ${twin.id} is named ${twin.name} already: ${advice}`)
}

/** @throws AppError `not-found` for undefined */
export function needSecret<T>(kind: Kind, word: string | number, found: T | undefined): T {
  if (found !== undefined) return found
  const which = typeof word === 'number' ? word : `named ${word}`
  throw new AppError('not-found', `there is no ${kind} ${which}: see cambista ${kind} list`)
}

/** Until when the secret of before goes on, in a sentence. */
export function formerLine(kind: Kind, formerEndsAt: string, now: Date): string {
  if (Date.parse(formerEndsAt) <= now.getTime()) return 'The one before is refused from now on.'
  const watch = `cambista ${kind} list says when it was last used`
  return `The one before goes on until ${formerEndsAt}, then ends by itself; ${watch}.`
}

/** A key or token with the secrets before it that still go on, when there are any. */
export function withFormer<T extends { id: number; revoked_at: string | null }>(
  row: T,
  former: ReadonlyMap<number, FormerSecret[]>,
): T & { former?: FormerSecret[] } {
  const before = row.revoked_at === null ? former.get(row.id) : undefined
  return before === undefined ? row : { ...row, former: before }
}

/** Whether a secret is let in, and the ones before it, as the lists show it. */
export function stateOf(
  { revoked_at, expires_at }: { revoked_at: string | null; expires_at: string | null },
  today: string,
  former: readonly FormerSecret[] = [],
): string {
  if (revoked_at !== null) return `revoked ${revoked_at}`
  if (expires_at !== null && expires_at < today) return `expired ${expires_at}`
  const state = expires_at === null ? 'active' : `active through ${expires_at}`
  const before = former.map(
    ({ ends_at, last_used_at }) =>
      `; its former secret until ${ends_at}, last used ${last_used_at ?? 'never'}`,
  )
  return state + before.join('')
}
