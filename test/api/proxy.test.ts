// The client's address behind a proxy, as it is logged. Only headers of trusted proxies count.

import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { networksFault, parseNetworks } from '../../src/http/listener/networks.ts'
import { peerAddress } from '../../src/http/listener/proxy.ts'
import type { TestApp } from '../support/app.ts'
import { until } from '../support/terminal.ts'
import { openApp, send } from './support.ts'

/** The client address that is logged for one request. */
async function loggedClient(
  { app, logLines }: TestApp,
  headers: Record<string, string | string[]>,
): Promise<string> {
  const { headers: sent } = await send(`${app.url}/healthz`, { headers })
  const line = () =>
    logLines
      .join('')
      .split('\n')
      .find((one) => one.includes(`"id":"${sent['x-request-id']}"`))
  await until(() => line() !== undefined)
  return JSON.parse(line() ?? '').client
}

const plain = await openApp()
const trusting = await openApp({ listen: { proxies: parseNetworks('loopback, 10.0.0.0/8,2001:db8::/32') } })
const elsewhere = await openApp({ listen: { proxies: parseNetworks('10.0.0.0/8') } })

test('without trusted proxies the client is the peer, whatever the headers', async () => {
  assert.equal(await loggedClient(plain, {}), '127.0.0.1')
  assert.equal(await loggedClient(plain, { 'X-Forwarded-For': '203.0.113.7' }), '127.0.0.1')
})

test('an untrusted peer is the client, whatever its headers', async () => {
  assert.equal(await loggedClient(elsewhere, { 'X-Forwarded-For': '203.0.113.7' }), '127.0.0.1')
})

const chains: [title: string, sent: string | string[], client: string][] = [
  ['the one that the proxy names', '203.0.113.7', '203.0.113.7'],
  [
    'the rightmost that is not trusted, not what it claims itself',
    '198.51.100.1, 203.0.113.7',
    '203.0.113.7',
  ],
  ['the one before a chain of proxies', '203.0.113.7,10.1.2.3 , 127.0.0.1', '203.0.113.7'],
  ['the first when all are trusted', '10.9.9.9, 10.1.2.3', '10.9.9.9'],
  ['the one over several headers', ['198.51.100.1', '203.0.113.7, 10.1.2.3'], '203.0.113.7'],
  ['an IPv6 address', '2001:db9::1, 2001:db8::2', '2001:db9::1'],
  ['an address with its port', '203.0.113.7:4711, 10.1.2.3:80', '203.0.113.7'],
  ['an IPv6 address with its port', '[2001:db9::1]:4711', '2001:db9::1'],
  ['an IPv4 address written as IPv6', '::ffff:203.0.113.7', '203.0.113.7'],
  ['the proxy when it names none', 'unknown', '127.0.0.1'],
  ['the last good one before what is none', '203.0.113.7, "x\'; drop", 10.1.2.3', '10.1.2.3'],
  ['the proxy for an empty header', '', '127.0.0.1'],
  ['the proxy for commas alone', ',,', '127.0.0.1'],
]
for (const [title, forwarded, client] of chains) {
  test(`behind a trusted proxy the client is ${title}`, async () => {
    assert.equal(await loggedClient(trusting, { 'X-Forwarded-For': forwarded }), client)
  })
}

test('an IPv4 peer of an IPv6 socket is logged as IPv4', () => {
  const from = (remoteAddress: string) => peerAddress({ socket: { remoteAddress } } as IncomingMessage)
  assert.equal(from('::ffff:127.0.0.1'), '127.0.0.1')
  assert.equal(from('2001:db8::1'), '2001:db8::1')
})

test('a forwarded address does not replace the key', async () => {
  const { status } = await send(`${trusting.app.url}/api/v1/providers`, {
    headers: { 'X-Forwarded-For': '127.0.0.1', Forwarded: 'for=127.0.0.1' },
  })
  assert.equal(status, 401)
})

test('a list of proxies has addresses, networks and the word loopback', () => {
  for (const good of [
    'loopback',
    '10.0.0.0/8',
    '10.1.2.3',
    '::1',
    '2001:db8::/32,loopback',
    '0.0.0.0/1',
    '2000::/4',
    '10.0.0.0/8,128.0.0.0/1',
  ]) {
    assert.equal(networksFault(good), undefined, good)
    parseNetworks(good)
  }
  for (const bad of [
    '',
    ',',
    'loopback,',
    'nginx',
    '10.0.0.0/33',
    '::/129',
    '10.0.0/8',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '1.2.3.4/-1',
    '010.0.0.1',
  ]) {
    assert.match(networksFault(bad) ?? '', /is none$/, bad)
  }
})
