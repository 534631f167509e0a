// Addresses that the server listens on, and access of clients, from options.

import { BlockList, isIP } from 'node:net'
import { hostname } from 'node:os'
import { ANY_ADDRESS, FORGEABLE_ADDRESS, parseNetworks } from '../http/listener/networks.ts'
import type { TlsFiles } from '../http/listener/tls.ts'
import type { AlsoListen, ServerOptions } from '../http/server.ts'
import type { Organization } from '../http/web/sign-in.ts'
import { AppError } from '../runtime/errors.ts'
import { countNoun } from '../values/sizes.ts'
import { OPTIONS, type OptionName } from './options/options.ts'
import type { OptionValues } from './options/values.ts'

export const LISTEN_OPTIONS = [
  'host',
  'port',
  'also-listen',
  'tls-cert',
  'tls-key',
  'trust-proxy',
  'cors-origin',
  'host-name',
  'public-url',
  'open-page',
  'organization',
  'organization-id',
  'open-rates',
  'serve-rounded',
  'no-compat',
  'metrics',
  'metrics-port',
  'metrics-host',
] as const satisfies OptionName[]

const isLoopback = new BlockList()
isLoopback.addSubnet('127.0.0.0', 8, 'ipv4')
isLoopback.addAddress('::1', 'ipv6')

type ListenOptions = Pick<OptionValues, (typeof LISTEN_OPTIONS)[number]>

export function listenSettings(options: ListenOptions): ServerOptions & { hostNames: string[] } {
  const { 'open-page': openPage, 'open-rates': openRates } = options
  if (options['trust-proxy'] === ANY_ADDRESS && (openPage ?? openRates) !== undefined) {
    throw new AppError('usage', FORGEABLE_ADDRESS)
  }
  return {
    host: options.host,
    port: options.port,
    tls: pairTlsFiles(options),
    also: extraAddresses(options),
    metrics: metricsAddress(options),
    proxies: options['trust-proxy'],
    corsOrigins: options['cors-origin'],
    hostNames: serverNames(options),
    publicUrl: options['public-url'],
    openPage: openPage === undefined ? undefined : parseNetworks(openPage),
    organization: organization(options),
    compat: options['no-compat']
      ? undefined
      : { open: options['open-rates'], serveRounded: options['serve-rounded'] },
  }
}

/** Returns the letterhead. Empty values mean none, as an unset line of an environment file. */
function organization(options: ListenOptions): Organization | undefined {
  const { organization: name, 'organization-id': taxId } = options
  if (name) return { name, taxId: taxId || undefined }
  if (taxId)
    throw new AppError('usage', '--organization-id needs --organization, the name that it belongs to')
  return undefined
}

/** Returns the names of the server for browsers. */
export function serverNames(options: Pick<ListenOptions, 'host-name' | 'public-url'>): string[] {
  const { 'host-name': names = [], 'public-url': url } = options
  return [...machineNames(), ...names, ...(url === undefined ? [] : [new URL(url).hostname])]
}

/** Host name of this machine, and its first label, which clients of the same network use. */
export function machineNames(): string[] {
  const name = hostname().toLowerCase()
  return [name, ...name.split('.', 1)]
}

/** Addresses without TLS that are not loopback, so that other machines may reach them. */
export function addressesWithoutTls({ host, tls, also = [] }: ServerOptions): string[] {
  const addresses = [...(tls?.length ? [] : [{ host }]), ...also.filter(({ scheme }) => scheme === 'http')]
  return [...new Set(addresses.map((address) => address.host).filter(isReachable))]
}

function isReachable(host: string): boolean {
  const kind = isIP(host)
  return kind !== 0 && !isLoopback.check(host, kind === 4 ? 'ipv4' : 'ipv6')
}

function metricsAddress(options: ListenOptions): ServerOptions['metrics'] {
  const port = options['metrics-port']
  if (port !== undefined) return { host: options['metrics-host'], port }
  if (options['metrics-host'] !== OPTIONS['metrics-host'].fallback) {
    throw new AppError('usage', '--metrics-host needs --metrics-port, the port that it belongs to')
  }
  return options.metrics ? 'local' : undefined
}

/** Addresses of --also-listen. Only compat APIs are served there, so --no-compat contradicts it. */
function extraAddresses(options: ListenOptions): AlsoListen[] {
  const addresses = options['also-listen']
  if (addresses.length > 0 && options['no-compat']) {
    const why = 'answers in the shapes of other services, which --no-compat turns off'
    throw new AppError('usage', `--also-listen ${why}: leave one of the two out`)
  }
  const secure = addresses.find(({ scheme }) => scheme === 'https')
  if (secure && options['tls-cert'].length === 0) {
    const how = 'give --tls-cert and --tls-key (cambista compat cert makes them)'
    throw new AppError('usage', `--also-listen https://… needs a certificate: ${how}`)
  }
  return addresses
}

/** Pairs certificates and keys in their order. @throws AppError `usage` for unequal numbers */
function pairTlsFiles(options: ListenOptions): TlsFiles[] {
  const [certs, keys] = [options['tls-cert'], options['tls-key']]
  if (certs.length !== keys.length) throw new AppError('usage', pairError(certs.length, keys.length))
  return certs.map((cert, at) => ({ cert, key: keys[at] ?? '' }))
}

function pairError(certs: number, keys: number): string {
  if (certs === 0) return '--tls-cert is missing: --tls-key is given'
  if (keys === 0) return '--tls-key is missing: --tls-cert is given'
  return `each --tls-cert needs its --tls-key, in the same order: ${countNoun(certs, 'certificate')} and ${countNoun(keys, 'key')} are given`
}
