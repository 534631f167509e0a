// Claims of two nodes over one database. 16 workers use either node, nodes are killed, and leases expire by the
// database clock, fifty times leaseSpeed here. A worker that waits at one node must also notice events at the other.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ServerProcessOptions } from '../support/documents/server-process.ts'

process.env.CAMBISTA_TEST_ENGINE = 'postgres' // before the modules that look at it are loaded
const { startTestApp } = await import('../support/app.ts')
const { batch, countWaits, CREATE, fillDatabase, fillDirectory, pdf, post, TOKENS } = await import(
  '../support/directory.ts'
)
const { createClaimOrder } = await import('../support/documents/claim-order.ts')
const { checkOutcomes, createWorld, insertAgents, LEASE_SECONDS, uploadDocuments, workUntilDone } =
  await import('../support/documents/claim-workers.ts')
const { openLeaseTime: leaseTimeIn } = await import('../support/documents/lease-time.ts')
const { atomically, engineSql } = await import('../../src/store/engine.ts')
const { selectClaimable } = await import('../../src/store/documents/queue.ts')
const { openNode, postgresAddress } = await import('../support/postgres/database.ts')
const { queryOnce: ask } = await import('../support/postgres/server.ts')
const { ownAddress, startProgram } = await import('../support/program.ts')
const { createRandom: randomOf } = await import('../support/rates/random-bank.ts')
const { temporaryDirectory } = await import('../support/temporary.ts')
const { until } = await import('../support/terminal.ts')
const { figure, scaled } = await import('../faults/scale.ts')
const { SEED } = await import('../support/seed.ts')

type TestApp = Awaited<ReturnType<typeof startTestApp>>
type Claimed = { id: number; claim_id: string; attempts: number }

const DOCUMENTS = scaled({ short: 100, long: 10_000 })
const WORKERS = 16
const SPEED = 50
const LONGEST_LIFE_MS = 300_000
const SERVER = join(import.meta.dirname, '../support/documents/server-process.ts')

test(`each of ${DOCUMENTS} documents gets one outcome from ${WORKERS} workers of two nodes (seed ${SEED})`, async (t) => {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const database = await withFastClock(await postgresAddress(dataDir))
  const random = randomOf(SEED)
  const ways = randomOf(SEED + 1) // a generator of their own: requests do not change the faults
  let kills = 0
  const start = async () => {
    const options: ServerProcessOptions = { dataDir, host: ownAddress(), database, seed: SEED + kills }
    const program = startProgram(t, [JSON.stringify(options)], {}, [process.execPath, SERVER])
    const [, url = ''] = await program.waitForOutput(/(http:\S+)/)
    return { program, url }
  }
  const nodes = await Promise.all([start(), start()])
  const nodeUrl = (at: number) => nodes[at]?.url ?? ''
  const world = createWorld({
    url: () => nodeUrl(ways.chance(0.5) ? 0 : 1),
    leaseMs: (LEASE_SECONDS * 1000) / SPEED,
    mayBeUnavailable: true,
  })
  const { counts } = world
  const { db } = await openNode(t, database)
  await insertAgents(db)
  const disturb = async () => {
    // On a slow machine most claims expire, and few documents are finished.
    const countEnds = () => counts.finished + counts.expired
    const goal = countEnds() + random.int(5, 40)
    await until(() => world.isOver || countEnds() >= goal, LONGEST_LIFE_MS)
    if (world.isOver) return
    const at = random.int(0, 1)
    nodes[at]?.program.child.kill('SIGKILL')
    await nodes[at]?.program.waitForExit()
    kills++
    nodes[at] = await start()
  }
  const ids: number[] = []
  let [rounds, comparisons] = [0, 0]
  const haveAllHappened = () =>
    comparisons > 0 && kills > 0 && counts.died > 0 && counts.taken > 0 && counts.twice > 0
  // A round may lack a fault by chance: rounds go on until each fault has happened.
  while (!haveAllHappened()) {
    ids.push(...(await uploadDocuments(nodeUrl(0), DOCUMENTS, random)))
    world.isOver = false
    world.order = createClaimOrder() // documents of an order are there before its first claim
    await workUntilDone(world, db, { workers: WORKERS, seed: SEED + rounds, disturb })
    comparisons += await checkOutcomes(world, db, ids)
    rounds += 1
    figure(t, `round ${rounds}`, JSON.stringify({ kills, comparisons, ...counts }))
  }
})

test('a claim that waits at one node gets an upload, a release and an expired lease of the other', async (t) => {
  const dataDir = temporaryDirectory(t)
  const time = leaseTimeIn(dataDir)
  const one = await startTestApp(t, { dataDir })
  const other = await startTestApp(t, { dataDir, listen: { metrics: 'local' } })
  await fillDirectory(one)
  await until(async () => (await claim(other, {})).status === 200)
  const tell = async (what: string, node: TestApp, { id, claim_id }: Claimed, more: object = {}) => {
    const path = `/api/v1/documents/${id}/${what}`
    assert.equal((await post(node, path, { claim_id, ...more }, BEARER)).status, 200, what)
  }
  const waitForClaim = async (what: string, event: () => Promise<unknown>): Promise<Claimed> => {
    const waiting = claim(other, { wait: 50, lease_seconds: 3600 })
    await until(async () => (await countWaits(other)) === 1)
    await event()
    const { documents } = (await (await waiting).json()) as { documents: Claimed[] }
    assert.equal(documents.length, 1, what)
    return documents[0] as Claimed
  }
  const uploaded = await waitForClaim('upload', () => post(one, CREATE, batch(pdf('a'))))
  const released = await waitForClaim('release', () => tell('release', one, uploaded))
  const expired = await waitForClaim('end of a lease', () => time.pass(3600))
  assert.deepEqual(
    [uploaded, released, expired].map(({ id, attempts }) => [id, attempts]),
    [1, 2, 3].map((attempts) => [uploaded.id, attempts]),
  )
  await tell('extend', one, expired, { lease_seconds: 60 })
  await tell('finish', one, expired, { outcome: 'done' })
  await tell('finish', other, expired, { outcome: 'done' })
})

test('a claim of several agents skips the documents of a claim that has not ended, and locks no others', async (t) => {
  const dataDir = temporaryDirectory(t)
  const [one, other] = [await startTestApp(t, { dataDir }), await startTestApp(t, { dataDir })]
  await fillDirectory(one)
  const url = await postgresAddress(dataDir)
  await ask(
    url,
    `insert into agents (id, company_id, name, description, active, created_at)
      values (4, 1, 'Cuarto', '', 1, '2026-03-01T00:00:00.000Z')`,
  )
  const ids: number[] = []
  for (const [agent_id, priority] of [1, 4, 1, 4, 1, 4].map((id, at) => [id, 9 - at])) {
    const body = { ...batch(pdf(`${priority}`)), agent_id }
    const answer = await post(one, CREATE, body, { 'x-cambista-priority': String(priority) })
    const { created_documents } = (await answer.json()) as { created_documents: Claimed[] }
    ids.push(created_documents[0]?.id ?? 0)
  }
  const { db } = await openNode(t, url)
  const leases = engineSql(db).leases({ clock: () => new Date() })
  const both = { agentIds: [1, 4], limit: 2 }
  const first = await atomically(db, async (trx) => {
    const rows = await selectClaimable(trx, leases, both)
    for (const [at, node] of [one, other].entries()) {
      const answer = await claim(node, { agent_id: null, agent_ids: both.agentIds, limit: 2 })
      const { documents } = (await answer.json()) as { documents: Claimed[] }
      assert.deepEqual(
        documents.map(({ id }) => id),
        ids.slice(2 + 2 * at, 4 + 2 * at),
      )
    }
    return rows
  })
  assert.deepEqual(
    first.map(({ id }) => id),
    ids.slice(0, 2),
  )
})

const BEARER = { authorization: `Bearer ${TOKENS.work}` }

function claim(node: TestApp, options: object): Promise<Response> {
  return post(node, '/api/v1/documents/claim', { agent_id: 1, ...options }, BEARER)
}

/** The address of the same database with a leaseSpeed clock_timestamp(), found before the one of PostgreSQL. */
async function withFastClock(url: string): Promise<string> {
  await ask(
    url,
    `create function clock_timestamp() returns timestamptz volatile language sql as $$
       select to_timestamp(${Date.now() / 1000}) + ${SPEED} * (pg_catalog.clock_timestamp() - to_timestamp(${Date.now() / 1000}))
     $$`,
  )
  return `${url}${encodeURIComponent(',pg_catalog')}`
}
