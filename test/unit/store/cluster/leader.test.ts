// A task of one node at a time, over the locks of the engine and over made-up ones.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createLog } from '../../../../src/runtime/log.ts'
import { runAsLeader } from '../../../../src/store/cluster/leader.ts'
import type { Engine, Lock } from '../../../../src/store/engine.ts'
import { temporaryEngine } from '../../../support/temporary.ts'
import { until } from '../../../support/terminal.ts'

const EVENTS = { leads: 'this node has the task', failed: 'the task cannot be had' }

function openTask(t: TestContext, engine: Pick<Engine, 'takeLock'>, begin = async (_: Lock) => {}) {
  const logged: string[] = []
  const steps: string[] = []
  const task = runAsLeader(engine, 'scheduler', {
    log: createLog({ level: 'debug', format: 'json', write: (text) => logged.push(text) }),
    events: EVENTS,
    retryMs: 20,
    async begin(lock) {
      await begin(lock)
      steps.push('begun')
      return { close: async () => void steps.push('closed') }
    },
  })
  t.after(() => task.close())
  const levels = (event: string) =>
    logged.map((line) => JSON.parse(line)).filter((one) => one.event === event)
  return { task, steps, levels: (event: string) => levels(event).map(({ level }) => level) }
}

/** Locks that a test grants and takes away. */
function madeUpLocks() {
  const locks = { isFree: true, lost: new AbortController(), released: 0 }
  const takeLock = async (): Promise<Lock | undefined> => {
    if (!locks.isFree) return undefined
    locks.isFree = false
    locks.lost = new AbortController()
    const release = async () => {
      locks.isFree = true
      locks.released++
    }
    return { outlivesHolderMs: 15_000, lost: locks.lost.signal, check: async () => {}, release }
  }
  return { locks, takeLock }
}

test('runAsLeader runs the task of the only node from its first attempt until it is closed', async (t) => {
  const engine = await temporaryEngine(t)
  const { task, steps, levels } = openTask(t, engine)
  await task.attempted
  assert.deepEqual(steps, ['begun'])
  await task.close()
  await new Promise(setImmediate) // the log writes its lines
  assert.deepEqual(levels(EVENTS.leads), engine.kind === 'sqlite' ? [] : ['info'])
  assert.deepEqual(steps, ['begun', 'closed'])
  const next = openTask(t, engine)
  await next.task.attempted
  assert.deepEqual(next.steps, ['begun'], 'the lock was released')
})

test('runAsLeader begins the task when another node releases the lock', async (t) => {
  const { locks, takeLock } = madeUpLocks()
  locks.isFree = false
  const { task, steps } = openTask(t, { takeLock })
  await task.attempted
  assert.deepEqual(steps, [])
  locks.isFree = true
  await until(() => steps.length > 0)
  assert.deepEqual(steps, ['begun'])
})

test('runAsLeader ends the task when the lock is lost, and begins it again with another lock', async (t) => {
  const { locks, takeLock } = madeUpLocks()
  const { task, steps } = openTask(t, { takeLock })
  await task.attempted
  locks.lost.abort()
  await until(() => steps.length === 3)
  assert.deepEqual(steps, ['begun', 'closed', 'begun'])
  assert.equal(locks.released, 1)
})

test('runAsLeader retries a task that could not begin, and warns of the same reason once', async (t) => {
  const { locks, takeLock } = madeUpLocks()
  let failures = 3
  const { task, steps, levels } = openTask(t, { takeLock }, async () => {
    if (failures-- > 0) throw new Error('no disk')
  })
  await task.attempted
  await until(() => steps.length > 0)
  assert.deepEqual(levels(EVENTS.failed), ['warn', 'debug', 'debug'])
  assert.deepEqual([steps, locks.released], [['begun'], 3])
})
