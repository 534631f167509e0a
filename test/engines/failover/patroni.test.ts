// Two nodes over Debian's Patroni, etcd and HAProxy, under uploads, claims, readers and rates. Faults are switchovers,
// killed primaries, cut primaries, and primaries that are frozen for longer than their term. Nothing that was
// acknowledged is lost; with asynchronous replication, doctor lists each lost content. Only in the long form, for hours;
// CAMBISTA_FAILOVERS=1 causes each fault once.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { figure, LONG, SEED } from '../../faults/scale.ts'
import { startWorkload, type Workload } from '../../support/failover/workload.ts'
import { type PatroniCluster, startPatroni } from '../../support/patroni/cluster.ts'
import { type Member, TTL } from '../../support/patroni/settings.ts'
import { createRandom, type Random } from '../../support/rates/random-bank.ts'

type Fault = 'switchover' | 'kill' | 'freeze' | 'cut'

const TIMES: Record<Fault, number> = { switchover: 20, kill: 20, freeze: 10, cut: 10 }
const MOST = Number(process.env.CAMBISTA_FAILOVERS ?? 20)
const BETWEEN_MS = 3000
const THAWED_MS = (TTL + 2) * 1000 // a frozen primary resumes when its term is over

for (const mode of ['strict', 'synchronous'] as const)
  test(`${mode} replication under Patroni loses nothing that was acknowledged`, {
    skip: !LONG,
  }, async (t) => {
    const cluster = await startPatroni(t, mode)
    const workload = await startWorkload(t, cluster.url, false)
    await causeFaults(t, cluster, workload)
    assert.deepEqual(await workload.judge(), [])
    assert.deepEqual(workload.soak.faults, [])
  })

test('doctor lists each content that asynchronous replication under Patroni lost', {
  skip: !LONG,
}, async (t) => {
  const cluster = await startPatroni(t, 'asynchronous')
  const workload = await startWorkload(t, cluster.url, true)
  await causeFaults(t, cluster, workload)
  const lostUploads = await workload.judge()
  const listed = await workload.listLostContents()
  figure(t, 'lost uploads, contents that doctor lists', `${lostUploads.length}, ${listed.size}`)
  const storedHashes = await workload.storedHashes()
  const unlisted = lostUploads.filter(({ hashes }) =>
    hashes.some((hash) => !listed.has(hash) && !storedHashes.has(hash)),
  )
  assert.deepEqual(unlisted, [])
  assert.deepEqual(workload.soak.faults, [])
})

/** Causes all faults, and measures the end of each. */
async function causeFaults(t: TestContext, cluster: PatroniCluster, workload: Workload): Promise<void> {
  for (const fault of shuffledFaults(createRandom(SEED))) {
    const former = await cluster.waitUntilHealthy()
    const epoch = await workload.epoch()
    await wait(BETWEEN_MS)
    const start = performance.now()
    const restore = await CAUSES[fault](cluster, former)
    await cluster.nextPrimary(former)
    const primaryMs = Math.round(performance.now() - start)
    const [renewalMs, recoveryMs] = await Promise.all([workload.renewal(epoch), workload.recovery()])
    const what = 'ms to the next primary, and from it to a new epoch, to an acknowledged upload'
    figure(t, `${fault}: ${what}`, `${primaryMs} ${renewalMs} ${recoveryMs}`)
    await wait(Math.max(0, THAWED_MS - (performance.now() - start)))
    restore()
  }
  await cluster.waitUntilHealthy()
  figure(t, 'timeline', await cluster.timeline())
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
