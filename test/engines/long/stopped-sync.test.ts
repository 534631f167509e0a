// A sync whose process is stopped for longer than its lease. Another one takes over, and the first one stores no row
// after it resumes.

import '../../support/postgres/on-postgres.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startBank } from '../../../src/demo/bank.ts'
import { currentDay } from '../../../src/values/dates.ts'
import { figure } from '../../faults/scale.ts'
import { type Cluster, openCluster } from '../../support/postgres/nodes.ts'
import { startProgram } from '../../support/program.ts'
import { until } from '../../support/terminal.ts'

const TIMES = 10
const RANGE = ['--from', '2020-01-01', '--to', '2026-03-20']
const MINE = '111.11'

for (let time = 1; time <= TIMES; time++) {
  test(`a sync that was stopped past its lease stores no row (${time} of ${TIMES})`, async (t) => {
    const cluster = await openCluster(t)
    const { env, command, program } = cluster
    const today = () => currentDay(() => new Date())
    const gate = Promise.withResolvers<void>()
    let isHeld = false
    // This bank has one value for all days, which distinguishes the rows of the first sync.
    const bank = await startBank({
      token: 'test-token',
      today,
      value: () => MINE,
      async faults() {
        if (bank.requests.length < 3 * time) return undefined // the range takes fewer than 40
        isHeld = true
        await gate.promise
        return undefined
      },
    })
    t.after(() => bank.close())
    const first = startProgram(t, ['sync', ...RANGE], { ...env, CAMBISTA_BCCR_URL: bank.url })
    await until(() => isHeld)
    first.child.kill('SIGSTOP')
    const stopMs = performance.now()
    const refused = program('sync', ...RANGE)
    assert.equal(await refused.waitForExit(), 1)
    const pid = new RegExp(`already running on host \\S+, pid ${first.child.pid}, since`)
    assert.match(refused.printed.err, pid)
    await until(async () => (await remainingLease(cluster)) < 0)
    figure(t, 'seconds until the lease was over', ((performance.now() - stopMs) / 1000).toFixed(1))
    await command('sync', ...RANGE)
    const before = await readStore(cluster)
    assert.ok(before.rates.length > 100)

    gate.resolve()
    first.child.kill('SIGCONT')
    assert.notEqual(await first.waitForExit(), 0)
    await wait(500) // for what it might have left behind on a connection
    assert.deepEqual(await readStore(cluster), before)
    assert.match(first.printed.out + first.printed.err, /another node (has|may have) the task sync/)
    const [interrupted, ok] = before.runs
    assert.match(String(interrupted?.message), /interrupted/)
    assert.equal(ok?.status, 'ok')
  })
}

/** Milliseconds until the lease expires. */
async function remainingLease({ db }: Cluster): Promise<number> {
  const { sql } = await import('kysely')
  const query = sql<{ ms: number }>`
    select (extract(epoch from expires_at - clock_timestamp()) * 1000)::int as ms from leases where name = 'sync'`
  return (await query.execute(db)).rows[0]?.ms ?? 0
}

async function readStore({ db }: Cluster) {
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
