// The part of a server that tells hooks: awake when there may be something new in the queue, and when the next try is due.

import { reasonOf } from '../errors.ts'
import type { SenderDeps } from './record.ts'
import { createSender } from './sender.ts'

export type Hooks = {
  /** Begins to send, what an earlier server left in the queue first. */
  start(): void
  /** To be called after each commit that may have written a message, or changed a hook. */
  wake(): void
  /** Breaks off the tries that are under way: the next start makes them again. */
  close(): Promise<void>
}

const LOOK_EVERY_MS = 1000
const RETRY_MS = 60_000

export function openHooks(deps: SenderDeps): Hooks {
  const { clock, log } = deps
  let isOpen = false
  let looking: Promise<void> | undefined
  let again = false
  let retryAt: Date | undefined
  let seen = clock()
  let timer: NodeJS.Timeout | undefined

  const look = async () => {
    while (again && isOpen) {
      again = false
      retryAt = undefined
      try {
        await sender.look()
      } catch (error) {
        log.error('hooks cannot be told: tried again in a minute', { reason: reasonOf(error) })
        retryAt = new Date(clock().getTime() + RETRY_MS)
      }
    }
    looking = undefined
  }
  const wake = () => {
    again = true
    if (isOpen) looking ??= look()
  }
  const sender = createSender(deps, wake)
  // Clock readings, not a timer until then: a machine that slept or a clock that was set must not keep a message back.
  const tick = () => {
    const now = clock()
    const due = retryAt ?? sender.dueAt()
    if ((due && now >= due) || now < seen) wake()
    seen = now
  }
  return {
    start() {
      isOpen = true
      timer = setInterval(tick, LOOK_EVERY_MS)
      wake()
    },
    wake,
    async close() {
      isOpen = false
      clearInterval(timer)
      await looking
      await sender.close()
    },
  }
}
