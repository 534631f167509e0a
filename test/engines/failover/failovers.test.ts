// Two nodes whose database fails over under uploads, claims, readers and rates. A primary crashes; another is frozen,
// and resumes after its standby was promoted. Replication is strict: nothing that was acknowledged is lost. The long
// form has more rounds; patroni.test.ts has the faults of a whole Patroni.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { figure, scaled } from '../../faults/scale.ts'
import { startWorkload } from '../../support/failover/workload.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres/server.ts'
import { promote, setSynchronous, startStandby } from '../../support/postgres/standby.ts'
import { startSwitch } from '../../support/postgres/switch.ts'

const FAULTS = ['crash', 'freeze'] as const
const ROUNDS = scaled({ short: 1, long: 10 })
const BETWEEN_MS = scaled({ short: 1500, long: 5000 })

test(`${ROUNDS * FAULTS.length} failovers of a strict pair lose nothing under uploads, claims and readers`, async (t) => {
  const open = async (server: PostgresServer) => {
    t.after(() => server.close())
    return server
  }
  let primary = await open(await startPostgres())
  const entry = await startSwitch(t, primary)
  const workload = await startWorkload(t, entry.url, false)
  for (let round = 0; round < ROUNDS; round++) {
    for (const fault of FAULTS) {
      const former = primary
      const standby = await open(await startStandby(former))
      await setSynchronous(former, true)
      await wait(BETWEEN_MS)
      const thaw = fault === 'crash' ? await former.crash() : former.freeze()
      await promote(standby)
      entry.lead(standby)
      figure(t, `ms from ${fault} and promotion to an acknowledged upload`, await workload.recovery())
      thaw?.()
      await wait(BETWEEN_MS)
      await former.close()
      primary = standby
    }
  }
  assert.deepEqual(await workload.judge(), [])
  assert.deepEqual(workload.soak.faults, [])
  const acknowledged = workload.soak.counts.get('documents acknowledged') ?? 0
  assert.ok(acknowledged > 20, `${acknowledged} documents were acknowledged`)
})
