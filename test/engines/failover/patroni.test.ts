// Two nodes over Debian's Patroni, etcd, HAProxy and PgBouncer, under uploads, claims, readers and rates. Faults are
// switchovers, killed primaries, cut primaries, and primaries that are frozen for longer than their term. No id has two
// documents, and doctor lists each lost content; strict replication loses none. Only in the long form, for hours.
// CAMBISTA_FAILOVERS=1 causes each fault once.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { figure, LONG } from '../../faults/scale.ts'
import { startWorkload, type Workload } from '../../support/failover/workload.ts'
import { type PatroniCluster, startPatroni } from '../../support/patroni/cluster.ts'
import { type Member, type PatroniMode, TTL } from '../../support/patroni/settings.ts'
import { type PoolMode, startPgbouncer } from '../../support/postgres/pgbouncer.ts'
import { createRandom, type Random } from '../../support/rates/random-bank.ts'
import { SEED } from '../../support/seed.ts'

type Fault = 'switchover' | 'kill' | 'freeze' | 'cut'

type Installation = { cluster: PatroniCluster; workload: Workload; hasWatchdog: boolean }

// A watchdog resets a machine whose Patroni hangs: its processes are killed instead of thawed.
type Case = { mode: PatroniMode; hasWatchdog?: boolean; pooler?: PoolMode }

const CASES: Case[] = [
  { mode: 'strict', hasWatchdog: true },
  { mode: 'strict' },
  { mode: 'synchronous' },
  { mode: 'asynchronous' },
  { mode: 'strict', hasWatchdog: true, pooler: 'session' },
  { mode: 'asynchronous', pooler: 'transaction' },
]

const TIMES: Record<Fault, number> = { switchover: 20, kill: 20, freeze: 10, cut: 10 }
const MOST = Number(process.env.CAMBISTA_FAILOVERS ?? 20)
const BETWEEN_MS = 3000
const THAWED_MS = (TTL + 2) * 1000 // a frozen primary resumes when its term is over

for (const { mode, hasWatchdog = false, pooler } of CASES) {
  const others = [hasWatchdog && 'a watchdog', pooler && `PgBouncer in ${pooler} mode`].filter(Boolean)
  const replication = [`${mode} replication`, ...others].join(' and ')
  test(`faults under Patroni with ${replication} give no id twice, and doctor lists each loss`, {
    skip: !LONG,
  }, async (t) => {
    const cluster = await startPatroni(t, mode)
    const url = pooler ? await startPgbouncer(t, cluster.url, pooler) : cluster.url
    const workload = await startWorkload(t, url, { mayLose: true })
    await causeFaults(t, { cluster, workload, hasWatchdog })
    const lostUploads = await workload.judge()
    const listed = await workload.listLostContents()
    figure(t, 'lost uploads, contents that doctor lists', `${lostUploads.length}, ${listed.size}`)
    const storedHashes = await workload.storedHashes()
    const unlisted = lostUploads.filter(({ hashes }) =>
      hashes.some((hash) => !listed.has(hash) && !storedHashes.has(hash)),
    )
    assert.deepEqual(unlisted, [])
    assert.deepEqual(workload.soak.faults, [])
    // Without a watchdog a thawed primary may become the leader again, and lose what was acknowledged since.
    figure(t, 'members that were killed because Patroni waited for ever', cluster.repairs)
    figure(t, 'a thawed primary became the leader again', String(cluster.wentBack))
    const losses = [...workload.soak.counts.keys()].filter((kind) => kind.startsWith('lost: '))
    if (hasWatchdog) assert.equal(cluster.wentBack, false)
    if (mode === 'strict' && !cluster.wentBack) assert.deepEqual(losses, [])
  })
}

/** Causes all faults, and measures the end of each. */
async function causeFaults(t: TestContext, { cluster, workload, hasWatchdog }: Installation): Promise<void> {
  let highest = 0
  let restorations = 0
  const settle = async () => {
    const primary = await cluster.waitUntilHealthy()
    const timeline = await cluster.timeline()
    if (timeline < highest) {
      await workload.restoreDatabase()
      restorations += 1
    }
    highest = timeline
    return primary
  }
  for (const fault of shuffledFaults(createRandom(SEED))) {
    const former = await settle()
    const epoch = await workload.epoch()
    await wait(BETWEEN_MS)
    const start = performance.now()
    const restore = await CAUSES[fault](cluster, former)
    await cluster.nextPrimary(former)
    const primaryMs = Math.round(performance.now() - start)
    const [renewalMs, recoveryMs] = await Promise.all([workload.renewal(epoch), workload.recovery()])
    const what = 'ms to the next primary, and from it to a new epoch, to an acknowledged upload'
    figure(t, `${fault}: ${what}`, `${primaryMs} ${renewalMs} ${recoveryMs}`)
    process.stderr.write(`${fault} of ${former.name}: ${primaryMs} ${renewalMs} ${recoveryMs}\n`) // while it runs
    highest = await cluster.timeline()
    await wait(Math.max(0, THAWED_MS - (performance.now() - start)))
    if (fault === 'freeze' && hasWatchdog) {
      await cluster.kill(former)
      cluster.start(former)
    } else restore()
  }
  await settle()
  figure(t, 'timeline', await cluster.timeline())
  figure(t, 'restorations by the operator, after a thawed primary took the lock back', restorations)
}

/** Causes a fault of a primary; the returned function ends it. */
const CAUSES: Record<Fault, (cluster: PatroniCluster, primary: Member) => Promise<() => void>> = {
  async switchover(cluster) {
    await cluster.switchover()
    return () => {}
  },
  async kill(cluster, primary) {
    await cluster.kill(primary)
    return () => cluster.start(primary)
  },
  freeze: async (cluster, primary) => cluster.freeze(primary),
  async cut(cluster, primary) {
    cluster.cut(primary)
    return () => cluster.mend(primary)
  },
}

/** Each fault as often as `TIMES`, in a random order. */
function shuffledFaults(random: Random): Fault[] {
  const faults = (Object.keys(TIMES) as Fault[]).flatMap((fault) =>
    Array.from({ length: Math.min(MOST, TIMES[fault]) }, () => ({ fault, at: random.next() })),
  )
  return faults.sort((one, other) => one.at - other.at).map(({ fault }) => fault)
}
