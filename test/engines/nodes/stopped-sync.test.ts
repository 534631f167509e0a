// A sync whose process stands still for longer than its lease: another one takes the task over, and of what the first
// one has in hand when it wakes up not one row lands.

import '../../support/postgres/on-postgres.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { todayIn } from '../../../src/dates.ts'
import { startBank } from '../../../src/demo/bank.ts'
import { figure, scaled } from '../../faults/scale.ts'
import { type Cluster, openCluster } from '../../support/postgres/nodes.ts'
import { startProgram } from '../../support/program.ts'
import { until } from '../../support/terminal.ts'

const TIMES = scaled({ short: 1, long: 10 })
const RANGE = ['--from', '2020-01-01', '--to', '2026-03-20']
const MINE = '111.11'

for (let time = 1; time <= TIMES; time++) {
  test(`of a sync that was stopped past its lease not one row lands (${time} of ${TIMES})`, async (t) => {
    const cluster = await openCluster(t)
    const { env, command, program } = cluster
    const today = () => todayIn(() => new Date())
    const gate = Promise.withResolvers<void>()
    let isHeld = false
    // This bank says the same of every day, so that what the first sync stored is told from the other's.
    const bank = await startBank({
      token: 'test-token',
      today,
      value: () => MINE,
      async faults() {
        if (bank.requests.length < 5 * time) return undefined
        isHeld = true
        await gate.promise
        return undefined
      },
    })
    t.after(() => bank.close())
    const first = startProgram(t, ['sync', ...RANGE], { ...env, CAMBISTA_BCCR_URL: bank.url })
    await until(() => isHeld)
    first.child.kill('SIGSTOP')
    const stoppedAt = performance.now()
    const refused = program('sync', ...RANGE)
    assert.equal(await refused.ended(), 1)
    const pid = new RegExp(`already running on host \\S+, pid ${first.child.pid}, since`)
    assert.match(refused.printed.err, pid)
    await until(async () => (await leaseEndsIn(cluster)) < 0)
    figure(t, 'seconds until the lease was over', ((performance.now() - stoppedAt) / 1000).toFixed(1))
    await command('sync', ...RANGE)
    const before = await everything(cluster)
    assert.ok(before.rates.length > 100)

    gate.resolve()
    first.child.kill('SIGCONT')
    assert.notEqual(await first.ended(), 0)
    await wait(500) // for what it might have left behind on a connection
    assert.deepEqual(await everything(cluster), before)
    assert.match(first.printed.out + first.printed.err, /another node (has|may have) the task sync/)
    const [interrupted, ok] = before.runs
    assert.match(String(interrupted?.message), /interrupted/)
    assert.equal(ok?.status, 'ok')
  })
}

/** Milliseconds. */
async function leaseEndsIn({ db }: Cluster): Promise<number> {
  const { sql } = await import('kysely')
  const left = sql<{ ms: number }>`
    select (extract(epoch from expires_at - clock_timestamp()) * 1000)::int as ms from leases where name = 'sync'`
  return (await left.execute(db)).rows[0]?.ms ?? 0
}

async function everything({ db }: Cluster) {
  return {
    rates: await db.selectFrom('rates').selectAll().orderBy('series_id').orderBy('rate_date').execute(),
    revisions: await db.selectFrom('rate_revisions').selectAll().orderBy('id').execute(),
    coverage: await db
      .selectFrom('coverage')
      .selectAll()
      .orderBy('series_id')
      .orderBy('covered_from')
      .execute(),
    runs: await db.selectFrom('sync_runs').selectAll().orderBy('id').execute(),
    meta: await db.selectFrom('meta').select('data_revision').execute(),
  }
}
