// Delivers the messages of hooks, on the leader alone. Runs after each commit that may have queued a message, and
// when a retry is due. After a failover the new leader repeats the unfinished attempts of the old one.

import { errorReason } from '../../runtime/errors.ts'
import { type LeaderTask, runAsLeader } from '../../store/cluster/leader.ts'
import type { Engine } from '../../store/engine.ts'
import { selectHooks } from '../../store/hooks/hooks.ts'
import type { SenderDeps } from './attempts.ts'
import { createSender } from './sender.ts'

export type Hooks = {
  /** Starts delivery, beginning with the messages that an earlier process left in the queue. */
  start(): void
  /** Starts a delivery. Call it after each commit that may have queued a message or changed a hook. */
  wake(): void
  /** Resolves when the lead was decided, and no delivery or attempt is under way. */
  idle(): Promise<void>
  /** Aborts the attempts under way; the next start repeats them. */
  close(): Promise<void>
}

const TICK_MS = 1000
const RETRY_MS = 60_000
const EVENTS = { leads: 'this node tells the hooks', failed: 'hooks cannot be told' }

export type HooksDeps = Omit<SenderDeps, 'lock'> &
  Pick<Engine, 'takeLock'> & {
    /** False on a node without the key: another node delivers. */
    mayHaveKey: boolean
    /** Delay between two attempts to become the leader. */
    retryMs?: number | undefined
  }

export function openHooks(deps: HooksDeps): Hooks {
  const { log, retryMs } = deps
  let queue: Hooks | undefined
  let task: LeaderTask | undefined
  return {
    start() {
      if (!deps.mayHaveKey) {
        logMissingKey(deps).catch((error) => log.debug(EVENTS.failed, { reason: errorReason(error) }))
        return
      }
      task = runAsLeader(deps, 'hooks', {
        ...{ log, events: EVENTS, retryMs },
        async begin(lock) {
          const newQueue = createQueue({ ...deps, lock })
          newQueue.start()
          queue = newQueue
          return {
            close() {
              queue = undefined
              return newQueue.close()
            },
          }
        },
      })
    },
    wake: () => queue?.wake(),
    async idle() {
      await task?.attempted
      await queue?.idle()
    },
    async close() {
      await task?.close()
    },
  }
}

async function logMissingKey({ db, log }: HooksDeps): Promise<void> {
  const level = (await selectHooks(db)).length > 0 ? 'warn' : 'info'
  log[level]('this node cannot tell hooks', { reason: 'it has no key for them', hint: '--hook-key-file' })
}

/** Delivers due messages while this process is the leader. */
function createQueue(deps: SenderDeps): Hooks {
  const { clock, log } = deps
  let isOpen = false
  let delivery: Promise<void> | undefined
  let isWoken = false
  let retryTime: Date | undefined
  let lastTick = clock()
  let timer: NodeJS.Timeout | undefined

  const deliver = async () => {
    while (isWoken && isOpen) {
      isWoken = false
      retryTime = undefined
      try {
        await sender.sendDue()
      } catch (error) {
        log.error(EVENTS.failed, { reason: errorReason(error), hint: 'tried again in a minute' })
        retryTime = new Date(clock().getTime() + RETRY_MS)
      }
    }
    delivery = undefined
  }
  const wake = () => {
    isWoken = true
    if (isOpen) delivery ??= deliver()
  }
  const sender = createSender(deps, wake)
  // Compares clock readings each second. A single long timer would delay messages after a sleep of the machine or a
  // clock change.
  const tick = () => {
    const now = clock()
    const dueTime = retryTime ?? sender.nextDueTime()
    if ((dueTime && now >= dueTime) || now < lastTick) wake()
    lastTick = now
  }
  return {
    start() {
      isOpen = true
      timer = setInterval(tick, TICK_MS)
      wake()
    },
    wake,
    async idle() {
      for (let attempts = sender.attempts(); delivery || attempts.length > 0; attempts = sender.attempts())
        await Promise.all([delivery, ...attempts]) // each end of an attempt begins a delivery
    },
    async close() {
      isOpen = false
      clearInterval(timer)
      await delivery
      await sender.close()
    },
  }
}
