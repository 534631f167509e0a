// Where the server listens and which clients see what, from options.

import { BlockList, isIP } from 'node:net'
import { AppError } from '../errors.ts'
import type { TlsFiles } from '../http/listener/tls.ts'
import type { ServerOptions } from '../http/server.ts'
import type { OptionValues } from './option-values.ts'
import type { OptionName } from './options.ts'

export const LISTEN_OPTIONS = [
  'host',
  'port',
  'tls-cert',
  'tls-key',
  'trust-proxy',
  'cors-origin',
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
  return {
    host: options.host,
    port: options.port,
    tls: tlsFiles(options),
    metrics: metricsPlace(options),
    proxies: options['trust-proxy'],
    corsOrigins: options['cors-origin'],
    compat: options['no-compat']
      ? undefined
      : { open: options['open-rates'], serveRounded: options['serve-rounded'] },
  }
}

/** Whether other machines may reach an address, as far as the address itself tells. */
export function isOpenToOthers(host: string): boolean {
  const kind = isIP(host)
  return kind !== 0 && !isLoopback.check(host, kind === 4 ? 'ipv4' : 'ipv6')
}

function metricsPlace(options: ListenOptions): ServerOptions['metrics'] {
  const port = options['metrics-port']
  if (port !== undefined) return { host: options['metrics-host'], port }
  return options.metrics ? 'local' : undefined
}

function tlsFiles(options: ListenOptions): TlsFiles | undefined {
  const cert = options['tls-cert']
  const key = options['tls-key']
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined) throw new AppError('usage', '--tls-cert is missing: --tls-key is given')
  if (key === undefined) throw new AppError('usage', '--tls-key is missing: --tls-cert is given')
  return { cert, key }
}
