// Hooks of a server that is killed at random moments, with receivers that hang, disconnect and fail. Each stored
// document is reported, and no other. Each message is signed and has one id in all its attempts. A second test
// measures the memory while a long queue is delivered.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { queueDocuments } from '../../src/domain/hooks/queued-events.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { runJson } from '../support/company.ts'
import { batch, CREATE, fillDatabase, pdf, TOKENS } from '../support/directory.ts'
import { type Receiver, startReceiver } from '../support/hooks/receiver.ts'
import { type Program, startProgram } from '../support/program.ts'
import { createRandom, type Random } from '../support/rates/random-bank.ts'
import { SEED } from '../support/seed.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/terminal.ts'
import { figure, PROGRAM, scaled } from './scale.ts'

const KILLS = scaled({ short: 2, long: 150 })
const QUEUED = scaled({ short: 600, long: 10_000 })
const DELIVERED_WITHIN_MS = 300_000 // 5,000,000 ids, beside other work
const GROWTH_MB = 60

type CreatedHook = { id: number; secret: string }

test(`hooks report each stored document and no other over ${KILLS} kills`, async (t) => {
  const random = createRandom(SEED)
  figure(t, 'seed', SEED)
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => {
    if (random.chance(0.3)) return // hangs
    if (random.chance(0.2)) response.destroy()
    else response.writeHead(random.chance(0.1) ? 500 : 204).end()
  }
  const hangingReceiver = await startReceiver(t)
  hangingReceiver.answer = () => {}
  const eventOption = ['--event', 'document.created']
  const { secret } = await runJson<CreatedHook>(
    dataDir,
    'hook',
    'create',
    '--url',
    receiver.url,
    ...eventOption,
  )
  await runJson(dataDir, 'hook', 'create', '--url', hangingReceiver.url, ...eventOption)
  const acknowledged = new Set<number>()
  for (let kill = 0; kill < KILLS; kill++) {
    const { server, url } = await serve(t, dataDir)
    const before = acknowledged.size
    const uploads = Promise.all([1, 2, 3].map(() => uploadUntilKilled(url, random, acknowledged)))
    await until(() => acknowledged.size > before) // a slow machine may need more than the pause for its first upload
    await wait(random.int(20, 600))
    server.child.kill('SIGKILL')
    assert.equal(await server.waitForExit(), 'SIGKILL')
    await uploads
  }
  receiver.answer = (response) => response.writeHead(204).end()
  const { server } = await serve(t, dataDir)
  await runJson(dataDir, 'hook', 'test', '1') // failed messages become due now instead of in a minute
  const ids = await selectDocumentIds(dataDir)
  await until(() => reportedIds(receiver).size >= ids.size)
  await until(async () => (await countQueued(dataDir, 1)) === 0)
  server.child.kill('SIGTERM')
  assert.equal(await server.waitForExit(), 0, server.printed.err.slice(-1000))
  assert.deepEqual([...acknowledged.difference(ids)], [])
  assert.deepEqual(reportedIds(receiver), ids)
  const bodies = Map.groupBy(receiver.received, ({ id }) => id)
  for (const messages of bodies.values()) assert.equal(new Set(messages.map(({ text }) => text)).size, 1)
  for (const message of receiver.received) receiver.verify(secret, message)
  assert.equal((await countQueued(dataDir, 2)) > 0, true, 'the message of the receiver that hangs is queued')
  figure(
    t,
    'documents, acknowledged, posts',
    `${ids.size}, ${acknowledged.size}, ${receiver.received.length}`,
  )
})

test(`${QUEUED} queued messages are delivered, and as many again with at most ${GROWTH_MB} MB more memory`, async (t) => {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const receiver = await startReceiver(t)
  const eventOption = ['--event', 'document.created']
  await runJson(dataDir, 'hook', 'create', '--url', receiver.url, ...eventOption)
  const db = openDatabase(dataDir)
  const at = new Date().toISOString()
  const queueMessages = (id: number, count: number) =>
    db
      .transaction()
      .execute((trx) => queueDocuments(trx, { companyId: 1, agentId: 1, runs: [{ id, count }], at }))
  await queueMessages(1, QUEUED * 500)
  const { server } = await serve(t, dataDir)
  await until(() => receiver.received.length >= QUEUED, DELIVERED_WITHIN_MS) // the heap has its full size
  const before = peakMemory(server)
  receiver.received.length = 0
  const startMs = performance.now()
  await queueMessages(1_000_000, QUEUED * 500)
  await until(() => receiver.received.length >= QUEUED, DELIVERED_WITHIN_MS)
  figure(t, 'messages of 500 ids a second', Math.round(QUEUED / ((performance.now() - startMs) / 1000)))
  const growth = peakMemory(server) - before
  figure(t, 'memory grew by MB', Math.round(growth))
  await db.destroy()
  assert.ok(growth < GROWTH_MB, `${growth} MB`)
})

async function serve(t: TestContext, dataDir: string): Promise<{ server: Program; url: string }> {
  const flags = ['--data-dir', dataDir, '--port', '0', '--no-scheduler', '--min-free', '0']
  const server = startProgram(t, ['serve', ...flags], {}, PROGRAM)
  const [, url = ''] = await server.waitForOutput(/listening url=(\S+)/)
  return { server, url }
}

/** Uploads one to three documents at a time until the server is killed; collects the acknowledged ids. */
async function uploadUntilKilled(url: string, random: Random, acknowledged: Set<number>): Promise<void> {
  const headers = { authorization: `Bearer ${TOKENS.all}` }
  for (;;) {
    const documents = Array.from({ length: random.int(1, 3) }, () => pdf(`text ${random.next()}`))
    try {
      const response = await fetch(url + CREATE, {
        method: 'POST',
        headers,
        body: JSON.stringify(batch(...documents)),
      })
      const { created_documents } = (await response.json()) as { created_documents: { id: number }[] }
      for (const { id } of created_documents) acknowledged.add(id)
    } catch {
      return
    }
  }
}

function reportedIds({ received }: Receiver): Set<number> {
  const ids = received.flatMap(({ body }) => (body.data.document_ids as number[] | undefined) ?? [])
  return new Set(ids.sort((one, other) => one - other))
}

async function selectDocumentIds(dataDir: string): Promise<Set<number>> {
  const db = openDatabase(dataDir)
  const rows = await db.selectFrom('documents').select('id').orderBy('id').execute()
  await db.destroy()
  return new Set(rows.map(({ id }) => id))
}

async function countQueued(dataDir: string, hook: number): Promise<number> {
  const hooks = await runJson<{ id: number; waiting: number }[]>(dataDir, 'hook', 'list')
  return hooks.find(({ id }) => id === hook)?.waiting ?? 0
}

/** Peak memory of the process, in MB. */
function peakMemory({ child }: Program): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}
