// Options of `serve` for its addresses: TLS, proxies, origins, metrics; checked from a client.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../../support/app.ts'
import { startProgram } from '../../support/program.ts'
import { runCommand } from '../../support/terminal.ts'

const TLS = join(import.meta.dirname, '../../fixtures/tls')

test('serve reads TLS, proxies, origins and the port of metrics from flags and variables', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  const words = ['serve', '--port', '0', '--no-scheduler', '--log-level', 'debug', '--data-dir', dataDir]
  const tls = ['--tls-cert', join(TLS, 'first.crt'), '--tls-key', join(TLS, 'first.key')]
  const program = startProgram(t, [...words, ...tls, '--metrics-port', '0'], {
    CAMBISTA_TRUST_PROXY: 'loopback',
    CAMBISTA_CORS_ORIGIN: 'https://erp.example.com',
  })
  const [, url, metrics] = await program.waitForOutput(/listening url=(https:\S+) metrics=(http:\S+) /)
  const origin = await new Promise((resolve, reject) => {
    const ca = readFileSync(join(TLS, 'first.crt'))
    const headers = { Origin: 'https://erp.example.com', 'X-Forwarded-For': '203.0.113.7' }
    request(`${url}/healthz`, { ca, headers }, (response) => {
      resolve(response.resume().headers['access-control-allow-origin'])
    })
      .on('error', reject)
      .end()
  })
  assert.equal(origin, 'https://erp.example.com')
  await program.waitForOutput(/request id=\S+ client=203\.0\.113\.7 method=GET route=\/healthz status=200/)
  assert.match(await (await fetch(metrics ?? '')).text(), /route="\/healthz",status="200"} 1\n/)
  program.child.kill('SIGTERM')
  assert.equal(await program.waitForExit(), 0)
})

test('--trust-proxy any with --open-rates or a key for a network is wrong usage', async (t) => {
  const dir = temporaryDirectory(t)
  const dataDir = join(dir, 'data')
  const serve = (...words: string[]) =>
    runCommand(['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir, ...words])
  const message =
    /--trust-proxy any lets each client forge its address, on which --open-page, --open-rates and a key with --network depend/
  const withOpenRates = await serve('--trust-proxy', 'any', '--open-rates', '10.0.0.0/8')
  assert.deepEqual([withOpenRates.code, message.test(withOpenRates.err)], [2, true], withOpenRates.err)
  const withOpenPage = await serve('--trust-proxy', 'any', '--open-page', '10.0.0.0/8')
  assert.deepEqual([withOpenPage.code, message.test(withOpenPage.err)], [2, true], withOpenPage.err)
  const token = join(dir, 'token')
  writeFileSync(token, 'A1B2C3D4E5')
  const network = ['--secret-from', token, '--network', '10.0.0.0/8', '--data-dir', dataDir]
  assert.equal((await runCommand(['key', 'create', 'pos', ...network])).code, 0)
  const withKey = await serve('--trust-proxy', 'any')
  assert.deepEqual([withKey.code, message.test(withKey.err)], [2, true], withKey.err)
  await runCommand(['key', 'revoke', 'pos', '--data-dir', dataDir])
  const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir, '--trust-proxy', 'any']
  const started = startProgram(t, words)
  await started.waitForOutput(/listening/)
})

test('serve listens on an IPv6 address in brackets', async (t) => {
  const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', join(temporaryDirectory(t), 'data')]
  const metrics = ['--metrics-port', '0', '--metrics-host', '[::1]']
  const program = startProgram(t, [...words, '--host', '[::1]', ...metrics])
  const [, url = ''] = await program.waitForOutput(
    /listening url="(http:\/\/\[::1\]:\d+)" metrics="http:\/\/\[::1\]:\d+\/metrics"/,
  )
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
  assert.doesNotMatch(program.printed.err, /without TLS/)
})

test('--metrics-host without --metrics-port is wrong usage', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir]
  const message = 'cambista: --metrics-host needs --metrics-port, the port that it belongs to\n'
  for (const flags of [[], ['--metrics']]) {
    const { code, err } = await runCommand([...words, ...flags, '--metrics-host', '0.0.0.0'])
    assert.equal(code, 2)
    assert.ok(err.startsWith(message), err)
  }
})

test('serve without TLS warns once of an address that other machines reach', async (t) => {
  const tls = ['--tls-cert', join(TLS, 'first.crt'), '--tls-key', join(TLS, 'first.key')]
  const cases: [host: string, flags: string[], warnings: number][] = [
    ['0.0.0.0', [], 1],
    ['::', [], 1],
    ['[::]', [], 1],
    ['0.0.0.0', tls, 0],
    ['127.0.0.2', [], 0],
    ['localhost', [], 0],
  ]
  for (const [host, flags, warnings] of cases) {
    const dataDir = join(temporaryDirectory(t), 'data')
    const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir, '--host', host, ...flags]
    const program = startProgram(t, words)
    await program.waitForOutput(/no API key yet/)
    program.child.kill('SIGTERM')
    assert.equal(await program.waitForExit(), 0)
    const lines = program.printed.err.match(/ warn {2}without TLS keys and tokens can be read .*--tls-cert/g)
    assert.equal(lines?.length ?? 0, warnings, `${host} ${flags}`)
  }
})

test('the error of a failed listen has the reason and the flag for another port', async (t) => {
  const blocker = createServer().listen(0, '127.0.0.1')
  t.after(() => blocker.close())
  await once(blocker, 'listening')
  const { port } = blocker.address() as AddressInfo
  const serve = (...words: string[]) => runCommand(['serve', '--no-scheduler', '--data-dir', dir, ...words])
  const dir = join(temporaryDirectory(t), 'data')
  const inUse = `cambista: cannot listen on 127.0.0.1:${port}: the port is in use: choose another with`
  assert.equal((await serve('--port', String(port))).err, `${inUse} --port\n`)
  const metrics = await serve('--port', '0', '--metrics-port', String(port))
  assert.equal(metrics.err, `${inUse} --metrics-port\n`)
  const foreign = await serve('--port', '0', '--host', '[2001:db8::1]')
  const reason = 'this machine does not have the address'
  assert.equal(foreign.err, `cambista: cannot listen on [2001:db8::1]:0: ${reason}\n`)
})

test('--open-page names networks, never the whole internet, and serve logs who may read', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir]
  for (const networks of ['any', '0.0.0.0/0', '0.0.0.0/1,128.0.0.0/1', '10.0.0.0/33', '']) {
    const { code, err } = await runCommand([...words, '--open-page', networks])
    assert.equal(code, 2, err)
    assert.match(err, /--open-page must/)
  }
  const program = startProgram(t, [...words, '--open-page', '192.168.1.0/24,10.0.0.7'])
  const line =
    /the page shows rates without signing in to these networks networks="192\.168\.1\.0\/24,10\.0\.0\.7"/
  await program.waitForOutput(line)
})
