// Three nodes over one database and one bucket against one model: uploads, claims, readers, rates and syncs run. At
// the same time, nodes are killed and stopped, the database ends, crashes and freezes, and the bucket fails.
// CAMBISTA_SOAK_SECONDS sets the duration.

import '../../support/postgres/on-postgres.ts'
import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { figure, scaled } from '../../faults/scale.ts'
import { startFakeBucket } from '../../support/bucket/fake-bucket.ts'
import { fillDatabase, TOKENS } from '../../support/directory.ts'
import { type Node, openCluster } from '../../support/postgres/nodes.ts'
import { type PostgresServer, SERVER_VARIABLE, startPostgres } from '../../support/postgres/server.ts'
import { createRandom } from '../../support/rates/random-bank.ts'
import { SEED } from '../../support/seed.ts'
import { checkAll } from '../../support/soak/check.ts'
import { soakDay, startClients, startSoakBank } from '../../support/soak/clients.ts'
import { harmBucket, harmDatabase, harmNodes, watchNode } from '../../support/soak/faults.ts'
import { createBookkeeping, STALE_FOR_MS } from '../../support/soak/rates.ts'
import { createSoak, fault } from '../../support/soak/world.ts'
import { until } from '../../support/terminal.ts'

const SECONDS = Number(process.env.CAMBISTA_SOAK_SECONDS ?? scaled({ short: 6, long: 120 }))
const NODES = 3
const COUNTS = { uploaders: 6, workers: 5, ratesReaders: 4 }
const DRAINED_WITHIN_MS = 300_000
const DAY = soakDay()

let server: PostgresServer
before(async (t) => {
  server = await startPostgres()
  ;(t as TestContext).after(() => server.close())
  process.env[SERVER_VARIABLE] = server.url
})

test(`${NODES} nodes for ${SECONDS} s under faults of all kinds: nothing lost, nothing wrong`, async (t) => {
  figure(t, 'seed', SEED)
  const random = createRandom(SEED)
  const nodes: Node[] = []
  const soak = createSoak(random, () => nodes.map(({ url }) => url))
  const books = createBookkeeping(DAY)
  const bucket = await startFakeBucket(t)
  const bank = await startSoakBank(books)
  t.after(() => bank.close())
  const cluster = await openCluster(t)
  Object.assign(cluster.env, {
    CAMBISTA_BCCR_URL: bank.url,
    CAMBISTA_BLOBS: `s3://${bucket.bucket}/of/soak`,
    CAMBISTA_S3_ENDPOINT: bucket.endpoint,
    CAMBISTA_S3_REGION: bucket.region,
    AWS_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
  })
  delete cluster.env.CAMBISTA_BLOBS_SHARED
  await fillDatabase(cluster.dataDir)
  await cluster.command('sync', '--from', DAY, '--to', DAY)
  const { key } = JSON.parse((await cluster.command('key', 'create', 'reader', '--json')).out) as {
    key: string
  }

  let isEnding = false
  const start = async () => {
    const flags = [
      '--sync-cron',
      '* * * * *',
      '--backfill-from',
      DAY,
      '--stale-for',
      `${STALE_FOR_MS / 1000}s`,
    ]
    const node = await cluster.start(...flags)
    watchNode(soak, node, () => isEnding || !nodes.includes(node))
    return node
  }
  nodes.push(...(await Promise.all(Array.from({ length: NODES }, start))))
  const headers = { authorization: `Bearer ${TOKENS.read}` }
  for (const { url } of nodes) {
    await until(async () => (await fetch(`${url}/api/v1/documents`, { headers })).status === 200)
    await until(
      async () =>
        (await fetch(`${url}/api/v1/rates/latest`, { headers: { 'x-api-key': key } })).status === 200,
    )
  }

  harmBucket(soak, bucket, createRandom(SEED + 1))
  const ground = { nodes, server, start }
  const sync = (...words: string[]) => cluster.program('sync', ...words)
  const clients = startClients(soak, { books, key, sync, counts: COUNTS })
  const { reading, working } = clients
  const sending = [...clients.sending, harmNodes(soak, ground), harmDatabase(soak, ground)]
  const timer = setTimeout(() => {
    soak.isOver = true
  }, SECONDS * 1000)
  const stopOnError = (error: unknown) => {
    clearTimeout(timer)
    soak.isOver = true
    clients.drain()
    fault(soak, error instanceof Error ? `${error.stack}` : String(error))
  }
  for (const client of [...sending, ...working, ...reading]) client.catch(stopOnError)
  await Promise.allSettled(sending)
  await until(async () =>
    (await Promise.all(nodes.map(({ url }) => fetch(`${url}/readyz`)))).every(({ ok }) => ok),
  )
  await pause(6000) // an upload whose answer was cut off may still be under way

  soak.isSettled = true
  await Promise.allSettled(reading)
  const isOpen = () =>
    cluster.db
      .selectFrom('documents')
      .select('id')
      .where('agent_id', '=', 1)
      .where('state', 'in', ['new', 'claimed'])
      .limit(1)
      .execute()
  const patience = performance.now() + DRAINED_WITHIN_MS
  while (!clients.isDrained() && (await isOpen()).length > 0) {
    if (performance.now() > patience) stopOnError('documents stay claimed, or new')
    await pause(500)
  }
  clients.drain()
  await Promise.allSettled(working)
  await checkAll(soak, cluster.db, clients)
  isEnding = true
  for (const { child } of nodes) child.kill('SIGTERM')
  for (const node of nodes) assert.equal(await node.waitForExit(), 0)
  for (const [what, times] of [...soak.counts].sort()) figure(t, what, times)
  assert.deepEqual(soak.faults, [])
})
