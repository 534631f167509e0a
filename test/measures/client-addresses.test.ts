// The address of a client behind proxies, as counters of clients store it.

import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { collectHeap } from '../../src/cli/commands/server/idle-collection.ts'
import { parseNetworks } from '../../src/http/listener/networks.ts'
import { resolveClient } from '../../src/http/listener/proxy.ts'

test('a stored address does not retain the memory of its header', () => {
  const proxies = parseNetworks('loopback')
  const before = heapInUse()
  const addresses = Array.from({ length: 2000 }, (_, at) => {
    const header = `${'203.0.113.250, '.repeat(900)}2001:db8:1234:5678::${at.toString(16)}`
    return resolveClient(
      '127.0.0.1',
      { headers: { 'x-forwarded-for': header } } as unknown as IncomingMessage,
      proxies,
    )
  })
  const grown = heapInUse() - before
  assert.ok(grown < 4_000_000, `${addresses.length} addresses take ${grown} bytes`)
})

function heapInUse(): number {
  collectHeap()
  return process.memoryUsage().heapUsed
}
