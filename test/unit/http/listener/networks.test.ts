// Lists of networks: the whole internet needs the word any, and secrets that others know need narrow
// networks.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ANY_ADDRESS,
  clientNetwork,
  isInNetworks,
  networksFault,
  networksOrAny,
  networksOrAnyFault,
  wideNetworksFault,
} from '../../../../src/http/listener/networks.ts'

test('a list of the whole internet is rejected in favour of any, in one network or in pieces', () => {
  for (const everybody of [
    '0.0.0.0/0',
    '10.1.2.3/0',
    '::/0',
    '0.0.0.0/1,128.0.0.0/1',
    '128.0.0.0/1, 10.0.0.0/8 ,0.0.0.0/1',
    '0.0.0.0/2,64.0.0.0/2,128.0.0.0/2,192.0.0.0/3',
    '::/1,8000::/1',
    '2000::/3',
    '2000::/4,3000::/4',
    '::ffff:0:0/96',
    '::ffff:0.0.0.0/97,128.0.0.0/1',
    '::/2',
  ]) {
    assert.equal(networksFault(everybody), 'must not be the whole internet', everybody)
    const orAny = 'must not be the whole internet: write any, if that is meant'
    assert.equal(networksOrAnyFault(everybody), orAny, everybody)
  }
  for (const part of [
    '0.0.0.0/1',
    '0.0.0.0/1,128.0.0.0/2',
    '2000::/4',
    '10.0.0.0/8,fc00::/7',
    '::ffff:0:0/97',
  ]) {
    assert.equal(networksFault(part), undefined, part)
  }
})

test('any must be the whole list, and only where it is allowed', () => {
  for (const odd of ['ANY', 'any,10.0.0.0/8', '10.0.0.0/8, any']) {
    assert.match(networksOrAnyFault(odd) ?? '', /the word any in small letters and alone/, odd)
  }
  assert.equal(networksOrAnyFault('any'), undefined)
  assert.equal(networksOrAny('any'), ANY_ADDRESS)
  assert.notEqual(networksOrAny('10.0.0.0/8'), ANY_ADDRESS)
  assert.deepEqual(
    ['1.2.3.4', '2001:db8::1'].map((address) => isInNetworks(address, ANY_ADDRESS)),
    [true, true],
  )
  assert.match(networksFault('any') ?? '', /"any" is none$/)
})

test('networks of a known secret are private, or have at most 65,536 addresses or a /48', () => {
  for (const narrow of [
    'loopback',
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.7.1',
    '100.64.0.0/10',
    '169.254.0.0/16',
    'fc00::/7',
    'fd12:3456::/32',
    'fe80::/10',
    '::ffff:10.0.0.0/104',
    '203.0.0.0/16',
    '2001:db8:7::/48',
    Array.from({ length: 16 }, (_, at) => `200.${at}.0.0/16`).join(','),
  ]) {
    assert.equal(networksFault(narrow), undefined, narrow)
    assert.equal(wideNetworksFault(narrow), undefined, narrow)
  }
  const cases: [string, string?][] = [
    ['0.0.0.0/1'],
    ['8.0.0.0/8'],
    ['203.0.0.0/15'],
    ['10.0.0.0/7'],
    ['172.16.0.0/11'],
    ['100.64.0.0/9'],
    ['10.0.0.0/8,203.0.0.0/15', '203.0.0.0/15'],
    ['2001:db8::/47'],
    ['fc00::/6'],
    ['::/48'], // Node counts every IPv4 address in it
    ['::ffff:8.8.0.0/111'],
  ]
  for (const [wide, network = wide] of cases) {
    const fault = wideNetworksFault(wide) ?? ''
    assert.match(fault, /^must be private networks, or at most 65,536 IPv4 addresses/, wide)
    assert.ok(fault.endsWith(`: ${network} is larger`), fault)
  }
  const many = Array.from({ length: 17 }, (_, at) => `10.0.0.${at}`).join(',')
  assert.equal(wideNetworksFault(many), 'must be at most 16 networks, and 17 are given')
})

test('the network of a client is a /24 of IPv4 or a /48 of IPv6', () => {
  const networks = {
    '192.0.2.7': '192.0.2.0/24',
    '10.1.2.255': '10.1.2.0/24',
    '::1': '0::/48',
    'fe80::1%eth0': 'fe80::/48',
    '2001:db8:0:1::9': '2001:db8::/48',
    '2001:db8:12:34:5:6:7:8': '2001:db8:12::/48',
    '2001:0db8:00a2::': '2001:db8:a2::/48',
    '64:ff9b::192.0.2.7': '64:ff9b::/48',
  }
  for (const [address, network] of Object.entries(networks)) {
    assert.equal(clientNetwork(address), network, address)
  }
})
