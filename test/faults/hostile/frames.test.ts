// Raw bytes with ambiguous or invalid framing: frames, chunks, floods, zero bytes. No part of a body is ever handled
// as a request.

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import {
  bodyNamed,
  CHUNKED,
  chunkedBody,
  get,
  type RawServer,
  request,
  startRawServer,
  uploadRequest,
} from '../../support/raw-server.ts'
import { figure, PROGRAM, scaled } from '../scale.ts'

const MEGABYTE = 1024 ** 2
const SMUGGLED = uploadRequest('smuggled')
/** Headers that frame a body ambiguously, or not at all. */
const framings = (body: string) => [
  [`Content-Length: ${body.length}`, CHUNKED],
  [CHUNKED, `Content-Length: ${body.length}`],
  [`Content-Length: ${body.length}`, 'transfer-encoding:chunked'],
  [`Content-Length: ${body.length}`, 'Transfer-Encoding: CHUNKED'],
  [`Content-Length: ${body.length}`, 'Transfer-Encoding: identity, chunked'],
  [`Content-Length: ${body.length}`, 'Transfer-Encoding: chunked, identity'],
  [`Content-Length: ${body.length}`, 'Transfer-Encoding: xchunked'],
  [`Content-Length: ${body.length}`, 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'],
  [`Content-Length: ${body.length}`, 'Transfer-Encoding:\x0bchunked'],
  [`Content-Length: ${body.length}`, 'Transfer-Encoding : chunked'],
  [`Content-Length: ${body.length}`, 'X: y\r\n Transfer-Encoding: chunked', CHUNKED],
  [`Content-Length: ${body.length}`, 'X: y\nTransfer-Encoding: chunked'],
  [`Content-Length: ${body.length}`, 'X: y\rTransfer-Encoding: chunked'],
  [`Content-Length: ${body.length}`, 'X: y\0', CHUNKED],
  [`Content-Length: ${body.length}`, 'Content-Length: 5'],
  ['Content-Length: 5', `Content-Length: ${body.length}`],
  [`Content-Length: 5, ${body.length}`],
  [`Content-Length: ${body.length}, ${body.length}`],
  [`Content-Length: +${body.length}`],
  ['Content-Length: -1'],
  [`Content-Length: 0x${body.length.toString(16)}`],
  [`Content-Length: ${body.length}e0`],
  [`Content-Length: ${body.length}.0`],
  [`Content-Length: 1 ${body.length}`],
  ['Content-Length: 99999999999999999999999999'],
  ['Content-Length: '],
  [`Content-Length : ${body.length}`],
  ['Transfer-Encoding: chunked, identity'],
  ['Transfer-Encoding: xchunked'],
  ['Transfer-Encoding: chunked;q=1'],
  ['Transfer-Encoding: "chunked"'],
]

let { send, check } = {} as RawServer
before(async (t) => {
  ;({ send, check } = await startRawServer(t as TestContext, PROGRAM))
})

test('a request with ambiguous framing gets 400, and its body is not handled as a request', async (t) => {
  const carriers = [
    uploadRequest('carrier').split('\r\n')[0] ?? '',
    'POST /api/v1/agent/get_by_company HTTP/1.1',
  ]
  carriers.push('GET /api/v1/documents HTTP/1.1', 'GET /healthz HTTP/1.1', 'POST /nowhere HTTP/1.1')
  let attempts = 0
  for (const first of carriers) {
    for (const body of [`0\r\n\r\n${SMUGGLED}`, chunkedBody(SMUGGLED), bodyNamed('carrier') + SMUGGLED]) {
      for (const headers of framings(body)) {
        const text = request(first, headers, body)
        const statuses = await send(text)
        const details = `${statuses}: ${JSON.stringify(text.slice(0, 300))}`
        // A GET is answered at the end of its headers, before its body proves invalid.
        assert.ok(statuses.length === 1 || (statuses.length === 2 && first.startsWith('GET')), details)
        assert.equal(statuses.at(-1), 400, details)
        attempts += 1
      }
    }
  }
  figure(t, 'frames of two meanings', attempts)
  await check()
})

test('invalid chunks end the connection, and following bytes are not handled as a request', async (t) => {
  const text = bodyNamed('chunks')
  const right = `${text.length.toString(16)}\r\n${text}\r\n`
  const wrong = [
    ...['zz', '-1', '+5', '0x5', '5 5', ' 5', '', 'FFFFFFFFFFFFFFFFFF', '5\0'].map(
      (size) => `${size}\r\n{"a":\r\n`,
    ),
    `${right}0x0\r\n\r\n`,
    `${text.length.toString(16)}\r\n${text}0\r\n\r\n`, // the data are longer than the size
    `${(text.length - 1).toString(16)}\r\n${text}\r\n0\r\n\r\n`,
    `${text.length.toString(16)}\n${text}\n0\n\n`,
    `${right}0\r\nX y\r\n\r\n`,
    `${right}0\r\nX: ${'y'.repeat(MEGABYTE)}\r\n\r\n`,
    `5;${'x'.repeat(MEGABYTE)}\r\n{"a":\r\n`,
  ]
  for (const chunks of wrong) {
    const [status, ...others] = await send(uploadRequest('chunks', [CHUNKED], chunks), SMUGGLED)
    assert.ok(
      status === 400 || status === 413 || status === 431,
      `${status}: ${JSON.stringify(chunks.slice(0, 100))}`,
    )
    assert.deepEqual(others, [])
  }
  figure(t, 'wrong chunks', wrong.length)
  const validChunks = [
    `${right}0\r\nX: y\r\n\r\n`,
    `${text.length.toString(16)};a=b\r\n${text}\r\n000\r\n\r\n`,
  ]
  for (const chunks of validChunks) {
    assert.deepEqual(await send(uploadRequest('chunks', [CHUNKED], chunks), get('/healthz')), [200, 200])
  }
  await check()
})

test('a flood of headers, lines or empty lines is rejected, or does no harm', async () => {
  const long = 'x'.repeat(MEGABYTE)
  const floods = [
    get('/healthz', ...Array.from({ length: 20_000 }, (_, at) => `X-${at}: y`)),
    get('/healthz', `X: ${long}`),
    get('/healthz', `${long}: y`),
    get('/healthz', ...Array.from({ length: 3000 }, () => 'X: y')),
    get(`/${long}`),
    get(`/healthz?${long}`),
    `${long} /healthz HTTP/1.1\r\n\r\n`,
    `GET /healthz HTTP/1.1${' '.repeat(MEGABYTE)}\r\n\r\n`,
    long,
    '\0'.repeat(MEGABYTE),
    ':'.repeat(MEGABYTE),
  ]
  for (const flood of floods) {
    const statuses = await send(flood)
    assert.ok(
      statuses.length <= 1 && statuses.every((one) => one === 400 || one === 431 || one === 200),
      `${statuses}`,
    )
  }
  assert.deepEqual(await send('\r\n'.repeat(MEGABYTE / 2), get('/healthz')), [200])
  await check()
})

test('a request with a zero byte anywhere is not accepted', async () => {
  const whole = uploadRequest('zero')
  for (let at = 0; at <= whole.length; at += scaled({ short: 7, long: 1 })) {
    const statuses = await send(`${whole.slice(0, at)}\0${whole.slice(at)}`)
    assert.ok(statuses.length >= 1 && statuses.length <= 2, `${at}: ${statuses}`)
    if (at < whole.length) assert.notEqual(statuses[0], 200, `at ${at}`)
  }
  await check()
})
