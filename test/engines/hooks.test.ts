// Hooks of two nodes over one database: one node delivers, and the other one takes over when it dies. Each document
// is reported, and no message is delivered by two nodes at a time. A node with an expired lease delivers nothing.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { ServerProcessOptions } from '../support/documents/server-process.ts'
import type { Program } from '../support/program.ts'

process.env.CAMBISTA_TEST_ENGINE = 'postgres' // before the modules that look at it are loaded
const { runJson } = await import('../support/company.ts')
const { batch, CREATE, fillDatabase, pdf, TOKENS } = await import('../support/directory.ts')
const { startReceiver } = await import('../support/hooks/receiver.ts')
const { openNode, postgresAddress } = await import('../support/postgres/database.ts')
const { createPostgresSchema, queryOnce: ask } = await import('../support/postgres/server.ts')
const { endMessages } = await import('../../src/store/hooks/deliveries.ts')
const { ownAddress, startProgram } = await import('../support/program.ts')
const { createRandom: randomOf } = await import('../support/rates/random-bank.ts')
const { temporaryDirectory } = await import('../support/temporary.ts')
const { until } = await import('../support/terminal.ts')
const { figure, scaled } = await import('../faults/scale.ts')
const { SEED } = await import('../support/seed.ts')

type Node = { program: Program; url: string }
type Receiver = Awaited<ReturnType<typeof startReceiver>>

const KILLS = scaled({ short: 2, long: 30 })
const LEASE_TIMES = { ttlMs: 3000, renewMs: 500 }
const SERVER = join(import.meta.dirname, '../support/documents/server-process.ts')

test(`hooks report each document over ${KILLS} kills of the delivering node, by one node at a time`, async (t) => {
  const random = randomOf(SEED)
  figure(t, 'seed', SEED)
  const receiver = await startReceiver(t)
  let hasEnded = false
  const atOnce = watchAttempts(receiver, (response) => {
    if (!hasEnded && random.chance(0.02)) response.destroy()
    else setTimeout(() => response.writeHead(204).end(), random.int(0, 60))
  })
  const cluster = await startNodes(t, receiver)
  const acknowledged = new Set<number>()
  using _stop = {
    [Symbol.dispose]() {
      hasEnded = true // also when something was wrong
    },
  }
  const uploading = Promise.all(
    [0, 1, 2, 3].map(async (at) => {
      while (!hasEnded) {
        const uploadedIds = await upload(cluster.nodes[at % 2])
        for (const id of uploadedIds) acknowledged.add(id)
        if (uploadedIds.length === 0) await wait(20)
      }
    }),
  )
  const takeOvers: number[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    const count = receiver.received.length
    await until(() => receiver.received.length > count + 20)
    const at = await cluster.teller()
    cluster.nodes[at]?.program.child.kill('SIGKILL')
    await cluster.nodes[at]?.program.waitForExit()
    const killMs = performance.now()
    const before = receiver.received.length
    const starting = cluster.start(at)
    await until(() => receiver.received.length > before)
    takeOvers.push(Math.round(performance.now() - killMs))
    await starting
  }
  hasEnded = true
  await uploading
  await runJson(cluster.dataDir, 'hook', 'test', '1') // failed messages become due now instead of in a minute
  await until(async () => (await cluster.waiting()) === 0)
  const [{ ids } = { ids: [] }] = await ask(
    cluster.database,
    'select array_agg(id::int order by id) as ids from documents',
  )
  assert.deepEqual(
    [...reportedIds(receiver)].sort((one, other) => one - other),
    ids,
  )
  assert.deepEqual([...acknowledged.difference(reportedIds(receiver))], [])
  for (const [, messages] of Map.groupBy(receiver.received, ({ id }) => id)) {
    assert.equal(new Set(messages.map(({ text }) => text)).size, 1)
  }
  assert.equal(atOnce.same, 0, 'one message, tried by two at once')
  figure(
    t,
    'documents, acknowledged, posts',
    `${reportedIds(receiver).size}, ${acknowledged.size}, ${receiver.received.length}`,
  )
  figure(t, 'milliseconds until the next node delivered', takeOvers.join(', '))
})

test('a node with an expired lease delivers no hook messages', async (t) => {
  const receiver = await startReceiver(t)
  const atOnce = watchAttempts(receiver, (response) => response.writeHead(204).end())
  const cluster = await startNodes(t, receiver)
  await upload(cluster.nodes[0])
  await until(() => reportedIds(receiver).size === 1)
  await until(async () => (await cluster.waiting()) === 0)
  const at = await cluster.teller()
  const [asleep, awake] = at === 0 ? cluster.nodes : cluster.nodes.toReversed()
  asleep?.program.child.kill('SIGSTOP')
  for (let more = 0; more < 5; more++) await upload(awake)
  await until(() => reportedIds(receiver).size === 6)
  assert.notEqual(await cluster.teller(), at)
  receiver.answer = (response) => setTimeout(() => response.writeHead(204).end(), 100) // there is a queue now
  const uploads = Promise.all(Array.from({ length: 30 }, () => upload(awake)))
  asleep?.program.child.kill('SIGCONT')
  await uploads
  await until(async () => (await cluster.waiting()) === 0)
  assert.equal(receiver.received.length, 36, 'each once')
  assert.equal(atOnce.same, 0)
})

test('messages that two transactions end have one delivery each', async (t) => {
  const url = await createPostgresSchema()
  const { db } = await openNode(t, url)
  const at = '2026-03-24T12:00:00.000Z'
  await ask(
    url,
    `insert into hooks (url, events, secret, created_at) values ('http://one', 'x', 'x', '${at}')`,
  )
  const messages = [1, 2, 3].map((id) => `(1, 'm${id}', 'x', '{}', '${at}', '${at}')`)
  await ask(
    url,
    `insert into hook_messages (hook_id, message_id, type, body, created_at, due_at) values ${messages}`,
  )
  const end = { at, status: 204, failure: null, tries: 0 } as const
  const first = await db.startTransaction().execute()
  assert.equal(await endMessages(first, { hookId: 1, id: 2 }, end), 1)
  const second = db.transaction().execute((trx) => endMessages(trx, { hookId: 1 }, end))
  await until(async () => (await ask(url, 'select 1 from pg_locks where not granted')).length > 0)
  await first.commit().execute()
  assert.equal(await second, 2)
  const rows = await ask(url, 'select message_id from hook_deliveries order by message_id')
  assert.deepEqual(
    rows.map(({ message_id }) => message_id),
    ['m1', 'm2', 'm3'],
  )
})

/** Two nodes, and a hook for documents. */
async function startNodes(t: TestContext, receiver: Receiver) {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const database = await postgresAddress(dataDir)
  await runJson(dataDir, 'hook', 'create', '--url', receiver.url, '--event', 'document.created')
  const nodes: Node[] = []
  const start = async (at: number) => {
    const options: ServerProcessOptions = { dataDir, host: ownAddress(), database, leaseTimes: LEASE_TIMES }
    const program = startProgram(t, [JSON.stringify(options)], {}, [process.execPath, SERVER])
    const [, url = ''] = await program.waitForOutput(/(http:\S+)/)
    nodes[at] = { program, url }
  }
  await Promise.all([start(0), start(1)])
  return {
    ...{ dataDir, database, nodes, start },
    /** The index of the delivering node. */
    async teller(): Promise<number> {
      let index = -1
      await until(async () => {
        const leaseQuery = `select holder from leases where name = 'hooks' and expires_at > clock_timestamp()`
        const [row] = await ask(database, leaseQuery)
        const [, pid] = /pid (\d+)/.exec(String(row?.holder)) ?? []
        index = nodes.findIndex(({ program }) => String(program.child.pid) === pid)
        return index >= 0
      })

      return index
    },
    /** Number of queued messages. */
    async waiting(): Promise<number> {
      const [row] = await ask(database, 'select count(*)::int as count from hook_messages')
      return Number(row?.count)
    },
  }
}

/** Counts attempts that began during another attempt of the same message. */
function watchAttempts(receiver: Receiver, answer: Receiver['answer']): { same: number } {
  const atOnce = { same: 0 }
  const under = new Set<string>()
  receiver.answer = (response, message) => {
    if (under.has(message.id)) atOnce.same++
    under.add(message.id)
    response.on('close', () => under.delete(message.id))
    answer(response, message)
  }
  return atOnce
}

/** The acknowledged ids; none if the node is down. */
async function upload(node: Node | undefined): Promise<number[]> {
  try {
    const response = await fetch(`${node?.url}${CREATE}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKENS.all}` },
      body: JSON.stringify(batch(pdf(`text ${randomUUID()}`))),
    })
    const { created_documents = [] } = (await response.json()) as { created_documents?: { id: number }[] }
    return created_documents.map(({ id }) => id)
  } catch {
    return []
  }
}

function reportedIds(receiver: Receiver): Set<number> {
  const ids = receiver.received
    .filter(({ body }) => body.type === 'document.created')
    .flatMap(({ body }) => body.data.document_ids as number[])
  return new Set(ids)
}
