// `key list` shows the requests and networks of each key: of every API, with every status, and of no wrong key.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseNetworks } from '../../src/http/listener/networks.ts'
import { startTestApp, temporaryDirectory } from '../support/app.ts'
import { runJson } from '../support/company.ts'
import { runCommand } from '../support/terminal.ts'
import { send } from './support.ts'

const SHOP = 'https://tienda.example.com'
const WEBSITE = ['--in-url', '--allow-origin', SHOP]

type ListedKey = {
  name: string
  requests_30_days: number
  networks: { network: string; last_used_at: string }[]
}

test('`key list` has the requests of 30 days and the networks of each key', async (t) => {
  const dataDir = temporaryDirectory(t)
  const { key: urlKey } = await runJson<{ key: string }>(dataDir, 'key', 'create', 'tienda', ...WEBSITE)
  await runJson(dataDir, 'key', 'create', 'unused')
  const compat = { open: undefined, serveRounded: false }
  const listen = { proxies: parseNetworks('loopback'), compat }
  const { app, key } = await startTestApp(t, { dataDir, listen, now: new Date().toISOString() })
  const ask = async (status: number, path: string, client: string, headerKey?: string) => {
    const headers = { Origin: SHOP, 'X-Forwarded-For': client, ...(headerKey && { 'X-API-Key': headerKey }) }
    const answer = await send(app.url + path, { headers })
    assert.equal(answer.status, status, path)
    assert.equal(answer.headers['access-control-allow-origin'], path.includes(urlKey) ? SHOP : undefined)
  }
  await ask(200, '/api/v1/providers', '192.0.2.1', key)
  await ask(200, '/api/v1/providers', '192.0.2.200', key)
  await ask(422, '/api/v1/rates?on=x', '2001:db8:1:2::3', key)
  await ask(401, '/api/v1/providers', '198.51.100.1', `${key}x`)
  await ask(200, '/healthz', '198.51.100.1')
  await ask(404, `/api/v1/rates/latest?base=USD&quote=CRC&key=${urlKey}`, '203.0.113.9')
  await ask(404, `/k/${urlKey}/v6/latest/USD`, '203.0.113.77')
  await app.close()
  const keys = await runJson<ListedKey[]>(dataDir, 'key', 'list')
  assert.deepEqual(
    keys.map(({ name, requests_30_days, networks }) => [
      name.split(' ')[0],
      requests_30_days,
      networks.map(({ network }) => network),
    ]),
    [
      ['tienda', 2, ['203.0.113.0/24']],
      ['unused', 0, []],
      ['test', 3, ['192.0.2.0/24', '2001:db8:1::/48']],
    ],
  )
  const { out } = await runCommand(['key', 'list', '--data-dir', dataDir])
  assert.match(out, /LAST USED +REQUESTS, 30 DAYS +FROM +STATE/)
  assert.match(out, / 3 +192\.0\.2\.0\/24 2001:db8:1::\/48 +active/)
})
