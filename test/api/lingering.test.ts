// A client that writes a whole body before it reads gets the 413, not a broken pipe. Covers HTTP and TLS, on
// every path that reads a body.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { Agent, type ClientRequestArgs, type IncomingMessage, request } from 'node:http'
import { request as requestTls } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { startTestApp, type TestApp, temporaryDirectory } from '../support/app.ts'
import { CREATE, fillDatabase, TOKENS } from '../support/directory.ts'
import { serverEnd } from '../support/events/server-ends.ts'
import { ASMX } from './compat/asmx.ts'

const BATCH = '/api/v1/convert/batch'
const MAX_BODY = 4 * 1024 ** 2
const SIZES = [MAX_BODY + 1, 5_000_000, 12_000_000]
const TLS = join(import.meta.dirname, '../fixtures/tls')
const run = promisify(execFile)

type Target = { path: string; headers: Record<string, string>; words: RegExp }
type Sent = { url: string; headers: Record<string, string>; size: number; chunked?: boolean }
type Seen = { status: number; connection: string | undefined; body: string } | string

async function open(t: TestContext, scheme: 'http' | 'https'): Promise<TestApp> {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const tls = [{ cert: join(TLS, 'first.crt'), key: join(TLS, 'first.key') }]
  return startTestApp(t, {
    dataDir,
    limits: { maxBody: MAX_BODY },
    listen: { compat: { open: undefined, serveRounded: false }, ...(scheme === 'https' && { tls }) },
  })
}

function bodyTargets({ key }: TestApp): Target[] {
  const bearer = { authorization: `Bearer ${TOKENS.all}` }
  return [
    {
      path: BATCH,
      headers: { 'x-api-key': key },
      words: /^\{"detail":"The request body must be at most 4194304 /,
    },
    {
      path: ASMX,
      headers: { 'content-type': 'text/xml' },
      words: /^The request body must be at most 65536 bytes$/,
    },
    {
      path: CREATE,
      headers: bearer,
      words: /^\{"status":"error","message":"The request body must be at most /,
    },
    {
      path: '/api/v1/documents?company_id=1&agent_id=1&owner_id=1&name=a.bin',
      headers: { ...bearer, 'content-type': 'application/octet-stream' },
      words: /^\{"status":"error","message":"The request body must be at most 4194304 bytes"\}$/,
    },
  ]
}

const PYTHON = `
import json, ssl, sys, urllib.error, urllib.request
context = ssl.create_default_context()
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
seen = []
for sent in json.loads(sys.argv[1]):
    # JSON may begin with spaces, so that each path reads up to its limit.
    body = b' ' * sent['size']
    data = (body[at:at + 100000] for at in range(0, len(body), 100000)) if 'chunked' in sent else body
    request = urllib.request.Request(sent['url'], data=data, headers=sent['headers'])
    try:
        response = urllib.request.urlopen(request, context=context if sent['url'].startswith('https') else None)
        seen.append(str(response.status))
    except urllib.error.HTTPError as error:
        seen.append({'status': error.code, 'connection': error.headers['connection'], 'body': error.read().decode()})
    except Exception as error:
        seen.append(str(error))
print(json.dumps(seen))
`

/** Answers that Python's urllib gets, which writes all of a body before it reads. */
async function sendInPython(all: Sent[]): Promise<Seen[]> {
  const { stdout } = await run('/usr/bin/python3', ['-c', PYTHON, JSON.stringify(all)])
  return JSON.parse(stdout) as Seen[]
}

function askInNode({ url, headers, size }: Sent, options: ClientRequestArgs = {}): Promise<Seen> {
  return new Promise((resolve) => {
    const ask = url.startsWith('https') ? requestTls : request
    const all = { method: 'POST', headers: { 'content-length': size, ...headers }, rejectUnauthorized: false }
    const outgoing = ask(url, { ...all, ...options }, async (response: IncomingMessage) => {
      const { statusCode: status = 0, headers } = response
      const body = Buffer.concat(await response.toArray()).toString()
      resolve({ status, connection: headers.connection, body })
    })
    outgoing.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    outgoing.end(Buffer.alloc(size, 'x'))
  })
}

for (const scheme of ['http', 'https'] as const) {
  test(`${scheme}: urllib and node:http read the 413 to a body over the limit, of any size up to 12 MB`, async (t) => {
    const app = await open(t, scheme)
    for (const { path, headers, words } of bodyTargets(app)) {
      const all = SIZES.map((size) => ({ url: app.app.url + path, headers, size }))
      const answers: Record<string, Seen[]> = { urllib: await sendInPython(all) }
      answers['node:http, one request a connection'] = []
      answers['node:http, keep-alive'] = []
      for (const request of all) {
        answers['node:http, one request a connection'].push(await askInNode(request, { agent: false }))
        answers['node:http, keep-alive'].push(await askInNode(request))
      }
      for (const [client, seen] of Object.entries(answers)) {
        for (const [at, answer] of seen.entries()) {
          const about = `${client}, ${path}, ${SIZES[at]} bytes: ${JSON.stringify(answer)}`
          assert.ok(typeof answer === 'object', about)
          assert.deepEqual([answer.status, answer.connection], [413, 'close'], about)
          assert.match(answer.body, words, about)
        }
      }
    }
  })
}

test('urllib reads the 413 to a body without a length that was read in part', async (t) => {
  const app = await open(t, 'http')
  for (const { path, headers, words } of bodyTargets(app)) {
    const request = { url: app.app.url + path, headers, size: 12_000_000, chunked: true }
    const [answer] = await sendInPython([request])
    assert.ok(typeof answer === 'object', `${path}: ${answer}`)
    assert.deepEqual([answer.status, answer.connection], [413, 'close'], path)
    assert.match(answer.body, words)
  }
})

test('a client without a key reads its 401 after a body that it writes first', async (t) => {
  const app = await open(t, 'http')
  const all = SIZES.map((size) => ({ url: app.app.url + BATCH, headers: {}, size }))
  for (const answer of await sendInPython(all)) {
    assert.ok(typeof answer === 'object', String(answer))
    assert.equal(answer.status, 401)
  }
})

test('a connection stays open for bodies within the limit, also after a rejected request', async (t) => {
  const app = await open(t, 'http')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const url = app.app.url + BATCH
  const ports = new Set<number | undefined>()
  const post = (headers: Record<string, string>, body: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const outgoing = request(url, { method: 'POST', agent, headers }, (response) => {
        ports.add(response.socket.localPort)
        assert.equal(response.headers.connection, 'keep-alive')
        response.resume().on('end', () => resolve(response.statusCode))
      })
      outgoing.on('error', reject).end(body)
    })
  const key = { 'x-api-key': app.key }
  assert.equal(await post(key, '[]'), 200)
  assert.equal(await post({}, ' '.repeat(MAX_BODY)), 401)
  assert.equal(await post(key, `[]${' '.repeat(MAX_BODY - 2)}`), 200)
  assert.equal(await post(key, '{}'), 422)
  assert.equal(await post(key, '[]'), 200)
  assert.equal(ports.size, 1)
})

test('with Expect: 100-continue a body over the limit is a 413, and the connection is closed at once', async (t) => {
  const app = await open(t, 'http')
  const where = { host: '127.0.0.1', port: Number(new URL(app.app.url).port), allowHalfOpen: true }
  const socket = connect(where)
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  const end = await serverEnd(socket)
  const head =
    `POST ${BATCH} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${app.key}\r\nExpect: 100-continue\r\n` +
    `Content-Length: ${MAX_BODY + 1}\r\n\r\n`
  socket.write(head)
  let received = ''
  for await (const piece of socket.iterator({ destroyOnReturn: false })) received += piece
  assert.match(received, /^HTTP\/1\.1 413 /)
  assert.match(received, /\r\nconnection: close\r\n/i)
  const reset = once(socket, 'error') // the server resets a connection that sends more
  const sending = setInterval(() => socket.write('x'), 20)
  t.after(() => clearInterval(sending))
  assert.match(String((await reset)[0]), /EPIPE|ECONNRESET/)
  assert.equal(end.bytesRead, head.length, 'a connection that lingers is read')
})
