import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { run } from '../../../../../src/main.ts'
import { startTestApp, temporaryDirectory } from '../../../../support/app.ts'
import { freePort } from '../../../../support/program.ts'
import { TEST_PROVIDERS } from '../../../../support/providers.ts'
import { runCommand, startCommand, until } from '../../../../support/terminal.ts'
import { passTurns } from '../../../turns.ts'

const FIXTURES = join(import.meta.dirname, '../../../../fixtures/tls')
const TLS = { cert: join(FIXTURES, 'first.crt'), key: join(FIXTURES, 'first.key') }

async function listen(t: TestContext, server: Server, port = 0, host = '127.0.0.1'): Promise<number> {
  server.listen(port, host)
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

test('`healthcheck` of a ready server exits with 0, by --port, --host, --url or variable', async (t) => {
  const { app } = await startTestApp(t)
  const { port } = new URL(app.url)
  const ready = { code: 0, out: `http://127.0.0.1:${port} is ready\n`, err: '' }
  assert.deepEqual(await runCommand(['healthcheck', '--port', port]), ready)
  assert.deepEqual(await runCommand(['healthcheck'], { CAMBISTA_PORT: port }), ready)
  assert.deepEqual(await runCommand(['healthcheck', '--port', port, '--host', '0.0.0.0']), ready)
  for (const path of ['', '/', '/readyz']) {
    assert.deepEqual(await runCommand(['healthcheck', '--url', `${app.url}${path}`]), ready)
  }
})

test('`healthcheck --data-dir` checks the server of that directory, unless an address is given', async (t) => {
  const { app, dataDir } = await startTestApp(t)
  const at = ['healthcheck', '--data-dir', dataDir]
  const ready = { code: 0, out: `${app.url} is ready\n`, err: '' }
  assert.deepEqual(await runCommand(at, { CAMBISTA_PORT: String(await freePort()) }), ready)
  const wild = await startTestApp(t, { listen: { host: '0.0.0.0' } })
  const { port } = new URL(wild.app.url)
  const local = `http://127.0.0.1:${port} is ready\n`
  assert.equal((await runCommand(['healthcheck', '--data-dir', wild.dataDir])).out, local)
  assert.equal((await runCommand([...at, '--port', port])).out, local)
  const other = await runCommand([...at, '--port', String(await freePort())])
  assert.match(other.err, /cannot be reached: connect ECONNREFUSED/)
  await app.close()
  const none = `cambista: no server runs on ${dataDir}, or it does not listen yet\n`
  assert.deepEqual(await runCommand(at), { code: 1, out: '', err: none })
})

test('`healthcheck` with CAMBISTA_DATA_DIR checks the address of its server, whose port may be a flag', async (t) => {
  const { app, dataDir } = await startTestApp(t, { listen: { host: '0.0.0.0' } })
  const { port } = new URL(app.url)
  const free = String(await freePort())
  const env = { CAMBISTA_DATA_DIR: dataDir, CAMBISTA_HOST: '0.0.0.0', CAMBISTA_PORT: free }
  const ready = { code: 0, out: `http://127.0.0.1:${port} is ready\n`, err: '' }
  assert.deepEqual(await runCommand(['healthcheck'], env), ready)
  const other = await runCommand(['healthcheck', '--port', free], env)
  assert.match(other.err, /cannot be reached: connect ECONNREFUSED/)
  const nodes = await runCommand(['healthcheck'], {
    ...env,
    CAMBISTA_DATA_DIR: `${dataDir}/none`,
    CAMBISTA_PORT: port,
  })
  assert.deepEqual(nodes, ready, 'a node has no data directory')
  await app.close()
  const after = await runCommand(['healthcheck'], env)
  assert.equal(after.code, 1)
  assert.match(after.err, new RegExp(`127\\.0\\.0\\.1:${free}/readyz cannot be reached`))
})

test('`healthcheck` ignores the address in a data directory once there is a shared database', async (t) => {
  const { dataDir } = await startTestApp(t)
  const { app } = await startTestApp(t)
  const env = { CAMBISTA_DATA_DIR: dataDir, CAMBISTA_PORT: new URL(app.url).port }
  const database = { CAMBISTA_DATABASE: 'postgres://db.example/cambista' }
  assert.equal((await runCommand(['healthcheck'], { ...env, ...database })).out, `${app.url} is ready\n`)
})

test('`healthcheck` ignores CAMBISTA_DATA_DIR of the settings, below a port of the environment', async (t) => {
  const service = await startTestApp(t)
  const other = await startTestApp(t)
  const settingsFile = join(temporaryDirectory(t), 'cambista.env')
  writeFileSync(settingsFile, `CAMBISTA_DATA_DIR=${service.dataDir}\n`)
  const { port } = new URL(other.app.url)
  const printed: (string | Uint8Array)[] = []
  const code = await run(['healthcheck'], {
    env: { CAMBISTA_PORT: port },
    settingsFile,
    out: (text) => printed.push(text),
    err: (text) => printed.push(text),
    providers: TEST_PROVIDERS,
    interactive: false,
    stop: new AbortController().signal,
  })
  assert.deepEqual([code, ...printed], [0, `http://127.0.0.1:${port} is ready\n`])
})

test('`healthcheck --data-dir --wait` waits for a server that does not listen yet', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  const waiting = runCommand(['healthcheck', '--data-dir', dataDir, '--wait', '60'])
  const { app } = await startTestApp(t, { dataDir })
  assert.deepEqual(await waiting, { code: 0, out: `${app.url} is ready\n`, err: '' })
})

test('`healthcheck --host ::` connects to [::1]', async () => {
  const end = await runCommand(['healthcheck', '--host', '::', '--port', String(await freePort())])
  assert.match(end.err, /http:\/\/\[::1\]:\d+\/readyz cannot be reached/)
})

test('`healthcheck` of a closed port exits with 1 and one line', async () => {
  const port = await freePort()
  const end = await runCommand(['healthcheck', '--port', String(port)])
  assert.deepEqual([end.code, end.out], [1, ''])
  assert.match(
    end.err,
    /^cambista: http:\/\/127\.0\.0\.1:\d+\/readyz cannot be reached: connect ECONNREFUSED.*\n$/,
  )
})

test('`healthcheck` of a server that never answers exits with 1 after five seconds', async (t) => {
  const server = createServer(() => {})
  const port = await listen(t, server)
  t.mock.timers.enable({ apis: ['AbortSignal.timeout' as 'setTimeout'] }) // missing in the types of Node
  const isConnected = once(server, 'connection')
  const healthcheck = startCommand(['healthcheck', '--port', String(port)])
  await isConnected
  let hasEnded = false
  void healthcheck.ended.then(() => {
    hasEnded = true
  })
  t.mock.timers.tick(4999)
  await passTurns()
  assert.equal(hasEnded, false)
  t.mock.timers.tick(1)
  const end = await healthcheck.ended
  assert.equal(end.code, 1)
  assert.match(end.err, /readyz did not answer within 5 seconds\n$/)
})

test('`healthcheck` of a server that answers 503 exits with 1 and the status', async (t) => {
  const port = await listen(
    t,
    createHttpServer((_, answer) => answer.writeHead(503).end()),
  )
  const end = await runCommand(['healthcheck', '--url', `http://127.0.0.1:${port}/base/`])
  assert.equal(end.code, 1)
  assert.match(end.err, /\/base\/readyz answered 503\n$/)
})

test('`healthcheck --wait` waits until the server listens, or until the time is over', async (t) => {
  const port = await freePort()
  const failures = countFailures(t)
  const waiting = startCommand(['healthcheck', '--port', String(port), '--wait', '600'])
  await until(() => failures.count > 1)
  await listen(
    t,
    createHttpServer((_, answer) => answer.end()),
    port,
  )
  assert.equal((await waiting.ended).code, 0)

  const { count } = failures
  t.mock.method(performance, 'now', () => (failures.count - count) * 400) // each attempt takes 400 ms
  const late = await runCommand(['healthcheck', '--port', String(await freePort()), '--wait', '1'])
  assert.deepEqual([late.code, failures.count - count], [1, 3])
})

/** Counts the connections that are refused. */
function countFailures(t: TestContext): { count: number } {
  const failures = { count: 0 }
  const onError = () => void failures.count++
  subscribe('http.client.request.error', onError)
  t.after(() => unsubscribe('http.client.request.error', onError))
  return failures
}

test('`healthcheck --pid` fails when that process ends, even if another server has its port', async (t) => {
  const port = String(await freePort())
  const child = spawn('/bin/sleep', ['60'])
  t.after(() => child.kill('SIGKILL'))
  const words = ['healthcheck', '--port', port, '--wait', '60', '--pid', String(child.pid)]
  const waiting = startCommand(words)
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
  const end = await waiting.ended
  assert.equal(end.code, 1)
  assert.match(end.err, /the server has ended before it was ready \(process \d+\)/)

  await listen(
    t,
    createHttpServer((_, answer) => answer.end()),
    Number(port),
  )
  assert.equal((await runCommand(words)).code, 1)
  assert.equal((await runCommand([...words, '--pid', String(process.pid)])).code, 0)
})

test('a signal ends `healthcheck --wait`', async (t) => {
  const failures = countFailures(t)
  const waiting = startCommand(['healthcheck', '--port', String(await freePort()), '--wait', '600'])
  await until(() => failures.count > 1)
  waiting.stop()
  assert.equal((await waiting.ended).code, 1)
})

test('`healthcheck` with an address that cannot be connected to is wrong usage', async () => {
  assert.match((await runCommand(['healthcheck', '--port', '0'])).err, /--port 0 is a free port.*give --url/)
  assert.match((await runCommand(['healthcheck', '--host', 'a b'])).err, /--host "a b" is no address/)
  assert.match(
    (await runCommand(['healthcheck', '--url', 'ftp://x'])).err,
    /--url must be an http or https URL/,
  )
})

test('`healthcheck --tls-cert` uses HTTPS and trusts that certificate; --url trusts none by itself', async (t) => {
  const { port } = new URL((await startTestApp(t, { listen: { tls: [TLS] } })).app.url)
  const words = ['healthcheck', '--port', port, '--tls-cert', TLS.cert]
  assert.equal((await runCommand(words)).out, `https://127.0.0.1:${port} is ready\n`)
  const strict = await runCommand(['healthcheck', '--url', `https://127.0.0.1:${port}`])
  assert.match(strict.err, /readyz cannot be reached: .*certificate/)
})
