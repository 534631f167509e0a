// Claims against what must hold whatever happens (decisions 3.16): 16 workers that die, a server that is killed, leases
// that end, a clock that jumps, documents that no worker survives. Repeated with
// CAMBISTA_SEED=17 node --test test/faults/claims-model.test.ts; CAMBISTA_TORTURE=long takes ten thousand documents.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { batch, CREATE, fillDatabase, pdf, TOKENS } from '../support/directory.ts'
import { type Program, startProgram } from '../support/program.ts'
import { type Random, randomOf } from '../support/rates/random-bank.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { figure, SEED, scaled } from './scale.ts'

const DOCUMENTS = scaled({ short: 1000, long: 10_000 })
const WORKERS = 16
const FASTER = 100
const LEASE_SECONDS = 40
const LEASE_MS = (LEASE_SECONDS * 1000) / FASTER
const SERVER = join(import.meta.dirname, '../support/documents/fast-server.ts')
const BEARER = { authorization: `Bearer ${TOKENS.work}` }

type Claimed = { id: number; claim_id: string; attempts: number }
type Outcome = 'done' | 'failed'
/** What is known of a claim: it was live from before `received` until `until` at least. */
type Held = { attempts: number; received: number; until: number }

type World = {
  random: Random
  dataDir: string
  program: Program | undefined
  url: string
  kills: number
  isOver: boolean
  held: Map<number, Held>
  /** Outcomes that were acknowledged, by document: the claim, and what. */
  outcomes: Map<number, Set<string>>
  counts: { claimed: number; finished: number; expired: number; died: number; lost: number; taken: number }
}

async function start(t: TestContext, world: World): Promise<void> {
  const words = [world.dataDir, String(FASTER), String(SEED + world.kills)]
  world.program = startProgram(t, words, {}, [process.execPath, SERVER])
  const [, url = ''] = await world.program.says(/(http:\S+)/)
  world.url = url
}

async function kill(t: TestContext, world: World): Promise<void> {
  const { program } = world
  if (!program) return
  program.child.kill('SIGKILL')
  await program.ended()
  world.kills++
  await start(t, world)
}

/** Undefined: there was no answer, so what came of it is not known. */
async function ask<T>(
  world: World,
  path: string,
  body: unknown,
): Promise<{ status: number; body: T } | undefined> {
  try {
    const response = await fetch(world.url + path, {
      method: 'POST',
      headers: BEARER,
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as T }
  } catch {
    return undefined
  }
}

function isPoisonous(id: number): boolean {
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
    world.held.set(id, { attempts, received, until: sent + LEASE_MS })
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
  if (random.chance(0.05)) await pause(random.int(0, Math.round(LEASE_MS * 1.5)))
  if (random.chance(0.05)) {
    const sent = performance.now()
    const answer = await ask(world, path('extend'), { claim_id: one.claim_id, lease_seconds: LEASE_SECONDS })
    const held = world.held.get(one.id)
    if (answer?.status === 200 && held?.attempts === one.attempts) held.until = sent + LEASE_MS
  }
  if (random.chance(0.03)) {
    letGo()
    await ask(world, path('release'), { claim_id: one.claim_id })
    return true
  }
  const outcome: Outcome = random.chance(0.1) ? 'failed' : 'done'
  for (;;) {
    const sent = performance.now()
    const answer = await ask<{ message: string }>(world, path('finish'), { claim_id: one.claim_id, outcome })
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

test(`${WORKERS} workers, ${DOCUMENTS} documents, seed ${SEED}: each has one outcome`, async (t) => {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const random = randomOf(SEED)
  const counts = { claimed: 0, finished: 0, expired: 0, died: 0, lost: 0, taken: 0 }
  const world: World = {
    random,
    dataDir,
    program: undefined,
    url: '',
    kills: 0,
    isOver: false,
    held: new Map(),
    outcomes: new Map(),
    counts,
  }
  using _stop = {
    [Symbol.dispose]() {
      world.isOver = true // also when a worker found a fault: the others end
    },
  }
  await start(t, world)
  const ids: number[] = []
  for (let sent = 0; sent < DOCUMENTS; sent += 500) {
    const response = await fetch(world.url + CREATE, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKENS.all}` },
      body: JSON.stringify(batch(...Array.from({ length: 500 }, (_, at) => pdf(`${sent + at}`)))),
    })
    const { created_documents } = (await response.json()) as { created_documents: { id: number }[] }
    ids.push(...created_documents.map(({ id }) => id))
  }
  const workers = Array.from({ length: WORKERS }, (_, at) => work(world, randomOf(SEED * 100 + at)))
  const failed = Promise.all(workers).then(() => undefined)
  const db = openDatabase(dataDir)
  t.after(() => db.destroy())
  const rows = () =>
    db.selectFrom('documents').select(['id', 'state', 'claim_id', 'finished_by', 'attempts']).execute()
  const isDone = async () => (await rows()).every(({ state }) => state === 'done' || state === 'failed')
  const killing = (async () => {
    while (!world.isOver) {
      await pause(random.int(200, 1500))
      if (!world.isOver) await kill(t, world)
    }
  })()
  const ended = (async () => {
    while (!world.isOver && !(await isDone())) await pause(100)
  })()
  await Promise.race([ended, failed])
  world.isOver = true
  await Promise.all([failed, killing])

  const found = await rows()
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
  for (const [what, count] of Object.entries({ kills: world.kills, ...counts })) figure(t, what, count)
  assert.ok(world.kills > 0 && counts.died > 0 && counts.expired > 0, 'the faults happened')
})
