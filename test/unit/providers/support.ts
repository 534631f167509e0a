// Fake bank with a connection, for the tests of providers.

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { TestContext } from 'node:test'
import { type Bank, type BankOptions, startBank } from '../../../src/demo/bank.ts'
import { openBccrConnection } from '../../../src/providers/bccr/bccr.ts'
import type { FetchRequest, RequestTuning, SourceConnection } from '../../../src/providers/provider.ts'

export const TODAY = '2026-09-20'
export const TOKEN = 'operator-secret.token'

export type Conversation = {
  bank: Bank
  connection: SourceConnection
  waits: number[]
  abort: AbortController
}

/** Opens a connection that records its waits instead of waiting. */
export async function converse(
  t: TestContext,
  options: Partial<BankOptions> & { ours?: string | undefined; paceMs?: number; tuning?: RequestTuning } = {},
): Promise<Conversation> {
  const { ours, paceMs = 0, tuning, ...bankOptions } = { ours: TOKEN, ...options }
  const bank = await startBank({ token: TOKEN, today: () => TODAY, ...bankOptions })
  t.after(() => bank.close())
  const waits: number[] = []
  const abort = new AbortController()
  const connection = openBccrConnection(
    { url: `${bank.url}/`, token: ours, paceMs, userAgent: 'cambista/test' },
    abort.signal,
    { sleep: async (ms) => void waits.push(ms), ...tuning },
  )
  return { bank, connection, waits, abort }
}

export function ask(table: string, indicator: string | undefined, from: string, to: string): FetchRequest {
  return { table, indicator, window: { from, to } }
}

/**
 * Stops the clock of the time-outs of requests. Returns a function that lets each expire which is under way.
 * `isAtHeaders`: each expires by itself once the headers of its answer have arrived.
 */
export function mockTimeouts(t: TestContext, { isAtHeaders = false } = {}): () => void {
  const timeouts: AbortController[] = []
  // Not by t.mock.timers: those abort without a TimeoutError.
  t.mock.method(AbortSignal, 'timeout', () => {
    const timeout = new AbortController()
    timeouts.push(timeout)
    return timeout.signal
  })
  const expireAll = () => {
    for (const timeout of timeouts.splice(0)) timeout.abort(new DOMException('late', 'TimeoutError'))
  }
  const expire = () => void setImmediate(expireAll)
  if (isAtHeaders) {
    subscribe('undici:request:headers', expire)
    t.after(() => unsubscribe('undici:request:headers', expire))
  }
  return expire
}

/** Request for the week of most tests. */
export function week(indicator = '318'): FetchRequest {
  return ask('1', indicator, '2026-09-14', '2026-09-20')
}

/** Returns the last parts of the requested paths. */
export function requestedPaths(bank: Bank): string[] {
  return bank.requests.map(({ path }) => path.split('/').slice(-2).join('/'))
}
