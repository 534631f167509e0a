// Claims against their invariants (decisions#claims). 16 workers die, the server is killed, leases expire, the clock
// jumps, and some documents kill each worker. To repeat a run: CAMBISTA_SEED=17 node --test
// test/faults/claims-model.test.ts. CAMBISTA_TORTURE=long has ten thousand documents.

import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { fillDatabase } from '../support/directory.ts'
import { createClaimOrder } from '../support/documents/claim-order.ts'
import {
  checkOutcomes,
  createWorld,
  insertAgents,
  LEASE_SECONDS,
  uploadDocuments,
  workUntilDone,
} from '../support/documents/claim-workers.ts'
import type { ServerProcessOptions } from '../support/documents/server-process.ts'
import { ownAddress, type Program, startProgram } from '../support/program.ts'
import { createRandom } from '../support/rates/random-bank.ts'
import { SEED } from '../support/seed.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/terminal.ts'
import { figure, scaled } from './scale.ts'

const DOCUMENTS = scaled({ short: 150, long: 10_000 })
const WORKERS = 16
/** Least number of claims that end between two kills. Without it a slow machine never ends the test. */
const LEAST_ENDED = 10
const LONGEST_LIFE_MS = 300_000
const SPEED = 100
const SERVER = join(import.meta.dirname, '../support/documents/server-process.ts')

async function startServer(t: TestContext, dataDir: string, kills: number): Promise<[Program, string]> {
  const options: ServerProcessOptions = { dataDir, host: ownAddress(), leaseSpeed: SPEED, seed: SEED + kills }
  const program = startProgram(t, [JSON.stringify(options)], {}, [process.execPath, SERVER])
  const [, url = ''] = await program.waitForOutput(/(http:\S+)/)
  return [program, url]
}

test(`each of ${DOCUMENTS} documents gets one outcome from ${WORKERS} workers (seed ${SEED})`, async (t) => {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const db = openDatabase(dataDir)
  t.after(() => db.destroy())
  await insertAgents(db)
  const random = createRandom(SEED)
  let kills = 0
  let [program, url] = await startServer(t, dataDir, kills)
  const world = createWorld({ url: () => url, leaseMs: (LEASE_SECONDS * 1000) / SPEED })
  const { counts } = world
  const killServer = async () => {
    // On a slow machine most claims expire, and few documents are finished.
    const countEnds = () => counts.finished + counts.expired
    const goal = countEnds() + LEAST_ENDED + random.int(0, 30)
    await until(() => world.isOver || countEnds() >= goal, LONGEST_LIFE_MS)
    if (world.isOver) return
    program.child.kill('SIGKILL')
    await program.waitForExit()
    ;[program, url] = await startServer(t, dataDir, ++kills)
  }
  const ids: number[] = []
  let [rounds, comparisons] = [0, 0]
  const haveAllHappened = () => comparisons > 0 && kills > 0 && counts.died > 0 && counts.expired > 0
  // A round may lack a fault by chance: rounds go on until each fault has happened.
  while (!haveAllHappened()) {
    ids.push(...(await uploadDocuments(url, DOCUMENTS, random)))
    world.isOver = false
    world.order = createClaimOrder() // documents of an order are there before its first claim
    await workUntilDone(world, db, { workers: WORKERS, seed: SEED + rounds, disturb: killServer })
    comparisons += await checkOutcomes(world, db, ids)
    rounds += 1
    figure(t, `round ${rounds}`, JSON.stringify({ kills, comparisons, ...counts }))
  }
})
