// Client addresses. Behind a proxy the client is in X-Forwarded-For, which is trusted only from proxies that the operator
// named. Addresses are for the log, and for the networks of http/compat/admission.ts.

import type { IncomingMessage } from 'node:http'
import { type BlockList, isIP } from 'node:net'
import { TLSSocket } from 'node:tls'
import { isInNetworks, parseNetworks } from './networks.ts'

/** Host of a request, with or without a port. */
export const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i

const FORWARDING =
  /^(forwarded|via|x-real-ip|x-forwarded-\w+|x-client-ip|x-cluster-client-ip|cf-connecting-ip|true-client-ip)$/

const loopback = parseNetworks('loopback')

/** Returns the address of the client, before the trusted proxies. */
export function resolveClient(peer: string, req: IncomingMessage, proxies: BlockList): string {
  const hops = String(req.headers['x-forwarded-for'] ?? '').split(',')
  let client = peer
  while (isInNetworks(client, proxies)) {
    const before = parseHop(hops.pop() ?? '')
    if (before === undefined) break
    client = before
  }
  return client
}

/** Returns the address of the client of a request, as far as the proxies are trusted. */
export function clientAddress(req: IncomingMessage, proxies: BlockList | undefined): string {
  const peer = peerAddress(req)
  return proxies ? resolveClient(peer, req, proxies) : peer
}

/** Returns the scheme of the client: from a trusted proxy's header, else from the socket. */
export function requestScheme(req: IncomingMessage, proxies: BlockList | undefined): 'http' | 'https' {
  if (proxies && isInNetworks(peerAddress(req), proxies)) {
    const [value] = String(req.headers['x-forwarded-proto'] ?? '').split(',', 1)
    const scheme = value?.trim().toLowerCase()
    if (scheme === 'http' || scheme === 'https') return scheme
  }
  return req.socket instanceof TLSSocket ? 'https' : 'http'
}

/** Returns the remote address of the connection; IPv4 in its own form, on an IPv6 socket too. */
export function peerAddress(req: IncomingMessage): string {
  return plain(req.socket.remoteAddress ?? '')
}

/** Returns a test for addresses of many clients: this machine's, and those of the proxies. */
export function sharedAddressTest(proxies: BlockList | undefined): (address: string) => boolean {
  return (address) => {
    const peer = plain(address)
    return isLoopback(peer) || (proxies !== undefined && isInNetworks(peer, proxies))
  }
}

export function isLoopback(address: string): boolean {
  return isInNetworks(address, loopback)
}

/** Returns true for a request from this machine and not through a proxy. */
export function isLocal(req: IncomingMessage): boolean {
  // nginx without configured headers adds none, but uses HTTP/1.0.
  if (req.httpVersion === '1.0' || !isLoopback(peerAddress(req))) return false
  return !isForwarded(req)
}

/** Returns true for a request with headers of a proxy. */
export function isForwarded(req: IncomingMessage): boolean {
  return Object.keys(req.headers).some((name) => FORWARDING.test(name))
}

/** Parses the address of a hop; some proxies add the port. */
function parseHop(hop: string): string | undefined {
  const [, bracketed, v4] = /^\s*(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)\s*$/.exec(hop) ?? []
  const address = plain(bracketed ?? v4 ?? hop.trim())
  // Copies the text: a substring in V8 references its source, here 16 KB of header.
  return isIP(address) ? Buffer.from(address).toString('latin1') : undefined
}

function plain(address: string): string {
  if (!address.startsWith('::ffff:')) return address
  const v4 = address.slice('::ffff:'.length)
  return isIP(v4) === 4 ? v4 : address
}
