// The address of a client behind proxies, as it is kept by what counts clients.

import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { collectGarbage } from '../../../src/cli/commands/idle-collection.ts'
import { networksOf } from '../../../src/http/listener/networks.ts'
import { clientOf } from '../../../src/http/listener/proxy.ts'

test('an address that is kept does not keep the header that it was in', () => {
  const proxies = networksOf('loopback')
  const before = heapInUse()
  const kept = Array.from({ length: 2000 }, (_, at) => {
    const header = `${'203.0.113.250, '.repeat(900)}2001:db8:1234:5678::${at.toString(16)}`
    return clientOf(
      '127.0.0.1',
      { headers: { 'x-forwarded-for': header } } as unknown as IncomingMessage,
      proxies,
    )
  })
  const grown = heapInUse() - before
  assert.ok(grown < 4_000_000, `${kept.length} addresses take ${grown} bytes`)
})

function heapInUse(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}
