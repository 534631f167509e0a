// Validates that a browser's request is for this server and from its own page, for the page and its sessions. Other
// host names are rejected, for another site's name may resolve to this machine (DNS rebinding). Requests of other
// origins are rejected too.

import type { IncomingMessage } from 'node:http'
import { type BlockList, isIP } from 'node:net'
import { AppError } from '../../runtime/errors.ts'
import { isInNetworks } from './networks.ts'
import { HOST, isLocal, peerAddress, requestScheme } from './proxy.ts'

export type HostNames = {
  /** Host names of the server, beside its addresses and `localhost`. */
  hostNames: readonly string[]
  /** Proxies whose X-Forwarded-Host and X-Forwarded-Proto are trusted. */
  proxies: BlockList | undefined
  /** Address of the page in links, with a slash at its end; undefined: the one that the client addressed. */
  publicUrl?: string | undefined
}

/** Origin that the client addressed: scheme, and host with a port other than the scheme's default. */
export type ServerOrigin = { scheme: 'http' | 'https'; host: string; port: number }

const NAME = /^[\w-]+(?:\.[\w-]+)*$/
/** Path of a trusted proxy: segments of safe characters. */
const PREFIX = /^(?=.{0,100}$)(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*\/?$/
const SAME_ORIGIN = new Set([undefined, 'same-origin', 'none'])

/** Returns the error of a list of host names; undefined: it is valid. */
export function hostNamesFault(text: string): string | undefined {
  const wrong = parseHostNames(text).find((name) => !NAME.test(name))
  return wrong === undefined
    ? undefined
    : `must be host names such as rates.example.com, without scheme and port, with commas between: ${JSON.stringify(wrong)} is none`
}

/** Returns the names of a valid list. */
export function parseHostNames(text: string): string[] {
  return text.split(',').map((name) => name.trim().toLowerCase())
}

/** Returns the origin that a request addresses. @throws AppError `misdirected` for one that is not this server's */
export function serverOrigin(req: IncomingMessage, { hostNames, proxies }: HostNames): ServerOrigin {
  const scheme = requestScheme(req, proxies)
  const requestedHost = findHost(req, proxies)
  const url =
    requestedHost !== undefined && HOST.test(requestedHost) ? URL.parse(`${scheme}://${requestedHost}`) : null
  if (!url) throw new AppError('misdirected', 'The request does not say for which one host it is')
  const { hostname, host, port } = url
  const isOwn =
    hostname === 'localhost' || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || hostNames.includes(hostname)
  if (isOwn) return { scheme, host, port: Number(port) || (scheme === 'https' ? 443 : 80) }
  const way = `start it with --host-name ${hostname} if it is, or open it by its address`
  throw new AppError('misdirected', `${hostname} is not a name of this server: ${way}`)
}

/**
 * Returns the address of the page in links, with a slash at its end. Without the operator's it is the one that the client
 * addressed, with the path of a trusted proxy.
 * @throws AppError `misdirected` as `serverOrigin`
 */
export function pageUrl(req: IncomingMessage, names: HostNames): string {
  const { scheme, host } = serverOrigin(req, names)
  if (names.publicUrl !== undefined) return names.publicUrl
  const prefix = forwardedHeader(req, 'x-forwarded-prefix', names.proxies) ?? ''
  return `${scheme}://${host}${PREFIX.test(prefix) ? prefix.replace(/\/$/, '') : ''}/`
}

/**
 * Rejects browser requests of other pages, by their headers. Programs that are not browsers lack these headers.
 * @throws AppError `forbidden` for a request of another origin
 */
export function checkSameOrigin(
  { headers }: IncomingMessage,
  { scheme, host }: ServerOrigin,
  why = 'A session is for the page of this server alone, not for another website',
): void {
  const { origin, 'sec-fetch-site': site } = headers
  const isOwn = origin === undefined || matchesOrigin(origin, scheme, host)
  if (isOwn && SAME_ORIGIN.has(site?.toString())) return
  throw new AppError('forbidden', why)
}

/** Returns false for plain HTTP from another machine, which can be read on its way. */
export function isPrivate(req: IncomingMessage, { scheme }: ServerOrigin): boolean {
  return scheme === 'https' || isLocal(req)
}

/** @throws AppError `forbidden` for a request that is not private */
export function checkPrivate(req: IncomingMessage, origin: ServerOrigin): void {
  if (isPrivate(req, origin)) return
  throw new AppError(
    'forbidden',
    'Signing in over plain HTTP works on the machine of the server alone. Serve HTTPS: cambista cert create --host NAME ' +
      'makes a certificate; or put a proxy with TLS before it, and name the proxy with --trust-proxy',
    { reason: 'https_required' },
  )
}

/** Returns the host of the request, or the one forwarded by a trusted proxy; undefined: none, or several. */
function findHost(req: IncomingMessage, proxies: BlockList | undefined): string | undefined {
  const values = forwardedHeader(req, 'x-forwarded-host', proxies)?.split(',') ?? hostFields(req)
  const hosts = new Set(values.map((one) => one.trim().toLowerCase()))
  const [host] = hosts
  return hosts.size === 1 ? host : undefined
}

/** Returns a header of a trusted proxy. */
function forwardedHeader(
  req: IncomingMessage,
  name: string,
  proxies: BlockList | undefined,
): string | undefined {
  return proxies && isInNetworks(peerAddress(req), proxies) ? req.headers[name]?.toString() : undefined
}

/** Raw Host headers: in `headers` the server has replaced the host. */
export function hostFields({ rawHeaders }: IncomingMessage): string[] {
  const hosts: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === 'host') hosts.push(rawHeaders[at + 1] ?? '')
  }
  return hosts
}

/**
 * Compares host and port. Behind a TLS proxy without forwarding headers the origin is https, but the socket is plain.
 * A page over plain HTTP never belongs to an HTTPS server.
 */
function matchesOrigin(origin: string, scheme: ServerOrigin['scheme'], host: string): boolean {
  const url = URL.parse(origin)
  if (url?.protocol !== 'https:' && (url?.protocol !== 'http:' || scheme === 'https')) return false
  return url.origin === origin && URL.parse(`${url.protocol}//${host}`)?.host === url.host
}
