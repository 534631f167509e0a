// Clients that wait for documents, in random interleavings with uploads, restarts and lost answers. Each handles
// every matching document once, in the order of ids. None waits while a document is available.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { EVERYTHING } from '../../../../src/domain/documents/access.ts'
import {
  createWaiters,
  type DocumentWaiters,
  openSharedWaiters,
} from '../../../../src/domain/documents/arrivals.ts'
import { waitForDocuments } from '../../../../src/domain/documents/queries.ts'
import { acceptUpload } from '../../../../src/domain/documents/uploads/accept.ts'
import { createUploadedFiles } from '../../../../src/domain/documents/uploads/uploaded-files.ts'
import { createMemoryBudget } from '../../../../src/runtime/memory-budget.ts'
import type { PartyFilter } from '../../../../src/store/documents/filter.ts'
import type { Arrival } from '../../../../src/store/engine.ts'
import type { ReadDb, WriteDb } from '../../../../src/store/tables.ts'
import { scaled } from '../../../faults/scale.ts'
import { AGENT, COMPANY, makeDirectory, openTestBlobs, storeTexts } from '../../../support/company.ts'
import { fillDatabase } from '../../../support/directory.ts'
import { createRandom, type Random } from '../../../support/rates/random-bank.ts'
import { openTestDatabase, openTestReads, postgres, temporaryDirectory } from '../../../support/temporary.ts'
import { until } from '../../../support/terminal.ts'

const INTERLEAVINGS = scaled({ short: postgres ? 30 : 80, long: 1000 }) // a query takes longer there
const FOREVER_MS = 3_600_000 // only a commit ends such a wait, so that one that was missed is noticed
const PARTIES = [
  { company_id: 1, agent_id: 1, owner_id: 1 },
  { company_id: 2, agent_id: 3, owner_id: 2 },
] as const
const FILTERS: PartyFilter[] = [{}, { companyId: 1 }, { agentId: 3 }, { companyId: 2, agentId: 3 }]

type Server = {
  db: ReturnType<typeof openTestDatabase>
  reads: ReturnType<typeof openTestReads>
  waiters: DocumentWaiters
}
type Client = { bound: number | null; filter: (typeof FILTERS)[number]; cursor: number; handled: number[] }

/** The server's part: a database, and uploads into it; a restart closes all of it and opens it again. */
async function openWorld(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const blobs = await openTestBlobs(dataDir)
  const budget = createMemoryBudget({ each: 2 ** 20, all: 2 ** 20 })
  const open = (): Server => {
    const db = openTestDatabase(dataDir)
    return { db, reads: openTestReads(dataDir), waiters: createWaiters() }
  }
  const world = { server: open(), answering: new Set<Promise<unknown>>(), newest: 0, isDown: false }
  const close = async () => {
    world.isDown = true
    world.server.waiters.close()
    await Promise.allSettled(world.answering)
    await Promise.all([world.server.db.destroy(), world.server.reads.destroy()])
  }
  t.after(close)
  return Object.assign(world, {
    async restart() {
      await close()
      world.server = open()
      world.isDown = false
    },
    /** Stores `count` documents, as a request does, and returns the ids of the answer. */
    async upload(party: (typeof PARTIES)[number], count: number): Promise<number[]> {
      using memory = budget.open()
      const staged = blobs.beginBatch(memory)
      const writer = staged.begin()
      await writer.write(Buffer.from('hola'))
      const blob = await writer.keep()
      const files = createUploadedFiles(memory)
      for (let at = 0; at < count; at++) files.add({ name: 'a.txt', mimetype: 'text/plain', blob })
      const documents = { total: count, faults: [], faulty: 0, valid: { files, blobs: staged } }
      const { db, waiters } = world.server
      const clock = () => new Date('2026-03-24T12:00:00Z')
      const deps = { db, waiters, blobs, clock, wakeHooks: () => {} }
      const sender = { tokenId: 1, access: EVERYTHING, key: undefined }
      const { runs } = await acceptUpload(deps, { ...party, documents }, sender)
      const ids = runs.flatMap(({ id, count }) => Array.from({ length: count }, (_, at) => id + at))
      world.newest = ids.at(-1) ?? world.newest
      return ids
    },
  })
}

test(`${INTERLEAVINGS} random interleavings of uploads, waits and restarts`, async (t) => {
  const world = await openWorld(t)
  const counts = { documents: 0, waits: 0, empty: 0, restarts: 0, lost: 0 }
  for (let seed = 1; seed <= INTERLEAVINGS; seed++) {
    const random = createRandom(seed)
    const restarts = createRandom(1000 + seed) // a generator of their own: the order of turns does not change their number
    const clients = Array.from({ length: random.int(1, 4) }, (): Client => {
      const filter = FILTERS[random.int(0, FILTERS.length - 1)] ?? {}
      const bound = filter.companyId ?? (random.chance(0.3) && filter.agentId === undefined ? 1 : null)
      return { bound, filter, cursor: world.newest, handled: [] }
    })
    world.server.waiters = createWaiters()
    let hasEnded = false
    using _stop = {
      [Symbol.dispose]() {
        hasEnded = true // also when an upload fails: the loops end
        world.server.waiters.close()
      },
    }
    const loops = clients.map(async (client) => {
      while (!hasEnded) {
        for (let turns = random.int(1, 3); turns > 0; turns--) await turn()
        if (world.isDown) continue
        const page = { limit: random.int(1, 3), order: 'asc', after: client.cursor } as const
        const { reads, waiters } = world.server
        const db = slowly(reads, random)
        const request = { ...client.filter, page }
        const answer = waitForDocuments(
          { db, waiters },
          { ...EVERYTHING, companyId: client.bound },
          request,
          patience(client, random),
        )
        world.answering.add(answer)
        const { documents } = await answer
        world.answering.delete(answer)
        counts.waits++
        if (documents.length === 0) counts.empty++
        if (random.chance(0.1)) {
          counts.lost++
          continue // the answer was lost or the client killed: it repeats its request
        }
        client.handled.push(...documents.map(({ id }) => id))
        client.cursor = documents.at(-1)?.id ?? client.cursor
      }
    })
    const expectedIds = clients.map((): number[] => [])
    for (let uploads = random.int(1, 3); uploads > 0; uploads--) {
      for (let turns = random.int(0, 8); turns > 0; turns--) await turn()
      if (restarts.chance(0.15)) {
        await world.restart()
        counts.restarts++
      }
      const party = PARTIES[random.int(0, 1)] ?? PARTIES[0]
      const ids = await world.upload(party, random.int(1, 4))
      counts.documents += ids.length
      for (const [at, { bound, filter }] of clients.entries()) {
        const company = filter.companyId ?? bound ?? party.company_id
        const agent = filter.agentId ?? party.agent_id
        if (company === party.company_id && agent === party.agent_id) expectedIds[at]?.push(...ids)
      }
    }
    const haveAll = () => clients.every(({ handled }, at) => handled.length >= (expectedIds[at]?.length ?? 0))
    for (let turns = 0; turns < 200 && !haveAll(); turns++) await turn()
    await until(haveAll).catch(() => {}) // missing documents fail the assertion below
    hasEnded = true
    world.server.waiters.close() // ends the waits for more
    await Promise.all(loops)
    assert.deepEqual(
      clients.map(({ handled }) => handled),
      expectedIds,
      `seed ${seed}`,
    )
  }
  t.diagnostic(JSON.stringify(counts))
  const least = INTERLEAVINGS / 10
  assert.ok(counts.empty > least && counts.restarts > least && counts.lost > least, JSON.stringify(counts))
})

/** The same, but commits may come between an answer of the database and its reader. */
function slowly(db: ReadDb, random: Random): ReadDb {
  return (db as WriteDb).withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      for (let turns = random.int(0, 4); turns > 0; turns--) await turn()
      return result
    },
  })
}

function patience({ bound }: Client, random: Random) {
  const ms = random.chance(0.8) ? FOREVER_MS : random.int(0, 25)
  const disconnectMs = random.chance(0.1) ? random.int(0, 25) : undefined
  return {
    ms,
    recheckAccess: async () => ({ ...EVERYTHING, companyId: bound }),
    watch(gone: () => void) {
      if (disconnectMs !== undefined) setTimeout(gone, disconnectMs)
      return { [Symbol.dispose]() {} }
    },
  }
}

test('a node of a cluster announces each commit of the other nodes once, a single process none', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const db = openTestDatabase(dataDir)
  t.after(() => db.destroy())
  const blobs = await openTestBlobs(dataDir)
  await storeTexts(db, blobs, ['before the start'])
  const announced: Arrival[] = []
  const waiters = { ...createWaiters(), announce: (arrival: Arrival) => announced.push(arrival) }
  const announceCommits = await openSharedWaiters(db, waiters)
  const ids = await storeTexts(db, blobs, ['one', 'two'])
  await announceCommits()
  await announceCommits()
  const arrival = { companyId: COMPANY, agentId: AGENT, last: Math.max(...ids) }
  assert.deepEqual(announced, postgres ? [arrival] : [])
})
