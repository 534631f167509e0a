// Sends what is due. Each hook has a lane of its own with a few tries at once, so that one that hangs holds up no other. The
// order is not promised. What a try came to is written down when it has ended: what was not is tried again.

import { secretsOf } from '../domain/hooks/seal.ts'
import { reasonOf } from '../errors.ts'
import { atomically } from '../store/engine.ts'
import { type HookRow, selectHooks } from '../store/hooks/hooks.ts'
import { findNextDue, type MessageRow, selectDueMessages } from '../store/hooks/messages.ts'
import { post } from './post.ts'
import { LONGEST_DELAY_MS, markUnreadable, recordTry, type SenderDeps } from './record.ts'

export type Sender = {
  /** Begins the tries that are due, as many as the lanes have room for. */
  look(): Promise<void>
  /** When the next look is due; undefined: when it is woken. */
  dueAt(): Date | undefined
  close(): Promise<void>
}

const TRIES_AT_ONCE = 4
const REST_MS = 60_000

/** `ended` is called after each try, for its lane has room now. */
export function createSender(deps: SenderDeps, ended: () => void): Sender {
  const { db, key, clock, log, tryMs, lock } = deps
  const stop = new AbortController()
  const lanes = new Map<number, Map<number, Promise<void>>>()
  const readable = new Map<number, boolean>()
  let next: Date | undefined
  let restsUntil: Date | undefined

  const rest = () => {
    restsUntil = new Date(clock().getTime() + REST_MS)
    next = restsUntil
  }
  const attempt = async (hook: HookRow, message: MessageRow, secrets: readonly string[]) => {
    const { message_id: id, body } = message
    const outcome = await post({ url: hook.url, secrets, id, body, now: clock() }, stop.signal, tryMs)
    if (stop.signal.aborted && outcome.failure !== undefined) return
    await recordTry(deps, hook.id, message, outcome)
  }
  const begin = (lane: Map<number, Promise<void>>, hook: HookRow, message: MessageRow, secrets: string[]) => {
    const trying = attempt(hook, message, secrets)
      .catch((error: unknown) => {
        if (lock?.lost.aborted) return // the next holder sends it again
        // What became of it cannot be written down, such as on a full disk: else it would be sent again at once, for ever.
        log.error('hooks cannot be told: tried again in a minute', { hook: hook.id, reason: reasonOf(error) })
        rest()
      })
      .finally(() => {
        lane.delete(message.id)
        ended()
      })
    lane.set(message.id, trying)
  }
  const fill = async (hook: HookRow, now: Date) => {
    const lane = lanes.getOrInsertComputed(hook.id, () => new Map())
    const limit = TRIES_AT_ONCE - lane.size
    if (limit === 0) return
    const latest = new Date(now.getTime() + LONGEST_DELAY_MS).toISOString()
    const due = { now: now.toISOString(), latest, except: [...lane.keys()], limit }
    const messages = await selectDueMessages(db, hook.id, due)
    if (messages.length === 0 && readable.has(hook.id)) return // else it is told at the start what has to be done
    const secrets = secretsOf(hook, unlessUnreadable(key), now)
    if (!secrets && readable.get(hook.id) !== false) await markUnreadable(deps, hook)
    readable.set(hook.id, secrets !== undefined)
    if (!secrets) return
    if (!stop.signal.aborted) for (const message of messages) begin(lane, hook, message, secrets)
  }

  return {
    async look() {
      const now = clock()
      if (restsUntil && now < restsUntil && restsUntil.getTime() - now.getTime() <= REST_MS) return
      restsUntil = undefined
      if (lock) await atomically(db, async () => {}, lock) // another node may have taken over while this one slept
      const hooks = (await selectHooks(db)).filter(({ off_at }) => off_at === null)
      for (const hook of hooks) await fill(hook, now)
      const ids = hooks.map(({ id }) => id)
      const found = await findNextDue(db, ids, now.toISOString())
      if (!restsUntil) next = found === undefined ? undefined : new Date(found)
    },
    dueAt: () => next,
    async close() {
      stop.abort()
      await Promise.all([...lanes.values()].flatMap((lane) => [...lane.values()]))
    },
  }
}

/** Undefined too where it cannot be read: what is wrong with it cambista hook test says. */
function unlessUnreadable(key: SenderDeps['key']): Buffer | undefined {
  try {
    return key()
  } catch {
    return undefined
  }
}
