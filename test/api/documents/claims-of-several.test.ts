// Claims of a worker for several agents of one company: one order by priority and age (decisions#claims).

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, type TestContext, test } from 'node:test'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { AT, batch, CREATE, fillDirectory, pdf, post, read, TOKENS } from '../../support/directory.ts'
import { openTestDatabase } from '../../support/temporary.ts'

type Row = { id: number; agent_id: number }
type Reply = { status: number; message?: string; ids: number[] }
type Summary = { waiting: number; working: number }

const CLAIM = '/api/v1/documents/claim'
const SECOND = 4
let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
  const db = openTestDatabase(app.dataDir)
  const agents = [SECOND, 5].map((id) => ({ id, name: `Agente ${id}`, company_id: 1, description: '' }))
  await db
    .insertInto('agents')
    .values(agents.map((agent) => ({ ...agent, active: 1, created_at: AT })))
    .execute()
  await db.destroy()
})

async function upload(agent_id: number, priority = 0): Promise<number> {
  const body = { ...batch(pdf(`text ${randomUUID()}`)), agent_id }
  const response = await post(app, CREATE, body, { 'x-cambista-priority': String(priority) })
  const { created_documents = [] } = (await response.json()) as { created_documents?: Row[] }
  return created_documents[0]?.id ?? assert.fail('not created')
}

async function claim(body: object | string, secret: string = TOKENS.work): Promise<Reply> {
  const response = await post(app, CLAIM, body, { authorization: `Bearer ${secret}` })
  const answer = (await response.json()) as { message?: string; documents?: Row[] }
  const ids = (answer.documents ?? []).map(({ id }) => id)
  return { status: response.status, ids, ...(answer.message && { message: answer.message }) }
}

const summary = async (agentId: number) =>
  (await (await read(app, `/api/v1/documents/summary?agent_id=${agentId}`)).json()) as Summary

test('a claim takes the documents of several agents in one order, and each is counted by its agent', async () => {
  const oldest = await upload(1)
  const urgent = await upload(SECOND, 9)
  const other = await upload(5, 9)
  const low = await upload(SECOND)
  const middle = await upload(1, 5)
  const agent_ids = [1, SECOND, 1]
  assert.deepEqual((await claim({ agent_ids, limit: 2 })).ids, [urgent, middle])
  assert.deepEqual((await claim({ agent_ids })).ids, [oldest])
  const counts = async () =>
    Promise.all([1, SECOND, 5].map(summary)).then((all) =>
      all.map(({ waiting, working }) => [waiting, working]),
    )
  assert.deepEqual(await counts(), [
    [0, 2],
    [1, 1],
    [1, 0],
  ])
  assert.deepEqual((await claim({ agent_ids: ['4', 5], limit: 50 })).ids, [other, low])
  assert.deepEqual((await claim({ agent_ids })).ids, [])
})

test('a worker that waits for several agents gets a document of each, and none of others', async () => {
  for (const agentId of [1, SECOND]) {
    const waiting = claim({ agent_ids: [1, SECOND], wait: 50 })
    const otherId = await upload(5)
    const id = await upload(agentId)
    assert.deepEqual((await waiting).ids, [id])
    assert.deepEqual((await claim({ agent_id: 5 })).ids, [otherId])
  }
})

const BAD: readonly [unknown, string][] = [
  [[], 'agent_ids must be a list of 1 to 20 ids of agents'],
  [Array.from({ length: 21 }, (_, at) => at + 1), 'agent_ids must be a list of 1 to 20 ids of agents'],
  ['1', 'agent_ids must be a list of 1 to 20 ids of agents'],
  [{ 0: 1 }, 'agent_ids must be a list of 1 to 20 ids of agents'],
  [[1, [SECOND]], 'each of agent_ids must be an integer'],
  [[1, null], 'each of agent_ids must be an integer'],
  [[1, 1.5], 'each of agent_ids must be an integer'],
  [[1, 3], 'agent_ids must be agents of one company'],
]
for (const [agent_ids, message] of BAD) {
  test(`a claim with agent_ids ${JSON.stringify(agent_ids)} is a 400: ${message}`, async () => {
    assert.deepEqual(await claim({ agent_ids }), { status: 400, ids: [], message })
  })
}

test('a claim with agent_ids that are nested deeper than the stack is a 400', async () => {
  const deep = 30_000
  assert.deepEqual(await claim(`{"agent_ids":${'['.repeat(deep)}${']'.repeat(deep)}}`), {
    ...{ status: 400, ids: [] },
    message: 'agent_ids must be a list of 1 to 20 ids of agents',
  })
})

for (const id of ['1.0', '1e0', '1.0000000000000000001']) {
  test(`a claim with the number ${id} as an agent is a 400: its text decides`, async () => {
    const refusal = (message: string) => ({ status: 400, ids: [], message })
    assert.deepEqual(await claim(`{"agent_ids":[${id}]}`), refusal('each of agent_ids must be an integer'))
    assert.deepEqual(await claim(`{"agent_id":${id}}`), refusal('agent_id must be an integer'))
  })
}

test('agent_id beside agent_ids is a 400, and null counts as absent', async () => {
  const message = 'agent_id and agent_ids are alternatives: send one of them'
  assert.deepEqual(await claim({ agent_id: 1, agent_ids: [1] }), { status: 400, ids: [], message })
  assert.equal((await claim({ agent_id: 1, agent_ids: null })).status, 200)
  assert.equal((await claim({ agent_id: null, agent_ids: [1] })).status, 200)
})

test('each agent of a claim must be within the access of the token', async () => {
  const refusal = async (agent_ids: number[], secret: string) => {
    const { status, message } = await claim({ agent_ids }, secret)
    return [status, message]
  }
  const notFound = [404, 'Agent not found']
  assert.deepEqual(await refusal([1, 77], TOKENS.work), [404, 'Agent 77 not found'])
  assert.deepEqual(await refusal([3, 1], TOKENS.ofCompany), [404, 'Agent 1 not found'])
  assert.deepEqual(await refusal([1], TOKENS.ofCompany), notFound)
  assert.deepEqual(await refusal([1, SECOND], TOKENS.ofAgent), notFound)
  assert.deepEqual(await refusal([1], TOKENS.ofAgent), [200, undefined])
})
