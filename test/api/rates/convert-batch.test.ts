// Many conversions in one request: each is answered like a single one, whatever the others are (decisions#batch).

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { inventedValue } from '../../../src/demo/invented-rates.ts'
import { startTestApp } from '../../support/app.ts'
import { untilRead } from '../../support/events/server-ends.ts'
import { openApp } from '../support.ts'

const app = await openApp({
  backfillFrom: '2025-06-01',
  bank: {
    value: (code, day) => (day > '2025-09-01' && day < '2025-09-20' ? null : inventedValue(code, day)),
  },
})
await app.sync()

type Element = Record<string, string | number | undefined>
const PATH = '/api/v1/convert/batch'

function post(body: string | Buffer): Promise<Response> {
  return fetch(app.app.url + PATH, { method: 'POST', headers: { 'x-api-key': app.key }, body: String(body) })
}

async function postBatch(body: string): Promise<unknown[]> {
  const response = await post(body)
  const text = await response.text()
  assert.equal(response.status, 200, text)
  return JSON.parse(text)
}

test('each element is answered as by GET /convert, byte for byte, and errors with status and detail', async () => {
  const elements = Array.from({ length: 2000 }, (_, at) => randomElement(at))
  const response = await post(JSON.stringify(elements))
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
  const singles: string[] = []
  const statuses = new Set<number>()
  for (const element of elements) {
    const query = new URLSearchParams({ details: 'true' })
    for (const [name, value] of Object.entries(element))
      if (value !== undefined) query.set(name, String(value))
    const single = await app.get(`/api/v1/convert?${query}`)
    const text = await single.text()
    statuses.add(single.status)
    singles.push(single.status === 200 ? text : `{"status":${single.status},${text.slice(1)}`)
  }
  const text = await response.text()
  const expected = `[${singles.join(',')}]`
  if (text !== expected) assert.deepEqual(JSON.parse(text), JSON.parse(expected))
  assert.ok(text === expected, 'the same bytes')
  assert.deepEqual([...statuses].sort(), [200, 404, 422])
})

test('each answer has the id of its element, as it was written', async () => {
  const ids = ['"a"', '""', '7', '-0', '123456789012345678901234567890', String.raw`"\u00e9\"\n"`]
  const body = `[${ids.map((id) => `{"id":${id},"amount":1,"from":"USD","to":"CRC"}`).join(',')}]`
  const text = await (await post(body)).text()
  const answerIds = [...text.matchAll(/\{"id":(.*?),"provider":/g)].map(([, id]) => id)
  assert.deepEqual(answerIds, ['"a"', '""', '7', '-0', '123456789012345678901234567890', String.raw`"é\"\n"`])
})

const NUMBERS: [written: string, amount: string][] = [
  ['1500.50', '1500.5'],
  ['0.1', '0.1'],
  ['1e3', '1000'],
  ['1E-20', `0.${'0'.repeat(19)}1`],
  [
    '123456789012345678901234567890.12345678901234567891',
    '123456789012345678901234567890.12345678901234567891',
  ],
  ['"9007199254740993.1"', '9007199254740993.1'],
]
test('an amount is read by its digits, as a number or as a text', async () => {
  const body = `[${NUMBERS.map(([amount]) => `{"amount":${amount},"from":"USD","to":"USD"}`).join(',')}]`
  const answers = (await postBatch(body)) as { amount: string; result: string }[]
  for (const [at, [, amount]] of NUMBERS.entries()) {
    assert.deepEqual([answers[at]?.amount, answers[at]?.result], [amount, amount])
  }
})

const WRONG: [title: string, element: string, loc: (string | number)[], msg: RegExp][] = [
  ['a missing amount', '{"from":"USD","to":"CRC"}', ['query', 'amount'], /^amount is required$/],
  ['a null amount', '{"amount":null,"from":"USD","to":"CRC"}', ['query', 'amount'], /^amount is required$/],
  [
    'a nested amount',
    '{"amount":{"x":[1]},"from":"USD","to":"CRC"}',
    ['query', 'amount'],
    /^amount must be a decimal/,
  ],
  [
    'a currency that is a number',
    '{"amount":1,"from":5,"to":"CRC"}',
    ['query', 'from'],
    /^from must be a currency/,
  ],
  [
    'a day as a number',
    '{"amount":1,"from":"USD","to":"CRC","on":20260324}',
    ['query', 'on'],
    /^on must be a cal/,
  ],
  [
    'a misspelt field',
    '{"amount":1,"from":"USD","to":"CRC","date":"2026-01-05"}',
    ['query', 'date'],
    /mean on\?$/,
  ],
  [
    'an unknown field',
    '{"amount":1,"from":"USD","to":"CRC","zzzzzz":[1]}',
    ['query', 'zzzzzz'],
    /no parameter zzzzzz/,
  ],
  [
    'a field like a prototype',
    '{"amount":1,"from":"USD","to":"CRC","__proto__":1}',
    ['query', '__proto__'],
    /__proto__/,
  ],
  [
    'an id that is a fraction',
    '{"id":1.5,"amount":1,"from":"USD","to":"CRC"}',
    ['query', 'id'],
    /^id must be a text/,
  ],
  [
    'an id that is nested',
    '{"id":[1],"amount":1,"from":"USD","to":"CRC"}',
    ['query', 'id'],
    /^id must be a text/,
  ],
  ['no object', '5', ['body', 1], /^must be an object/],
  ['an array', '[{"amount":1}]', ['body', 1], /^must be an object/],
  ['null', 'null', ['body', 1], /^must be an object/],
]
for (const [title, element, loc, msg] of WRONG) {
  test(`${title} is an error that affects no other element`, async () => {
    const good = '{"id":1,"amount":"2","from":"USD","to":"USD"}'
    const [first, wrong, last] = (await postBatch(`[${good},${element},${good}]`)) as [object, Wrong, object]
    assert.ok('result' in first)
    assert.deepEqual(last, first)
    assert.equal(wrong.status, 422)
    assert.equal(wrong.detail.length, 1, JSON.stringify(wrong.detail))
    assert.deepEqual(wrong.detail[0]?.loc, loc)
    assert.match(wrong.detail[0]?.msg ?? '', msg)
  })
}
type Wrong = { status: number; detail: { loc: unknown; msg: string }[] }

test('at most a few unknown fields of an element are compared with known names', async () => {
  const names = Array.from({ length: 100_000 }, (_, at) => `"x${at}":0`)
  const [wrong] = (await postBatch(`[{${names.join(',')}}]`)) as [Wrong]
  assert.equal(wrong.status, 422)
  assert.ok(wrong.detail.length < 20, `${wrong.detail.length}`)
})

test('null is read as an absent field', async () => {
  const body = '[{"id":null,"amount":1,"from":"USD","to":"CRC","on":null,"type":null}]'
  assert.deepEqual(await postBatch(body), [
    await app.json('/api/v1/convert?amount=1&from=USD&to=CRC&details=true'),
  ])
})

test('10,000 elements are answered, and so is an empty array', async () => {
  assert.deepEqual(await postBatch(' [ ] '), [])
  const one = '{"amount":1,"from":"USD","to":"CRC"}'
  const answers = await postBatch(`[${Array(10_000).fill(one).join(',')}]`)
  assert.equal(answers.length, 10_000)
  const response = await post(`[${Array(10_001).fill(one).join(',')}]`)
  assert.equal(response.status, 413)
  assert.match(await response.text(), /At most 10000 conversions/)
})

const REFUSED: [title: string, body: string, status: number, words: RegExp][] = [
  ['an object', '{"amount":1}', 422, /"loc":\["body"\].*must be an array/],
  ['a number', '5', 422, /must be an array/],
  ['what is no JSON', '[{]', 400, /valid JSON: unexpected \\"\]\\" at byte 2/],
  ['an array that ends early', '[{"amount":1}', 400, /valid JSON: unexpected end/],
  ['nothing', '', 400, /valid JSON/],
  ['more bytes than are read', `["${'x'.repeat(4 * 1024 ** 2)}"]`, 413, /at most 4194304 bytes/],
]
for (const [title, body, status, words] of REFUSED) {
  test(`${title} is rejected as a whole`, async () => {
    const response = await post(body)
    assert.equal(response.status, status)
    assert.match(await response.text(), words)
  })
}

test('a batch needs a key, and GET is a 405', async () => {
  const response = await fetch(app.app.url + PATH, { method: 'POST', body: '[]' })
  assert.equal(response.status, 401)
  const get = await app.get(PATH)
  assert.deepEqual([get.status, get.headers.get('allow')], [405, 'POST'])
})

test('a batch whose client disconnects releases its slot, in its body or in its answer', async () => {
  const body = `[${Array(10_000).fill('{"amount":1,"from":"USD","to":"CRC"}').join(',')}]`
  const head = `POST ${PATH} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${app.key}\r\nContent-Length: ${body.length}\r\n\r\n`
  await Promise.all(Array.from({ length: 10 }, () => sendAndLeave(head + body.slice(0, 5000), untilRead)))
  await Promise.all(Array.from({ length: 10 }, () => sendAndLeave(head + body)))
  const answers = await Promise.all(Array.from({ length: 12 }, () => post('[]')))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
})

test('batches are answered while 10 clients send slowly, and 10 do not read', async (t) => {
  const element = `{"id":"${'x'.repeat(300)}","amount":1,"from":"USD","to":"CRC"}`
  const body = `[${Array(10_000).fill(element).join(',')}]`
  const head = `POST ${PATH} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${app.key}\r\nContent-Length: ${body.length}\r\n\r\n`
  const dial = (bytes: string) => {
    const socket = connect(Number(new URL(app.app.url).port), '127.0.0.1', () => socket.write(bytes))
    t.after(() => socket.destroy())
    return socket
  }
  for (let at = 0; at < 10; at += 1) dial(head + body.slice(0, 5000))
  const idle = Array.from({ length: 10 }, () => dial(head + body))
  await Promise.all(idle.map((socket) => once(socket, 'readable'))) // the rest is not read
  assert.equal((await postBatch(body)).length, 10_000)
})

/** Sends bytes and disconnects when the answer begins, or after `wait`. */
function sendAndLeave(bytes: string, wait?: (socket: Socket) => Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(app.app.url).port), '127.0.0.1', () => socket.write(bytes))
    socket.on('close', () => resolve())
    socket.once('data', () => socket.destroy())
    socket.once('connect', () => wait?.(socket).then(() => socket.destroy()))
  })
}

/** A valid element in most cases, else one of the usual faults. */
function randomElement(at: number): Element {
  let seed = at * 2654435761 + 12345
  const pick = <T>(list: readonly T[]): T => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
    return list[(seed >>> 8) % list.length] as T
  }
  const day = () =>
    `20${pick(['24', '25', '26'])}-0${pick([1, 2, 3, 6, 8, 9])}-${pick(['01', '05', '17', '28'])}`
  return {
    amount: pick([
      '1',
      '1500.50',
      15,
      0.25,
      '1e3',
      '.5',
      '9'.repeat(30),
      pick(['0', '-1', 'x', '', '1e31', '12,5']),
    ]),
    from: pick(['USD', 'CRC', 'EUR', 'JPY', 'usd', 'GBP', pick(['XXX', 'US', '']), 'XDR']),
    to: pick(['USD', 'CRC', 'EUR', 'JPY', 'crc', 'MXN', pick(['XXX', 'US$', 'BRL'])]),
    type: pick([undefined, undefined, 'venta', 'compra', 'referencia', pick(['VENTA', 'compra'])]),
    on: pick([undefined, day(), day(), day(), '2025-09-15', '2026-03-24', '2026-02-30', '2999-12-31']),
    provider: pick([undefined, undefined, undefined, undefined, 'bccr', 'nobody']),
    decimals: pick([undefined, undefined, undefined, 0, 2, '2', 20, pick([21, -1, 1.5, '', 'x'])]),
    rounding: pick([undefined, undefined, 'half-up', 'half-even', 'down', pick(['up', 'HALF-UP', ''])]),
  }
}

test('X-Cambista-As-Of is of today, so that as_of repeats an answer whose newest commit is of yesterday', async (t) => {
  const own = await startTestApp(t, { backfillFrom: '2026-03-01' })
  await own.sync()
  own.clock.now = new Date('2026-03-25T08:00:00Z') // before the sync of the morning
  const elements = [undefined, '2026-03-26', '2026-03-27'].map((on) => ({
    ...{ amount: '1', from: 'EUR', to: 'CRC', on },
  }))
  const ask = async (query = '') => {
    const response = await fetch(`${own.app.url}${PATH}${query}`, {
      ...{ method: 'POST', headers: { 'x-api-key': own.key }, body: JSON.stringify(elements) },
    })
    return { text: await response.text(), asOf: response.headers.get('x-cambista-as-of') ?? '' }
  }
  const first = await ask()
  assert.equal(first.asOf, '2026-03-25T06:00:00.000Z')
  const again = await ask(`?as_of=${first.asOf}`)
  assert.equal(again.text.replaceAll(`,"as_of":"${first.asOf}"`, ''), first.text)
})

test('X-Cambista-As-Of has the instant of the answer, and as_of repeats it after a change', async (t) => {
  let isCorrected = false
  const own = await startTestApp(t, {
    backfillFrom: '2026-03-01',
    bank: { value: (code, day) => (isCorrected && code === '317' && day === '2026-03-24' ? '1' : undefined) },
  })
  await own.sync()
  const elements = ['2026-03-10', '2026-03-24', '2026-03-26', '2030-01-01'].flatMap((on, id) => [
    { id, amount: '1500.5', from: 'EUR', to: 'CRC', on },
    { amount: '7', from: 'USD', to: 'CRC', type: 'compra', on },
  ])
  const ask = async (query = '') => {
    const response = await fetch(`${own.app.url}${PATH}${query}`, {
      ...{ method: 'POST', headers: { 'x-api-key': own.key }, body: JSON.stringify(elements) },
    })
    return { response, text: await response.text(), asOf: response.headers.get('x-cambista-as-of') ?? '' }
  }
  const first = await ask()
  assert.match(first.asOf, /^2026-03-24T12:00:00\.\d{3}Z$/)
  assert.equal(first.response.headers.get('cache-control'), 'no-store')
  own.clock.now = new Date('2026-03-26T12:00:00Z')
  isCorrected = true
  await own.sync()
  assert.notEqual((await ask()).text, first.text)
  const again = await ask(`?as_of=${first.asOf}`)
  assert.equal(again.asOf, first.asOf)
  // Each element has `as_of`, as the answer of GET /convert; the rest is as before.
  assert.equal(again.text.replaceAll(`,"as_of":"${first.asOf}"`, ''), first.text)
  const [euro] = JSON.parse(again.text)
  const { id: _, ...single } = euro
  const path = `/api/v1/convert?amount=1500.5&from=EUR&to=CRC&on=2026-03-10&details=true&as_of=${first.asOf}`
  assert.deepEqual(single, await own.json(path))
  for (const [query, status, message] of [
    ['?as_of=2026-03-01T00:00:00Z', 404, /as_of is before the record of this store, which begins at/],
    ['?as_of=2036-03-01T00:00:00Z', 422, /as_of must not be in the future/],
    ['?as_of=yesterday', 422, /as_of must be an instant/],
    ['?asof=2026-03-25T00:00:00Z', 422, /there is no parameter asof: did you mean as_of/],
  ] as const) {
    const { response, text } = await ask(query)
    assert.equal(response.status, status, query)
    assert.match(text, message)
  }
})
