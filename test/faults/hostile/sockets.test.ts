// Valid requests in pieces, in long sequences, and with altered bytes. Only acknowledged uploads are stored, and the
// server survives.

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { createRandom } from '../../support/rates/random-bank.ts'
import { exchangeRaw } from '../../support/raw-requests.ts'
import {
  bodyNamed,
  CHUNKED,
  chunkedBody,
  encodedUpload,
  get,
  type RawServer,
  request,
  startRawServer,
  uploadRequest,
} from '../../support/raw-server.ts'
import { SEED } from '../../support/seed.ts'
import { figure, PROGRAM, scaled } from '../scale.ts'

const MUTATIONS = scaled({ short: 400, long: 200_000 })
const AT_ONCE = 16

let { port, send, checkAnswers: judge, check } = {} as RawServer
before(async (t) => {
  ;({ port, send, checkAnswers: judge, check } = await startRawServer(t as TestContext, PROGRAM))
})

test('a request in pieces gets the same answer as in one', async () => {
  const requests = [
    get('/api/v1/providers'),
    get('/api/v1/rates?on=nonsense'),
    uploadRequest('pieces'),
    uploadRequest('pieces', [CHUNKED], chunkedBody(bodyNamed('pieces'))),
    encodedUpload('body', 'pieces'),
    encodedUpload('form', 'pieces'),
    request('POST /api/v1/agent/get_by_company HTTP/1.1', [], '{"company_id":1,"code":"ACME"}'),
    get('/nowhere'),
  ]
  const random = createRandom(SEED)
  for (const text of requests) {
    const [whole] = await exchangeRaw(port, text)
    assert.ok(whole)
    judge([whole], text)
    const cut = random.int(1, text.length - 1)
    for (const pieces of [[...text], [text.slice(0, cut), text.slice(cut)]]) {
      const [answer, ...others] = await exchangeRaw(port, ...pieces)
      assert.ok(answer)
      judge([answer], text)
      assert.deepEqual([answer.status, others], [whole.status, []])
      if (!whole.body.includes('created_documents')) assert.deepEqual(String(answer.body), String(whole.body))
    }
  }
  await check()
})

test('two hundred pipelined requests are answered in order', async () => {
  const kinds: [text: (at: number) => string, status: number, expected: (at: number) => string][] = [
    [() => get('/healthz'), 200, () => 'status'],
    [(at) => get(`/api/v1/rates?on=wrong${at}`), 422, (at) => `wrong${at}"`],
    [(at) => uploadRequest(`deep${at}`), 200, (at) => `"deep${at}"`],
    [
      (at) => uploadRequest(`chunk${at}`, [CHUNKED], chunkedBody(bodyNamed(`chunk${at}`))),
      200,
      (at) => `"chunk${at}"`,
    ],
    [(at) => encodedUpload('body', `raw${at}`), 200, (at) => `"raw${at}"`],
    [(at) => encodedUpload('form', `form${at}`), 200, (at) => `"form${at}"`],
    [() => get('/nowhere'), 404, () => 'Not found'],
  ]
  const sequence = Array.from({ length: 200 }, (_, at) => kinds[(at * 5) % kinds.length])
  const answers = await exchangeRaw(port, sequence.map((kind, at) => kind?.[0](at) ?? '').join(''))
  judge(answers, 'a sequence')
  assert.equal(answers.length, sequence.length)
  for (const [at, kind] of sequence.entries()) {
    assert.equal(answers[at]?.status, kind?.[1], `${at}`)
    assert.ok(String(answers[at]?.body).includes(kind?.[2](at) ?? ''), `${at}: ${answers[at]?.body}`)
  }
  await check()
})

test('altered requests store only acknowledged uploads', async (t) => {
  const random = createRandom(SEED)
  const validRequests = [
    get('/api/v1/rates/latest'),
    get('/api/v1/documents?limit=2'),
    get('/api/v1/documents/1/content', 'Range: bytes=1-3'),
    uploadRequest('mutated'),
    uploadRequest('mutated', ['Idempotency-Key: once']),
    uploadRequest('mutated', [CHUNKED], chunkedBody(bodyNamed('mutated'))),
    encodedUpload('body', 'mutated'),
    encodedUpload('form', 'mutated'),
    encodedUpload('form', 'mutated', ['Idempotency-Key: form']),
    request('POST /api/v1/agent/get_by_company HTTP/1.1', [], '{"company_id":1,"code":"ACME"}'),
  ]
  const insertions = [
    '\r',
    '\n',
    '\r\n',
    '\0',
    ' ',
    ':',
    '0',
    '9',
    '\x80',
    '"',
    '{',
    ';',
    ',',
    '\r\n\r\n',
    '\t',
  ]
  const alterText = (text: string): string => {
    const at = random.int(0, text.length)
    const end = Math.min(text.length, at + random.int(0, 8))
    const insertion = insertions[random.int(0, insertions.length - 1)] ?? ''
    const changes = [
      insertion,
      text.slice(at, end).repeat(2),
      '',
      insertion.repeat(3),
      String.fromCharCode(random.int(0, 255)),
    ]
    if (random.chance(0.03)) return text.slice(0, at) // cut off
    return text.slice(0, at) + (changes[random.int(0, changes.length - 1)] ?? '') + text.slice(end)
  }
  const statuses = new Map<number, number>()
  for (let count = 0; count < MUTATIONS; count += AT_ONCE) {
    const texts = Array.from({ length: AT_ONCE }, () => {
      let text = validRequests[random.int(0, validRequests.length - 1)] ?? ''
      for (let times = random.int(1, 4); times > 0; times -= 1) text = alterText(text)
      return text
    })
    const statusLists = await Promise.all(texts.map((text) => send(text + get('/healthz'))))
    for (const [at, received] of statusLists.entries()) {
      const max = (texts[at]?.match(/HTTP/g)?.length ?? 0) + 2 // an alteration may split a request, and one follows
      assert.ok(received.length <= max, `seed ${SEED}: ${received} of ${JSON.stringify(texts[at])}`)
      for (const status of received) statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  figure(t, `answers to ${MUTATIONS} altered requests with seed ${SEED}`, JSON.stringify([...statuses]))
  await check()
})
