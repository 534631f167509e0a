// The options of listening, from the command line to what a client sees.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../support/app.ts'
import { startProgram } from '../support/program.ts'
import { runCommand } from '../support/terminal.ts'

const TLS = join(import.meta.dirname, '../fixtures/tls')

test('serve takes TLS, proxies, origins and a port for the metrics, as flags and as variables', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  const words = ['serve', '--port', '0', '--no-scheduler', '--log-level', 'debug', '--data-dir', dataDir]
  const tls = ['--tls-cert', join(TLS, 'first.crt'), '--tls-key', join(TLS, 'first.key')]
  const program = startProgram(t, [...words, ...tls, '--metrics-port', '0'], {
    CAMBISTA_TRUST_PROXY: 'loopback',
    CAMBISTA_CORS_ORIGIN: 'https://erp.example.com',
  })
  const [, url, metrics] = await program.says(/listening url=(https:\S+) metrics=(http:\S+) /)
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
  await program.says(/request id=\S+ client=203\.0\.113\.7 method=GET route=\/healthz status=200/)
  assert.match(await (await fetch(metrics ?? '')).text(), /route="\/healthz",status="200"} 1\n/)
  program.child.kill('SIGTERM')
  assert.equal(await program.ended(), 0)
})

test('--trust-proxy any beside --open-rates or a key with a network ends the start as wrong usage', async (t) => {
  const dir = temporaryDirectory(t)
  const dataDir = join(dir, 'data')
  const serve = (...words: string[]) =>
    runCommand(['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir, ...words])
  const forged =
    /--trust-proxy any lets everybody forge the address that --open-rates and the --network of a key go by/
  const open = await serve('--trust-proxy', 'any', '--open-rates', '10.0.0.0/8')
  assert.deepEqual([open.code, forged.test(open.err)], [2, true], open.err)
  const token = join(dir, 'token')
  writeFileSync(token, 'A1B2C3D4E5')
  const network = ['--secret-from', token, '--network', '10.0.0.0/8', '--data-dir', dataDir]
  assert.equal((await runCommand(['key', 'create', 'pos', ...network])).code, 0)
  const keyed = await serve('--trust-proxy', 'any')
  assert.deepEqual([keyed.code, forged.test(keyed.err)], [2, true], keyed.err)
  await runCommand(['key', 'revoke', 'pos', '--data-dir', dataDir])
  const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir, '--trust-proxy', 'any']
  const started = startProgram(t, words)
  await started.says(/listening/)
})

test('serve listens on an address of IPv6 that is written as in a URL', async (t) => {
  const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', join(temporaryDirectory(t), 'data')]
  const metrics = ['--metrics-port', '0', '--metrics-host', '[::1]']
  const program = startProgram(t, [...words, '--host', '[::1]', ...metrics])
  const [, url = ''] = await program.says(
    /listening url="(http:\/\/\[::1\]:\d+)" metrics="http:\/\/\[::1\]:\d+\/metrics"/,
  )
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
  assert.doesNotMatch(program.printed.err, /without TLS/)
})

test('an address that other machines reach, without TLS, is warned of once', async (t) => {
  const tls = ['--tls-cert', join(TLS, 'first.crt'), '--tls-key', join(TLS, 'first.key')]
  const cases: [host: string, more: string[], warnings: number][] = [
    ['0.0.0.0', [], 1],
    ['::', [], 1],
    ['[::]', [], 1],
    ['0.0.0.0', tls, 0],
    ['127.0.0.2', [], 0],
    ['localhost', [], 0],
  ]
  for (const [host, more, warnings] of cases) {
    const dataDir = join(temporaryDirectory(t), 'data')
    const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir, '--host', host, ...more]
    const program = startProgram(t, words)
    await program.says(/no API key yet/)
    program.child.kill('SIGTERM')
    assert.equal(await program.ended(), 0)
    const lines = program.printed.err.match(/ warn {2}without TLS keys and tokens can be read .*--tls-cert/g)
    assert.equal(lines?.length ?? 0, warnings, `${host} ${more}`)
  }
})

test('an address that cannot be had says why, and which flag gives another port', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  t.after(() => taken.close())
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const serve = (...words: string[]) => runCommand(['serve', '--no-scheduler', '--data-dir', dir, ...words])
  const dir = join(temporaryDirectory(t), 'data')
  const inUse = `cambista: cannot listen on 127.0.0.1:${port}: the port is in use: choose another with`
  assert.equal((await serve('--port', String(port))).err, `${inUse} --port\n`)
  const metrics = await serve('--port', '0', '--metrics-port', String(port))
  assert.equal(metrics.err, `${inUse} --metrics-port\n`)
  const nowhere = await serve('--port', '0', '--host', '[2001:db8::1]')
  const why = 'this machine does not have the address'
  assert.equal(nowhere.err, `cambista: cannot listen on [2001:db8::1]:0: ${why}\n`)
})
