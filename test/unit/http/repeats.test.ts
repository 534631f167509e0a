import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { test } from 'node:test'
import type { H3Event } from 'h3'
import { hashOfSecret } from '../../../src/domain/access/secrets.ts'
import type { RateSnapshot } from '../../../src/domain/rates/rate-cache.ts'
import type { ApiKey } from '../../../src/http/access/auth.ts'
import { findSecretAgain } from '../../../src/http/access/known-secrets.ts'
import { finishedStore } from '../../../src/http/endpoint/answers/finished.ts'
import { createRepeats } from '../../../src/http/repeats.ts'
import { AppError } from '../../../src/runtime/errors.ts'
import { fixedClock } from '../../support/temporary.ts'

const KEY: ApiKey = {
  ...{ id: 1, name: 'erp', kind: 'header', side: 'venta' },
  ...{ network: null, origins: null, provider: null },
}
const TODAY = '2026-03-24'

/** A server with one snapshot, whose only request was answered by the framework with these headers. */
function answeredOnce(headers: Record<string, string> = {}) {
  const data = {} as RateSnapshot
  const memory: { age: () => number | undefined } = { age: () => undefined }
  const repeats = createRepeats({
    cache: { snapshot: () => data },
    database: { memoryAge: () => memory.age() },
    keyring: { findKey: () => KEY },
    clock: fixedClock().read,
    startRequest: (_, __, facts) => Object.assign(facts, { requestId: 'new' }),
  })
  const again = repeats.open()
  const first = newRequest()
  assert.equal(again(first.req, first.res), false)
  const event = { context: { key: KEY, route: '/r' }, runtime: { node: first } } as unknown as H3Event
  finishedStore(event, { data, today: TODAY }, 'body')?.(200, { 'x-request-id': 'old', ...headers })
  const isFinished = (...parts: Parameters<typeof newRequest>) => {
    const { req, res } = newRequest(...parts)
    return again(req, res)
  }
  return { isFinished, memory, event, data }
}

function newRequest(headers: Record<string, string> = {}, method = 'GET') {
  const req = { method, url: '/r', headers: { 'x-api-key': 'cbk_x', ...headers }, socket: {} }
  const res = { shouldKeepAlive: true, writeHead: () => res, end: () => res }
  return { req: req as unknown as IncomingMessage, res: res as unknown as ServerResponse }
}

test('an equal request gets the finished answer', () => {
  assert.equal(answeredOnce().isFinished(), true)
})

test('a HEAD, an upgrade and a body in chunks get no finished answer', () => {
  const { isFinished } = answeredOnce()
  assert.equal(isFinished({}, 'HEAD'), false)
  assert.equal(isFinished({ upgrade: 'websocket' }), false)
  assert.equal(isFinished({ 'transfer-encoding': 'chunked' }), false)
})

test('a memory that is not fresh, or too old, has no finished answers', () => {
  const { isFinished, memory } = answeredOnce()
  memory.age = () => 3
  assert.equal(isFinished(), false)
  memory.age = () => {
    throw new AppError('unavailable', 'too old')
  }
  assert.equal(isFinished(), false)
  memory.age = () => undefined
  assert.equal(isFinished(), true)
})

test('an answer with an age or a cookie is not stored', () => {
  assert.equal(answeredOnce({ age: '3' }).isFinished(), false)
  assert.equal(answeredOnce({ 'set-cookie': 'a=b' }).isFinished(), false)
})

test('an answer of other data, or to another key, has no place', () => {
  const { event, data } = answeredOnce()
  assert.equal(finishedStore(event, { data: {}, today: TODAY }, 'body'), undefined)
  event.context.key = { ...KEY }
  assert.equal(finishedStore(event, { data, today: TODAY }, 'body'), undefined)
})

test('each use of the last secret of a connection counts, and it ends with its entry', () => {
  const hash = hashOfSecret('cbk_one')
  const entry = { digest: Buffer.from(hash, 'latin1'), until: Number.POSITIVE_INFINITY }
  const secrets = { known: new Map([[hash, entry]]), used: new Set<string>() }
  const connection = {}
  for (let at = 0; at < 3; at += 1) {
    assert.equal(findSecretAgain(connection, secrets, 'cbk_one'), entry)
    assert.deepEqual([...secrets.used], [hash])
    secrets.used.clear()
  }
  assert.equal(findSecretAgain(connection, secrets, 'cbk_two'), undefined)
  assert.equal(findSecretAgain(connection, secrets, 'cbk_on'), undefined)
  secrets.known = new Map([[hash, { ...entry }]])
  assert.notEqual(findSecretAgain(connection, secrets, 'cbk_one'), entry)
  secrets.known = new Map()
  assert.equal(findSecretAgain(connection, secrets, 'cbk_one'), undefined)
})
