// Creates and changes hooks. Only the operator may, on the command line: no API client can direct requests of the
// server (decisions#hook-secrets).

import { AppError } from '../../runtime/errors.ts'
import { atomically } from '../../store/engine.ts'
import { type HookRow, insertHook, selectHooks, updateHook } from '../../store/hooks/hooks.ts'
import { updateMessagesDue } from '../../store/hooks/messages.ts'
import type { WriteDb } from '../../store/tables.ts'
import { requireCompany, requireParty } from '../directory/directory.ts'
import type { HookHeaders } from './headers.ts'
import { addressFault } from './private-addresses.ts'
import type { HookEvent } from './queued-events.ts'
import { makeHookSecret, seal, unsealHook } from './seal.ts'

export type NewHook = {
  url: string
  events: readonly HookEvent[]
  company_id: number | null
  agent_id: number | null
  /** Plain HTTP to a private network. */
  allowHttp?: boolean
  headers?: HookHeaders
}

const MAX_HOOKS = 50 // each has a queue of its own
const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/

/** Error of a hook's address, as words after a name; undefined: it is valid. */
export function hookUrlError(text: string, allowHttp = false): string | undefined {
  const rule =
    'must be an https URL without user and password; http is for this machine, such as http://127.0.0.1:9000/, and with --allow-http for a private network'
  if (!/^https?:\/\/[^/?#@\\]+([/?#]|$)/.test(text) || !URL.canParse(text)) return rule
  const { protocol, hostname } = new URL(text)
  if (protocol === 'https:') return allowHttp ? 'must be an http URL, or leave out --allow-http' : undefined
  if (LOOPBACK.test(hostname)) return undefined
  const fault = addressFault(hostname)
  return allowHttp ? fault && `must be https: ${fault}` : rule
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
    const { url, events, company_id, agent_id, allowHttp, headers } = hook
    const row = { url, events: [...events], company_id, agent_id, allow_http: allowHttp ? 1 : 0 }
    const sealed = { ...sealHeaders(key, headers), secret: seal(key, secret) }
    return { id: await insertHook(trx, { ...row, ...sealed, created_at: createdAt }), secret }
  })
}

/**
 * Gives a hook a new secret, which is returned only here. The former one, if readable, signs too until
 * `formerEndsAt`. Without overlap only the new one signs. `headers` replace those of the hook.
 * @throws AppError `conflict` for an overlap while the secret before it signs too, or for unreadable headers
 */
export async function rotateHook(
  db: WriteDb,
  key: Buffer,
  hook: HookRow,
  { overlapMs, now, headers }: { overlapMs: number; now: Date; headers?: HookHeaders | undefined },
): Promise<{ secret: string; formerEndsAt: string | null }> {
  const secret = makeHookSecret()
  const unsealed = unsealHook(hook, key, now)
  if (unsealed && unsealed.secrets.length > 1 && overlapMs > 0) {
    const advice = 'wait until then, or give --overlap 0, after which the new secret alone signs'
    const message = `the former secret of hook ${hook.id} signs until ${hook.former_ends_at}: ${advice}`
    throw new AppError('conflict', message)
  }
  if (!unsealed && !headers && hook.secret_headers !== null) {
    const message = `the secret headers of hook ${hook.id} cannot be read: give them again, with --header-file FILE`
    throw new AppError('conflict', message)
  }
  const wasReadable = unsealed !== undefined
  const formerEndsAt = wasReadable && overlapMs > 0 ? new Date(now.getTime() + overlapMs).toISOString() : null
  await updateHook(db, hook.id, {
    secret: seal(key, secret),
    former_secret: formerEndsAt === null ? null : hook.secret,
    former_ends_at: formerEndsAt,
    ...(headers && sealHeaders(key, headers)),
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

function sealHeaders(
  key: Buffer,
  { shown: headers, secret }: HookHeaders = { shown: {}, secret: {} },
): Pick<HookRow, 'headers' | 'secret_headers'> {
  const hasSecret = Object.keys(secret).length > 0
  return { headers, secret_headers: hasSecret ? seal(key, JSON.stringify(secret)) : null }
}

async function checkParties(db: WriteDb, { company_id, agent_id }: NewHook): Promise<void> {
  if (company_id !== null) await requireCompany(db, company_id)
  if (agent_id !== null) await requireParty(db, 'agent', agent_id, company_id)
}
