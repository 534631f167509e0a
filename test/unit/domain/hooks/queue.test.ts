// Queued messages and their hooks: no message of a rollback, and a limited number on the disk.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createHook } from '../../../../src/domain/hooks/hook-changes.ts'
import {
  type HookEvent,
  messageBody,
  queueDocuments,
  queueEvent,
} from '../../../../src/domain/hooks/queued-events.ts'
import { selectListedHooks, updateHook } from '../../../../src/store/hooks/hooks.ts'
import { ensureHookKey } from '../../../../src/store/hooks/key.ts'
import { insertBatches } from '../../../../src/store/rows.ts'
import type { WriteDb } from '../../../../src/store/tables.ts'
import { AGENT, COMPANY, makeDirectory, runJson } from '../../../support/company.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../support/temporary.ts'

const AT = '2026-03-24T12:00:00.000Z'
const UPLOAD = { companyId: COMPANY, agentId: AGENT, at: AT }

async function ground(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  await runJson(dataDir, 'agent', 'create', '--company', '7', '--name', 'Otro', '--id', '13')
  await runJson(dataDir, 'company', 'create', '--name', 'Acme', '--code', 'ACME', '--id', '8')
  const db = temporaryDatabase(t, dataDir)
  const key = await ensureHookKey(dataDir)
  const hook = async (events: HookEvent[], of: { company_id?: number; agent_id?: number } = {}) => {
    const { company_id = null, agent_id = null } = of
    const created = await createHook(db, key, { url: 'https://a.example/', events, company_id, agent_id }, AT)
    return created.id
  }
  return { db, hook }
}

async function bodies(db: WriteDb, hookId: number): Promise<unknown[]> {
  const rows = await db
    .selectFrom('hook_messages')
    .selectAll()
    .where('hook_id', '=', hookId)
    .orderBy('id')
    .execute()
  return rows.map(({ body }) => JSON.parse(body).data)
}

test('a rollback queues no message', async (t) => {
  const { db, hook } = await ground(t)
  const id = await hook(['document.created'])
  const failing = db.transaction().execute(async (trx) => {
    await queueDocuments(trx, { ...UPLOAD, runs: [{ id: 1, count: 2 }] })
    throw new Error('the disk is full')
  })
  await assert.rejects(failing, /disk is full/)
  assert.deepEqual(await bodies(db, id), [])
})

test('an upload is queued for hooks of its company and agent that subscribe to documents', async (t) => {
  const { db, hook } = await ground(t)
  const all = await hook(['document.created', 'sync.failed'])
  const company = await hook(['document.created'], { company_id: COMPANY })
  const agent = await hook(['document.created'], { agent_id: AGENT })
  const others = [
    await hook(['document.created'], { company_id: 8 }),
    await hook(['document.created'], { agent_id: 13 }),
    await hook(['rates.published']),
  ]
  const off = await hook(['document.created'])
  await updateHook(db, off, { off_at: AT })
  await queueDocuments(db, {
    ...UPLOAD,
    runs: [
      { id: 5, count: 2 },
      { id: 9, count: 1 },
    ],
  })
  const data = [{ company_id: 7, agent_id: 12, document_ids: [5, 6, 9] }]
  for (const id of [all, company, agent]) assert.deepEqual(await bodies(db, id), data)
  for (const id of [...others, off]) assert.deepEqual(await bodies(db, id), [])
  await queueEvent(db, 'sync.failed', AT, { run_id: 3 })
  assert.equal((await bodies(db, all)).length, 2)
  const rows = await db.selectFrom('hook_messages').select('message_id').execute()
  assert.equal(new Set(rows.map(({ message_id }) => message_id)).size, 2, 'one id for each message')
})

test('a huge upload is several messages of at most 500 ids, with each id in one of them', async (t) => {
  const { db, hook } = await ground(t)
  const id = await hook(['document.created'])
  await db
    .transaction()
    .execute((trx) => queueDocuments(trx, { ...UPLOAD, runs: [{ id: 1, count: 20_001 }] }))
  const messages = (await bodies(db, id)) as { document_ids: number[] }[]
  assert.equal(Math.max(...messages.map(({ document_ids }) => document_ids.length)), 500)
  assert.equal(messages.length, 41)
  assert.deepEqual(
    messages.flatMap(({ document_ids }) => document_ids),
    Array.from({ length: 20_001 }, (_, at) => at + 1),
  )
})

test('a queue has at most 10,000 messages: the oldest are dropped, and counted', async (t) => {
  const { db, hook } = await ground(t)
  const id = await hook(['sync.failed'])
  const other = await hook(['sync.failed'])
  await db.deleteFrom('hook_messages').execute()
  const queued = Array.from({ length: 9_998 }, (_, at) => ({
    message_id: `msg_${at}`,
    type: 'sync.failed',
    body: messageBody('sync.failed', AT, { run_id: at + 1 }),
    created_at: AT,
    due_at: AT,
  }))
  await db.transaction().execute(async (trx) => {
    for (const hook_id of [id, other]) {
      await insertBatches(
        trx,
        'hook_messages',
        queued.map((message) => ({ hook_id, ...message })),
      )
    }
    for (let run = 9_999; run <= 10_003; run++) await queueEvent(trx, 'sync.failed', AT, { run_id: run })
  })
  const hooks = await selectListedHooks(db)
  assert.deepEqual(
    hooks.map(({ id, waiting, given_up }) => ({ id, waiting, given_up })),
    [id, other].map((one) => ({ id: one, waiting: 10_000, given_up: 3 })),
  )
  assert.deepEqual((await bodies(db, id))[0], { run_id: 4 })
})
