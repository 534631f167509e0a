// A proxy on the machine of the server that adds no forwarding header.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../support/terminal.ts'
import { openApp, send } from './support.ts'

const app = await openApp()
const warnings = () => {
  const lines = app.logLines
    .join('')
    .split('\n')
    .filter((line) => line.includes('a proxy may hide its clients'))
  return lines.map((line) => JSON.parse(line))
}
const ask = (headers: Record<string, string>) => send(`${app.app.url}/healthz`, { headers })

for (const host of [
  '127.0.0.1:8080',
  'localhost',
  'LOCALHOST:1',
  'demo.localhost',
  '[::1]:80',
  '127.0.0.2',
]) {
  test(`the host ${host} is this machine`, async () => {
    await ask({ host })
    assert.deepEqual(warnings(), [])
  })
}

test('a request with forwarding headers does not hide its client', async () => {
  await ask({ host: 'rates.example.com', 'x-forwarded-for': '203.0.113.7' })
  assert.deepEqual(warnings(), [])
})

test('a day of requests for another host is one warning', async () => {
  const readHosts = () => warnings().map(({ level, host }) => `${level} ${host}`)
  await ask({ host: 'rates.example.com' })
  await ask({ host: '203.0.113.9:8080' })
  app.clock.now = new Date(app.clock.now.getTime() + 86_400_000)
  await ask({ host: '203.0.113.9:8080' })
  await until(() => warnings().length > 1)
  assert.deepEqual(readHosts(), ['warn rates.example.com', 'warn 203.0.113.9:8080'])
})
