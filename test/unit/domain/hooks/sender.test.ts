// Delivery of messages to receivers that answer, fail, are slow, or send odd answers.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { rotateHook } from '../../../../src/domain/hooks/hook-changes.ts'
import { createSender } from '../../../../src/domain/hooks/sender.ts'
import { createLog } from '../../../../src/runtime/log.ts'
import { selectHooks } from '../../../../src/store/hooks/hooks.ts'
import { hasReceived, openHookQueue } from '../../../support/hooks/queue.ts'
import { startReceiver } from '../../../support/hooks/receiver.ts'
import { until } from '../../../support/terminal.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
/** Time of an attempt that is longer than a test may last. */
const LONG_MS = HOUR

test('a message is signed by Standard Webhooks, and leaves the queue after delivery', async (t) => {
  const queue = await openHookQueue(t)
  const receiver = await startReceiver(t)
  const { id, secret } = await queue.createHook(receiver.url)
  await queue.queueDocuments(41, 3)
  await hasReceived(receiver, 1)
  const [message] = receiver.received
  const at = queue.clock.read().toISOString()
  const data = { company_id: 7, agent_id: 12, document_ids: [41, 42, 43] }
  assert.deepEqual(receiver.verify(secret, message), { type: 'document.created', timestamp: at, data })
  assert.match(message?.headers['webhook-id'] ?? '', /^msg_[\w-]{32}$/)
  assert.equal(message?.headers['content-type'], 'application/json')
  assert.throws(() => receiver.verify(`whsec_${'A'.repeat(43)}=`, message), /No matching signature/)
  await until(async () => (await queue.readHook(id)).waiting === 0)
  const { sent_at, failing_since, given_up } = await queue.readHook(id)
  assert.deepEqual({ sent_at, failing_since, given_up }, { sent_at: at, failing_since: null, given_up: 0 })
})

test('an attempt after a 500 has the same id, and a signature of its own time', async (t) => {
  const queue = await openHookQueue(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(receiver.received.length > 1 ? 200 : 500).end('no')
  const { id, secret } = await queue.createHook(receiver.url)
  await queue.queueDocuments(41)
  await until(async () => (await queue.readHook(id)).failure === 'HTTP 500')
  assert.equal((await queue.readHook(id)).failing_since, queue.clock.read().toISOString())
  await queue.advance(4.9 * SECOND)
  await queue.hooks.idle()
  assert.equal(receiver.received.length, 1)
  await queue.advance(0.1 * SECOND)
  await hasReceived(receiver, 2)
  await until(async () => (await queue.readHook(id)).waiting === 0)
  const [first, second] = receiver.received
  assert.deepEqual(receiver.verify(secret, second), receiver.verify(secret, first))
  assert.equal(second?.id, first?.id)
  assert.notEqual(second?.headers['webhook-timestamp'], first?.headers['webhook-timestamp'])
  const { failing_since, failure } = await queue.readHook(id)
  assert.deepEqual({ failing_since, failure }, { failing_since: null, failure: null })
})

test('a message is dropped and logged after eight attempts at their times', async (t) => {
  const queue = await openHookQueue(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(503).end()
  const { id } = await queue.createHook(receiver.url)
  await queue.queueDocuments(41)
  const delays = [5 * SECOND, MINUTE, 10 * MINUTE, HOUR, 4 * HOUR, 8 * HOUR, 10 * HOUR]
  for (const [at, delay] of delays.entries()) {
    const due = new Date(queue.clock.now.getTime() + delay).toISOString()
    const planned = () => queue.db.selectFrom('hook_messages').select('due_at').executeTakeFirst()
    await until(async () => (await planned())?.due_at === due)
    await queue.advance(delay - 1)
    await queue.hooks.idle()
    assert.equal(receiver.received.length, at + 1, `not before ${delay} ms`)
    await queue.advance(1)
    await hasReceived(receiver, at + 2)
  }
  await until(async () => (await queue.readHook(id)).given_up === 1)
  assert.equal((await queue.readHook(id)).waiting, 0)
  await queue.advance(24 * HOUR)
  await queue.hooks.idle()
  assert.equal(receiver.received.length, 8)
  await until(() => queue.logLines.join('').includes('"hook message given up"'))
  assert.match(queue.logLines.join(''), /"event":"hook fails","hook":1,"reason":"HTTP 503"/)
})

test('a 410 disables a hook: its queue is dropped, and no message is sent any more', async (t) => {
  const queue = await openHookQueue(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(410).end()
  const { id } = await queue.createHook(receiver.url)
  await queue.queueDocuments(41, 1200)
  await until(async () => (await queue.readHook(id)).off_at !== null)
  await until(async () => (await queue.readHook(id)).waiting === 0)
  await hasReceived(receiver, 3) // the first three messages are sent at once
  await queue.queueDocuments(5000)
  await queue.advance(HOUR)
  await queue.hooks.idle()
  assert.equal(receiver.received.length, 3)
  assert.equal((await queue.readHook(id)).waiting, 0)
})

test('a redirect is not followed; a closed or absent receiver is retried', async (t) => {
  const queue = await openHookQueue(t)
  const other = await startReceiver(t)
  const receiver = await startReceiver(t)
  const { id } = await queue.createHook(receiver.url)
  receiver.answer = (response) => response.writeHead(307, { location: other.url }).end()
  await queue.queueDocuments(41)
  await until(
    async () => (await queue.readHook(id)).failure === 'HTTP 307, a redirect, which is not followed',
  )
  receiver.answer = (response) => response.destroy()
  await queue.advance(5 * SECOND)
  await until(async () => /UND_ERR_SOCKET|ECONNRESET/.test((await queue.readHook(id)).failure ?? ''))
  await receiver.close()
  await queue.advance(MINUTE)
  await until(async () => (await queue.readHook(id)).failure === 'ECONNREFUSED')
  assert.deepEqual([other.received.length, (await queue.readHook(id)).waiting], [0, 1])
})

test('a receiver that hangs, or drips its headers, is abandoned after the time of an attempt', async (t) => {
  const queue = await openHookQueue(t, { tryMs: 700 })
  const dripping = createServer((socket) => {
    socket.on('error', () => {})
    socket.write('HTTP/1.1 200 OK\r\n')
    const timer = setInterval(() => socket.write('x-drip: 1\r\n'), 50)
    socket.on('close', () => clearInterval(timer))
  })
  await new Promise<void>((resolve) => dripping.listen(0, '127.0.0.1', resolve))
  t.after(() => dripping.close())
  const receiver = await startReceiver(t)
  receiver.answer = () => {}
  const hanging = await queue.createHook(receiver.url)
  const drip = await queue.createHook(`http://127.0.0.1:${(dripping.address() as { port: number }).port}/`)
  await queue.queueDocuments(41)
  await until(async () => (await queue.readHook(hanging.id)).failure === 'no answer within 0.7 s')
  await until(async () => (await queue.readHook(drip.id)).failure === 'no answer within 0.7 s')
})

test('a body without an end is not awaited', async (t) => {
  const queue = await openHookQueue(t, { tryMs: LONG_MS })
  const endless = await startReceiver(t)
  endless.answer = (response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('x'.repeat(1000)), 20)
    response.on('close', () => clearInterval(timer))
  }
  const { id } = await queue.createHook(endless.url)
  await queue.queueDocuments(41)
  await until(async () => (await queue.readHook(id)).sent_at !== null)
})

test('hanging hooks delay no other hook', async (t) => {
  const queue = await openHookQueue(t, { tryMs: LONG_MS })
  const hanging = await startReceiver(t)
  hanging.answer = () => {}
  const receiver = await startReceiver(t)
  for (let at = 0; at < 20; at++) await queue.createHook(hanging.url)
  await queue.createHook(receiver.url)
  for (let id = 1; id <= 30; id++) await queue.queueDocuments(id)
  await hasReceived(receiver, 30) // long before the end of the first attempt of the others
  await hasReceived(hanging, 80)
  assert.equal(hanging.received.length, 80) // four at once for each
  await queue.hooks.close()
})

test('close() aborts attempts at once, and the next start repeats them', async (t) => {
  const queue = await openHookQueue(t, { tryMs: LONG_MS })
  const receiver = await startReceiver(t)
  receiver.answer = () => {}
  const { id } = await queue.createHook(receiver.url)
  await queue.queueDocuments(41)
  await hasReceived(receiver, 1)
  await queue.hooks.close() // the attempt would last longer than this file may
  const tries = await queue.db.selectFrom('hook_messages').select('tries').execute()
  assert.deepEqual([tries, (await queue.readHook(id)).failing_since], [[{ tries: 0 }], null])
  receiver.answer = (response) => response.writeHead(200).end()
  await queue.restart()
  await hasReceived(receiver, 2)
  assert.equal(receiver.received[0]?.id, receiver.received[1]?.id)
  await until(async () => (await queue.readHook(id)).waiting === 0)
})

test('a secret that is renewed while the sender reads the former one is not reported as unreadable', async (t) => {
  const queue = await openHookQueue(t)
  await queue.hooks.close()
  const { db, clock, logLines } = queue
  const { id } = await queue.createHook('http://127.0.0.1:1/')
  const [hook] = await selectHooks(db)
  assert.ok(hook)
  let rotation: Promise<unknown> | undefined
  const key = () => {
    rotation ??= rotateHook(db, randomBytes(32), hook, { overlapMs: 0, now: clock.read() })
    return undefined
  }
  const log = createLog({ level: 'debug', format: 'json', write: (text) => logLines.push(text) })
  const lock = {
    ...{ check: async () => {}, outlivesHolderMs: 0, release: async () => {} },
    lost: new AbortController().signal,
  }
  const sender = createSender({ db, key, clock: clock.read, log, lock }, () => {})
  await sender.sendDue()
  await rotation
  const { failing_since, failure } = await queue.readHook(id)
  assert.deepEqual({ failing_since, failure }, { failing_since: null, failure: null })
})

test('a message scheduled by a clock a year ahead is sent', async (t) => {
  const queue = await openHookQueue(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(500).end()
  const { id } = await queue.createHook(receiver.url)
  const now = queue.clock.now
  await queue.hooks.idle()
  queue.clock.now = new Date(now.getTime() + 365 * 24 * HOUR)
  await queue.queueDocuments(41)
  await queue.hooks.idle()
  assert.equal((await queue.readHook(id)).failure, 'HTTP 500')
  receiver.answer = (response) => response.writeHead(200).end()
  queue.clock.now = now
  queue.hooks.wake()
  await until(async () => (await queue.readHook(id)).waiting === 0)
})
