// Creates and changes hooks. Only the operator may, on the command line: no API client can direct requests of the
// server (decisions#hook-secrets).

import { AppError } from '../../runtime/errors.ts'
import { atomically } from '../../store/engine.ts'
import { type HookRow, insertHook, selectHooks, updateHook } from '../../store/hooks/hooks.ts'
import { updateMessagesDue } from '../../store/hooks/messages.ts'
import type { WriteDb } from '../../store/tables.ts'
import { requireCompany, requireParty } from '../directory/directory.ts'
import type { HookEvent } from './queued-events.ts'
import { makeHookSecret, seal, signingSecrets } from './seal.ts'

export type NewHook = {
  url: string
  events: readonly HookEvent[]
  company_id: number | null
  agent_id: number | null
}

const MAX_HOOKS = 50 // each has a queue of its own
const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/

/** Error of a hook's address, as words after a name; undefined: it is valid. */
export function hookUrlError(text: string): string | undefined {
  const rule =
    'must be an https URL without user and password; http is for this machine alone, such as http://127.0.0.1:9000/'
  if (!/^https?:\/\/[^/?#@\\]+([/?#]|$)/.test(text) || !URL.canParse(text)) return rule
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || LOOPBACK.test(hostname) ? undefined : rule
}

/** Returns an address without its query, which may contain a secret. */
export function maskedUrl(url: string): string {
  const { origin, pathname, search } = new URL(url)
  return `${origin}${pathname}${search === '' ? '' : '?…'}`
}

/**
 * Creates a hook and its secret, which is returned only here.
 * @throws AppError `not-found` without such a company or agent, `conflict` for an agent of another company or too
 * many hooks
 */
export function createHook(
  db: WriteDb,
  key: Buffer,
  hook: NewHook,
  createdAt: string,
): Promise<{ id: number; secret: string }> {
  const secret = makeHookSecret()
  return atomically(db, async (trx) => {
    if ((await selectHooks(trx)).length >= MAX_HOOKS) {
      throw new AppError('conflict', `there are ${MAX_HOOKS} hooks already: delete one`)
    }
    await checkParties(trx, hook)
    const row = { ...hook, events: [...hook.events], secret: seal(key, secret), created_at: createdAt }
    return { id: await insertHook(trx, row), secret }
  })
}

/**
 * Gives a hook a new secret, which is returned only here. The former one, if readable, signs too until
 * `formerEndsAt`. Without overlap only the new one signs.
 * @throws AppError `conflict` for an overlap while the secret before it signs too
 */
export async function rotateHook(
  db: WriteDb,
  key: Buffer,
  hook: HookRow,
  { overlapMs, now }: { overlapMs: number; now: Date },
): Promise<{ secret: string; formerEndsAt: string | null }> {
  const secret = makeHookSecret()
  const signing = signingSecrets(hook, key, now)
  if (signing && signing.length > 1 && overlapMs > 0) {
    const advice = 'wait until then, or give --overlap 0, after which the new secret alone signs'
    const message = `the former secret of hook ${hook.id} signs until ${hook.former_ends_at}: ${advice}`
    throw new AppError('conflict', message)
  }
  const wasReadable = signing !== undefined
  const formerEndsAt = wasReadable && overlapMs > 0 ? new Date(now.getTime() + overlapMs).toISOString() : null
  await updateHook(db, hook.id, {
    secret: seal(key, secret),
    former_secret: formerEndsAt === null ? null : hook.secret,
    former_ends_at: formerEndsAt,
    ...(!wasReadable && { failing_since: null, failure: null }),
  })
  return { secret, formerEndsAt }
}

/** Turns on a hook whose receiver answered, and makes its queued messages due now. */
export function confirmHook(db: WriteDb, id: number, now: string): Promise<void> {
  return atomically(db, async (trx) => {
    await updateHook(trx, id, { off_at: null, failing_since: null, failure: null, sent_at: now })
    await updateMessagesDue(trx, id, now)
  })
}

async function checkParties(db: WriteDb, { company_id, agent_id }: NewHook): Promise<void> {
  if (company_id !== null) await requireCompany(db, company_id)
  if (agent_id !== null) await requireParty(db, 'agent', agent_id, company_id)
}
