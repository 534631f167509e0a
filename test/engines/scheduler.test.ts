// The scheduler of two nodes. One has it, and both report the same; when its node dies, the other one runs due syncs.
// A node dies here by losing its connection to the database: its lease expires as after a kill.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { INTERRUPTED, selectRuns } from '../../src/store/rates/sync-runs.ts'

process.env.CAMBISTA_TEST_ENGINE = 'postgres' // before the modules that look at it are loaded
const { startTestApp } = await import('../support/app.ts')
const { postgresAddress, postgresDatabase } = await import('../support/postgres/database.ts')
const { queryOnce: ask } = await import('../support/postgres/server.ts')
const { startProxy } = await import('../support/postgres/proxy.ts')
const { createRandom } = await import('../support/rates/random-bank.ts')
const { SEED } = await import('../support/seed.ts')
const { fixedClock, temporaryDirectory } = await import('../support/temporary.ts')
const { until } = await import('../support/terminal.ts')

// Long enough that a machine that pauses for two seconds does not count as dead.
const LEASE = { ttlMs: 3000, renewMs: 500 }
const HAS_IT = 'this node has the scheduler'
const ROUNDS = process.env.CAMBISTA_TORTURE === 'long' ? 20 : 4

type Shown = { enabled: boolean; running: boolean; tasks: { next_run: string | null }[] }

/** Nodes that share a clock, each with a network of its own. */
async function openNodes(t: TestContext, schedulers: readonly boolean[], leaseTimes = LEASE) {
  const dataDir = temporaryDirectory(t)
  const clock = fixedClock('2026-03-24T12:00:00Z')
  const address = await postgresAddress(dataDir)
  const db = postgresDatabase(dataDir)
  t.after(() => db.destroy())
  const nodes = []
  for (const scheduler of schedulers) {
    const proxy = await startProxy(t, address)
    const options = { scheduler, leaseTimes, backfillFrom: '2026-03-20' } as const
    const node = await startTestApp(t, { dataDir, clock, database: proxy.url, ...options })
    const hasIt = () => node.logLines.filter((line) => line.includes(HAS_IT)).length
    const cut = (isCut: boolean) => proxy.decide(() => (isCut ? 'cut' : 'pass'))
    nodes.push({ ...node, hasIt, cut, shown: () => node.json<Shown>('/api/v1/scheduler') })
  }
  const runs = async () =>
    (await selectRuns(db, { limit: 500 })).filter(({ trigger }) => trigger !== 'refine')
  return { nodes, clock, runs, address }
}

test('the scheduler runs on one of three nodes, all report the same, and another one takes over at its close', async (t) => {
  const { nodes, runs } = await openNodes(t, [true, true, false], { ttlMs: 15_000, renewMs: 1000 })
  const [one, other, third] = nodes
  assert.ok(one && other && third)
  await until(async () => (await runs()).some(({ finished_at }) => finished_at !== null))
  assert.deepEqual([one.hasIt(), other.hasIt(), third.hasIt()], [1, 0, 0])
  const expected = { enabled: true, running: true, nextRun: '2026-03-25T11:00:00.000Z' }
  const readScheduler = async (node: typeof one) => {
    const { enabled, running, tasks } = await node.shown()
    return { enabled, running, nextRun: tasks[0]?.next_run }
  }
  for (const node of nodes) {
    await until(async () => (await readScheduler(node)).nextRun === expected.nextRun)
    assert.deepEqual(await readScheduler(node), expected)
    const status = await node.json<{ providers: { next_sync: string }[] }>('/api/v1/status')
    assert.equal(status.providers[0]?.next_sync, expected.nextRun)
    assert.equal((await node.json<{ scheduler: string }>('/api/v1/health')).scheduler, 'running')
  }
  const before = (await runs()).length
  await one.app.close()
  await until(async () => other.hasIt() === 1)
  assert.deepEqual(await readScheduler(third), expected)
  await other.app.close()
  assert.deepEqual(await readScheduler(third), { enabled: false, running: false, nextRun: null })
  assert.equal((await runs()).length, before, 'nothing was due')
})

test('a due run happens once, whenever the node dies that has the scheduler', async (t) => {
  const { nodes, clock, runs } = await openNodes(t, [true, true])
  const [one, other] = nodes
  assert.ok(one && other)
  await until(async () => (await runs()).some(({ finished_at }) => finished_at !== null))
  let [holder, waiting] = [one, other]
  const random = createRandom(SEED)
  const day = (at: number, time: string) => new Date(Date.parse(`2026-03-25T${time}Z`) + at * 86_400_000)
  const whole = async (from: Date) =>
    (await runs()).filter(
      ({ started_at, finished_at, message }) =>
        new Date(started_at) >= from && finished_at !== null && !message?.includes(INTERRUPTED),
    )
  for (let at = 0; at < ROUNDS; at++) {
    const dawn = day(at, '11:00:00')
    const kind = at % 3
    const takeOvers = waiting.hasIt()
    if (kind === 0) holder.cut(true) // before it is due
    clock.now = day(at, '11:00:30')
    if (kind === 1) await wait(random.next() * 1500) // somewhere in the run, or before it
    if (kind === 2) await until(async () => (await whole(dawn)).length === 1) // after it
    holder.cut(true)
    await until(() => waiting.hasIt() > takeOvers)
    await until(async () => (await whole(dawn)).length === 1)
    await until(async () => (await runs()).every(({ finished_at }) => finished_at !== null))
    await wait(300)
    assert.equal((await whole(dawn)).length, 1, `round ${at}: ${JSON.stringify(await runs())}`)
    holder.cut(false)
    ;[holder, waiting] = [waiting, holder]
  }
})

test('a node that slept past its lease begins no run, though it does not know yet', async (t) => {
  const { nodes, clock, runs, address } = await openNodes(t, [true], { ttlMs: 90_000, renewMs: 30_000 })
  await until(async () => (await runs()).some(({ finished_at }) => finished_at !== null))
  const before = (await runs()).length
  await ask(address, `update leases set holder = 'another', fence = fence + 1 where name = 'scheduler'`)
  clock.now = new Date('2026-03-25T11:00:30Z')
  await until(() => nodes[0]?.logLines.some((line) => line.includes('sync refused')) === true)
  assert.equal((await runs()).length, before)
})
