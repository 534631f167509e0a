// Networks whose clients need no key, for the compat APIs and the page.

import type { IncomingMessage } from 'node:http'
import type { BlockList } from 'node:net'
import { ANY_ADDRESS, isInNetworks, parseNetworks } from './networks.ts'
import { isForwarded, isLocal, isLoopback, peerAddress, resolveClient } from './proxy.ts'

/** Networks whose clients need no key; `any` means every network. */
export type OpenNetworks = BlockList | 'any'

/** Parses a list of networks, or the word any. */
export function parseOpenNetworks(text: string): OpenNetworks {
  return text === 'any' ? 'any' : parseNetworks(text)
}

/** Returns true if the client is in an open network, by its socket or the header of a trusted proxy. */
export function isRequestAllowed(
  req: IncomingMessage,
  open: OpenNetworks,
  proxies: BlockList | undefined,
): boolean {
  if (open === 'any') return true
  if (proxies === ANY_ADDRESS) return false // any client can send the header
  const peer = peerAddress(req)
  const isProxied = proxies !== undefined && isInNetworks(peer, proxies)
  if (!isProxied && isForwarded(req)) return false
  const client = isProxied ? resolveClient(peer, req, proxies) : peer
  if (isProxied && isInNetworks(client, proxies)) return false // the header has no client before the proxies
  if (isLoopback(client)) return !isProxied && isLocal(req) && isInNetworks(client, open)
  return isInNetworks(client, open)
}
