// Address that a client used, for the WSDL: scheme, host and path, which may contain a key. Answers with it are for
// that client alone, and no cache may store them.

import type { IncomingMessage } from 'node:http'
import type { BlockList } from 'node:net'
import { HOST, requestScheme } from '../listener/proxy.ts'

const ADDRESS = Symbol('address that the client used')

type RequestWithAddress = IncomingMessage & { [ADDRESS]?: { host: string; path: string } }

/** Stores the address of a request, before it is routed. */
export function storeAddress(req: IncomingMessage): void {
  const { host = '' } = req.headers
  const [path = ''] = (req.url ?? '').split('?', 1)
  ;(req as RequestWithAddress)[ADDRESS] = { host: HOST.test(host) ? host : 'localhost', path }
}

/** Returns the URL of the request without its query. The scheme is taken from a trusted proxy. */
export function requestedUrl(req: IncomingMessage, proxies: BlockList | undefined): string {
  const { host, path } = (req as RequestWithAddress)[ADDRESS] ?? { host: 'localhost', path: '' }
  return `${requestScheme(req, proxies)}://${host}${path.replace(/\/+$/, '')}`
}
