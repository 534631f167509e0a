// HTTPS without a proxy: the same answers and limits as HTTP, and renewal of the certificate while serving.

import assert from 'node:assert/strict'
import { chmodSync, copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect as connectPlainly } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { startTestApp, type TestApp, temporaryDirectory } from '../support/app.ts'
import { runCommand, until } from '../support/terminal.ts'

const FIXTURES = join(import.meta.dirname, '../fixtures/tls')
type Name = 'first' | 'second'
const readCertificate = (name: Name) => readFileSync(join(FIXTURES, `${name}.crt`))

/** Files as certbot writes them: renewed by a rename. */
function files(t: TestContext, name: Name = 'first') {
  const dir = temporaryDirectory(t)
  const paths = { cert: join(dir, 'chain.pem'), key: join(dir, 'key.pem') }
  const put = (part: 'cert' | 'key', of: Name) => {
    copyFileSync(join(FIXTURES, `${of}.${part === 'cert' ? 'crt' : 'key'}`), `${paths[part]}.new`)
    chmodSync(`${paths[part]}.new`, 0o600)
    renameSync(`${paths[part]}.new`, paths[part])
  }
  put('cert', name)
  put('key', name)
  return { ...paths, put }
}

type Answer = { status: number; headers: Record<string, unknown>; body: string }

function ask({ app, key }: TestApp, path: string, ca: Name, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { method, ca: readCertificate(ca), agent: false, headers: { 'X-API-Key': key } }
    const outgoing = request(app.url + path, options, async (response) => {
      const { statusCode: status = 0, headers } = response
      const body = Buffer.concat(await response.toArray()).toString()
      resolve({ status, headers, body })
    })
    outgoing.on('error', reject).end()
  })
}

/** Sends bytes over a new connection and returns the answer. */
function exchange(socket: TLSSocket | ReturnType<typeof connectPlainly>, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let received = ''
    socket.setTimeout(20_000, () => socket.destroy())
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(received))
    socket.write(bytes)
  })
}

function open({ app }: TestApp, options: ConnectionOptions = {}): TLSSocket {
  const { port } = new URL(app.url)
  return connect({ host: '127.0.0.1', port: Number(port), ca: readCertificate('first'), ...options })
}

test('HTTPS is served, and the certificate is logged', async (t) => {
  const app = await startTestApp(t, { listen: { tls: [files(t)] } })
  assert.match(app.app.url, /^https:\/\/127\.0\.0\.1:\d+$/)
  const { status, headers, body } = await ask(app, '/api/v1/providers', 'first')
  assert.equal(status, 200)
  assert.equal(JSON.parse(body)[0].code, 'bccr')
  assert.equal(headers['strict-transport-security'], undefined)
  assert.match(app.logLines.join(''), /"event":"certificate".*"until":"2126-10-28T/)
})

test('TLS 1.2 and 1.3 are accepted, older versions are not', async (t) => {
  const app = await startTestApp(t, { listen: { tls: [files(t)] } })
  const negotiatedProtocol = (options: ConnectionOptions) =>
    new Promise<string | null>((resolve) => {
      const socket = open(app, { ciphers: 'DEFAULT@SECLEVEL=0', ...options })
      socket.once('secureConnect', () => {
        resolve(socket.getProtocol())
        socket.destroy()
      })
      socket.once('error', () => resolve(null))
    })
  assert.equal(await negotiatedProtocol({}), 'TLSv1.3')
  assert.equal(await negotiatedProtocol({ maxVersion: 'TLSv1.2' }), 'TLSv1.2')
  assert.equal(await negotiatedProtocol({ minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' }), null)
})

test('HTTPS has the limits and the error bodies of plain HTTP', async (t) => {
  const app = await startTestApp(t, { listen: { tls: [files(t)] } })
  const closing = 'Connection: close\r\n\r\n'
  const cases: [bytes: string, status: number, body: RegExp][] = [
    ['GARBAGE\r\n\r\n', 400, /^\{"detail":"Malformed HTTP request"\}$/],
    [`GET / HTTP/1.1\r\nX: ${'a'.repeat(20_000)}\r\n${closing}`, 431, /^\{"detail":"Request headers are too/],
    [`GET /nothing HTTP/1.1\r\n${closing}`, 404, /^\{"detail":"Not found"\}$/],
    [
      `GET /api/v1/rates HTTP/1.1\r\n${closing}`,
      401,
      /^\{"detail":"Missing or invalid API key: send it in the header X-API-Key"\}$/,
    ],
    ['CONNECT a:1 HTTP/1.1\r\n\r\n', 405, /^\{"detail":"Method not allowed"\}$/],
    [`POST /api/v1/documents/create HTTP/1.1\r\n${closing}`, 401, /^\{"status":"error","message":/],
  ]
  for (const [bytes, status, expected] of cases) {
    const received = await exchange(open(app), bytes)
    assert.match(received, new RegExp(`^HTTP/1\\.1 ${status} `), bytes.slice(0, 40))
    assert.match(received, /\r\nx-request-id: /i)
    const body = received.slice(received.indexOf('\r\n\r\n') + 4)
    assert.match(body.replace(/^[0-9a-f]+\r\n|\r\n0\r\n\r\n$/g, ''), expected)
  }
})

test('a client that does not speak TLS is disconnected, and the server continues', async (t) => {
  const app = await startTestApp(t, { listen: { tls: [files(t)] } })
  const { port } = new URL(app.app.url)
  const plain = connectPlainly({ host: '127.0.0.1', port: Number(port) })
  const received = await exchange(plain, 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')
  assert.doesNotMatch(received, /HTTP/)
  assert.equal((await ask(app, '/healthz', 'first')).status, 200)
  assert.doesNotMatch(app.logLines.join(''), /"level":"error"/)
})

test('a renewed certificate is loaded without a restart, once both files are there', async (t) => {
  const pair = files(t)
  const app = await startTestApp(t, { listen: { tls: [pair] } })
  const openConnection = open(app)
  await new Promise((resolve) => openConnection.once('secureConnect', resolve))
  const statusTrusting = (ca: Name) =>
    ask(app, '/healthz', ca).then(
      ({ status }) => status,
      () => 0,
    )

  pair.put('cert', 'second')
  const complaint =
    /certificate not renewed.*the TLS key .*key\.pem does not belong to the certificate .*chain\.pem/
  await until(() => complaint.test(app.logLines.join('')))
  assert.deepEqual([await statusTrusting('first'), await statusTrusting('second')], [200, 0])

  pair.put('key', 'second')
  await until(async () => (await statusTrusting('second')) === 200)
  assert.equal(await statusTrusting('first'), 0)
  const answer = await exchange(openConnection, 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n')
  assert.match(answer, /^HTTP\/1\.1 200 /, 'who was connected before stays connected')
})

test('the server serves the old certificate while the files are gone, and logs that once', async (t) => {
  const [pair, other] = [files(t), files(t, 'second')]
  const app = await startTestApp(t, { listen: { tls: [pair, other] } })
  const count = (event: string) => app.logLines.join('').split(event).length - 1
  rmSync(pair.cert)
  await until(() => count('certificate not renewed') === 1)
  // Each check is of both pairs, in their order. The second renewal is one after the complaint.
  for (const renewals of [1, 2]) {
    chmodSync(other.cert, 0o600)
    await until(() => count('"event":"certificate"') === 2 + renewals)
  }
  assert.equal(count('certificate not renewed'), 1)
  assert.equal((await ask(app, '/healthz', 'first')).status, 200)
})

test('the server warns of a private key that every user can read', async (t) => {
  const pair = files(t)
  chmodSync(pair.key, 0o644)
  const app = await startTestApp(t, { listen: { tls: [pair] } })
  await until(() => app.logLines.join('').includes('"event":"certificate"'))
  assert.match(
    app.logLines.join(''),
    /"level":"warn","event":"everybody on this machine can read the TLS key"/,
  )
  const careful = await startTestApp(t, { listen: { tls: [files(t)] } })
  await until(() => careful.logLines.join('').includes('certificate'))
  assert.doesNotMatch(careful.logLines.join(''), /everybody/)
})

const wrong: [title: string, spoil: (pair: ReturnType<typeof files>) => void, message: RegExp][] = [
  [
    'a certificate that is not there',
    ({ cert }) => rmSync(cert),
    /cannot read the TLS certificate: .*chain\.pem/,
  ],
  ['a key that is not there', ({ key }) => rmSync(key), /cannot read the TLS key: .*key\.pem/],
  [
    'a certificate that is none',
    ({ cert }) => writeFileSync(cert, 'x'),
    /chain\.pem is no TLS certificate in PEM/,
  ],
  [
    'a key that is none',
    ({ key }) => writeFileSync(key, 'x'),
    /key\.pem is no TLS key without a passphrase in PEM/,
  ],
  [
    'a key of another certificate',
    ({ put }) => put('key', 'second'),
    /key\.pem does not belong to the certificate/,
  ],
]
for (const [title, spoil, message] of wrong) {
  test(`${title} stops the start with a clear error`, async (t) => {
    const pair = files(t)
    spoil(pair)
    const dataDir = join(temporaryDirectory(t), 'data')
    const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir]
    const end = await runCommand([...words, '--tls-cert', pair.cert, '--tls-key', pair.key])
    assert.equal(end.code, 1)
    assert.match(end.err, message)
  })
}
