import type { IncomingMessage } from 'node:http'
import { notePathKey } from '../api/url-key.ts'
import { addressOf } from './addresses.ts'
import { noteAddress } from './origin.ts'

/**
 * Gives a request for an address of another service the path of its endpoint, and takes a key out of the path.
 * `takesUrlKeys`: whether an endpoint of ours reads a key in its URL.
 */
export function routeToShape(
  req: IncomingMessage,
  takesUrlKeys: (method: string, path: string) => boolean,
): void {
  const { target, key } = addressOf(req.url ?? '', (path) => takesUrlKeys(req.method ?? '', path))
  if (target.startsWith('/compat/')) noteAddress(req)
  if (key !== undefined) notePathKey(req, key)
  req.url = target
}
