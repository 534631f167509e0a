// Where and to whom the server shows itself, from options.

import { proxiesOf } from '../http/proxy.ts'
import type { ServerOptions } from '../http/server.ts'
import type { Values } from './args.ts'
import type { OptionName } from './options.ts'

export const LISTEN_OPTIONS = ['host', 'port', 'trust-proxy'] as const satisfies OptionName[]

export function listenSettings(values: Values): ServerOptions {
  const proxies = values.given('trust-proxy')
  return {
    host: values.text('host'),
    port: values.number('port'),
    proxies: proxies === undefined ? undefined : proxiesOf(proxies),
  }
}
