// What a server does with claims by itself: leases that end wake who waits, and what nobody will finish is failed.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { EVERYTHING } from '../../../src/domain/documents/access.ts'
import { createArrivals } from '../../../src/domain/documents/arrivals.ts'
import {
  type Claiming,
  claimDocuments,
  failAbandoned,
  openLeases,
} from '../../../src/domain/documents/claims/claims.ts'
import { createLeaseTimers } from '../../../src/domain/documents/claims/lease-timers.ts'
import { extendClaim } from '../../../src/domain/documents/claims/outcomes.ts'
import { findDocument } from '../../../src/store/documents.ts'
import { AGENT, keepTexts, makeDirectory, openTestBlobs } from '../../support/company.ts'
import { leaseTimeIn } from '../../support/documents/lease-time.ts'
import { openDatabaseOf, postgres, temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'

const WORKER = { tokenId: 1, name: 'lector', access: EVERYTHING }
const SHORT = 0.05 // seconds

async function open(t: TestContext, texts: string[], { stopped = true } = {}) {
  const dataDir = temporaryDirectory(t)
  const time = leaseTimeIn(dataDir)
  await makeDirectory(dataDir)
  const db = openDatabaseOf(dataDir)
  t.after(() => db.destroy())
  await db
    .insertInto('tokens')
    .values({ id: 1, name: 'lector', hash: 'h', allow: '', created_at: 'then' })
    .execute()
  const ids = await keepTexts(db, await openTestBlobs(dataDir), texts)
  const arrivals = createArrivals()
  const clock = () => new Date('2026-03-24T12:00:00Z')
  const begin = async (): Promise<Claiming> => {
    const leases = await openLeases(db, arrivals, { clock, ticks: stopped ? time.ticks : undefined })
    t.after(() => leases.close())
    return { db, arrivals, leases, clock, maxAttempts: 2 }
  }
  const claim = (claiming: Claiming, leaseSeconds: number, wait = 0) =>
    claimDocuments(
      claiming,
      WORKER,
      { agentId: AGENT, limit: 10, leaseSeconds },
      wait === 0
        ? undefined
        : { ms: wait, watch: () => ({ [Symbol.dispose]() {} }), checkAgain: async () => EVERYTHING },
    )
  return { db, ids, time, begin, claim }
}

test('a worker that waits has the document as soon as the lease of another is over', async (t) => {
  const { ids, begin, claim } = await open(t, ['uno'], { stopped: false })
  const claiming = await begin()
  assert.equal((await claim(claiming, 1)).length, 1)
  const again = await claim(claiming, 60, 600_000)
  assert.deepEqual(
    again.map(({ id, attempts }) => [id, attempts]),
    [[ids[0], 2]],
  )
})

test('a restart of the one process begins each lease anew, and that of a node changes none', async (t) => {
  const { time, begin, claim } = await open(t, ['uno'])
  assert.equal((await claim(await begin(), 1000)).length, 1)
  await time.pass(600)
  const restarted = await begin()
  await time.pass(399)
  if (!postgres) await time.pass(600)
  assert.deepEqual(await claim(restarted, 1000), [])
  await time.pass(1)
  assert.equal((await claim(restarted, 1000)).length, 1)
})

test('what was claimed too often is failed, though no worker comes for it', async (t) => {
  const { db, ids, time, begin, claim } = await open(t, ['veneno', 'otro'])
  const claiming = await begin()
  const state = async (id = 0) => (await findDocument(db, id))?.state
  for (const expected of ['claimed', 'failed']) {
    assert.equal((await claim(claiming, 3600)).length, 2)
    await failAbandoned(claiming)
    assert.equal(await state(ids[0]), 'claimed', 'it is held')
    await time.pass(3600)
    await failAbandoned(claiming)
    assert.deepEqual(await Promise.all(ids.map(state)), [expected, expected])
  }
})

test('a lease that is over is extended by its worker or taken by another, never both', async (t) => {
  const { time, begin, claim } = await open(t, ['uno'])
  const claiming = { ...(await begin()), maxAttempts: 1000 }
  let held = await claim(claiming, 3600)
  const won = { worker: 0, other: 0 }
  for (let round = 0; round < 60; round++) {
    const [one] = held
    assert.ok(one)
    await time.pass(3600)
    const taking = claim(claiming, 3600)
    // Turns of the event loop where answers of the database come with them, and of promises where they do not.
    for (let turns = 0; turns < round; turns++) await (postgres ? setImmediate() : Promise.resolve())
    const extending = extendClaim(claiming, WORKER, { id: one.id, claimId: one.claim_id }, 3600)
    const [taken, extended] = await Promise.allSettled([taking, extending])
    assert.ok(taken.status === 'fulfilled')
    const isExtended = extended.status === 'fulfilled'
    won[isExtended ? 'worker' : 'other']++
    if (taken.value.length > 0) held = taken.value
    assert.equal(taken.value.length, isExtended ? 0 : 1, `round ${round}`)
  }
  assert.ok(won.other > 0, JSON.stringify(won))
})

test('leases that end later do not hide one that ends sooner, and one that is extended does not end', async (t) => {
  const ended: number[] = []
  const leases = createLeaseTimers({
    ticks: () => performance.now(),
    ended: (agentId) => ended.push(agentId),
  })
  t.after(() => leases.close())
  const claimOf = (documentId: number, agentId: number) => ({
    documentId,
    agentId,
    claimId: `c${documentId}`,
    attempts: 1,
  })
  leases.begin(claimOf(1, 1), 3600)
  leases.begin(claimOf(2, 2), SHORT)
  leases.begin(claimOf(3, 3), SHORT)
  leases.begin(claimOf(3, 3), 3600)
  await until(() => ended.length > 0)
  assert.deepEqual(ended, [2])
  assert.deepEqual(leases.endedOf(), [...leases.endedOf(2)])
  assert.deepEqual(leases.endedOf(3), [])
  leases.end(2, 'another claim')
  assert.equal(leases.endedOf(2).length, 1)
  leases.end(2, 'c2')
  assert.equal(leases.endedOf().length, 0)
})
