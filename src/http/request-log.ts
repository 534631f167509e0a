// Begins requests: their ids, and their entries in the log, the metrics and the use of keys.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BlockList } from 'node:net'
import type { H3EventContext } from 'h3'
import type { Log } from '../runtime/log.ts'
import type { AuthorizedToken, Keyring } from './access/auth.ts'
import { clientNetwork } from './listener/networks.ts'
import { clientAddress } from './listener/proxy.ts'
import type { Metrics } from './status/metrics.ts'

declare module 'h3' {
  interface H3EventContext {
    requestId?: string
    /** Path of the endpoint. */
    route?: string
  }
}

/**
 * Adds the id to the facts of a request, which may come until its end. Records it when its answer is sent or its client
 * has disconnected.
 */
export type StartRequest = (
  req: IncomingMessage,
  res: ServerResponse,
  facts: H3EventContext,
) => { requestId: string }

const CLIENT_GONE = 499 // as nginx logs it: the client disconnected before the answer
const PROBES = new Set(['/healthz', '/readyz']) // requested every few seconds by monitors that log themselves
/** No secret: the log has it, and a client that mistakes a header sends one. */
const SANE_ID = /^(?!.*cb[kt]_[0-9A-Za-z]{20})[\w.:/+=-]{1,128}$/

export function createRequestStart(options: {
  log: Log
  metrics: Metrics | undefined
  proxies: BlockList | undefined
  keyring: Pick<Keyring, 'countRequest'>
  nextId: () => string
  warnOfSilentProxy: (req: IncomingMessage) => void
}): StartRequest {
  const { log, metrics, proxies, keyring, nextId, warnOfSilentProxy } = options
  return (req, res, facts) => {
    const clientId = req.headers['x-request-id']
    const requestId = typeof clientId === 'string' && SANE_ID.test(clientId) ? clientId : nextId()
    const client = clientAddress(req, proxies) // read now: a closed connection has no address
    const started = performance.now()
    res.on('close', () => {
      const { route = '-', key, token, waitedMs } = facts
      const { method = '' } = req
      const status = res.headersSent ? res.statusCode : CLIENT_GONE
      const ms = performance.now() - started
      const waitMs = (waitedMs as (() => number) | undefined)?.() ?? 0 // long polling, not work of the server
      if (key) keyring.countRequest(key.id, clientNetwork(client))
      metrics?.observe(method, route, status, Math.max(0, ms - waitMs) / 1000)
      const level = PROBES.has(route) ? 'debug' : 'info'
      log[level]('request', {
        id: requestId,
        client,
        key: key?.name,
        token: (token as AuthorizedToken | undefined)?.name,
        method,
        route,
        status,
        cut: res.writableFinished ? undefined : true,
        ms: Math.round(ms * 10) / 10,
        waited: waitMs > 0 ? Math.round(waitMs * 10) / 10 : undefined,
      })
    })
    warnOfSilentProxy(req)
    return Object.assign(facts, { requestId })
  }
}
