// Making and changing hooks. Only the operator does, on the command line: no client of an API can aim the server (decisions
// 5.3).

import { AppError } from '../../errors.ts'
import { findAgent } from '../../store/directory/agents.ts'
import { lockForUpdate } from '../../store/directory/lock.ts'
import { atomically } from '../../store/engine.ts'
import { type HookRow, insertHook, selectHooks, updateHook } from '../../store/hooks/hooks.ts'
import { updateMessagesDue } from '../../store/hooks/messages.ts'
import type { Db } from '../../store/tables.ts'
import { needCompany } from '../directory/directory.ts'
import type { HookEvent } from './events.ts'
import { makeHookSecret, seal, secretsOf } from './seal.ts'

export type NewHook = {
  url: string
  events: readonly HookEvent[]
  company_id: number | null
  agent_id: number | null
}

const HOOKS_AT_MOST = 50 // each has a queue of its own
const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/

/** What is wrong with the address of a hook, in words that follow a name; undefined: nothing. */
export function hookUrlFault(text: string): string | undefined {
  const right =
    'must be an https URL without user and password; http is for this machine alone, such as http://127.0.0.1:9000/'
  if (!/^https?:\/\/[^/?#@\\]+([/?#]|$)/.test(text) || !URL.canParse(text)) return right
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || LOOPBACK.test(hostname) ? undefined : right
}

/** An address without what may be a secret in it. */
export function shownUrl(url: string): string {
  const { origin, pathname, search } = new URL(url)
  return `${origin}${pathname}${search === '' ? '' : '?…'}`
}

/**
 * Makes a hook and its secret, which is returned this once.
 * @throws AppError `not-found` without such a company or agent, `conflict` for an agent of another company or too many hooks
 */
export function createHook(
  db: Db,
  key: Buffer,
  hook: NewHook,
  createdAt: string,
): Promise<{ id: number; secret: string }> {
  const secret = makeHookSecret()
  return atomically(db, async (trx) => {
    if ((await selectHooks(trx)).length >= HOOKS_AT_MOST) {
      throw new AppError('conflict', `there are ${HOOKS_AT_MOST} hooks already: delete one`)
    }
    await checkParties(trx, hook)
    const row = { ...hook, events: [...hook.events], secret: seal(key, secret), created_at: createdAt }
    return { id: await insertHook(trx, row), secret }
  })
}

/** Gives a hook a new secret, which is returned this once. The one before signs too until `formerEndsAt`, if it can be read. */
export async function rotateHook(
  db: Db,
  key: Buffer,
  hook: HookRow,
  { overlapMs, now }: { overlapMs: number; now: Date },
): Promise<{ secret: string; formerEndsAt: string | null }> {
  const secret = makeHookSecret()
  const wasReadable = secretsOf(hook, key, now) !== undefined
  const formerEndsAt = wasReadable && overlapMs > 0 ? new Date(now.getTime() + overlapMs).toISOString() : null
  await updateHook(db, hook.id, {
    secret: seal(key, secret),
    former_secret: formerEndsAt === null ? null : hook.secret,
    former_ends_at: formerEndsAt,
    ...(!wasReadable && { failing_since: null, failure: null }),
  })
  return { secret, formerEndsAt }
}

/** A hook whose receiver was reached is on, and what waits for it is due now. */
export function confirmHook(db: Db, id: number, now: string): Promise<void> {
  return atomically(db, async (trx) => {
    await updateHook(trx, id, { off_at: null, failing_since: null, failure: null, sent_at: now })
    await updateMessagesDue(trx, id, now)
  })
}

async function checkParties(db: Db, { company_id, agent_id }: NewHook): Promise<void> {
  if (company_id !== null) await needCompany(db, company_id)
  if (agent_id === null) return
  await lockForUpdate(db, 'agents', [agent_id]) // it moves to no other company meanwhile
  const agent = await findAgent(db, agent_id)
  if (!agent)
    throw new AppError('not-found', `there is no agent ${agent_id}`, { advice: { about: 'agents' } })
  if (company_id !== null && agent.company_id !== company_id) {
    throw new AppError('conflict', `agent ${agent_id} is of company ${agent.company_id}, not ${company_id}`)
  }
}
