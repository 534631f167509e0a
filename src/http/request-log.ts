// Records each request in the log, in the metrics, and in the use of its key.

import type { BlockList } from 'node:net'
import type { H3Event } from 'h3'
import type { Log } from '../runtime/log.ts'
import type { AuthorizedToken, Keyring } from './access/auth.ts'
import { nodeContext } from './endpoint/answers/send.ts'
import { clientNetwork } from './listener/networks.ts'
import { clientAddress } from './listener/proxy.ts'
import type { Metrics } from './status/metrics.ts'

const CLIENT_GONE = 499 // as nginx logs it: the client disconnected before the answer
const PROBES = new Set(['/healthz', '/readyz']) // requested every few seconds by monitors that log themselves

/** Logs and counts the request when its answer is sent or its client has disconnected. */
export function logRequest(
  event: H3Event,
  {
    log,
    metrics,
    proxies,
    keyring,
  }: {
    log: Log
    metrics: Metrics | undefined
    proxies: BlockList | undefined
    keyring: Keyring
  },
): void {
  const { req, res } = nodeContext(event)
  const client = clientAddress(req, proxies) // read now: a closed connection has no address
  const started = performance.now()
  res.on('close', () => {
    const { requestId, route, key, token, waitedMs } = event.context
    const { method } = event.req
    const template = String(route ?? '-')
    const status = res.headersSent ? res.statusCode : CLIENT_GONE
    const ms = performance.now() - started
    const waitMs = (waitedMs as (() => number) | undefined)?.() ?? 0 // long polling, not work of the server
    if (key) keyring.countRequest(key.id, clientNetwork(client))
    metrics?.observe(method, template, status, Math.max(0, ms - waitMs) / 1000)
    const level = PROBES.has(template) ? 'debug' : 'info'
    log[level]('request', {
      id: String(requestId),
      client,
      key: key?.name,
      token: (token as AuthorizedToken | undefined)?.name,
      method,
      route: template,
      status,
      cut: res.writableFinished ? undefined : true,
      ms: Math.round(ms * 10) / 10,
      waited: waitMs > 0 ? Math.round(waitMs * 10) / 10 : undefined,
    })
  })
}
