// Claims against their invariants (decisions 3.16). 16 workers die, the server is killed, leases expire, the clock
// jumps, and some documents kill each worker. To repeat a run: CAMBISTA_SEED=17 node --test
// test/faults/claims-model.test.ts. CAMBISTA_TORTURE=long has ten thousand documents.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { fillDatabase } from '../support/directory.ts'
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
/** Least number of documents finished between two kills. Without it a slow machine never ends the test. */
const LEAST_FINISHED = 10
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
  const ids = await uploadDocuments(url, DOCUMENTS, random)
  const killServer = async () => {
    const goal = kills === 0 ? 0 : world.counts.finished + LEAST_FINISHED
    await until(() => world.isOver || world.counts.finished >= goal, LONGEST_LIFE_MS)
    await pause(random.int(200, 1500))
    if (world.isOver) return
    program.child.kill('SIGKILL')
    await program.waitForExit()
    ;[program, url] = await startServer(t, dataDir, ++kills)
  }
  await workUntilDone(world, db, { workers: WORKERS, seed: SEED, disturb: killServer })

  const comparisons = await checkOutcomes(world, db, ids)
  const { counts } = world
  for (const [name, count] of Object.entries({ kills, comparisons, ...counts })) figure(t, name, count)
  assert.ok(comparisons > 0 && kills > 0 && counts.died > 0 && counts.expired > 0, 'the faults happened')
})
