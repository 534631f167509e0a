// Sends due messages. Each hook has its own lane of at most 4 attempts, so that a slow receiver delays no other.
// Order is not guaranteed. An attempt is recorded when it ends; an unrecorded one is repeated.

import { errorReason } from '../../runtime/errors.ts'
import { type HookRow, selectActiveHooks } from '../../store/hooks/hooks.ts'
import { findNextDue, type MessageRow, selectDueMessages } from '../../store/hooks/messages.ts'
import { LONGEST_DELAY_MS, markUnreadable, recordAttempt, type SenderDeps } from './attempts.ts'
import { postMessage } from './post.ts'
import { type UnsealedHook, unsealHook } from './seal.ts'

export type Sender = {
  /** Starts due attempts, as far as the lanes have room. */
  sendDue(): Promise<void>
  /** Instant of the next due attempt; undefined: the next `wake` starts it. */
  nextDueTime(): Date | undefined
  /** Attempts under way. */
  attempts(): Promise<void>[]
  close(): Promise<void>
}

const ATTEMPTS_AT_ONCE = 4
const REST_MS = 60_000

/** `ended` is called after each attempt, when its lane has room again. */
export function createSender(deps: SenderDeps, ended: () => void): Sender {
  const { db, key, clock, log, attemptMs, lock } = deps
  const stop = new AbortController()
  const lanes = new Map<number, Map<number, Promise<void>>>()
  const readable = new Map<number, boolean>()
  let next: Date | undefined
  let restEnd: Date | undefined

  const attempts = () => [...lanes.values()].flatMap((lane) => [...lane.values()])
  const rest = () => {
    restEnd = new Date(clock().getTime() + REST_MS)
    next = restEnd
  }
  const attempt = async (hook: HookRow, message: MessageRow, unsealed: UnsealedHook) => {
    const { message_id: id, body } = message
    const outcome = await postMessage({ hook, ...unsealed, id, body, now: clock() }, stop.signal, attemptMs)
    if (stop.signal.aborted && outcome.failure !== undefined) return
    await recordAttempt(deps, hook.id, message, outcome)
  }
  const begin = (
    lane: Map<number, Promise<void>>,
    hook: HookRow,
    message: MessageRow,
    unsealed: UnsealedHook,
  ) => {
    const running = attempt(hook, message, unsealed)
      .catch((error: unknown) => {
        if (lock.lost.aborted) return // the next leader sends it again
        // The outcome cannot be recorded, as on a full disk. Without a pause the message would be sent again
        // endlessly.
        log.error('hooks cannot be told', {
          ...{ hook: hook.id, reason: errorReason(error), hint: 'tried again in a minute' },
        })
        rest()
      })
      .finally(() => {
        lane.delete(message.id)
        ended()
      })
    lane.set(message.id, running)
  }
  const fill = async (hook: HookRow, now: Date) => {
    const lane = lanes.getOrInsertComputed(hook.id, () => new Map())
    const limit = ATTEMPTS_AT_ONCE - lane.size
    if (limit === 0) return
    const latest = new Date(now.getTime() + LONGEST_DELAY_MS).toISOString()
    const due = { now: now.toISOString(), latest, except: [...lane.keys()], limit }
    const messages = await selectDueMessages(db, hook.id, due)
    if (messages.length === 0 && readable.has(hook.id)) return // an unreadable secret is reported once after the start, even without messages
    const unsealed = unsealHook(hook, unlessUnreadable(key), now)
    if (!unsealed && readable.get(hook.id) !== false && !(await markUnreadable(deps, hook))) return
    readable.set(hook.id, unsealed !== undefined)
    if (!unsealed) return
    if (!stop.signal.aborted) for (const message of messages) begin(lane, hook, message, unsealed)
  }

  return {
    async sendDue() {
      const now = clock()
      if (restEnd && now < restEnd && restEnd.getTime() - now.getTime() <= REST_MS) return
      restEnd = undefined
      await lock.check(db) // another node may have taken over while this one slept
      const hooks = await selectActiveHooks(db)
      for (const hook of hooks) await fill(hook, now)
      const ids = hooks.map(({ id }) => id)
      const nextDue = await findNextDue(db, ids, now.toISOString())
      if (!restEnd) next = nextDue === undefined ? undefined : new Date(nextDue)
    },
    nextDueTime: () => next,
    attempts,
    async close() {
      stop.abort()
      await Promise.all(attempts())
    },
  }
}

/** Returns undefined also for an unreadable key file; `cambista hook test` reports why. */
function unlessUnreadable(key: SenderDeps['key']): Buffer | undefined {
  try {
    return key()
  } catch {
    return undefined
  }
}
