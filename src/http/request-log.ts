// What is noted of each request: its line of the log, and its place in the metrics.

import type { BlockList } from 'node:net'
import type { H3Event } from 'h3'
import type { Log } from '../log.ts'
import type { AuthorizedToken } from './api/auth.ts'
import { nodeOf } from './api/send.ts'
import { clientBehind } from './listener/proxy.ts'
import type { Metrics } from './status/metrics.ts'

const CLIENT_GONE = 499 // as nginx logs it: there was no client left to answer
const PROBES = new Set(['/healthz', '/readyz']) // asked every few seconds, by what keeps a record of its own

/** Logs and counts the request when its answer is out, or its client gone. */
export function noteWhenDone(
  event: H3Event,
  { log, metrics, proxies }: { log: Log; metrics: Metrics | undefined; proxies: BlockList | undefined },
): void {
  const { req, res } = nodeOf(event)
  const client = clientBehind(req, proxies) // a connection that is gone has none
  const started = performance.now()
  res.on('close', () => {
    const { requestId, route, key, token, waitedMs } = event.context
    const { method } = event.req
    const template = String(route ?? '-')
    const status = res.headersSent ? res.statusCode : CLIENT_GONE
    const ms = performance.now() - started
    const waited = (waitedMs as (() => number) | undefined)?.() ?? 0 // as its client asked, and no work of ours
    metrics?.observe(method, template, status, Math.max(0, ms - waited) / 1000)
    const level = PROBES.has(template) ? 'debug' : 'info'
    log[level]('request', {
      id: String(requestId),
      client,
      key: key as string | undefined,
      token: (token as AuthorizedToken | undefined)?.name,
      method,
      route: template,
      status,
      cut: res.writableFinished ? undefined : true,
      ms: Math.round(ms * 10) / 10,
      waited: waited > 0 ? Math.round(waited * 10) / 10 : undefined,
    })
  })
}
