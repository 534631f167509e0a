import type { IncomingMessage } from 'node:http'
import { notePathKey } from '../endpoint/url-key.ts'
import { rewriteTarget } from './addresses.ts'
import { storeAddress } from './origin.ts'

/**
 * Rewrites another service's address to the path of its endpoint, and takes a key out of the path. `takesUrlKeys`
 * returns true for an endpoint of ours that reads a key in its URL.
 */
export function rewritePath(
  req: IncomingMessage,
  takesUrlKeys: (method: string, path: string) => boolean,
): void {
  const { target, key } = rewriteTarget(req.url ?? '', (path) => takesUrlKeys(req.method ?? '', path))
  if (target.startsWith('/compat/')) storeAddress(req)
  if (key !== undefined) notePathKey(req, key)
  req.url = target
}
