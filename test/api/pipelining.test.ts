// Several requests on one socket, and clients that close their side. Requests are answered in order, and no
// answer has bytes of another.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { before, type TestContext, test } from 'node:test'
import { startTestApp, type TestApp } from '../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, TOKENS } from '../support/directory.ts'
import { serverEnd } from '../support/events/server-ends.ts'
import { parseAnswers } from '../support/raw-requests.ts'
import { until } from '../support/terminal.ts'

const AUTH = `Host: a\r\nAuthorization: Bearer ${TOKENS.all}\r\n`
const LARGE = randomBytes(20_000_000)

let app: TestApp
let large = 0
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
  const response = await post(app, CREATE, batch({ ...pdf(), base64: LARGE.toString('base64') }))
  const { created_documents } = (await response.json()) as { created_documents: { id: number }[] }
  large = created_documents[0]?.id ?? 0
})

function open(t: TestContext): { socket: Socket; received: () => Buffer; closed: () => boolean } {
  const port = Number(new URL(app.app.url).port)
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  t.after(() => socket.destroy())
  const pieces: Buffer[] = []
  let isClosed = false
  socket.on('data', (piece: Buffer) => pieces.push(piece))
  socket.on('error', () => {})
  for (const end of ['end', 'close'] as const) {
    socket.on(end, () => {
      isClosed = true
    })
  }
  return { socket, received: () => Buffer.concat(pieces), closed: () => isClosed }
}

function upload(text: string): string {
  const body = JSON.stringify(batch(pdf(text)))
  return `POST ${CREATE} HTTP/1.1\r\n${AUTH}Content-Length: ${body.length}\r\n\r\n${body}`
}

const download = () => `GET /api/v1/documents/${large}/content HTTP/1.1\r\n${AUTH}\r\n`

test('a download followed by garbage is complete, and the garbage is rejected after it', async (t) => {
  const { socket, received, closed } = open(t)
  socket.write(download())
  await until(() => received().length > 0)
  socket.pause()
  for (let block = 0; block < 5; block += 1) socket.write(`NONSENSE ${'x'.repeat(100_000)}\r\n\r\n`)
  const end = await serverEnd(socket)
  await until(() => end.bytesRead > download().length)
  socket.resume()
  await until(closed)
  const [first, second, ...rest] = parseAnswers(received())
  assert.equal(first?.status, 200)
  assert.ok(first?.body.equals(LARGE))
  assert.equal(second?.status, 400)
  assert.deepEqual(rest, [])
})

test('an upload followed by garbage has its own answer', async (t) => {
  const { socket, received, closed } = open(t)
  socket.write(`${upload('uno')}NONSENSE\r\n\r\n`)
  await until(closed)
  const answers = parseAnswers(received())
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 400],
  )
  assert.equal(answers[1]?.body.toString(), '{"detail":"Malformed HTTP request"}')
})

test('uploads and a download in a row are answered in order', async (t) => {
  const { socket, received, closed } = open(t)
  socket.end(upload('uno') + download() + upload('dos'))
  await until(closed)
  const answers = parseAnswers(received())
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  )
  assert.ok(answers[1]?.body.equals(LARGE))
})

test('a client that closes its side after its request gets its answer', async (t) => {
  const { socket, received, closed } = open(t)
  socket.end(upload('uno'))
  await until(closed)
  assert.deepEqual(
    parseAnswers(received()).map(({ status }) => status),
    [200],
  )
})

const chunked = `POST ${CREATE} HTTP/1.1\r\n${AUTH}Transfer-Encoding: chunked\r\n\r\n`
const broken: [string, string, boolean][] = [
  ['whose first chunk has no length', `${chunked}zz\r\n{`, false],
  ['whose later chunk has no length', `${chunked}1\r\n{\r\nzz\r\n`, false],
  ['that ends before its stated length', upload('uno').slice(0, -5), true],
  ['that ends within a chunk', `${chunked}5\r\n{`, true],
]
for (const [what, bytes, ends] of broken) {
  test(`a body ${what} is rejected in the error format of its API`, async (t) => {
    const { socket, received, closed } = open(t)
    if (ends) socket.end(bytes)
    else socket.write(bytes)
    await until(closed)
    const [answer, ...rest] = parseAnswers(received())
    assert.equal(answer?.status, 400)
    const { status, message } = JSON.parse(String(answer?.body)) as Record<string, string>
    assert.deepEqual([status, message], ['error', 'Malformed HTTP request'])
    assert.deepEqual(rest, [])
  })
}

test('CONNECT behind a download cuts it, and adds nothing to it', async (t) => {
  const { socket, received, closed } = open(t)
  socket.pause() // most of it must be unsent when CONNECT arrives
  socket.write(download())
  const end = await serverEnd(socket)
  await until(() => end.writableNeedDrain)
  socket.write(`CONNECT a:1 HTTP/1.1\r\n${AUTH}\r\n`)
  await until(() => end.destroyed)
  socket.resume()
  await until(closed)
  const head = received().indexOf('\r\n\r\n') + 4
  const body = received().subarray(head)
  assert.ok(body.equals(LARGE.subarray(0, body.length)))
})

for (const [what, wish] of [
  ['a GET', `GET /healthz HTTP/1.1\r\n${AUTH}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`],
  ['an upload', upload('uno').replace('Host: a', 'Host: a\r\nConnection: Upgrade\r\nUpgrade: h2c')],
] as const) {
  test(`a body behind ${what} with an Upgrade header is never parsed as a request`, async (t) => {
    const { socket, received, closed } = open(t)
    const hidden = upload('hidden')
    const head = `POST ${CREATE} HTTP/1.1\r\n${AUTH}Content-Length: ${hidden.length + 7}\r\n\r\n`
    socket.write(`${wish}${head}{"x":1}`)
    await until(() => received().length > 0)
    socket.end(hidden)
    await until(closed)
    const [answer, ...others] = parseAnswers(received())
    assert.equal(answer?.status, 200)
    assert.match(answer?.head ?? '', /^connection: close$/im)
    assert.deepEqual(others, [])
  })
}
