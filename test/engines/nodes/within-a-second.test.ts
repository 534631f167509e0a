// What is committed beside two nodes, and the end of a key or of a token, is what both of them answer with soon.

import '../../support/postgres/on-postgres.ts'
import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { atomically } from '../../../src/store/engine.ts'
import { raiseRevision } from '../../../src/store/meta.ts'
import { markSeriesChanged, upsertRates } from '../../../src/store/rates/rates.ts'
import { figure, scaled } from '../../faults/scale.ts'
import { fillDatabase } from '../../support/directory.ts'
import { type Cluster, type Node, openCluster } from '../../support/postgres/nodes.ts'

const TIMES = scaled({ short: 10, long: 500 })
const LOOK_EVERY_MS = 15
const AT_THE_LATEST_MS = 60_000 // on a machine that stands still; how many were within a second is printed
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
  const { key } = await madeKey('reader')
  const series = 2
  await measured(t, async (time) => {
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
  await measured(t, async (time) => {
    const { id, key } = await madeKey(`of ${time}`)
    const status = (node: Node) => statusOf(node, '/api/v1/providers', { 'x-api-key': key })
    await seenByAll(async (node) => (await status(node)) === 200)
    await cluster.command('key', 'revoke', String(id))
    return async (node) => (await status(node)) === 401
  })
})

test(`${TIMES} tokens work on both nodes, and are refused once they are revoked`, async (t) => {
  await measured(t, async (time) => {
    const made = await cluster.command('token', 'create', `of ${time}`, '--allow', 'documents:GET', '--json')
    const { id, token } = JSON.parse(made.out) as { id: number; token: string }
    const status = (node: Node) => statusOf(node, '/api/v1/documents', { authorization: `Bearer ${token}` })
    await seenByAll(async (node) => (await status(node)) === 200)
    await cluster.command('token', 'revoke', String(id))
    return async (node) => (await status(node)) === 401
  })
})

/** Changes something that many times, and says how long it took until both nodes answered with it. */
async function measured(
  t: TestContext,
  change: (time: number) => Promise<(node: Node) => Promise<boolean>>,
): Promise<void> {
  const took: number[] = []
  for (let time = 0; time < TIMES; time++) {
    const isSeen = await change(time)
    took.push(await seenByAll(isSeen))
  }
  took.sort((one, other) => one - other)
  const within = took.filter((ms) => ms <= 1000).length
  figure(t, `of ${TIMES} within a second`, within)
  figure(t, 'median and most, in milliseconds', `${took[Math.floor(took.length / 2)]} ${took.at(-1)}`)
}

/** Milliseconds until all nodes say so. */
async function seenByAll(isSeen: (node: Node) => Promise<boolean>): Promise<number> {
  const began = performance.now()
  const each = nodes.map(async (node) => {
    while (!(await isSeen(node))) {
      assert.ok(performance.now() - began < AT_THE_LATEST_MS, `${node.url} does not know it`)
      await wait(LOOK_EVERY_MS)
    }
  })
  await Promise.all(each)
  return Math.round(performance.now() - began)
}

async function madeKey(name: string): Promise<{ id: number; key: string }> {
  const { out } = await cluster.command('key', 'create', name, '--json')
  return JSON.parse(out) as { id: number; key: string }
}

async function statusOf({ url }: Node, path: string, headers: Record<string, string>): Promise<number> {
  const answer = await fetch(url + path, { headers })
  await answer.arrayBuffer()
  return answer.status
}
