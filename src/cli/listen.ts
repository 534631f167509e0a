// Where and to whom the server shows itself, from options.

import { AppError } from '../errors.ts'
import { originsIn } from '../http/cors.ts'
import { proxiesOf } from '../http/proxy.ts'
import type { ServerOptions } from '../http/server.ts'
import type { TlsFiles } from '../http/tls.ts'
import type { Values } from './args.ts'
import type { OptionName } from './options.ts'

export const LISTEN_OPTIONS = [
  'host',
  'port',
  'tls-cert',
  'tls-key',
  'trust-proxy',
  'cors-origin',
  'metrics',
  'metrics-port',
  'metrics-host',
] as const satisfies OptionName[]

export function listenSettings(values: Values): ServerOptions {
  const proxies = values.given('trust-proxy')
  const origins = values.given('cors-origin')
  return {
    host: values.text('host'),
    port: values.number('port'),
    tls: tlsFiles(values),
    metrics: metricsPlace(values),
    proxies: proxies === undefined ? undefined : proxiesOf(proxies),
    corsOrigins: origins === undefined ? undefined : originsIn(origins),
  }
}

function metricsPlace(values: Values): ServerOptions['metrics'] {
  const port = values.givenNumber('metrics-port')
  if (port !== undefined) return { host: values.text('metrics-host'), port }
  return values.on('metrics') ? 'local' : undefined
}

function tlsFiles(values: Values): TlsFiles | undefined {
  const cert = values.given('tls-cert')
  const key = values.given('tls-key')
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined) throw new AppError('usage', '--tls-cert is missing: --tls-key is given')
  if (key === undefined) throw new AppError('usage', '--tls-key is missing: --tls-cert is given')
  return { cert, key }
}
