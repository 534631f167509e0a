// The address that a client used, for a description that says where to ask: scheme, host and path, with a key that stands
// in the path. So what is made of it is for that client alone, and no cache may keep it.

import type { IncomingMessage } from 'node:http'
import type { BlockList } from 'node:net'
import { HOST, schemeOf } from '../listener/proxy.ts'

const ADDRESS = Symbol('address that the client used')

type Noted = IncomingMessage & { [ADDRESS]?: { host: string; path: string } }

/** Notes the address of a request, before it is routed. */
export function noteAddress(req: IncomingMessage): void {
  const { host = '' } = req.headers
  const [path = ''] = (req.url ?? '').split('?', 1)
  ;(req as Noted)[ADDRESS] = { host: HOST.test(host) ? host : 'localhost', path }
}

/** The URL that the client asked for, without its query. The scheme is a proxy's word where the proxy is trusted. */
export function addressAsked(req: IncomingMessage, proxies: BlockList | undefined): string {
  const { host, path } = (req as Noted)[ADDRESS] ?? { host: 'localhost', path: '' }
  return `${schemeOf(req, proxies)}://${host}${path.replace(/\/+$/, '')}`
}
