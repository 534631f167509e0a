// Claims against what must hold whatever happens (decisions 3.16): 16 workers that die, a server that is killed, leases
// that end, a clock that jumps, documents that no worker survives. Repeated with
// CAMBISTA_SEED=17 node --test test/faults/claims-model.test.ts; CAMBISTA_TORTURE=long takes ten thousand documents.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { fillDatabase } from '../support/directory.ts'
import {
  checkOutcomes,
  createWorld,
  LEASE_SECONDS,
  uploadDocuments,
  workUntilDone,
} from '../support/documents/claim-workers.ts'
import type { Facts } from '../support/documents/fast-server.ts'
import { type Program, startProgram } from '../support/program.ts'
import { randomOf } from '../support/rates/random-bank.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { figure, SEED, scaled } from './scale.ts'

const DOCUMENTS = scaled({ short: 1000, long: 10_000 })
const WORKERS = 16
const FASTER = 100
const SERVER = join(import.meta.dirname, '../support/documents/fast-server.ts')

async function start(t: TestContext, dataDir: string, kills: number): Promise<[Program, string]> {
  const facts: Facts = { dataDir, faster: FASTER, seed: SEED + kills }
  const program = startProgram(t, [JSON.stringify(facts)], {}, [process.execPath, SERVER])
  const [, url = ''] = await program.says(/(http:\S+)/)
  return [program, url]
}

test(`${WORKERS} workers, ${DOCUMENTS} documents, seed ${SEED}: each has one outcome`, async (t) => {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const random = randomOf(SEED)
  let kills = 0
  let [program, url] = await start(t, dataDir, kills)
  const world = createWorld({ url: () => url, leaseMs: (LEASE_SECONDS * 1000) / FASTER })
  const ids = await uploadDocuments(url, DOCUMENTS)
  const db = openDatabase(dataDir)
  t.after(() => db.destroy())
  const disturb = async () => {
    await pause(random.int(200, 1500))
    if (world.isOver) return
    program.child.kill('SIGKILL')
    await program.ended()
    ;[program, url] = await start(t, dataDir, ++kills)
  }
  await workUntilDone(world, db, { workers: WORKERS, seed: SEED, disturb })

  await checkOutcomes(world, db, ids)
  const { counts } = world
  for (const [what, count] of Object.entries({ kills, ...counts })) figure(t, what, count)
  assert.ok(kills > 0 && counts.died > 0 && counts.expired > 0, 'the faults happened')
})
