// Hooks of a server that is killed at random moments, with receivers that hang, break off and fail: each document that is
// there is told of, none that is not; each message is signed and has one id, however often it is sent. And memory while
// a long queue is told.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { queueDocuments } from '../../src/domain/hooks/events.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { runJson } from '../support/company.ts'
import { batch, CREATE, fillDatabase, pdf, TOKENS } from '../support/directory.ts'
import { type Receiver, startReceiver } from '../support/hooks/receiver.ts'
import { type Program, startProgram } from '../support/program.ts'
import { type Random, randomOf } from '../support/rates/random-bank.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/terminal.ts'
import { figure, PROGRAM, SEED, scaled } from './scale.ts'

const KILLS = scaled({ short: 6, long: 150 })
const QUEUED = scaled({ short: 2000, long: 10_000 })
const GROWTH_MB = 60

type Made = { id: number; secret: string }

test(`over ${KILLS} kills each document is told of, and none that was not kept`, async (t) => {
  const random = randomOf(SEED)
  figure(t, 'seed', SEED)
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => {
    if (random.chance(0.3)) return // hangs
    if (random.chance(0.2)) response.destroy()
    else response.writeHead(random.chance(0.1) ? 500 : 204).end()
  }
  const hanging = await startReceiver(t)
  hanging.answer = () => {}
  const event = ['--event', 'document.created']
  const { secret } = await runJson<Made>(dataDir, 'hook', 'create', '--url', receiver.url, ...event)
  await runJson(dataDir, 'hook', 'create', '--url', hanging.url, ...event)
  const kept = new Set<number>()
  for (let kill = 0; kill < KILLS; kill++) {
    const { server, url } = await serve(t, dataDir)
    const uploading = Promise.all([1, 2, 3].map(() => uploadUntilItEnds(url, random, kept)))
    await wait(random.int(20, 600))
    server.child.kill('SIGKILL')
    assert.equal(await server.ended(), 'SIGKILL')
    await uploading
  }
  receiver.answer = (response) => response.writeHead(204).end()
  const { server } = await serve(t, dataDir)
  await runJson(dataDir, 'hook', 'test', '1') // what failed meanwhile is due now, and not in a minute
  const ids = await documentsIn(dataDir)
  await until(() => toldBy(receiver).size >= ids.size)
  await until(async () => (await waitingFor(dataDir, 1)) === 0)
  server.child.kill('SIGTERM')
  assert.equal(await server.ended(), 0, server.printed.err.slice(-1000))
  assert.deepEqual([...kept.difference(ids)], [])
  assert.deepEqual(toldBy(receiver), ids)
  const bodies = Map.groupBy(receiver.received, ({ id }) => id)
  for (const messages of bodies.values()) assert.equal(new Set(messages.map(({ text }) => text)).size, 1)
  for (const message of receiver.received) receiver.verify(secret, message)
  assert.equal((await waitingFor(dataDir, 2)) > 0, true, 'that of a receiver that hangs waits')
  figure(t, 'documents, acknowledged, posts', `${ids.size}, ${kept.size}, ${receiver.received.length}`)
})

test(`${QUEUED} messages that waited are told, and as many more within ${GROWTH_MB} MB`, async (t) => {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const receiver = await startReceiver(t)
  const event = ['--event', 'document.created']
  await runJson(dataDir, 'hook', 'create', '--url', receiver.url, ...event)
  const db = openDatabase(dataDir)
  const at = new Date().toISOString()
  const tell = (id: number, count: number) =>
    db
      .transaction()
      .execute((trx) => queueDocuments(trx, { companyId: 1, agentId: 1, runs: [{ id, count }], at }))
  await tell(1, QUEUED * 500)
  const { server } = await serve(t, dataDir)
  await until(() => receiver.received.length >= QUEUED) // the heap is as large as it gets
  const before = memoryOf(server)
  receiver.received.length = 0
  const begun = performance.now()
  await tell(1_000_000, QUEUED * 500)
  await until(() => receiver.received.length >= QUEUED)
  figure(t, 'messages of 500 ids a second', Math.round(QUEUED / ((performance.now() - begun) / 1000)))
  const growth = memoryOf(server) - before
  figure(t, 'memory grew by MB', Math.round(growth))
  await db.destroy()
  assert.ok(growth < GROWTH_MB, `${growth} MB`)
})

async function serve(t: TestContext, dataDir: string): Promise<{ server: Program; url: string }> {
  const flags = ['--data-dir', dataDir, '--port', '0', '--no-scheduler', '--min-free', '0']
  const server = startProgram(t, ['serve', ...flags], {}, PROGRAM)
  const [, url = ''] = await server.says(/listening url=(\S+)/)
  return { server, url }
}

/** Uploads one to three documents at a time until the server is gone, and notes which it said that it has kept. */
async function uploadUntilItEnds(url: string, random: Random, kept: Set<number>): Promise<void> {
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
      for (const { id } of created_documents) kept.add(id)
    } catch {
      return
    }
  }
}

function toldBy({ received }: Receiver): Set<number> {
  const ids = received.flatMap(({ body }) => (body.data.document_ids as number[] | undefined) ?? [])
  return new Set(ids.sort((one, other) => one - other))
}

async function documentsIn(dataDir: string): Promise<Set<number>> {
  const db = openDatabase(dataDir)
  const rows = await db.selectFrom('documents').select('id').orderBy('id').execute()
  await db.destroy()
  return new Set(rows.map(({ id }) => id))
}

async function waitingFor(dataDir: string, hook: number): Promise<number> {
  const hooks = await runJson<{ id: number; waiting: number }[]>(dataDir, 'hook', 'list')
  return hooks.find(({ id }) => id === hook)?.waiting ?? 0
}

/** The most that the process has held, in MB. */
function memoryOf({ child }: Program): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}
