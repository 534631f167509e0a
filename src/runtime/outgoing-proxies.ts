// Proxies of requests to other machines, by the variables that curl reads too. No name is resolved for that: behind a
// proxy often only the proxy can. So loopback means `localhost`, the names below it, and the addresses themselves.

import type { ClientRequestArgs } from 'node:http'
import { Agent, type AgentOptions } from 'node:https'
import { BlockList, isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { networkReason, ProxyError } from './errors.ts'

/** `url` may have a password; `name` is for logs and errors. */
export type OutgoingProxy = { url: string; name: string }

export type OutgoingProxies = {
  http: OutgoingProxy | undefined
  https: OutgoingProxy | undefined
  /** The value of `no_proxy`. */
  exceptions: string | undefined
  /** Variables whose value is no proxy of HTTP: they have no effect. */
  unusable: readonly string[]
  /** Finds the proxy of an address; undefined: the connection is direct. */
  find(address: Pick<URL, 'protocol' | 'hostname' | 'port'>): OutgoingProxy | undefined
}

type HostRule = { port: string | undefined; has(host: string): boolean }

/** Reason for a variable without effect. */
export const UNUSABLE_PROXY = 'it must be a URL such as http://proxy.example.com:3128'

const VARIABLES = ['http_proxy', 'https_proxy'] as const
const NEVER_PROXIED = ['localhost', '127.0.0.0/8', '::1']
const NOT_CONNECTED = /^(E[A-Z]+(_AGAIN)?|UND_ERR_\w+|CONNECT_TIMEOUT)$/
const NO_TUNNEL = /^(ERR_PROXY_TUNNEL|EPROXY)$/ // of Node, and of the client of IMAP
/** Limit of a tunnel up to its first byte of the host: less than that of a hook. */
const TUNNEL_MS = 9000
// The status in the errors of fetch and of the client of IMAP.
const STATUS = /(?:Proxy response|Proxy Authentication Required|Invalid response from proxy:) \(?(\d{3})/

/** Reads the variables; those of the first environment win, and small letters. An empty value counts as unset. */
export function readProxies(...envs: Readonly<Record<string, string | undefined>>[]): OutgoingProxies {
  const read = (name: string) => envs.flatMap((env) => [env[name], env[name.toUpperCase()]]).find(Boolean)
  const [http, https] = VARIABLES.map((name) => parseProxy(read(name) ?? ''))
  const exceptions = read('no_proxy')
  const texts = [...NEVER_PROXIED, ...(exceptions?.toLowerCase().split(/[\s,]+/) ?? [])]
  const tests = http || https ? texts.filter((text) => text !== '').map(parseHostRule) : []
  const unusable = VARIABLES.filter((name, at) => read(name) && ![http, https][at])
  return {
    ...{ http, https, exceptions, unusable },
    find({ protocol, hostname, port: givenPort }) {
      const isSecure = protocol === 'https:'
      const port = givenPort || (isSecure ? '443' : '80')
      const host = hostname.toLowerCase().replace(/^\[|\]$|\.$/g, '')
      const isDirect = tests.some((one) => (one.port ?? port) === port && one.has(host))
      return isDirect ? undefined : isSecure ? https : http
    },
  }
}

function parseProxy(text: string): OutgoingProxy | undefined {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (!url || !/^https?:$/.test(url.protocol)) return undefined
  try {
    decodeURIComponent(url.username + url.password)
  } catch {
    return undefined // Node would throw for it, with the password in its error
  }
  return { url: url.href, name: url.origin }
}

/** Parses an element of `no_proxy`, or a network. A name is that of all below it too. */
export function parseHostRule(text: string): HostRule {
  const [, start = text, port] = isIP(text) === 0 ? (/^(.*):(\d+)$/.exec(text) ?? []) : []
  const host = start.replace(/^\[|\]$|\.$/g, '')
  const list = parseNetwork(host)
  if (list) return { port, has: (other) => isIP(other) !== 0 && list.check(other, familyName(other)) }
  const name = host.replace(/^\*?\./, '')
  return { port, has: (other) => name === '*' || other === name || other.endsWith(`.${name}`) }
}

function parseNetwork(text: string): BlockList | undefined {
  const list = new BlockList()
  const [, address = '', bits] = /^(.+)\/(\d{1,3})$/.exec(text) ?? []
  const [first = '', last = first, rest] = text.split('-')
  try {
    if (isIP(address) !== 0) list.addSubnet(address, Number(bits), familyName(address))
    else if (isIP(first) !== 0 && rest === undefined) list.addRange(first, last, familyName(first))
    else return undefined
    return list
  } catch {
    return undefined // a prefix too long, or a range without addresses
  }
}

function familyName(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

/** Returns the error of a connection through a proxy, with the name of the proxy and its status. */
export function proxyError(error: Error, { name }: OutgoingProxy): Error {
  const { statusCode = STATUS.exec(error.message)?.[1] } = error as { statusCode?: number | string }
  if (Number(statusCode) > 0) return new ProxyError(`the proxy ${name} answered HTTP ${statusCode}`, error)
  const reason = networkReason(error)
  if (NO_TUNNEL.test(reason)) return new ProxyError(`the proxy ${name} opened no tunnel`, error)
  return NOT_CONNECTED.test(reason) ? new ProxyError(`through the proxy ${name}: ${reason}`, error) : error
}

/** Agent of HTTPS that opens a tunnel through the proxy of each host that has one. Node makes one without arguments. */
export class TunnelAgent extends Agent {
  readonly #proxies: OutgoingProxies | undefined
  readonly #direct: Agent

  constructor(proxies?: OutgoingProxies, options: AgentOptions = {}) {
    super({ ...options, proxyEnv: { https_proxy: proxies?.https?.url } })
    this.#proxies = proxies
    this.#direct = new Agent(options)
  }

  override createConnection(
    options: ClientRequestArgs,
    callback?: (error: Error | null, socket: Duplex) => void,
  ): Duplex | null | undefined {
    const { host, port } = options
    const proxy = this.#proxies?.find({ protocol: 'https:', hostname: host ?? '', port: String(port ?? '') })
    if (!proxy) return this.#direct.createConnection(options, callback)
    // Until the tunnel is open, the request has no socket, so its end or abort would leave this one open.
    const socket = super.createConnection(options, (error, tunnel) => {
      clearTimeout(timer)
      callback?.(error && proxyError(error, proxy), tunnel)
    })
    const silence = Object.assign(new Error('no tunnel in time'), { code: 'EPROXY' })
    const timer = setTimeout(() => socket?.destroy(silence), TUNNEL_MS)
    return socket
  }
}
