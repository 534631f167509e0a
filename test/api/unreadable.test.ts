// Requests that are rejected below the framework have the error format of the API of their path
// (decisions#early-rejections). Covers HTTP and TLS, and earlier requests on the connection.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { connect as connectSecurely } from 'node:tls'
import { startTestApp, type TestApp } from '../support/app.ts'
import { batch, CREATE, fillDatabase, pdf, TOKENS } from '../support/directory.ts'
import { serverEnd } from '../support/events/server-ends.ts'
import { parseAnswers, type RawAnswer } from '../support/raw-requests.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/terminal.ts'

const FIXTURES = join(import.meta.dirname, '../fixtures/tls')
const TLS = { cert: join(FIXTURES, 'first.crt'), key: join(FIXTURES, 'first.key') }
const LIST = '/api/v1/documents'
const AGENTS = '/api/v1/agent/get_by_company'
const RATES = '/api/v1/rates'
const AUTH = `Authorization: Bearer ${TOKENS.all}`

const apps = {} as Record<'plain' | 'secure', TestApp>
before(async (t) => {
  const start = async (options: object) => {
    const dataDir = temporaryDirectory(t as TestContext)
    await fillDatabase(dataDir)
    return startTestApp(t as TestContext, { dataDir, ...options })
  }
  apps.plain = await start({})
  apps.secure = await start({ listen: { tls: [TLS] } })
})

function upload(head: string[] = [], body = JSON.stringify(batch(pdf()))): string {
  return [`POST ${CREATE} HTTP/1.1`, AUTH, ...head, `Content-Length: ${body.length}`, '', body].join('\r\n')
}

const lines = (...all: string[]) => `${all.join('\r\n')}\r\n\r\n`
const LONG = 'a'.repeat(20_000)
const FIRST_ANSWER = Symbol('wait for the first answer')

type Shape = 'rates' | 'documents'
const refused: [what: string, shape: Shape, status: number, ...packets: string[]][] = [
  ['nonsense', 'rates', 400, lines('GARBAGE')],
  ['an unknown method', 'documents', 400, lines(`BREW ${LIST} HTTP/1.1`)],
  ['an unknown method', 'rates', 400, lines(`BREW ${RATES} HTTP/1.1`)],
  ['a method in lower case', 'documents', 400, lines(`post ${CREATE} HTTP/1.1`, AUTH)],
  ['an unknown version', 'documents', 400, lines(`POST ${AGENTS} HTTP/9.9`)],
  ['a field name with a space', 'documents', 400, lines(`GET ${LIST}?limit=1 HTTP/1.1`, 'Host: a', 'X y: 1')],
  ['a field name with a space', 'rates', 400, lines(`GET ${RATES}?x=${LIST} HTTP/1.1`, 'Host: a', 'X y: 1')],
  ['raw bytes in a query', 'documents', 400, lines(`GET ${LIST}?a=\xf1 HTTP/1.1`)],
  ['a length that is none', 'documents', 400, lines(`POST ${CREATE} HTTP/1.1`, AUTH, 'Content-Length: zz')],
  [
    'two lengths',
    'documents',
    400,
    lines(`POST ${AGENTS} HTTP/1.1`, 'Content-Length: 3', 'Content-Length: 4'),
  ],
  ['a length that is none', 'rates', 400, lines(`POST ${RATES} HTTP/1.1`, 'Content-Length: -1')],
  ['a field that is too long', 'documents', 431, lines(`POST ${CREATE} HTTP/1.1`, `X: ${LONG}`)],
  ['a query that is too long', 'documents', 431, lines(`GET ${LIST}?${LONG} HTTP/1.1`)],
  ['a field that is too long', 'rates', 431, lines(`GET ${RATES} HTTP/1.1`, `X: ${LONG}`)],
  ['too many fields', 'documents', 431, lines(`GET ${LIST} HTTP/1.1`, ...Array(4000).fill('Xyz: abcd'))],
  ['a whole URL', 'documents', 400, lines(`GET http://a:1${LIST} HTTP/1.1`, 'X y: 1')],
  ['CONNECT', 'rates', 405, lines('CONNECT a:1 HTTP/1.1')],
  ['CONNECT to a path', 'documents', 405, lines(`CONNECT ${LIST} HTTP/1.1`)],
  [
    'a bad chunk',
    'documents',
    400,
    lines(`POST ${CREATE} HTTP/1.1`, AUTH, 'Transfer-Encoding: chunked', '', 'zz'),
  ],
  [
    'a bad chunk in a packet of its own',
    'documents',
    400,
    lines(`POST ${CREATE} HTTP/1.1`, AUTH, 'Transfer-Encoding: chunked'),
    '1\r\n{\r\n',
    'zz\r\n',
  ],
]
for (const [what, shape, status, ...packets] of refused) {
  for (const listener of ['plain', 'secure'] as const) {
    test(`${what} is ${status} in the error format of ${shape}, ${listener}`, async () => {
      const [answer, ...others] = await send(listener, ...packets)
      isRefusal(answer, status, shape)
      assert.deepEqual(others, [])
    })
  }
}

const NONE: Shape = 'rates'
const OK = lines(`GET ${LIST} HTTP/1.1`, AUTH)
const pipelined: [what: string, statuses: number[], shape: Shape, ...packets: string[]][] = [
  ['a list', [200, 400], 'rates', OK + lines(`brew ${RATES} HTTP/1.1`)],
  ['a list, in two packets', [200, 400], 'rates', OK, lines(`GET ${RATES} HTTP/1.1`, 'X y: 1')],
  ['a list', [200, 400], NONE, `${OK}NONSENSE\r\n\r\n`],
  ['an upload', [200, 400], 'rates', upload() + lines(`BREW ${RATES} HTTP/1.1`)],
  ['an upload', [200, 400], NONE, `${upload()}NONSENSE\r\n\r\n`],
  ['an upload', [200, 431], 'rates', upload() + lines(`GET ${RATES} HTTP/1.1`, `X: ${LONG}`)],
  [
    'a refused rate',
    [401, 400],
    'documents',
    lines(`GET ${RATES} HTTP/1.1`) + lines(`BREW ${LIST} HTTP/1.1`),
  ],
  [
    'a refused rate',
    [401, 431],
    'documents',
    lines(`GET ${RATES} HTTP/1.1`),
    lines(`GET ${LIST}?${LONG} HTTP/1.1`),
  ],
]
for (const [what, statuses, shape, ...packets] of pipelined) {
  test(`after ${what} the next request has its own format: ${statuses} ${shape} ${packets.length}`, async () => {
    for (const listener of ['plain', 'secure'] as const) {
      const answers = await send(listener, ...packets)
      assert.deepEqual(
        answers.map(({ status }) => status),
        statuses,
        listener,
      )
      isRefusal(answers.at(-1), Number(statuses.at(-1)), shape)
    }
  })
}

test('the rest of a rejected body belongs to its request', async () => {
  const head = lines(`POST ${CREATE} HTTP/1.1`, 'Transfer-Encoding: chunked')
  const [refusal, answer, ...others] = await send('plain', head, FIRST_ANSWER, 'zz\r\n')
  assert.equal(refusal?.status, 401)
  if (answer) isRefusal(answer, 400, 'documents')
  assert.deepEqual(others, [])
})

test('rejected requests are not logged as errors of the program', () => {
  for (const { logLines } of Object.values(apps)) assert.doesNotMatch(logLines.join(''), /"level":"error"/)
})

/**
 * Sends each packet when the server has read the one before. Returns the answers when the server has closed the
 * connection. Waits at FIRST_ANSWER.
 */
async function send(
  listener: keyof typeof apps,
  ...packets: (string | typeof FIRST_ANSWER)[]
): Promise<RawAnswer[]> {
  const where = { host: '127.0.0.1', port: Number(new URL(apps[listener].app.url).port) }
  const socket =
    listener === 'plain' ? connect(where) : connectSecurely({ ...where, rejectUnauthorized: false })
  const received: Buffer[] = []
  socket.on('data', (block: Buffer) => received.push(block))
  socket.on('error', () => {}) // the answers arrived before the reset
  const closing = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, listener === 'plain' ? 'connect' : 'secureConnect')
  const end = await serverEnd(socket)
  for (const packet of packets) {
    if (packet === FIRST_ANSWER) {
      await until(() => received.length > 0)
      continue
    }
    const earlierBytes = end.bytesRead
    socket.write(packet, 'latin1')
    await until(() => end.destroyed || end.bytesRead >= earlierBytes + packet.length)
  }
  await closing
  return parseAnswers(Buffer.concat(received))
}

function isRefusal(answer: RawAnswer | undefined, status: number, shape: Shape): void {
  assert.equal(answer?.status, status, String(answer?.body))
  assert.match(answer?.head ?? '', /^x-request-id: [\w-]+$/im)
  assert.match(answer?.head ?? '', /^connection: close$/im)
  const { message = '', ...rest } = JSON.parse(String(answer?.body)) as Record<string, string>
  if (shape === 'documents') assert.deepEqual([rest, message.length > 5], [{ status: 'error' }, true])
  else assert.deepEqual([Object.keys(rest), message], [['detail'], ''])
}
