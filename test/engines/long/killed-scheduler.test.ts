// The node of the scheduler is killed: another one takes over soon, and due syncs run once.

import '../../support/postgres/on-postgres.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findLeaseHolder } from '../../../src/store/postgres/lease.ts'
import { selectRuns } from '../../../src/store/rates/sync-runs.ts'
import { addDays, currentDay } from '../../../src/values/dates.ts'
import { figure } from '../../faults/scale.ts'
import { killProgram, type Node, openCluster } from '../../support/postgres/nodes.ts'
import { until } from '../../support/terminal.ts'

const TIMES = 20
const MINUTE_MS = 60_000

test(`the node of the scheduler is killed ${TIMES} times, and each minute's sync runs once`, async (t) => {
  const { db, start } = await openCluster(t)
  const from = addDays(
    currentDay(() => new Date()),
    -3,
  )
  const begin = () => start('--sync-cron', '* * * * *', '--backfill-from', from)
  const nodes: Node[] = await Promise.all([begin(), begin()])
  const holder = async () => {
    const words = await findLeaseHolder(db, 'scheduler')
    return nodes.find(({ child }) => words?.includes(`pid ${child.pid},`))
  }
  const dueRuns = async () =>
    (await selectRuns(db, { limit: 500 })).filter(({ trigger, finished_at }) => {
      return trigger === 'scheduler' && finished_at !== null
    })
  const takeOverSeconds: number[] = []
  for (let time = 0; time < TIMES; time++) {
    await until(async () => (await holder()) !== undefined)
    const node = await holder()
    assert.ok(node)
    const before = (await dueRuns()).length
    const killMs = performance.now()
    await killProgram(node)
    nodes.splice(nodes.indexOf(node), 1)
    await until(async () => (await holder()) !== undefined, 2 * MINUTE_MS)
    takeOverSeconds.push(Math.round((performance.now() - killMs) / 100) / 10)
    await until(async () => (await dueRuns()).length > before, 3 * MINUTE_MS)
    nodes.push(await begin())
  }
  figure(t, 'seconds until another node had it', takeOverSeconds.join(' '))
  const minutes = (await dueRuns())
    .filter(({ message }) => !message?.includes('interrupted'))
    .map(({ started_at }) => started_at.slice(0, 16))
  assert.equal(new Set(minutes).size, minutes.length, minutes.join(' '))
  const open = (await selectRuns(db, { limit: 500 })).filter(({ finished_at }) => finished_at === null)
  assert.ok(open.length <= 1, JSON.stringify(open))
})
