// Hooks and their message queue in a temporary database. The test sends the queue and sets the clock.

import type { TestContext } from 'node:test'
import { type Hooks, openHooks } from '../../../src/domain/hooks/delivery.ts'
import { createHook } from '../../../src/domain/hooks/hook-changes.ts'
import { type HookEvent, queueDocuments } from '../../../src/domain/hooks/queued-events.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { type ListedHook, selectListedHooks } from '../../../src/store/hooks/hooks.ts'
import { ensureHookKey, readHookKey } from '../../../src/store/hooks/key.ts'
import type { WriteDb } from '../../../src/store/tables.ts'
import { AGENT, COMPANY, makeDirectory } from '../company.ts'
import { fixedClock, type TestClock, temporaryDirectory, temporaryEngine } from '../temporary.ts'
import { until } from '../terminal.ts'

export type HookQueue = {
  db: WriteDb
  dataDir: string
  clock: TestClock
  /** Log of the sender, as JSON. */
  logLines: string[]
  /** Sender of the queue. */
  hooks: Hooks
  /** Creates a hook for this URL, and returns its id and secret. */
  createHook(url: string, ...events: HookEvent[]): Promise<{ id: number; secret: string }>
  /** Queues messages for documents as their upload does, in one transaction, and wakes the sender. */
  queueDocuments(id: number, count?: number): Promise<void>
  /** Moves the clock when nothing is sent, and wakes the sender as its own timer would. */
  advance(ms: number): Promise<void>
  readHook(id: number): Promise<ListedHook>
  /** Starts another sender over the same queue, as after a restart. */
  restart(): Promise<void>
}

/** Opens the queue and starts its sender. The clock starts at the real time, because receivers reject messages that are minutes old. */
export async function openHookQueue(t: TestContext, { tryMs }: { tryMs?: number } = {}): Promise<HookQueue> {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const { db, takeLock } = await temporaryEngine(t, dataDir)
  const clock = fixedClock(new Date().toISOString())
  const logLines: string[] = []
  const log = createLog({ level: 'debug', format: 'json', write: (text) => logLines.push(text) })
  const open = () => {
    const key = { key: () => readHookKey(dataDir), mayHaveKey: true }
    const hooks = openHooks({ db, takeLock, ...key, clock: clock.read, log, attemptMs: tryMs })
    hooks.start()
    return hooks
  }
  const queue: HookQueue = {
    db,
    dataDir,
    clock,
    logLines,
    hooks: open(),
    async createHook(url, ...events) {
      const eventNames = events.length > 0 ? events : (['document.created'] as const)
      const hook = { url, events: eventNames, company_id: null, agent_id: null }
      return createHook(db, await ensureHookKey(dataDir), hook, clock.read().toISOString())
    },
    async queueDocuments(id, count = 1) {
      const upload = {
        companyId: COMPANY,
        agentId: AGENT,
        runs: [{ id, count }],
        at: clock.read().toISOString(),
      }
      await db.transaction().execute((trx) => queueDocuments(trx, upload))
      queue.hooks.wake()
    },
    async advance(ms) {
      await queue.hooks.idle()
      clock.now = new Date(clock.now.getTime() + ms)
      queue.hooks.wake()
    },
    async readHook(id) {
      const hook = (await selectListedHooks(db)).find((one) => one.id === id)
      if (!hook) throw new Error(`there is no hook ${id}`)
      return hook
    },
    async restart() {
      await queue.hooks.close()
      queue.hooks = open()
    },
  }
  t.after(() => queue.hooks.close())
  return queue
}

/** Waits until `count` messages have been received. */
export function hasReceived(receiver: { received: readonly unknown[] }, count: number): Promise<void> {
  return until(() => receiver.received.length >= count)
}
