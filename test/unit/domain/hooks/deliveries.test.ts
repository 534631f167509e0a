// Messages that ended: each is stored with its body and its end, and can be sent again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  deleteExcessDeliveries,
  deleteOldDeliveries,
  requeueDeliveries,
  selectDeliveries,
} from '../../../../src/store/hooks/deliveries.ts'
import { updateHook } from '../../../../src/store/hooks/hooks.ts'
import type { WriteDb } from '../../../../src/store/tables.ts'
import { hasReceived, openHookQueue } from '../../../support/hooks/queue.ts'
import { startReceiver } from '../../../support/hooks/receiver.ts'
import { until } from '../../../support/terminal.ts'

const ALL = { before: undefined, limit: 1000 }
const MINUTE = 60_000

const deliveries = (db: WriteDb, failedOnly = false) => selectDeliveries(db, { failedOnly }, ALL)

test('a delivered message is stored with its body, and is sent again with the same id and a new time', async (t) => {
  const queue = await openHookQueue(t)
  const { db, clock } = queue
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(receiver.received.length > 1 ? 204 : 500).end()
  const { id, secret } = await queue.createHook(receiver.url)
  const created_at = clock.read().toISOString()
  await queue.queueDocuments(41)
  await until(async () => (await queue.readHook(id)).failure === 'HTTP 500')
  assert.deepEqual(await deliveries(db), [])
  await queue.advance(5000)
  await until(async () => (await deliveries(db)).length === 1)
  const [first] = receiver.received
  const ended_at = clock.read().toISOString()
  const common = {
    hook_id: id,
    message_id: first?.id,
    type: 'document.created',
    body: JSON.stringify(first?.body),
  }
  assert.deepEqual(await deliveries(db), [
    { id: 1, ...common, created_at, tries: 2, ended_at, status: 204, failure: null },
  ])

  await queue.advance(MINUTE)
  const now = clock.read().toISOString()
  assert.deepEqual(await requeueDeliveries(db, { id: 1, failedOnly: false }, now), [id])
  queue.hooks.wake()
  await hasReceived(receiver, 3)
  const again = receiver.received[2]
  assert.deepEqual(receiver.verify(secret, again), receiver.verify(secret, first))
  assert.equal(again?.id, first?.id)
  assert.equal(again?.headers['webhook-timestamp'], String(Math.floor(clock.now.getTime() / 1000)))
  await until(async () => (await deliveries(db)).length === 2)
})

test('messages that are given up are stored with the reason, also the waiting ones after a 410', async (t) => {
  const queue = await openHookQueue(t)
  const { db, clock } = queue
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(410).end()
  const { id } = await queue.createHook(receiver.url)
  await queue.queueDocuments(1, 3000) // six messages, of which four are sent at once
  await until(async () => (await queue.readHook(id)).waiting === 0)
  await until(async () => (await deliveries(db)).length === 6)
  const rows = await deliveries(db, true)
  assert.equal(new Set(rows.map(({ message_id }) => message_id)).size, 6)
  assert.deepEqual(new Set(rows.map(({ failure }) => failure)), new Set(['HTTP 410']))
  assert.equal((await queue.readHook(id)).given_up, 6)

  await queue.advance(MINUTE)
  const since = clock.read().toISOString()
  const request = async (filter: object) =>
    (await requeueDeliveries(db, { failedOnly: true, ...filter }, since)).length
  assert.equal(await request({ since }), 0)
  assert.equal(await request({ since: new Date(0).toISOString(), hookId: id + 1 }), 0)
  assert.equal(await request({ since: new Date(0).toISOString() }), 6)
  assert.equal(await request({ since: new Date(0).toISOString() }), 0, 'they wait already')
  assert.equal((await queue.readHook(id)).waiting, 6)
})

test('a message that arrives after a 410 to another is delivered, and the hook stays off', async (t) => {
  const queue = await openHookQueue(t)
  const { db } = queue
  const receiver = await startReceiver(t)
  const { id } = await queue.createHook(receiver.url)
  const answers: (() => void)[] = []
  receiver.answer = (response) => {
    const status = answers.length === 0 ? 410 : 200
    answers.push(() => response.writeHead(status).end())
  }
  await queue.queueDocuments(1, 1500) // three messages, sent at once
  await hasReceived(receiver, 3)
  answers[0]?.()
  await until(async () => (await deliveries(db, true)).length === 3)
  const before = await queue.readHook(id)
  assert.equal(before.given_up, 3)
  answers[1]?.()
  await until(async () => (await deliveries(db, true)).length === 2)
  const [row] = (await deliveries(db)).filter(({ failure }) => failure === null)
  assert.deepEqual([row?.message_id, row?.status, row?.tries], [receiver.received[1]?.id, 200, 1])
  const { given_up, off_at, failure, failing_since } = await queue.readHook(id)
  assert.deepEqual(
    { given_up, off_at, failure, failing_since },
    { given_up: 2, off_at: before.off_at, failure: 'HTTP 410', failing_since: before.failing_since },
  )
  answers[2]?.()
  await until(async () => (await queue.readHook(id)).given_up === 1)
  assert.ok(!queue.logLines.join('').includes('hook works again'))
})

test('a late 410 ends no message that was queued again meanwhile, and does not turn the hook off again', async (t) => {
  const queue = await openHookQueue(t)
  const { db, clock, logLines } = queue
  const receiver = await startReceiver(t)
  const { id } = await queue.createHook(receiver.url)
  const answers: (() => void)[] = []
  receiver.answer = (response) => answers.push(() => response.writeHead(410).end())
  const recorded = (count: number) =>
    until(() => logLines.filter((line) => line.includes('hook not told')).length === count)
  await queue.queueDocuments(1, 1500) // three messages, sent at once
  await hasReceived(receiver, 3)
  answers[0]?.()
  await recorded(1)
  const since = new Date(0).toISOString()
  assert.equal(
    (await requeueDeliveries(db, { failedOnly: true, since }, clock.read().toISOString())).length,
    3,
  )
  answers[1]?.()
  await recorded(2)
  assert.equal((await queue.readHook(id)).waiting, 3)
  await updateHook(db, id, { off_at: null, failing_since: null, failure: null }) // as `hook test` does
  answers[2]?.()
  await recorded(3)
  const { waiting, given_up, off_at, failing_since } = await queue.readHook(id)
  assert.deepEqual(
    { waiting, given_up, off_at, failing_since },
    { waiting: 3, given_up: 3, off_at: null, failing_since: null },
  )
})

test('deliveries leave by age and by number, in portions', async (t) => {
  const { db, createHook } = await openHookQueue(t)
  await createHook('http://127.0.0.1:1/')
  await createHook('http://127.0.0.1:1/')
  const row = (hook_id: number, at: number) => ({
    ...{ hook_id, message_id: `msg_${at}`, type: 'sync.failed', body: '{}', created_at: '2026', tries: 1 },
    ...{ ended_at: `2026-03-${String(at).padStart(2, '0')}`, status: 200, failure: null },
  })
  const rows = Array.from({ length: 20 }, (_, at) => [row(1, at + 1), row(2, at + 1)]).flat()
  await db.insertInto('hook_deliveries').values(rows).execute()
  assert.equal(await deleteOldDeliveries(db, '2026-03-06', 7), 7)
  assert.equal(await deleteOldDeliveries(db, '2026-03-06', 7), 3)
  assert.equal(await deleteOldDeliveries(db, '2026-03-06', 7), 0)
  assert.equal(await deleteExcessDeliveries(db, 1, { most: 10, limit: 3 }), 3)
  assert.equal(await deleteExcessDeliveries(db, 1, { most: 10, limit: 3 }), 2)
  assert.equal(await deleteExcessDeliveries(db, 1, { most: 10, limit: 3 }), 0)
  const ofHook = async (hookId: number) =>
    (await selectDeliveries(db, { hookId, failedOnly: false }, ALL)).map(({ message_id }) => message_id)
  assert.deepEqual(
    await ofHook(1),
    Array.from({ length: 10 }, (_, at) => `msg_${20 - at}`),
  )
  assert.equal((await ofHook(2)).length, 15)
  const page = await selectDeliveries(db, { hookId: 2, failedOnly: false }, { before: 20, limit: 2 })
  assert.deepEqual(
    page.map(({ id }) => id),
    [18, 16],
  )
})
