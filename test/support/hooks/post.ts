// A queue with hooks in a database, a sender over it, and a clock that the test sets.

import type { TestContext } from 'node:test'
import { type HookEvent, queueDocuments } from '../../../src/domain/hooks/events.ts'
import { createHook } from '../../../src/domain/hooks/hooks.ts'
import { type Hooks, openHooks } from '../../../src/hooks/hooks.ts'
import { createLog } from '../../../src/log.ts'
import { type ListedHook, selectListedHooks } from '../../../src/store/hooks/hooks.ts'
import { needHookKey, readHookKey } from '../../../src/store/hooks/key.ts'
import type { Db } from '../../../src/store/tables.ts'
import { AGENT, COMPANY, makeDirectory } from '../company.ts'
import { fixedClock, type TestClock, temporaryDatabase, temporaryDirectory } from '../temporary.ts'
import { until } from '../terminal.ts'

export type Post = {
  db: Db
  dataDir: string
  clock: TestClock
  logged: string[]
  hooks: Hooks
  /** Makes a hook for this address, and returns its id and secret. */
  hook(url: string, ...events: HookEvent[]): Promise<{ id: number; secret: string }>
  /** Queues documents of these ids as their upload does, in one transaction, and wakes the sender. */
  tell(id: number, count?: number): Promise<void>
  /** Moves the clock on, and wakes the sender as its own timer would. */
  pass(ms: number): void
  of(id: number): Promise<ListedHook>
  /** Another sender over the same queue, as after a restart. */
  restart(): Promise<void>
}

/** The clock stands at the time of the test unless told: receivers refuse what is minutes old. */
export async function openPost(t: TestContext, { tryMs }: { tryMs?: number } = {}): Promise<Post> {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const db = temporaryDatabase(t, dataDir)
  const clock = fixedClock(new Date().toISOString())
  const logged: string[] = []
  const log = createLog({ level: 'debug', format: 'json', write: (text) => logged.push(text) })
  const open = () => {
    const hooks = openHooks({ db, key: () => readHookKey(dataDir), clock: clock.read, log, tryMs })
    hooks.start()
    return hooks
  }
  const post: Post = {
    db,
    dataDir,
    clock,
    logged,
    hooks: open(),
    async hook(url, ...events) {
      const given = events.length > 0 ? events : (['document.created'] as const)
      const hook = { url, events: given, company_id: null, agent_id: null }
      return createHook(db, await needHookKey(dataDir), hook, clock.read().toISOString())
    },
    async tell(id, count = 1) {
      const upload = {
        companyId: COMPANY,
        agentId: AGENT,
        runs: [{ id, count }],
        at: clock.read().toISOString(),
      }
      await db.transaction().execute((trx) => queueDocuments(trx, upload))
      post.hooks.wake()
    },
    pass(ms) {
      clock.now = new Date(clock.now.getTime() + ms)
      post.hooks.wake()
    },
    async of(id) {
      const found = (await selectListedHooks(db)).find((one) => one.id === id)
      if (!found) throw new Error(`there is no hook ${id}`)
      return found
    },
    async restart() {
      await post.hooks.close()
      post.hooks = open()
    },
  }
  t.after(() => post.hooks.close())
  return post
}

/** Waits until so many messages have been received. */
export function hasReceived(receiver: { received: readonly unknown[] }, count: number): Promise<void> {
  return until(() => receiver.received.length >= count)
}
