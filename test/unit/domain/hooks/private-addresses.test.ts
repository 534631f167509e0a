import assert from 'node:assert/strict'
import type { lookup } from 'node:dns'
import { test } from 'node:test'
import { addressFault, createPrivateLookup } from '../../../../src/domain/hooks/private-addresses.ts'

const PRIVATE = ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.9', '127.0.0.1', '[::1]', '[fd12::9]']
const OTHERS = [
  ...['8.8.8.8', '172.15.0.1', '172.32.0.1', '192.169.0.1', '100.64.0.1', '0.0.0.0', '169.254.169.254'],
  ...[
    '224.0.0.251',
    '255.255.255.255',
    '[::]',
    '[fe80::1]',
    '[ff02::1]',
    '[2001:db8::1]',
    '[64:ff9b::a00:1]',
  ],
]

/** Resolves a name as a server with these answers does, and returns the addresses to connect to. */
function resolve(addresses: string[], all = true): Promise<unknown> {
  const answers = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  const nameServer = ((_host: string, _options: object, done: (error: null, all: object[]) => void) =>
    done(null, answers)) as unknown as typeof lookup
  const { promise, resolve: settle, reject } = Promise.withResolvers()
  createPrivateLookup(nameServer)('hook.lan', { all }, (error, ...found) =>
    error ? reject(error) : settle(found),
  )
  return promise
}

test('`addressFault` admits RFC 1918, fc00::/7 and loopback alone', () => {
  for (const host of [...PRIVATE, '[::ffff:10.0.0.1]', 'hook.lan'])
    assert.equal(addressFault(host), undefined, host)
  for (const host of [...OTHERS, '[::ffff:8.8.8.8]', '[::ffff:169.254.169.254]'])
    assert.match(addressFault(host) ?? '', /is in no private network \(RFC 1918, fc00::\/7\)$/, host)
})

test('a private lookup returns the addresses that it checked', async () => {
  const both = [
    { address: '10.0.0.1', family: 4 },
    { address: 'fd00::1', family: 6 },
  ]
  assert.deepEqual(await resolve(['10.0.0.1', 'fd00::1']), [both])
  assert.deepEqual(await resolve(['10.0.0.1', 'fd00::1'], false), ['10.0.0.1', 4])
})

test('a private lookup fails for a name with one other address, and for one without', async () => {
  for (const host of OTHERS) {
    const address = host.replace(/[[\]]/g, '')
    const fault = { message: `its address ${address} is in no private network (RFC 1918, fc00::/7)` }
    await assert.rejects(resolve([address]), fault)
    await assert.rejects(resolve(['10.0.0.1', address]), fault)
  }
  await assert.rejects(resolve([]), { message: 'its name has no address' })
})
