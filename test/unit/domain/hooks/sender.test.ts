// What becomes of a message whose receiver is there, is not, is slow, or says something odd.

import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { hasReceived, openPost } from '../support/hooks/post.ts'
import { startReceiver } from '../support/hooks/receiver.ts'
import { until } from '../support/terminal.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

test('a message is signed as Standard Webhooks say, and gone from the queue once it has arrived', async (t) => {
  const post = await openPost(t)
  const receiver = await startReceiver(t)
  const { id, secret } = await post.hook(receiver.url)
  await post.tell(41, 3)
  await hasReceived(receiver, 1)
  const [message] = receiver.received
  const at = post.clock.read().toISOString()
  const data = { company_id: 7, agent_id: 12, document_ids: [41, 42, 43] }
  assert.deepEqual(receiver.verify(secret, message), { type: 'document.created', timestamp: at, data })
  assert.match(message?.headers['webhook-id'] ?? '', /^msg_[\w-]{32}$/)
  assert.equal(message?.headers['content-type'], 'application/json')
  assert.throws(() => receiver.verify(`whsec_${'A'.repeat(43)}=`, message), /No matching signature/)
  await until(async () => (await post.of(id)).waiting === 0)
  const { sent_at, failing_since, given_up } = await post.of(id)
  assert.deepEqual({ sent_at, failing_since, given_up }, { sent_at: at, failing_since: null, given_up: 0 })
})

test('500 and then 200: tried again, with the same id and a signature of its own time', async (t) => {
  const post = await openPost(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(receiver.received.length > 1 ? 200 : 500).end('no')
  const { id, secret } = await post.hook(receiver.url)
  await post.tell(41)
  await until(async () => (await post.of(id)).failure === 'HTTP 500')
  assert.equal((await post.of(id)).failing_since, post.clock.read().toISOString())
  post.pass(4.9 * SECOND)
  await pause(200)
  assert.equal(receiver.received.length, 1)
  post.pass(0.1 * SECOND)
  await hasReceived(receiver, 2)
  await until(async () => (await post.of(id)).waiting === 0)
  const [first, second] = receiver.received
  assert.deepEqual(receiver.verify(secret, second), receiver.verify(secret, first))
  assert.equal(second?.id, first?.id)
  assert.notEqual(second?.headers['webhook-timestamp'], first?.headers['webhook-timestamp'])
  const { failing_since, failure } = await post.of(id)
  assert.deepEqual({ failing_since, failure }, { failing_since: null, failure: null })
})

test('eight tries, each after its time, then the message is given up and said so', async (t) => {
  const post = await openPost(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(503).end()
  const { id } = await post.hook(receiver.url)
  await post.tell(41)
  const delays = [5 * SECOND, MINUTE, 10 * MINUTE, HOUR, 4 * HOUR, 8 * HOUR, 10 * HOUR]
  for (const [at, delay] of delays.entries()) {
    const due = new Date(post.clock.now.getTime() + delay).toISOString()
    const planned = () => post.db.selectFrom('hook_messages').select('due_at').executeTakeFirst()
    await until(async () => (await planned())?.due_at === due)
    post.pass(delay - 1)
    await pause(20)
    assert.equal(receiver.received.length, at + 1, `not before ${delay} ms`)
    post.pass(1)
    await hasReceived(receiver, at + 2)
  }
  await until(async () => (await post.of(id)).given_up === 1)
  assert.equal((await post.of(id)).waiting, 0)
  post.pass(24 * HOUR)
  await pause(50)
  assert.equal(receiver.received.length, 8)
  await until(() => post.logged.join('').includes('"hook message given up"'))
  assert.match(post.logged.join(''), /"event":"hook fails","hook":1,"reason":"HTTP 503"/)
})

test('410 turns a hook off: what waits is dropped, and it is told nothing more', async (t) => {
  const post = await openPost(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(410).end()
  const { id } = await post.hook(receiver.url)
  await post.tell(41, 1200)
  await until(async () => (await post.of(id)).off_at !== null)
  await until(async () => (await post.of(id)).waiting === 0)
  const sent = receiver.received.length
  await post.tell(5000)
  post.pass(HOUR)
  await pause(50)
  assert.equal(receiver.received.length, sent)
  assert.equal((await post.of(id)).waiting, 0)
})

test('a redirect is not followed, a receiver that closes or is not there is tried again', async (t) => {
  const post = await openPost(t)
  const other = await startReceiver(t)
  const receiver = await startReceiver(t)
  const { id } = await post.hook(receiver.url)
  receiver.answer = (response) => response.writeHead(307, { location: other.url }).end()
  await post.tell(41)
  await until(async () => (await post.of(id)).failure === 'HTTP 307, a redirect, which is not followed')
  receiver.answer = (response) => response.destroy()
  post.pass(5 * SECOND)
  await until(async () => /UND_ERR_SOCKET|ECONNRESET/.test((await post.of(id)).failure ?? ''))
  await receiver.close()
  post.pass(MINUTE)
  await until(async () => (await post.of(id)).failure === 'ECONNREFUSED')
  assert.deepEqual([other.received.length, (await post.of(id)).waiting], [0, 1])
})

test('a receiver that hangs, or drips its headers, is left after the time of a try; a body is not waited for', async (t) => {
  const post = await openPost(t, { tryMs: 700 })
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
  const endless = await startReceiver(t)
  endless.answer = (response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('x'.repeat(1000)), 20)
    response.on('close', () => clearInterval(timer))
  }
  const hanging = await post.hook(receiver.url)
  const drip = await post.hook(`http://127.0.0.1:${(dripping.address() as { port: number }).port}/`)
  const long = await post.hook(endless.url)
  await post.tell(41)
  await until(async () => (await post.of(hanging.id)).failure === 'no answer within 0.7 s')
  await until(async () => (await post.of(drip.id)).failure === 'no answer within 0.7 s')
  await until(async () => (await post.of(long.id)).sent_at !== null)
})

test('hooks that hang hold up no other hook', async (t) => {
  const post = await openPost(t)
  const hanging = await startReceiver(t)
  hanging.answer = () => {}
  const receiver = await startReceiver(t)
  for (let at = 0; at < 20; at++) await post.hook(hanging.url)
  await post.hook(receiver.url)
  for (let id = 1; id <= 30; id++) await post.tell(id)
  await hasReceived(receiver, 30) // long before the first try of the others has ended
  assert.equal(hanging.received.length, 80) // four at once of each
  await post.hooks.close()
})

test('a stop breaks tries off at once, and the next start makes them again', async (t) => {
  const post = await openPost(t)
  const receiver = await startReceiver(t)
  receiver.answer = () => {}
  const { id } = await post.hook(receiver.url)
  await post.tell(41)
  await hasReceived(receiver, 1)
  const begun = performance.now()
  await post.hooks.close()
  assert.ok(performance.now() - begun < 5000, 'a try may take ten seconds')
  const tries = await post.db.selectFrom('hook_messages').select('tries').execute()
  assert.deepEqual([tries, (await post.of(id)).failing_since], [[{ tries: 0 }], null])
  receiver.answer = (response) => response.writeHead(200).end()
  await post.restart()
  await hasReceived(receiver, 2)
  assert.equal(receiver.received[0]?.id, receiver.received[1]?.id)
  await until(async () => (await post.of(id)).waiting === 0)
})

test('what was planned by a clock that was a year ahead is sent', async (t) => {
  const post = await openPost(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(500).end()
  const { id } = await post.hook(receiver.url)
  const now = post.clock.now
  post.clock.now = new Date(now.getTime() + 365 * 24 * HOUR)
  await post.tell(41)
  await until(async () => (await post.of(id)).failure !== null)
  receiver.answer = (response) => response.writeHead(200).end()
  post.clock.now = now
  post.hooks.wake()
  await until(async () => (await post.of(id)).waiting === 0)
})
