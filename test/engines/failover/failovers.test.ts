// Three nodes whose database fails over under uploads, claims, readers and rates. A primary crashes; another is frozen,
// and resumes after its standby was promoted. Replication is strict: nothing that was acknowledged is lost. The short
// form has one round. The long form takes an hour, or CAMBISTA_SOAK_SECONDS. patroni.test.ts has the faults of a whole
// Patroni.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { figure, scaled } from '../../faults/scale.ts'
import { startWorkload } from '../../support/failover/workload.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres/server.ts'
import { promote, setSynchronous, startStandby } from '../../support/postgres/standby.ts'
import { startSwitch } from '../../support/postgres/switch.ts'

const FAULTS = ['crash', 'freeze'] as const
const NODES = 3
const SECONDS = Number(process.env.CAMBISTA_SOAK_SECONDS ?? scaled({ short: 0, long: 3600 }))
const BETWEEN_MS = scaled({ short: 1500, long: 5000 })

test(`failovers of a strict pair lose nothing under uploads, claims and readers of ${NODES} nodes`, async (t) => {
  const open = async (server: PostgresServer) => {
    t.after(() => server.close())
    return server
  }
  let primary = await open(await startPostgres())
  const entry = await startSwitch(t, primary)
  const workload = await startWorkload(t, entry.url, { nodes: NODES })
  const end = performance.now() + SECONDS * 1000
  const recoveries: number[] = []
  do {
    for (const fault of FAULTS) {
      const former = primary
      const standby = await open(await startStandby(former))
      await setSynchronous(former, true)
      await wait(BETWEEN_MS)
      const thaw = fault === 'crash' ? await former.crash() : former.freeze()
      await promote(standby)
      entry.lead(standby)
      recoveries.push(await workload.recovery())
      thaw?.()
      await wait(BETWEEN_MS)
      await former.close()
      primary = standby
    }
  } while (performance.now() < end)
  figure(t, 'failovers', recoveries.length)
  figure(t, 'most ms from a fault and a promotion to an acknowledged upload', Math.max(...recoveries))
  assert.deepEqual(await workload.judge(), [])
  assert.deepEqual(workload.soak.faults, [])
  const acknowledged = workload.soak.counts.get('documents acknowledged') ?? 0
  assert.ok(acknowledged > 20, `${acknowledged} documents were acknowledged`)
})
