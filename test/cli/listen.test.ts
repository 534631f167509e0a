// The options of listening, from the command line to what a client sees.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../support/app.ts'
import { startProgram } from '../support/program.ts'

const TLS = join(import.meta.dirname, '../fixtures/tls')

test('serve takes TLS, proxies, origins and a port for the metrics, as flags and as variables', async (t) => {
  const words = ['serve', '--port', '0', '--no-scheduler', '--data-dir', join(temporaryDirectory(t), 'data')]
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
