// The address of a client. Behind a proxy the peer is the proxy, and the client is what its X-Forwarded-For names: believed only
// of addresses that the administrator trusts. It is for the log, and for networks that the administrator opened
// (http/compat/admission.ts).

import type { IncomingMessage } from 'node:http'
import { type BlockList, isIP } from 'node:net'
import { TLSSocket } from 'node:tls'
import { isAmong, networksOf } from './networks.ts'

/** A host as a request may name it, with its port or without. */
export const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i

const FORWARDING =
  /^(forwarded|via|x-real-ip|x-forwarded-\w+|x-client-ip|x-cluster-client-ip|cf-connecting-ip|true-client-ip)$/

const loopback = networksOf('loopback')

/** The address of the client, before the proxies that are trusted. */
export function clientOf(peer: string, req: IncomingMessage, proxies: BlockList): string {
  const hops = String(req.headers['x-forwarded-for'] ?? '').split(',')
  let client = peer
  while (isAmong(client, proxies)) {
    const before = addressIn(hops.pop() ?? '')
    if (before === undefined) break
    client = before
  }
  return client
}

/** The address that a request is counted for: that of its client, as far as the proxies are trusted. */
export function clientBehind(req: IncomingMessage, proxies: BlockList | undefined): string {
  const peer = peerOf(req)
  return proxies ? clientOf(peer, req, proxies) : peer
}

/** The scheme that the client used: a proxy's word where the proxy is trusted, else that of the socket. */
export function schemeOf(req: IncomingMessage, proxies: BlockList | undefined): 'http' | 'https' {
  if (proxies && isAmong(peerOf(req), proxies)) {
    const [said] = String(req.headers['x-forwarded-proto'] ?? '').split(',', 1)
    const scheme = said?.trim().toLowerCase()
    if (scheme === 'http' || scheme === 'https') return scheme
  }
  return req.socket instanceof TLSSocket ? 'https' : 'http'
}

/** The address at the other end of the connection; an IPv4 one as such, on an IPv6 socket too. */
export function peerOf(req: IncomingMessage): string {
  return plain(req.socket.remoteAddress ?? '')
}

/** Whether many clients may come from this address: it is this machine's, or one of the proxies'. */
export function isSharedBy(proxies: BlockList | undefined): (address: string) => boolean {
  return (address) => {
    const peer = plain(address)
    return isLoopback(peer) || (proxies !== undefined && isAmong(peer, proxies))
  }
}

export function isLoopback(address: string): boolean {
  return isAmong(address, loopback)
}

/** Whether the request was made on this machine, and by no proxy. */
export function isLocal(req: IncomingMessage): boolean {
  // An nginx that was told nothing of headers adds none, but speaks HTTP/1.0.
  if (req.httpVersion === '1.0' || !isLoopback(peerOf(req))) return false
  return !isForwarded(req)
}

/** Whether a proxy says that it sent the request for another. */
export function isForwarded(req: IncomingMessage): boolean {
  return Object.keys(req.headers).some((name) => FORWARDING.test(name))
}

/** The address of one hop; some proxies write its port too. */
function addressIn(hop: string): string | undefined {
  const [, bracketed, v4] = /^\s*(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)\s*$/.exec(hop) ?? []
  const address = plain(bracketed ?? v4 ?? hop.trim())
  // A copy: V8 cuts a text by pointing into it, and an address that is kept would keep the header's 16 KB.
  return isIP(address) ? Buffer.from(address).toString('latin1') : undefined
}

function plain(address: string): string {
  const v4 = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : ''
  return isIP(v4) === 4 ? v4 : address
}
