// Records a delivery attempt in the queue, the hook and the log. A message is dropped after eight attempts within a
// day (decisions#tries).

import type { Log } from '../../runtime/log.ts'
import { atomically, type Lock } from '../../store/engine.ts'
import { confirmDelivery, endMessages } from '../../store/hooks/deliveries.ts'
import {
  addGivenUp,
  findHook,
  type HookRow,
  updateHook,
  updateHookOfSecret,
} from '../../store/hooks/hooks.ts'
import { type MessageRow, updateMessageAttempt } from '../../store/hooks/messages.ts'
import type { WriteDb } from '../../store/tables.ts'
import type { Clock } from '../../values/dates.ts'
import type { AttemptOutcome } from './post.ts'

export type SenderDeps = {
  db: WriteDb
  /** Key that encrypts the secrets of hooks; it may change. @throws when it cannot be read */
  key: () => Buffer | undefined
  clock: Clock
  log: Log
  /** Limit of an attempt; 10 s by default. */
  attemptMs?: number | undefined
  /** Lock of the leader. */
  lock: Lock
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
/** Delay after each failed attempt. */
const DELAYS_MS = [5 * SECOND, MINUTE, 10 * MINUTE, HOUR, 4 * HOUR, 8 * HOUR, 10 * HOUR]
/** Attempts to deliver a message, after which it is given up. */
export const MAX_TRIES = DELAYS_MS.length + 1
export const LONGEST_DELAY_MS = Math.max(...DELAYS_MS)
const OLDEST_MS = 7 * 24 * HOUR // for messages of a server that was stopped, or of a hook without a readable secret
const GONE = 410

/** Failure of a hook whose secret cannot be decrypted, as after a restore. */
export const UNREADABLE = 'its secret cannot be read, as after a restore: give it a new one'

/** Records the outcome of an attempt in one transaction. */
export async function recordAttempt(
  { db, clock, log, lock }: SenderDeps,
  hookId: number,
  message: MessageRow,
  { status, ms, failure }: AttemptOutcome,
): Promise<void> {
  const now = clock()
  const at = now.toISOString()
  const { id, message_id, type } = message
  const about = { hook: hookId, message: message_id, type, ms }
  const tries = message.tries + 1
  const isOld = now.getTime() - new Date(message.created_at).getTime() > OLDEST_MS
  const delay = isOld || status === GONE ? undefined : DELAYS_MS[message.tries]
  const due = (delay: number) => new Date(now.getTime() + delay).toISOString()
  const { hook, unsent } = await atomically(
    db,
    async (trx) => {
      const hook = await findHook(trx, hookId)
      let unsent = 0
      const end = { at, status: status ?? null, failure: failure ?? null, tries: 1 } as const
      if (failure === undefined) {
        const wasQueued = (await endMessages(trx, { hookId, id }, end)) > 0
        if (!wasQueued && (await confirmDelivery(trx, message, end))) await addGivenUp(trx, hookId, -1)
        const repair = hook?.off_at === null && { failing_since: null, failure: null }
        await updateHook(trx, hookId, { sent_at: at, ...repair })
        return { hook, unsent }
      }
      if (delay === undefined) unsent = await endMessages(trx, { hookId, id }, end)
      const isQueued =
        delay === undefined ? unsent > 0 : await updateMessageAttempt(trx, id, tries, due(delay))
      if (!isQueued) return { hook: undefined, unsent } // a late answer: its message ended, and may be queued again
      if (status === GONE) unsent += await endMessages(trx, { hookId }, { ...end, tries: 0 })
      if (unsent > 0) await addGivenUp(trx, hookId, unsent)
      const failing_since = hook?.failing_since ?? at
      await updateHook(trx, hookId, { failing_since, failure, ...(status === GONE && { off_at: at }) })
      return { hook, unsent }
    },
    lock,
  )
  if (failure === undefined) {
    log.debug('hook told', { ...about, status })
    if (hook && hook.failing_since !== null && hook.off_at === null)
      log.info('hook works again', { hook: hookId, since: hook.failing_since })
    return
  }
  log.debug('hook not told', { ...about, try: tries, reason: failure })
  if (!hook) return // deleted during the attempt, with its messages, or a late answer
  if (unsent > 0 && status !== GONE) log.warn('hook message given up', { ...about, tries, reason: failure })
  if (status === GONE) {
    if (hook.off_at === null) log.warn('hook is off', { hook: hookId, unsent, reason: failure })
  } else if (hook.failing_since === null) {
    log.warn('hook fails', { hook: hookId, reason: failure, hint: `cambista hook test ${hookId}` })
  }
}

/**
 * Marks a hook whose secret cannot be decrypted: its messages wait for a new secret. Returns false for a hook that has
 * a new one by now.
 */
export async function markUnreadable({ db, clock, log, lock }: SenderDeps, hook: HookRow): Promise<boolean> {
  const failing_since = hook.failing_since ?? clock().toISOString()
  const change = { failing_since, failure: UNREADABLE }
  const isMarked = await atomically(db, (trx) => updateHookOfSecret(trx, hook, change), lock)
  if (isMarked)
    log.warn('hook fails', { hook: hook.id, reason: UNREADABLE, hint: `cambista hook rotate ${hook.id}` })
  return isMarked
}
