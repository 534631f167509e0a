// Whether a browser's request is for this server and from its own page. It is asked of what a browser alone could be led
// to send: the page, its sessions, their requests. A name that another site's owner lets resolve to this machine is not
// one of its names (DNS rebinding), and a request of another origin is not the page's.

import type { IncomingMessage } from 'node:http'
import { type BlockList, isIP } from 'node:net'
import { AppError } from '../../errors.ts'
import { isAmong } from './networks.ts'
import { HOST, isLocal, peerOf, schemeOf } from './proxy.ts'

export type OwnNames = {
  /** The names that the server is asked by, beside its addresses and `localhost`. */
  hostNames: readonly string[]
  /** Proxies whose X-Forwarded-Host and X-Forwarded-Proto are believed. */
  proxies: BlockList | undefined
}

/** Where the client believes to be: a scheme, and a host with its port where that is not the scheme's own. */
export type OwnOrigin = { scheme: 'http' | 'https'; host: string; port: number }

const NAME = /^[\w-]+(?:\.[\w-]+)*$/
const SAME_ORIGIN = new Set([undefined, 'same-origin', 'none'])

/** What is wrong with a list of host names; undefined: nothing. */
export function hostNamesFault(text: string): string | undefined {
  const wrong = hostNamesIn(text).find((name) => !NAME.test(name))
  return wrong === undefined
    ? undefined
    : `must be host names such as rates.example.com, without scheme and port, with commas between: ${JSON.stringify(wrong)} is none`
}

/** The names of such a list; it must have no fault. */
export function hostNamesIn(text: string): string[] {
  return text.split(',').map((name) => name.trim().toLowerCase())
}

/** The origin that a request was sent to. @throws AppError `misdirected` for one that is not this server's */
export function ownOriginOf(req: IncomingMessage, { hostNames, proxies }: OwnNames): OwnOrigin {
  const scheme = schemeOf(req, proxies)
  const said = hostSaid(req, proxies)
  const url = said !== undefined && HOST.test(said) ? URL.parse(`${scheme}://${said}`) : null
  if (!url) throw new AppError('misdirected', 'The request does not say for which one host it is')
  const { hostname, host, port } = url
  const isOwn =
    hostname === 'localhost' || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || hostNames.includes(hostname)
  if (isOwn) return { scheme, host, port: Number(port) || (scheme === 'https' ? 443 : 80) }
  const way = `start it with --host-name ${hostname} if it is, or open it by its address`
  throw new AppError('misdirected', `${hostname} is not a name of this server: ${way}`)
}

/**
 * Whether the page itself sends a request, as far as the browser says. A program that is no browser says nothing.
 * @throws AppError `forbidden` for one of another origin
 */
export function checkSameOrigin(
  { headers }: IncomingMessage,
  { scheme, host }: OwnOrigin,
  why = 'A session is for the page of this server alone, not for another website',
): void {
  const { origin, 'sec-fetch-site': site } = headers
  const isOwn = origin === undefined || isOriginOf(origin, scheme, host)
  if (isOwn && SAME_ORIGIN.has(site?.toString())) return
  throw new AppError('forbidden', why)
}

/** Whether what is sent cannot be read on its way. @throws AppError `forbidden` for plain HTTP from elsewhere than this machine */
export function checkPrivate(req: IncomingMessage, { scheme }: OwnOrigin): void {
  if (scheme === 'https' || isLocal(req)) return
  throw new AppError(
    'forbidden',
    'Signing in over plain HTTP works on the machine of the server alone. Serve HTTPS: cambista cert create --host NAME ' +
      'makes a certificate; or put a proxy with TLS before it, and name the proxy with --trust-proxy',
  )
}

/** The host of the request, or of the one that a trusted proxy passed on; undefined: none, or several. */
function hostSaid(req: IncomingMessage, proxies: BlockList | undefined): string | undefined {
  const forwarded = proxies && isAmong(peerOf(req), proxies) ? req.headers['x-forwarded-host'] : undefined
  const said = forwarded === undefined ? hostFields(req) : String(forwarded).split(',')
  const hosts = new Set(said.map((one) => one.trim().toLowerCase()))
  const [host] = hosts
  return hosts.size === 1 ? host : undefined
}

/** As they came: in `headers` the server has put another host. */
function hostFields({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'host')
}

/**
 * Host and port decide. Behind a TLS proxy that says nothing of itself the origin is https and the socket is not; a page
 * over plain HTTP is never one of an HTTPS server.
 */
function isOriginOf(origin: string, scheme: OwnOrigin['scheme'], host: string): boolean {
  const url = URL.parse(origin)
  if (url?.protocol !== 'https:' && (url?.protocol !== 'http:' || scheme === 'https')) return false
  return url.origin === origin && URL.parse(`${url.protocol}//${host}`)?.host === url.host
}
