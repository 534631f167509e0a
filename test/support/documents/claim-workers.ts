// Realistic workers of two agents. Workers die with documents, overrun and extend leases, release documents, and repeat
// requests without an answer. Their answers are checked against the rules of claims (decisions#claims).

import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { selectWrongSums } from '../../../src/store/documents/usage.ts'
import type { WriteDb } from '../../../src/store/tables.ts'
import { AT, batch, CREATE, pdf, TOKENS } from '../directory.ts'
import { createRandom, type Random } from '../rates/random-bank.ts'
import { until } from '../terminal.ts'
import { type ClaimOrder, checkOrder, createClaimOrder, type Ranked, recordOrder } from './claim-order.ts'

export const LEASE_SECONDS = 40
/** Agents of company 1. */
const AGENTS = [1, 4]
/** Documents of one upload, which have one agent and priority. */
const UPLOADED_AT_ONCE = 10
const BEARER = { authorization: `Bearer ${TOKENS.work}` }

type Claimed = Ranked & { claim_id: string }
type Outcome = 'done' | 'failed'
/** Claim seen by a worker: live at least from before `received` to `until`. */
type LiveClaim = { attempts: number; receivedAt: number; until: number }

export type World = {
  /** The server for the next request, of those that share the documents. */
  url(): string
  /** Milliseconds that a lease of LEASE_SECONDS lasts at least. */
  leaseMs: number
  /** True: a 503 is no fault. A shared database may not answer within a second, and the client repeats its request. */
  mayBeUnavailable?: boolean
  isOver: boolean
  claims: Map<number, LiveClaim>
  order: ClaimOrder
  /** Acknowledged outcomes by document: claim, outcome and result. */
  outcomes: Map<number, Set<string>>
  counts: Record<'claimed' | 'finished' | 'expired' | 'died' | 'lost' | 'taken' | 'twice', number>
}

export function createWorld(facts: Pick<World, 'url' | 'leaseMs' | 'mayBeUnavailable'>): World {
  const counts = { claimed: 0, finished: 0, expired: 0, died: 0, lost: 0, taken: 0, twice: 0 }
  return {
    ...facts,
    isOver: false,
    claims: new Map(),
    order: createClaimOrder(),
    outcomes: new Map(),
    counts,
  }
}

/** Undefined: no answer came, so the result is unknown. */
async function postJson<T>(
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
    const answer = (await response.json()) as T
    if (response.status === 503 && world.mayBeUnavailable) return undefined
    return { status: response.status, body: answer }
  } catch {
    return undefined
  }
}

function pickAgent(random: Random): number {
  return AGENTS[random.int(0, AGENTS.length - 1)] ?? 1
}

export function isPoisonous(id: number): boolean {
  return id % 97 === 0
}

/** Claims and handles documents until the world is over. A worker that dies drops its documents and starts anew. */
async function work(world: World, random: Random): Promise<void> {
  const { counts } = world
  while (!world.isOver) {
    const request = {
      agent_ids: random.chance(0.5) ? AGENTS : [pickAgent(random)],
      limit: random.int(1, 5),
      lease_seconds: LEASE_SECONDS,
      wait: random.chance(0.2) ? 1 : 0,
    }
    const start = performance.now()
    const answer = await postJson<{ documents: Claimed[] }>(world, '/api/v1/documents/claim', request)
    const end = performance.now()
    if (!answer) {
      world.order.losses.push({ sent: start, received: end })
      counts.lost++
      await pause(20)
      continue
    }
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    recordOrder(world.order, request, answer.body.documents, { sent: start, received: end })
    for (const one of answer.body.documents) recordClaim(world, one, { sent: start, received: end })
    if (answer.body.documents.length === 0) await pause(10)
    for (const one of answer.body.documents) if (!(await handle(world, random, one))) break
  }
}

function recordClaim(
  world: World,
  { id, attempts }: Claimed,
  { sent: start, received: end }: { sent: number; received: number },
): void {
  const before = world.claims.get(id)
  if (before && before.attempts < attempts) {
    assert.ok(end > before.until, `document ${id} was claimed while another worker held it`)
  }
  world.counts.claimed++
  if (!before || before.attempts < attempts)
    world.claims.set(id, { attempts, receivedAt: end, until: start + world.leaseMs })
}

/** Handles a document; false if the worker died. */
async function handle(world: World, random: Random, one: Claimed): Promise<boolean> {
  const { counts } = world
  if (isPoisonous(one.id) || random.chance(0.02)) {
    counts.died++
    return false
  }
  const path = (what: string) => `/api/v1/documents/${one.id}/${what}`
  const endClaim = () => {
    const claim = world.claims.get(one.id)
    if (claim?.attempts === one.attempts) claim.until = Number.NEGATIVE_INFINITY
  }
  if (random.chance(0.05)) await pause(random.int(0, Math.round(world.leaseMs * 1.5)))
  if (random.chance(0.05)) {
    const start = performance.now()
    const answer = await postJson(world, path('extend'), {
      claim_id: one.claim_id,
      lease_seconds: LEASE_SECONDS,
    })
    const claim = world.claims.get(one.id)
    if (answer?.status === 200 && claim?.attempts === one.attempts) claim.until = start + world.leaseMs
  }
  if (random.chance(0.03)) {
    endClaim()
    await postJson(world, path('release'), { claim_id: one.claim_id })
    return true
  }
  const outcome: Outcome = random.chance(0.1) ? 'failed' : 'done'
  const result = random.chance(0.5) ? { result: { claim: one.claim_id, total: random.next() } } : {}
  for (;;) {
    const start = performance.now()
    const finish = () =>
      postJson<{ message: string }>(world, path('finish'), { claim_id: one.claim_id, outcome, ...result })
    const [answer, second] = await Promise.all([finish(), random.chance(0.05) ? finish() : undefined])
    if (answer && second) {
      assert.deepEqual(second, answer, 'the same outcome, sent twice at once')
      counts.twice++
    }
    if (!answer) {
      counts.lost++
      await pause(20)
      if (world.isOver) return true
      continue // sends the same outcome again: it may have been stored
    }
    const now = world.claims.get(one.id)
    const wasTaken = now !== undefined && now.attempts > one.attempts && now.receivedAt < start
    if (wasTaken) counts.taken++
    if (answer.status === 409) {
      counts.expired++
      return true
    }
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.ok(!wasTaken, `document ${one.id} was finished by a claim that was taken over`)
    counts.finished++
    const outcomes = world.outcomes.get(one.id) ?? new Set()
    world.outcomes.set(one.id, outcomes.add(`${one.claim_id} ${outcome} ${JSON.stringify(result.result)}`))
    endClaim()
    return true
  }
}

/** Adds the agent that the directory lacks (directory.ts). */
export async function insertAgents(db: WriteDb): Promise<void> {
  const agents = AGENTS.filter((id) => id !== 1).map((id) => ({ id, name: `Agente ${id}` }))
  const more = { company_id: 1, description: '', active: 1, created_at: AT }
  await db
    .insertInto('agents')
    .values(agents.map((agent) => ({ ...agent, ...more })))
    .execute()
}

/**
 * Uploads documents of random agents and priorities, and returns their ids. Repeats an upload after a 503, as a client
 * does.
 */
export async function uploadDocuments(url: string, count: number, random: Random): Promise<number[]> {
  const ids: number[] = []
  while (ids.length < count) {
    const documents = Array.from({ length: UPLOADED_AT_ONCE }, (_, at) => pdf(`${ids.length + at}`))
    const request = {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TOKENS.all}`,
        'x-cambista-priority': String(random.chance(0.3) ? 0 : random.int(0, 9)),
      },
      body: JSON.stringify({ ...batch(...documents), agent_id: pickAgent(random) }),
    }
    let answer = { status: 503, text: '' }
    await until(async () => {
      const response = await fetch(url + CREATE, request)
      answer = { status: response.status, text: await response.text() }
      return answer.status !== 503
    })
    assert.equal(answer.status, 200, answer.text)
    const { created_documents } = JSON.parse(answer.text) as { created_documents: { id: number }[] }
    ids.push(...created_documents.map(({ id }) => id))
  }
  return ids
}

/** Runs workers until each document has its outcome, and calls `disturb` in a loop. A failed worker ends all of them. */
export async function workUntilDone(
  world: World,
  db: WriteDb,
  { workers, seed, disturb }: { workers: number; seed: number; disturb(): Promise<void> },
): Promise<void> {
  using _stop = {
    [Symbol.dispose]() {
      world.isOver = true
    },
  }
  const working = Array.from({ length: workers }, (_, at) => work(world, createRandom(seed * 100 + at)))
  const failure = Promise.all(working).then(() => undefined)
  const disturbing = (async () => {
    while (!world.isOver) await disturb()
  })()
  const completion = (async () => {
    await until(async () => world.isOver || (await areDone(db)), Number.POSITIVE_INFINITY)
  })()
  await Promise.race([completion, failure])
  world.isOver = true
  await Promise.all([failure, disturbing])
}

/** True if each document has its outcome. */
async function areDone(db: WriteDb): Promise<boolean> {
  const open = await db
    .selectFrom('documents')
    .select('id')
    .where('state', 'in', ['new', 'claimed'])
    .limit(1)
    .execute()
  return open.length === 0
}

/**
 * Checks that each document has one outcome, the acknowledged one, and that its event is stored once. Checks the order
 * of the claims, and returns the number of its comparisons.
 */
export async function checkOutcomes(world: World, db: WriteDb, ids: readonly number[]): Promise<number> {
  const rows = await db
    .selectFrom('documents')
    .leftJoin('document_results', 'document_id', 'id')
    .select(['id', 'state', 'claim_id', 'finished_by', 'result'])
    .orderBy('id')
    .execute()
  assert.deepEqual(
    rows.map(({ id }) => id),
    ids,
    'none is lost',
  )
  for (const { id, state, claim_id, finished_by, result } of rows) {
    const outcomes = [...(world.outcomes.get(id) ?? [])]
    assert.ok(outcomes.length <= 1, `document ${id} was finished ${outcomes.length} times: ${outcomes}`)
    if (outcomes.length === 1)
      assert.equal(`${claim_id} ${state} ${result ?? undefined}`, outcomes[0], `document ${id}`)
    else
      assert.ok(
        result === null || result.includes(claim_id ?? ''),
        `document ${id} has the result of another claim`,
      )
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
  assert.deepEqual(await selectWrongSums(db), [], 'results are counted')
  assert.equal(new Set(events.map(({ document_id }) => document_id)).size, events.length)
  return checkOrder(world.order)
}
