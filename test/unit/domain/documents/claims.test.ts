// Claims that a server ends by itself: expired leases wake waiting workers, and abandoned documents fail.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { EVERYTHING } from '../../../../src/domain/documents/access.ts'
import { createWaiters } from '../../../../src/domain/documents/arrivals.ts'
import {
  type ClaimDeps,
  claimDocuments,
  failAbandoned,
} from '../../../../src/domain/documents/claims/claiming.ts'
import { openLeases } from '../../../../src/domain/documents/claims/leases.ts'
import {
  extendClaim,
  finishDocument,
  releaseDocument,
  retryDocument,
} from '../../../../src/domain/documents/claims/outcomes.ts'
import { endClaim, lockClaim } from '../../../../src/store/documents/claims.ts'
import { findDocument } from '../../../../src/store/documents/documents.ts'
import { selectEvents } from '../../../../src/store/documents/events.ts'
import { atomically } from '../../../../src/store/engine.ts'
import { AGENT, makeDirectory, openTestBlobs, storeTexts } from '../../../support/company.ts'
import { openLeaseTime } from '../../../support/documents/lease-time.ts'
import { ofSqlite, openTestDatabase, postgres, temporaryDirectory } from '../../../support/temporary.ts'
import { until } from '../../../support/terminal.ts'

const WORKER = { tokenId: 1, name: 'lector', access: EVERYTHING }
const YEARS_MS = 10 * 365 * 86_400_000

async function open(t: TestContext, texts: string[], { stopped = true } = {}) {
  const dataDir = temporaryDirectory(t)
  const time = openLeaseTime(dataDir)
  await makeDirectory(dataDir)
  const db = openTestDatabase(dataDir)
  t.after(() => db.destroy())
  await db
    .insertInto('tokens')
    .values({ id: 1, name: 'lector', hash: 'h', allow: '', created_at: 'then' })
    .execute()
  const ids = await storeTexts(db, await openTestBlobs(dataDir), texts)
  const waiters = createWaiters()
  let now = new Date('2026-03-24T12:00:00Z')
  const clock = () => now
  const jump = (ms: number) => {
    now = new Date(now.getTime() + ms)
  }
  const begin = async (): Promise<ClaimDeps> => {
    const leases = await openLeases(db, waiters, { clock, ticks: stopped ? time.ticks : undefined })
    t.after(() => leases.close())
    return { db, waiters, leases, clock, maxAttempts: 2, wakeHooks() {} }
  }
  const claim = (claiming: ClaimDeps, leaseSeconds: number, wait = 0, limit = 10) =>
    claimDocuments(
      claiming,
      WORKER,
      { agentIds: [AGENT], limit, leaseSeconds },
      wait === 0
        ? undefined
        : { ms: wait, watch: () => ({ [Symbol.dispose]() {} }), recheckAccess: async () => EVERYTHING },
    )
  return { db, ids, time, jump, clock, begin, claim }
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

test('a document with too many claims is failed, also without a worker', async (t) => {
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
  let claims = await claim(claiming, 3600)
  const wins = { worker: 0, other: 0 }
  for (let round = 0; round < 60; round++) {
    const [one] = claims
    assert.ok(one)
    await time.pass(3600)
    const taking = claim(claiming, 3600)
    // Turns of the event loop where answers of the database come with them, and of promises where they do not.
    for (let turns = 0; turns < round; turns++) await (postgres ? setImmediate() : Promise.resolve())
    const extending = extendClaim(claiming, WORKER, { id: one.id, claimId: one.claim_id }, 3600)
    const [taken, extended] = await Promise.allSettled([taking, extending])
    assert.ok(taken.status === 'fulfilled')
    const isExtended = extended.status === 'fulfilled'
    wins[isExtended ? 'worker' : 'other']++
    if (taken.value.length > 0) claims = taken.value
    assert.equal(taken.value.length, isExtended ? 0 : 1, `round ${round}`)
  }
  assert.ok(wins.other > 0, JSON.stringify(wins))
})

test('the next lease that ends wakes a worker, and neither a longer one nor an extended one does', async (t) => {
  const { ids, begin, claim } = await open(t, ['largo', 'corto', 'prolongado'], { stopped: false })
  const claiming = await begin()
  const one = async (seconds: number) => (await claim(claiming, seconds, 0, 1))[0]
  const [, , extended] = [await one(3600), await one(2), await one(2)]
  const waiting = claim(claiming, 3600, 60_000)
  await extendClaim(claiming, WORKER, { id: ids[2] ?? 0, claimId: extended?.claim_id ?? '' }, 3600)
  assert.deepEqual(
    (await waiting).map(({ id }) => id),
    [ids[1]],
  )
})

test('a lease lasts its seconds though the clock jumps ten years, also over a start', async (t) => {
  for (const years of [YEARS_MS, -YEARS_MS]) {
    const { time, jump, begin, claim } = await open(t, ['uno'])
    const claiming = await begin()
    assert.equal((await claim(claiming, 1000)).length, 1)
    jump(years)
    await time.pass(999)
    assert.deepEqual(await claim(claiming, 1000), [], 'the jump ends no lease')
    await time.pass(1)
    assert.equal((await claim(claiming, 1000)).length, 1, 'nor does it stretch one')
    jump(-2 * years)
    const restarted = await begin()
    await time.pass(999)
    assert.deepEqual(await claim(restarted, 1000), [])
    await time.pass(1)
    await failAbandoned(restarted)
    assert.deepEqual(await claim(restarted, 1000), [], 'two attempts are all there are')
  }
})

test('an end of a lease that another server measured is not used', ofSqlite, async (t) => {
  const { db, time, begin, claim } = await open(t, ['uno'])
  assert.equal((await claim(await begin(), 1000)).length, 1)
  for (const end of [0, 10 ** 12, null]) {
    await db.updateTable('documents').set({ lease_ends: end }).execute()
    const claiming = { ...(await begin()), maxAttempts: 1000 }
    await time.pass(999)
    assert.deepEqual(await claim(claiming, 1000), [], `${end}`)
    await time.pass(1)
    assert.equal((await claim(claiming, 1000)).length, 1, `${end}`)
  }
})

test('the end of a lease that was given up has no part in the next claim', async (t) => {
  const { db, time, clock, begin, claim } = await open(t, ['uno'])
  const claiming = { ...(await begin()), maxAttempts: 1000 }
  const giveUp = [
    async (id: number) => void (await retryDocument(db, id, { via: 'cli', actor: 'ana' }, clock)),
    async (id: number, claimId: string) => void (await releaseDocument(claiming, WORKER, { id, claimId })),
  ]
  for (const end of giveUp) {
    const [one] = await claim(claiming, 3600)
    assert.ok(one)
    await end(one.id, one.claim_id)
    const [two] = await claim(claiming, 100)
    assert.equal(two?.id, one.id, 'at once')
    await time.pass(99)
    assert.deepEqual(await claim(claiming, 100), [])
    await time.pass(1)
    const [three] = await claim(claiming, 100)
    assert.equal(three?.id, one.id)
    await releaseDocument(claiming, WORKER, { id: one.id, claimId: three?.claim_id ?? '' })
  }
})

test('a release of the last attempt, sent again, is answered alike', async (t) => {
  const { db, begin, claim } = await open(t, ['uno', 'dos'])
  const claiming = { ...(await begin()), maxAttempts: 1 }
  const [one, two] = await claim(claiming, 1000)
  assert.ok(one && two)
  const ref = { id: one.id, claimId: one.claim_id }
  const released = await releaseDocument(claiming, WORKER, ref)
  assert.equal(released.state, 'failed')
  assert.deepEqual(await releaseDocument(claiming, WORKER, ref), released)
  const events = await selectEvents(db, { documentId: one.id, limit: 10 })
  assert.deepEqual(
    events.map(({ kind }) => kind),
    ['claimed', 'released', 'failed'],
  )
  const other = { id: two.id, claimId: two.claim_id }
  await finishDocument(claiming, WORKER, other, { outcome: 'failed', note: null, result: null })
  await assert.rejects(releaseDocument(claiming, WORKER, other), { code: 'conflict' })
})

test('a claim that changed inside of a transaction ends it, and nothing of it stays', async (t) => {
  const { db, ids, begin, claim } = await open(t, ['uno'])
  await claim(await begin(), 1000)
  const [id = 0] = ids
  const broken = atomically(db, async (trx) => {
    const row = await lockClaim(trx, id)
    assert.ok(row)
    await endClaim(trx, row, { state: 'done' })
    await endClaim(trx, row, { state: 'failed' })
  })
  await assert.rejects(broken, { name: 'ClaimInvariantError' })
  assert.equal((await findDocument(db, id))?.state, 'claimed')
})

test('no timer runs while no worker waits', ofSqlite, async (t) => {
  const { begin, claim } = await open(t, ['uno'], { stopped: false })
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const before = timers()
  const claiming = await begin()
  await claim(claiming, 3600)
  claiming.leases.wake()
  await until(() => timers() === before)
})
