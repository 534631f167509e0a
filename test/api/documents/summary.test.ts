// Summary of the queue, events of a document, and its retry (decisions#queue).

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { hashOfSecret } from '../../../src/domain/access/secrets.ts'
import { selectWrongCounts } from '../../../src/store/documents/counts.ts'
import { startTestApp, type TestApp, temporaryDirectory } from '../../support/app.ts'
import { AT, batch, CREATE, fillDirectory, pdf, post, read, TOKENS } from '../../support/directory.ts'
import { type LeaseTime, openLeaseTime } from '../../support/documents/lease-time.ts'
import { openTestDatabase } from '../../support/temporary.ts'

type Claimed = { id: number; claim_id: string }
type Summary = Record<string, number | string | null | object>
type Event = { event: string; by: string | null; via: string | null; attempt?: number; note?: string }

const NOW = '2026-03-24T12:00:00.000Z'
const RETRY = 'cbt_retry'
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })

let app: TestApp
let time: LeaseTime
before(async (t) => {
  const dataDir = temporaryDirectory(t as TestContext)
  time = openLeaseTime(dataDir)
  app = await startTestApp(t as TestContext, { dataDir, ticks: time.ticks, now: NOW, maxAttempts: 2 })
  await fillDirectory(app)
  const db = openTestDatabase(dataDir)
  const allow = 'documents:RETRY documents:GET'
  await db
    .insertInto('tokens')
    .values({ name: 'test-retry', hash: hashOfSecret(RETRY), allow, created_at: AT })
    .execute()
  await db.destroy()
})

async function upload(options: object, ...names: string[]): Promise<number[]> {
  const body = { ...batch(...names.map((name) => pdf(name, name))), ...options }
  const response = await post(app, CREATE, body)
  const { created_documents } = (await response.json()) as { created_documents: { id: number }[] }
  return created_documents.map(({ id }) => id)
}

async function claim(limit = 1): Promise<Claimed[]> {
  const response = await post(app, '/api/v1/documents/claim', { agent_id: 1, limit }, bearer(TOKENS.work))
  return ((await response.json()) as { documents: Claimed[] }).documents
}

async function work(id: number, what: string, body: object, secret: string = TOKENS.work): Promise<number> {
  return (await post(app, `/api/v1/documents/${id}/${what}`, body, bearer(secret))).status
}

/** The summary of this moment: answers are shared for a second. */
async function summary(query = '', secret: string = TOKENS.read): Promise<Summary> {
  await time.pass(1)
  return latest(query, secret)
}

/** The summary, which may be a second old. */
async function latest(query: string, secret: string = TOKENS.read): Promise<Summary> {
  const response = await read(app, `/api/v1/documents/summary${query}`, bearer(secret))
  assert.equal(response.status, 200)
  return (await response.json()) as Summary
}

async function events(id: number): Promise<Event[]> {
  const response = await read(app, `/api/v1/documents/${id}/events`)
  return ((await response.json()) as { events: Event[] }).events
}

async function checkCounts(): Promise<void> {
  const db = openTestDatabase(app.dataDir)
  assert.deepEqual(await selectWrongCounts(db), [])
  await db.destroy()
}

test('`summary` follows a document through its states, and `events` has each of them', async () => {
  const empty = await summary()
  assert.deepEqual(empty, {
    ...{ waiting: 0, oldest_waiting_at: null, working: 0, working_since: null },
    ...{ failed: 0, failed_today: 0, last_failed_at: null, done_today: 0, median_seconds_today: null },
    ...{ stored: 0, bytes: 0, last_claim: null, changed: 0 },
  })
  const [first = 0, second = 0] = await upload({}, 'a.pdf', 'bb.pdf')
  await upload({ company_id: 2, agent_id: 3, owner_id: 2 }, 'ccc.pdf')
  const arrived = await summary()
  assert.deepEqual(arrived, {
    ...empty,
    waiting: 3,
    oldest_waiting_at: NOW,
    stored: 3,
    bytes: 18,
    changed: 3,
  })
  const [one] = await claim()
  assert.ok(one)
  const withClaim = await summary('?agent_id=1')
  assert.deepEqual(withClaim, {
    ...{ ...empty, waiting: 1, oldest_waiting_at: NOW, working: 1, working_since: NOW, stored: 2, bytes: 11 },
    ...{ last_claim: { at: NOW, by: 'test-work' }, changed: 3 },
  })
  const list = (await (await read(app, '/api/v1/documents?state=claimed')).json()) as {
    documents: { id: number; lease_until?: string }[]
  }
  assert.deepEqual(
    list.documents.map(({ id, lease_until }) => [id, typeof lease_until]),
    [[first, 'string']],
  )
  await time.pass(301)
  assert.deepEqual(await summary('?agent_id=1'), {
    ...{ ...withClaim, waiting: 2, working: 0, working_since: null },
  })
  const [again, other] = await claim(2)
  assert.ok(again && other)
  assert.equal(
    await work(again.id, 'finish', { claim_id: again.claim_id, outcome: 'failed', note: 'ilegible' }),
    200,
  )
  assert.equal(await work(other.id, 'finish', { claim_id: other.claim_id, outcome: 'done' }), 200)
  const afterwards = await summary('?company_id=1')
  assert.deepEqual(afterwards, {
    ...{ ...empty, failed: 1, failed_today: 1, last_failed_at: NOW, done_today: 1, median_seconds_today: 0 },
    ...{ stored: 2, bytes: 11, last_claim: { at: NOW, by: 'test-work' }, changed: 7 },
  })
  const byWorker = { at: NOW, by: 'test-work', via: 'token' }
  assert.deepEqual(await events(first), [
    { at: NOW, event: 'created', by: 'test-all', via: 'token' },
    { ...byWorker, event: 'claimed', attempt: 1 },
    { at: NOW, event: 'expired', by: 'cambista', via: 'server', attempt: 1 },
    { ...byWorker, event: 'claimed', attempt: 2 },
    { ...byWorker, event: 'failed', attempt: 2, note: 'ilegible' },
  ])
  assert.equal((await events(second)).at(-1)?.event, 'done')
  await checkCounts()
})

test('`retry` puts a document back that no worker has', async () => {
  const [id = 0] = await upload({}, 'retry.pdf')
  assert.equal(await work(id, 'retry', {}, TOKENS.work), 403)
  assert.equal(await work(id, 'retry', {}, RETRY), 409, 'it is new')
  const [one] = await claim(50)
  assert.ok(one)
  assert.equal(await work(id, 'retry', {}, RETRY), 409, 'a worker has it')
  await time.pass(301)
  assert.equal(await work(id, 'retry', {}, RETRY), 200, 'its lease is over')
  assert.equal(await work(id, 'finish', { claim_id: one.claim_id, outcome: 'done' }), 409)
  const [next] = await claim()
  assert.ok(next)
  assert.equal(await work(id, 'finish', { claim_id: next.claim_id, outcome: 'failed', note: 'otra' }), 200)
  const response = await post(app, `/api/v1/documents/${id}/retry`, '', bearer(RETRY))
  const { document } = (await response.json()) as {
    document: { state: string; attempts: number; note: unknown }
  }
  assert.deepEqual([document.state, document.attempts, document.note], ['new', 0, null])
  assert.deepEqual(
    (await events(id)).map(({ event, by, note }) => [event, by, note]),
    [
      ['created', 'test-all', undefined],
      ['claimed', 'test-work', undefined],
      ['retried', 'test-retry', undefined],
      ['claimed', 'test-work', undefined],
      ['failed', 'test-work', 'otra'],
      ['retried', 'test-retry', undefined],
    ],
  )
  assert.equal(await work(9999, 'retry', {}, RETRY), 404)
  await checkCounts()
})

test('a token of others gets 404 for `summary`, `events` and `retry`', async () => {
  const [id = 0] = await upload({}, 'own.pdf')
  const [foreign = 0] = await upload({ company_id: 2, agent_id: 3, owner_id: 2 }, 'foreign.pdf')
  const status = async (path: string, secret: string) => (await read(app, path, bearer(secret))).status
  assert.equal(await status('/api/v1/documents/summary?company_id=1', TOKENS.ofCompany), 404)
  assert.equal(await status('/api/v1/documents/summary?agent_id=2', TOKENS.ofAgent), 404)
  assert.equal(await status(`/api/v1/documents/${id}/events`, TOKENS.ofCompany), 404)
  assert.equal(await status(`/api/v1/documents/${foreign}/events`, TOKENS.ofAgent), 404)
  assert.equal(await status(`/api/v1/documents/${foreign}/events`, TOKENS.ofCompany), 200)
  assert.equal((await summary('', TOKENS.ofCompany)).stored, 2)
  const before = await summary('', TOKENS.ofAgent)
  await upload({ company_id: 2, agent_id: 3, owner_id: 2 }, 'another.pdf')
  assert.deepEqual(await summary('', TOKENS.ofAgent), before, 'nothing that the token may see has changed')
})

test('`summary` with by=agent has the figures of each agent that the token may see', async () => {
  const [id = 0] = await upload({}, 'por-agente.pdf')
  await upload({ company_id: 2, agent_id: 3, owner_id: 2 }, 'ajeno.pdf')
  for (const { id, claim_id } of await claim(50)) await work(id, 'finish', { claim_id, outcome: 'done' })
  await upload({}, 'otro.pdf', 'otro mas.pdf')
  await claim()
  const total = await summary('?by=agent')
  const { agents, has_more, ...figures } = total as Summary & { agents: Summary[] }
  assert.equal(has_more, false)
  assert.deepEqual(figures, await summary())
  assert.deepEqual(
    agents.map(({ agent_id, company_id, agent }) => [agent_id, company_id, agent]),
    [
      [1, 1, 'Lector'],
      [2, 1, 'Dormido'],
      [3, 2, 'Otro'],
    ],
  )
  for (const { agent_id, company_id: _, agent: __, ...own } of agents)
    assert.deepEqual(own, await latest(`?agent_id=${agent_id}`), `agent ${agent_id}`)
  assert.ok(Number(agents[0]?.done_today) > 0 && agents[0]?.last_claim !== null, `document ${id}`)
  const agentIds = async (query: string, secret?: string) =>
    ((await latest(query, secret)) as { agents?: Summary[] }).agents?.map(({ agent_id }) => agent_id)
  assert.deepEqual(await agentIds('?by=agent&company_id=1'), [1, 2])
  assert.deepEqual(await agentIds('?by=agent&agent_id=3'), [3])
  assert.deepEqual(await agentIds('?by=agent&company_id=1&agent_id=3'), [])
  assert.deepEqual(await agentIds('?by=agent', TOKENS.ofCompany), [3])
  assert.deepEqual(await agentIds('?by=agent', TOKENS.ofAgent), [1])
  const wrong = await read(app, '/api/v1/documents/summary?by=company')
  assert.equal(wrong.status, 422)
  await checkCounts()
})

test('`summary` with by=agent has the 200 agents of the least ids, and `has_more` for others', async (t) => {
  let ticks = 0
  const many = await startTestApp(t, { now: NOW, ticks: () => ticks, listen: { metrics: 'local' } })
  await fillDirectory(many)
  const db = openTestDatabase(many.dataDir)
  const rows = Array.from({ length: 198 }, (_, at) => ({
    ...{ id: 10 + at, name: `A${at}`, company_id: 1, description: '', active: 1, created_at: AT },
  }))
  const counts = async () => {
    const response = await read(many, '/api/v1/documents/summary?by=agent')
    const { agents, has_more } = (await response.json()) as { agents: Summary[]; has_more: boolean }
    const metrics = await (await fetch(`${many.app.url}/metrics`)).text()
    const labels = metrics.match(/^cambista_documents_waiting\{agent="\d+"\} 0$/gm)
    return [agents.length, agents.at(-1)?.agent_id, has_more, labels?.length]
  }
  await db.insertInto('agents').values(rows.slice(0, 197)).execute()
  assert.deepEqual(await counts(), [200, 206, false, 200])
  await db.insertInto('agents').values(rows.slice(197)).execute()
  await db.destroy()
  assert.deepEqual(await counts(), [200, 206, false, 200], 'for a second')
  ticks += 1000
  assert.deepEqual(await counts(), [200, 206, true, 200])
})

test('a deletion lowers the counters, and removes notes from the events', async () => {
  const before = await summary()
  const [id = 0] = await upload({}, 'gone.pdf')
  const claims = await claim(50)
  for (const one of claims) {
    const body = { claim_id: one.claim_id, outcome: 'failed', note: 'secreta' }
    assert.equal(await work(one.id, 'finish', body), 200)
  }
  const url = `${app.app.url}/api/v1/documents/${id}`
  assert.equal((await fetch(url, { method: 'DELETE', headers: bearer(TOKENS.remove) })).status, 200)
  assert.equal((await read(app, `/api/v1/documents/${id}/events`)).status, 404)
  const after = await summary()
  assert.deepEqual([after.stored, after.bytes], [before.stored, before.bytes])
  assert.ok(Number(after.changed) > Number(before.changed))
  const db = openTestDatabase(app.dataDir)
  const rows = await db.selectFrom('events').select('note').where('document_id', '=', id).execute()
  assert.deepEqual(new Set(rows.map(({ note }) => note)), new Set([null]))
  await db.destroy()
  await checkCounts()
})

test('`summary` is shared for a second, and then has the change', async () => {
  const before = await summary()
  await upload({}, 'later.pdf')
  assert.deepEqual(await latest(''), before)
  await time.pass(1)
  assert.ok(Number((await latest('')).changed) > Number(before.changed))
})
