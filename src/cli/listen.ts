// Where the server listens and which clients see what, from options.

import { BlockList, isIP } from 'node:net'
import { hostname } from 'node:os'
import { AppError } from '../errors.ts'
import { ANY_ADDRESS, FORGEABLE_ADDRESS } from '../http/listener/networks.ts'
import type { TlsFiles } from '../http/listener/tls.ts'
import type { AlsoListen, ServerOptions } from '../http/server.ts'
import type { OptionValues } from './option-values.ts'
import type { OptionName } from './options.ts'

export const LISTEN_OPTIONS = [
  'host',
  'port',
  'also-listen',
  'tls-cert',
  'tls-key',
  'trust-proxy',
  'cors-origin',
  'host-name',
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

export function listenSettings(options: ListenOptions): ServerOptions {
  if (options['trust-proxy'] === ANY_ADDRESS && options['open-rates'] !== undefined) {
    throw new AppError('usage', FORGEABLE_ADDRESS)
  }
  return {
    host: options.host,
    port: options.port,
    tls: tlsPairs(options),
    also: furtherPlaces(options),
    metrics: metricsPlace(options),
    proxies: options['trust-proxy'],
    corsOrigins: options['cors-origin'],
    hostNames: [...namesOfMachine(), ...(options['host-name'] ?? [])],
    compat: options['no-compat']
      ? undefined
      : { open: options['open-rates'], serveRounded: options['serve-rounded'] },
  }
}

/** The name of this machine, and the first word of it, by which others of its network ask for it. */
export function namesOfMachine(): string[] {
  const name = hostname().toLowerCase()
  return [name, ...name.split('.', 1)]
}

/** The addresses that other machines may reach, as far as the addresses tell, and that have no TLS. */
export function placesWithoutTls({ host, tls, also = [] }: ServerOptions): string[] {
  const places = [...(tls?.length ? [] : [{ host }]), ...also.filter(({ scheme }) => scheme === 'http')]
  return [...new Set(places.map((place) => place.host).filter(isOpenToOthers))]
}

function isOpenToOthers(host: string): boolean {
  const kind = isIP(host)
  return kind !== 0 && !isLoopback.check(host, kind === 4 ? 'ipv4' : 'ipv6')
}

function metricsPlace(options: ListenOptions): ServerOptions['metrics'] {
  const port = options['metrics-port']
  if (port !== undefined) return { host: options['metrics-host'], port }
  return options.metrics ? 'local' : undefined
}

/** They have the shapes alone, so that without shapes there is nothing to listen for. */
function furtherPlaces(options: ListenOptions): AlsoListen[] {
  const places = options['also-listen']
  if (places.length > 0 && options['no-compat']) {
    const why = 'answers in the shapes of other services, which --no-compat turns off'
    throw new AppError('usage', `--also-listen ${why}: leave one of the two out`)
  }
  const secure = places.find(({ scheme }) => scheme === 'https')
  if (secure && options['tls-cert'].length === 0) {
    const how = 'give --tls-cert and --tls-key (cambista compat cert makes them)'
    throw new AppError('usage', `--also-listen https://… needs a certificate: ${how}`)
  }
  return places
}

/** Certificates and keys belong together in the order in which they are given. */
function tlsPairs(options: ListenOptions): TlsFiles[] {
  const [certs, keys] = [options['tls-cert'], options['tls-key']]
  if (certs.length !== keys.length) throw new AppError('usage', unpaired(certs.length, keys.length))
  return certs.map((cert, at) => ({ cert, key: keys[at] ?? '' }))
}

function unpaired(certs: number, keys: number): string {
  if (certs === 0) return '--tls-cert is missing: --tls-key is given'
  if (keys === 0) return '--tls-key is missing: --tls-cert is given'
  return `each --tls-cert needs its --tls-key, in the same order: ${counted(certs, 'certificate')} and ${counted(keys, 'key')} are given`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
