// Records a delivery attempt in the queue, the hook and the log. A message is given up after eight attempts within a
// day (decisions#tries).

import type { Log } from '../../runtime/log.ts'
import { atomically, type Lock } from '../../store/engine.ts'
import { confirmDelivery, endMessages, type MessageEnd } from '../../store/hooks/deliveries.ts'
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

/** Records the outcome of an attempt in one transaction, and logs it. */
export async function recordAttempt(
  { db, clock, log, lock }: SenderDeps,
  hookId: number,
  message: MessageRow,
  { status, ms, failure }: AttemptOutcome,
): Promise<void> {
  const now = clock()
  const end = { at: now.toISOString(), status: status ?? null, failure: failure ?? null, tries: 1 } as const
  const about = { hook: hookId, message: message.message_id, type: message.type, ms }
  if (failure === undefined) {
    const hook = await atomically(db, (trx) => recordDelivery(trx, hookId, message, end), lock)
    log.debug('hook told', { ...about, status })
    if (hook && hook.failing_since !== null && hook.off_at === null)
      log.info('hook works again', { hook: hookId, since: hook.failing_since })
    return
  }
  const isOld = now.getTime() - new Date(message.created_at).getTime() > OLDEST_MS
  const delay = isOld || status === GONE ? undefined : DELAYS_MS[message.tries]
  const retryInstant = delay === undefined ? undefined : new Date(now.getTime() + delay).toISOString()
  const { hook, endedCount } = await atomically(
    db,
    (trx) => recordFailure(trx, hookId, message, { ...end, failure }, retryInstant),
    lock,
  )
  const tries = message.tries + 1
  log.debug('hook not told', { ...about, try: tries, reason: failure })
  if (!hook) return // deleted during the attempt, with its messages, or a late answer
  if (status === GONE) {
    if (hook.off_at === null) log.warn('hook is off', { hook: hookId, unsent: endedCount, reason: failure })
    return
  }
  if (endedCount > 0) log.warn('hook message given up', { ...about, tries, reason: failure })
  if (hook.failing_since === null)
    log.warn('hook fails', { hook: hookId, reason: failure, hint: `cambista hook test ${hookId}` })
}

/** Returns the hook of before; undefined: it was deleted. */
async function recordDelivery(
  trx: WriteDb,
  hookId: number,
  message: MessageRow,
  end: MessageEnd,
): Promise<HookRow | undefined> {
  const hook = await findHook(trx, hookId)
  const wasQueued = (await endMessages(trx, { hookId, id: message.id }, end)) > 0
  // A message that was given up during the attempt is delivered all the same.
  if (!wasQueued && (await confirmDelivery(trx, message, end))) await addGivenUp(trx, hookId, -1)
  const repair = hook?.off_at === null && { failing_since: null, failure: null }
  await updateHook(trx, hookId, { sent_at: end.at, ...repair })
  return hook
}

/**
 * Queues the message for `retryInstant`; undefined: gives it up. A 410 gives up all messages of the hook. Returns the
 * hook of before, and the number of messages given up.
 */
async function recordFailure(
  trx: WriteDb,
  hookId: number,
  { id, tries }: MessageRow,
  end: MessageEnd & { failure: string },
  retryInstant: string | undefined,
): Promise<{ hook: HookRow | undefined; endedCount: number }> {
  const hook = await findHook(trx, hookId)
  const isGone = end.status === GONE
  let endedCount = retryInstant === undefined ? await endMessages(trx, { hookId, id }, end) : 0
  const isQueued =
    retryInstant === undefined ? endedCount > 0 : await updateMessageAttempt(trx, id, tries + 1, retryInstant)
  if (!isQueued) return { hook: undefined, endedCount } // a late answer: its message ended, and may be queued again
  if (isGone) endedCount += await endMessages(trx, { hookId }, { ...end, tries: 0 })
  if (endedCount > 0) await addGivenUp(trx, hookId, endedCount)
  const failing_since = hook?.failing_since ?? end.at
  await updateHook(trx, hookId, { failing_since, failure: end.failure, ...(isGone && { off_at: end.at }) })
  return { hook, endedCount }
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
