// Workers of an agent as they are in life: they die with documents, take longer than their lease, ask for more time, give
// documents back, and send again what was not answered. What they see is held against what must be so (decisions 3.16).

import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Db } from '../../../src/store/tables.ts'
import { batch, CREATE, pdf, TOKENS } from '../directory.ts'
import { type Random, randomOf } from '../rates/random-bank.ts'

export const LEASE_SECONDS = 40
const BEARER = { authorization: `Bearer ${TOKENS.work}` }

type Claimed = { id: number; claim_id: string; attempts: number }
type Outcome = 'done' | 'failed'
/** What is known of a claim: it was live from before `received` until `until` at least. */
type Held = { attempts: number; received: number; until: number }

export type World = {
  /** The server that is asked next, of those that share the documents. */
  url(): string
  /** For how long a lease of LEASE_SECONDS holds at least. */
  leaseMs: number
  isOver: boolean
  held: Map<number, Held>
  /** Outcomes that were acknowledged, by document: the claim, and what. */
  outcomes: Map<number, Set<string>>
  counts: Record<'claimed' | 'finished' | 'expired' | 'died' | 'lost' | 'taken' | 'twice', number>
}

export function createWorld(facts: Pick<World, 'url' | 'leaseMs'>): World {
  const counts = { claimed: 0, finished: 0, expired: 0, died: 0, lost: 0, taken: 0, twice: 0 }
  return { ...facts, isOver: false, held: new Map(), outcomes: new Map(), counts }
}

/** Undefined: there was no answer, so what came of it is not known. */
async function ask<T>(
  world: World,
  path: string,
  body: unknown,
): Promise<{ status: number; body: T } | undefined> {
  try {
    const response = await fetch(world.url() + path, {
      method: 'POST',
      headers: BEARER,
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as T }
  } catch {
    return undefined
  }
}

export function isPoisonous(id: number): boolean {
  return id % 97 === 0
}

/** Works until all is over; a worker that dies lets go of what it holds, and begins anew. */
async function work(world: World, random: Random): Promise<void> {
  const { counts } = world
  while (!world.isOver) {
    const asked = {
      agent_id: 1,
      limit: random.int(1, 5),
      lease_seconds: LEASE_SECONDS,
      wait: random.chance(0.2) ? 1 : 0,
    }
    const sent = performance.now()
    const answer = await ask<{ documents: Claimed[] }>(world, '/api/v1/documents/claim', asked)
    if (!answer) {
      counts.lost++
      await pause(20)
      continue
    }
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    const received = performance.now()
    for (const one of answer.body.documents) noteClaim(world, one, { sent, received })
    if (answer.body.documents.length === 0) await pause(10)
    for (const one of answer.body.documents) if (!(await handle(world, random, one))) break
  }
}

function noteClaim(
  world: World,
  { id, attempts }: Claimed,
  { sent, received }: { sent: number; received: number },
): void {
  const before = world.held.get(id)
  if (before && before.attempts < attempts) {
    assert.ok(received > before.until, `document ${id} was claimed while another worker held it`)
  }
  world.counts.claimed++
  if (!before || before.attempts < attempts)
    world.held.set(id, { attempts, received, until: sent + world.leaseMs })
}

/** Whether the worker lives. */
async function handle(world: World, random: Random, one: Claimed): Promise<boolean> {
  const { counts } = world
  if (isPoisonous(one.id) || random.chance(0.02)) {
    counts.died++
    return false
  }
  const path = (what: string) => `/api/v1/documents/${one.id}/${what}`
  const letGo = () => {
    const held = world.held.get(one.id)
    if (held?.attempts === one.attempts) held.until = Number.NEGATIVE_INFINITY
  }
  if (random.chance(0.05)) await pause(random.int(0, Math.round(world.leaseMs * 1.5)))
  if (random.chance(0.05)) {
    const sent = performance.now()
    const answer = await ask(world, path('extend'), { claim_id: one.claim_id, lease_seconds: LEASE_SECONDS })
    const held = world.held.get(one.id)
    if (answer?.status === 200 && held?.attempts === one.attempts) held.until = sent + world.leaseMs
  }
  if (random.chance(0.03)) {
    letGo()
    await ask(world, path('release'), { claim_id: one.claim_id })
    return true
  }
  const outcome: Outcome = random.chance(0.1) ? 'failed' : 'done'
  for (;;) {
    const sent = performance.now()
    const finish = () => ask<{ message: string }>(world, path('finish'), { claim_id: one.claim_id, outcome })
    const [answer, second] = await Promise.all([finish(), random.chance(0.05) ? finish() : undefined])
    if (answer && second) {
      assert.deepEqual(second, answer, 'the same outcome, sent twice at once')
      counts.twice++
    }
    if (!answer) {
      counts.lost++
      await pause(20)
      if (world.isOver) return true
      continue // the same outcome again: it may have been written down
    }
    const now = world.held.get(one.id)
    const wasTaken = now !== undefined && now.attempts > one.attempts && now.received < sent
    if (wasTaken) counts.taken++
    if (answer.status === 409) {
      counts.expired++
      return true
    }
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.ok(!wasTaken, `document ${one.id} was finished by a claim that was taken over`)
    counts.finished++
    const outcomes = world.outcomes.get(one.id) ?? new Set()
    world.outcomes.set(one.id, outcomes.add(`${one.claim_id} ${outcome}`))
    letGo()
    return true
  }
}

/** Uploads documents, and returns their ids. What was refused for the moment is sent again, as a client does. */
export async function uploadDocuments(url: string, count: number): Promise<number[]> {
  const ids: number[] = []
  let refused = 0
  while (ids.length < count) {
    const response = await fetch(url + CREATE, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKENS.all}` },
      body: JSON.stringify(batch(...Array.from({ length: 500 }, (_, at) => pdf(`${ids.length + at}`)))),
    })
    const text = await response.text()
    if (response.status === 503 && ++refused < 10) {
      await pause(500)
      continue
    }
    assert.equal(response.status, 200, text)
    const { created_documents } = JSON.parse(text) as { created_documents: { id: number }[] }
    ids.push(...created_documents.map(({ id }) => id))
  }
  return ids
}

/**
 * Workers at work until each document has its outcome, while `disturb` is called again and again. What one of them finds wrong
 * ends all.
 */
export async function workUntilDone(
  world: World,
  db: Db,
  { workers, seed, disturb }: { workers: number; seed: number; disturb(): Promise<void> },
): Promise<void> {
  using _stop = {
    [Symbol.dispose]() {
      world.isOver = true
    },
  }
  const working = Array.from({ length: workers }, (_, at) => work(world, randomOf(seed * 100 + at)))
  const failed = Promise.all(working).then(() => undefined)
  const disturbing = (async () => {
    while (!world.isOver) await disturb()
  })()
  const ended = (async () => {
    while (!world.isOver && !(await areDone(db))) await pause(100)
  })()
  await Promise.race([ended, failed])
  world.isOver = true
  await Promise.all([failed, disturbing])
}

/** Whether each document has its outcome. */
async function areDone(db: Db): Promise<boolean> {
  const open = await db
    .selectFrom('documents')
    .select('id')
    .where('state', 'in', ['new', 'claimed'])
    .limit(1)
    .execute()
  return open.length === 0
}

/** What must be so once all is over: each document has one outcome, the one that was acknowledged, written down once. */
export async function checkOutcomes(world: World, db: Db, ids: readonly number[]): Promise<void> {
  const found = await db
    .selectFrom('documents')
    .select(['id', 'state', 'claim_id', 'finished_by'])
    .orderBy('id')
    .execute()
  assert.deepEqual(
    found.map(({ id }) => id),
    ids,
    'none is lost',
  )
  for (const { id, state, claim_id, finished_by } of found) {
    const outcomes = [...(world.outcomes.get(id) ?? [])]
    assert.ok(outcomes.length <= 1, `document ${id} was finished ${outcomes.length} times: ${outcomes}`)
    if (outcomes.length === 1) assert.equal(`${claim_id} ${state}`, outcomes[0], `document ${id}`)
    if (finished_by === null) assert.equal(state, 'failed', `document ${id} was given up`)
    if (isPoisonous(id))
      assert.deepEqual([state, finished_by], ['failed', null], `document ${id} is poisonous`)
  }
  const events = await db
    .selectFrom('events')
    .select((of) => ['document_id', 'kind', of.fn.countAll<number>().as('count')])
    .where('kind', 'in', ['done', 'failed'])
    .where('via', '=', 'token')
    .groupBy(['document_id', 'kind'])
    .execute()
  assert.ok(
    events.every(({ count }) => count === 1),
    'an outcome is written down once',
  )
  assert.equal(new Set(events.map(({ document_id }) => document_id)).size, events.length)
}
