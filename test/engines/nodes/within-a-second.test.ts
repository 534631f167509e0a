// Commits and revocations reach the answers of both nodes soon.

import '../../support/postgres/on-postgres.ts'
import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { atomically } from '../../../src/store/engine.ts'
import { raiseRevision } from '../../../src/store/meta.ts'
import { rawQuery } from '../../../src/store/postgres/raw-query.ts'
import { markSeriesChanged, upsertRates } from '../../../src/store/rates/rates.ts'
import { figure, scaled } from '../../faults/scale.ts'
import { fillDatabase } from '../../support/directory.ts'
import { type Cluster, type Node, openCluster } from '../../support/postgres/nodes.ts'

const TIMES = scaled({ short: 5, long: 500 })
const POLL_MS = 15
const MAX_MS = 60_000 // for a machine that pauses; the number within a second is printed
const REREAD_MS = 15_000 // nodes read keys and tokens again, even without a change (decisions#outages)
const DAY = '2026-03-20'

let cluster: Cluster
let nodes: readonly Node[]
before(async (t) => {
  cluster = await openCluster(t as TestContext)
  await fillDatabase(cluster.dataDir)
  nodes = await Promise.all([cluster.start(), cluster.start()])
  await cluster.command('sync', '--from', '2026-03-19', '--to', '2026-03-20')
})

test(`${TIMES} commits are answered with by both nodes`, async (t) => {
  const { key } = await createKey('reader')
  const series = 2
  await measureChanges(t, async (time) => {
    const value = `4${String(time).padStart(3, '0')}.5`
    await atomically(cluster.db, async (trx) => {
      const row = { series_id: series, rate_date: DAY, value, rounded_to: null }
      await upsertRates(trx, [row], Date.now())
      await markSeriesChanged(trx, [series], await raiseRevision(trx))
    })
    return async (node) => {
      const path = `/api/v1/series/${series}/history?from=${DAY}&to=${DAY}`
      const answer = await fetch(node.url + path, { headers: { 'x-api-key': key } })
      return (await answer.text()).includes(`"${value}"`)
    }
  })
})

test(`${TIMES} keys work on both nodes, and are refused once they are revoked`, async (t) => {
  await measureChanges(t, async (time) => {
    const { id, key } = await createKey(`of ${time}`)
    const status = (node: Node) => fetchStatus(node, '/api/v1/providers', { 'x-api-key': key })
    await waitForAll(async (node) => (await status(node)) === 200)
    await cluster.command('key', 'revoke', String(id))
    return async (node) => (await status(node)) === 401
  })
})

test(`${TIMES} tokens work on both nodes, and are refused once they are revoked`, async (t) => {
  await measureChanges(t, async (time) => {
    const result = await cluster.command(
      'token',
      'create',
      `of ${time}`,
      '--allow',
      'documents:GET',
      '--json',
    )
    const { id, token } = JSON.parse(result.out) as { id: number; token: string }
    const status = (node: Node) =>
      fetchStatus(node, '/api/v1/documents', { authorization: `Bearer ${token}` })
    await waitForAll(async (node) => (await status(node)) === 200)
    await cluster.command('token', 'revoke', String(id))
    return async (node) => (await status(node)) === 401
  })
})

test(`${TIMES} tokens are refused once raw SQL has revoked them`, async (t) => {
  const delays = await measureChanges(t, async (time) => {
    const words = ['token', 'create', `raw ${time}`, '--allow', 'documents:GET', '--json']
    const { id, token } = JSON.parse((await cluster.command(...words)).out) as { id: number; token: string }
    const status = (node: Node) =>
      fetchStatus(node, '/api/v1/documents', { authorization: `Bearer ${token}` })
    await waitForAll(async (node) => (await status(node)) === 200)
    await rawQuery(
      cluster.db,
      `with revoked as (update tokens set revoked_at = '2026-01-01T00:00:00Z' where id = ${id} returning id)
       select count(*) from revoked`,
    )
    return async (node) => (await status(node)) === 401
  })
  const median = delays[Math.floor(delays.length / 2)] ?? MAX_MS
  assert.ok(median < REREAD_MS / 5, `the median is ${median} ms`)
})

/** Makes TIMES changes, and prints the time until both nodes answered with each. Returns the times in their order. */
async function measureChanges(
  t: TestContext,
  change: (time: number) => Promise<(node: Node) => Promise<boolean>>,
): Promise<number[]> {
  const delays: number[] = []
  for (let time = 0; time < TIMES; time++) {
    const isSeen = await change(time)
    delays.push(await waitForAll(isSeen))
  }
  delays.sort((one, other) => one - other)
  const within = delays.filter((ms) => ms <= 1000).length
  figure(t, `of ${TIMES} within a second`, within)
  figure(t, 'median and most, in milliseconds', `${delays[Math.floor(delays.length / 2)]} ${delays.at(-1)}`)
  return delays
}

/** Milliseconds until the condition is true at all nodes. */
async function waitForAll(isSeen: (node: Node) => Promise<boolean>): Promise<number> {
  const began = performance.now()
  const each = nodes.map(async (node) => {
    while (!(await isSeen(node))) {
      assert.ok(performance.now() - began < MAX_MS, `${node.url} does not know it`)
      await wait(POLL_MS)
    }
  })
  await Promise.all(each)
  return Math.round(performance.now() - began)
}

async function createKey(name: string): Promise<{ id: number; key: string }> {
  const { out } = await cluster.command('key', 'create', name, '--json')
  return JSON.parse(out) as { id: number; key: string }
}

async function fetchStatus({ url }: Node, path: string, headers: Record<string, string>): Promise<number> {
  const answer = await fetch(url + path, { headers })
  await answer.arrayBuffer()
  return answer.status
}
