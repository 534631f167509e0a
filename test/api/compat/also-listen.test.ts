// Extra listen addresses: the compat APIs and the probes, without our own API.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { startProgram } from '../../support/program.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { runCommand } from '../../support/terminal.ts'
import { send } from '../support.ts'
import { ASMX, parameters } from './asmx.ts'
import { openShapes } from './support.ts'

const TLS = join(import.meta.dirname, '../../fixtures/tls')
const PAIR = { cert: join(TLS, 'first.crt'), key: join(TLS, 'first.key') }
const also = [
  { scheme: 'http', host: '127.0.0.1', port: 0 },
  { scheme: 'http', host: '::1', port: 0 },
] as const
const app = await openShapes({ listen: { also } })
const [shapes = '', ipv6 = ''] = app.app.alsoUrls

test('an extra address answers in every compat API, as the first one does', async () => {
  const paths = [
    `${ASMX}/ObtenerIndicadoresEconomicosXML?${parameters()}`,
    '/indicadores/tc',
    '/v1/latest?base=USD&symbols=CRC',
    '/compat/valor?de=USD&a=CRC',
    `/k/${app.key}/api/v1/rates/latest`,
  ]
  for (const path of paths.slice(0, 4)) {
    const [ours, theirs, six] = await Promise.all([app.app.url, shapes, ipv6].map((at) => send(at + path)))
    assert.equal(ours?.status, 200, path)
    assert.deepEqual([theirs?.body, six?.body], [ours?.body, ours?.body])
  }
})

test('an extra address has the probes, and nothing else of our own API', async () => {
  for (const path of ['/healthz', '/readyz']) assert.equal((await send(shapes + path)).status, 200)
  const headers = { 'X-API-Key': app.key }
  const others = ['/api/v1/rates/latest', '/api/v1/health', '/openapi.json', '/metrics', '/api/v1/documents']
  for (const path of [...others, `/k/${app.key}/api/v1/rates/latest`]) {
    const { status, body } = await send(shapes + path, { headers })
    assert.equal(status, 404, path)
    assert.match(body, /"Not found"/)
  }
  const upload = await send(`${shapes}/api/v1/documents/create`, { method: 'POST', headers })
  assert.equal(upload.status, 404)
})

test('`serve` prints its extra addresses, from flags or from the variable', async (t) => {
  const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', join(temporaryDirectory(t), 'data')]
  const flags = ['--also-listen', 'http://127.0.0.1:0', '--also-listen', 'https://[::1]:0']
  const tls = { CAMBISTA_TLS_CERT: PAIR.cert, CAMBISTA_TLS_KEY: PAIR.key }
  const listening = /listening url=https:\S+ also="(http:\/\/127\.0\.0\.1:\d+) (https:\/\/\[::1\]:\d+)" data=/
  const ways: [string[], Record<string, string>][] = [
    [flags, tls],
    [[], { ...tls, CAMBISTA_ALSO_LISTEN: 'http://127.0.0.1:0, https://[::1]:0' }],
  ]
  for (const [more, env] of ways) {
    const program = startProgram(t, [...words, ...more], env)
    const [, plain, secure] = await program.waitForOutput(listening)
    assert.equal((await fetch(`${plain}/healthz`)).status, 200)
    const curl = spawnSync('curl', ['-sk', '--max-time', '60', `${secure}/indicadores/tc`], {
      encoding: 'utf8',
    })
    assert.equal(curl.stdout, '{"code":401,"status":"Unauthorized"}')
    program.child.kill('SIGTERM')
    assert.equal(await program.waitForExit(), 0)
  }
})

test('an address without TLS that other machines reach is warned of', async (t) => {
  const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', join(temporaryDirectory(t), 'data')]
  const program = startProgram(t, [...words, '--also-listen', 'http://0.0.0.0:0'])
  await program.waitForOutput(/warn {2}without TLS keys and tokens can be read .* host=0\.0\.0\.0/)
})

const wrong: [what: string, words: string[], why: RegExp][] = [
  ['no scheme', ['--also-listen', '0.0.0.0:443'], /--also-listen must be http:\/\/ADDRESS:PORT or https/],
  ['no port', ['--also-listen', 'http://0.0.0.0'], /--also-listen must be http:\/\/ADDRESS:PORT/],
  ['a port too high', ['--also-listen', 'http://0.0.0.0:65536'], /--also-listen must be/],
  ['a path', ['--also-listen', 'http://0.0.0.0:80/x'], /ADDRESS:PORT without a path, such as/],
  ['a user', ['--also-listen', 'http://a:b@0.0.0.0:80'], /not "http:\/\/\*\*\*@0\.0\.0\.0:80"/],
  ['another scheme', ['--also-listen', 'ftp://0.0.0.0:21'], /--also-listen must be http/],
  ['no certificate', ['--also-listen', 'https://127.0.0.1:0'], /needs a certificate: give --tls-cert and/],
  ['no shapes', ['--also-listen', 'http://127.0.0.1:0', '--no-compat'], /which --no-compat turns off/],
]
for (const [what, words, why] of wrong) {
  test(`${what} is wrong usage, and the message has the right form`, async () => {
    const end = await runCommand(['serve', ...words])
    assert.deepEqual([end.code, end.out], [2, ''])
    assert.match(end.err, why)
  })
}

test('a port in use is reported with its flag, and the process ends', async (t) => {
  const occupant = createServer().listen(0, '127.0.0.1')
  t.after(() => occupant.close())
  await once(occupant, 'listening')
  const { port } = occupant.address() as AddressInfo
  const dataDir = join(temporaryDirectory(t), 'data')
  const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir]
  const end = await runCommand([...words, '--also-listen', `http://127.0.0.1:${port}`])
  const why = 'the port is in use: choose another with --also-listen'
  assert.deepEqual([end.code, end.err], [1, `cambista: cannot listen on 127.0.0.1:${port}: ${why}\n`])
})
