// Right requests in pieces, in long rows, and with some of their bytes changed: what is stored is what was acknowledged,
// and the server goes on.

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { randomOf } from '../../support/rates/random-bank.ts'
import { exchangeRaw } from '../../support/raw-requests.ts'
import {
  bodyNamed,
  CHUNKED,
  chunksOf,
  get,
  type RawGround,
  request,
  startRawGround,
  upload,
  uploadAs,
} from '../../support/raw-server.ts'
import { figure, PROGRAM, SEED, scaled } from '../scale.ts'

const MUTATIONS = scaled({ short: 400, long: 200_000 })
const AT_ONCE = 16

let { port, send, judge, check } = {} as RawGround
before(async (t) => {
  ;({ port, send, judge, check } = await startRawGround(t as TestContext, PROGRAM))
})

test('a request in pieces is answered as the whole', async () => {
  const requests = [
    get('/api/v1/providers'),
    get('/api/v1/rates?on=nonsense'),
    upload('pieces'),
    upload('pieces', [CHUNKED], chunksOf(bodyNamed('pieces'))),
    uploadAs('body', 'pieces'),
    uploadAs('form', 'pieces'),
    request('POST /api/v1/agent/get_by_company HTTP/1.1', [], '{"company_id":1,"code":"ACME"}'),
    get('/nowhere'),
  ]
  const random = randomOf(SEED)
  for (const one of requests) {
    const [whole] = await exchangeRaw(port, one)
    assert.ok(whole)
    judge([whole], one)
    const cut = random.int(1, one.length - 1)
    for (const pieces of [[...one], [one.slice(0, cut), one.slice(cut)]]) {
      const [answer, ...others] = await exchangeRaw(port, ...pieces)
      assert.ok(answer)
      judge([answer], one)
      assert.deepEqual([answer.status, others], [whole.status, []])
      if (!whole.body.includes('created_documents')) assert.deepEqual(String(answer.body), String(whole.body))
    }
  }
  await check()
})

test('two hundred requests at once are answered in their order', async () => {
  const kinds: [text: (at: number) => string, status: number, words: (at: number) => string][] = [
    [() => get('/healthz'), 200, () => 'status'],
    [(at) => get(`/api/v1/rates?on=wrong${at}`), 422, (at) => `wrong${at}"`],
    [(at) => upload(`deep${at}`), 200, (at) => `"deep${at}"`],
    [(at) => upload(`chunk${at}`, [CHUNKED], chunksOf(bodyNamed(`chunk${at}`))), 200, (at) => `"chunk${at}"`],
    [(at) => uploadAs('body', `raw${at}`), 200, (at) => `"raw${at}"`],
    [(at) => uploadAs('form', `form${at}`), 200, (at) => `"form${at}"`],
    [() => get('/nowhere'), 404, () => 'Not found'],
  ]
  const row = Array.from({ length: 200 }, (_, at) => kinds[(at * 5) % kinds.length])
  const answers = await exchangeRaw(port, row.map((kind, at) => kind?.[0](at) ?? '').join(''))
  judge(answers, 'a row')
  assert.equal(answers.length, row.length)
  for (const [at, kind] of row.entries()) {
    assert.equal(answers[at]?.status, kind?.[1], `${at}`)
    assert.ok(String(answers[at]?.body).includes(kind?.[2](at) ?? ''), `${at}: ${answers[at]?.body}`)
  }
  await check()
})

test('right requests with some of their bytes changed leave only what was acknowledged', async (t) => {
  const random = randomOf(SEED)
  const right = [
    get('/api/v1/rates/latest'),
    get('/api/v1/documents?limit=2'),
    get('/api/v1/documents/1/content', 'Range: bytes=1-3'),
    upload('mutated'),
    upload('mutated', ['Idempotency-Key: once']),
    upload('mutated', [CHUNKED], chunksOf(bodyNamed('mutated'))),
    uploadAs('body', 'mutated'),
    uploadAs('form', 'mutated'),
    uploadAs('form', 'mutated', ['Idempotency-Key: form']),
    request('POST /api/v1/agent/get_by_company HTTP/1.1', [], '{"company_id":1,"code":"ACME"}'),
  ]
  const strange = ['\r', '\n', '\r\n', '\0', ' ', ':', '0', '9', '\x80', '"', '{', ';', ',', '\r\n\r\n', '\t']
  const changed = (text: string): string => {
    const at = random.int(0, text.length)
    const end = Math.min(text.length, at + random.int(0, 8))
    const put = strange[random.int(0, strange.length - 1)] ?? ''
    const ways = [
      put,
      text.slice(at, end).repeat(2),
      '',
      put.repeat(3),
      String.fromCharCode(random.int(0, 255)),
    ]
    if (random.chance(0.03)) return text.slice(0, at) // cut off
    return text.slice(0, at) + (ways[random.int(0, ways.length - 1)] ?? '') + text.slice(end)
  }
  const statuses = new Map<number, number>()
  for (let done = 0; done < MUTATIONS; done += AT_ONCE) {
    const texts = Array.from({ length: AT_ONCE }, () => {
      let text = right[random.int(0, right.length - 1)] ?? ''
      for (let times = random.int(1, 4); times > 0; times -= 1) text = changed(text)
      return text
    })
    const seen = await Promise.all(texts.map((text) => send(text + get('/healthz'))))
    for (const [at, got] of seen.entries()) {
      const most = (texts[at]?.match(/HTTP/g)?.length ?? 0) + 2 // a change may make two of one, and one follows
      assert.ok(got.length <= most, `seed ${SEED}: ${got} of ${JSON.stringify(texts[at])}`)
      for (const status of got) statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  figure(t, `answers to ${MUTATIONS} changed requests with seed ${SEED}`, JSON.stringify([...statuses]))
  await check()
})
