// The one table of options. Each is a flag and an environment variable of the same name, flag first; the help
// texts, the README and the parser are all made from, or compared with, this.

import { originsFault, originsIn } from '../http/api/cors.ts'
import { openIn } from '../http/compat/admission.ts'
import { networksOrAny, networksOrAnyFault } from '../http/listener/networks.ts'
import { hostNamesFault, hostNamesIn } from '../http/listener/own-origin.ts'

import { FIRST_DAY, PROVIDERS } from '../providers/list.ts'
import { bytesOf, sizeFault } from '../sizes.ts'
import { CALL, flag } from './call-options.ts'
import { address, anything, cron, day, integer, listenUrl, nonEmpty, oneOf } from './option-formats.ts'
import type { Option, ProviderOption } from './option-names.ts'
import { CLUSTER } from './place/options.ts'
import { providerOptions, scheduleOptions } from './provider-options.ts'

const size = { fault: sizeFault, read: bytesOf }

const TABLE = {
  host: { value: 'ADDRESS', fallback: '127.0.0.1', help: 'address to listen on', format: address },
  port: {
    value: 'PORT',
    fallback: '8080',
    help: 'port to listen on; 0 takes a free one',
    format: integer(0, 65535),
  },
  'also-listen': {
    value: 'URL',
    fallback: undefined,
    help: 'answer in the shapes of other services at this address too, such as https://0.0.0.0:443; give it again for each',
    format: listenUrl,
    repeats: true,
  },
  'data-dir': {
    value: 'DIR',
    fallback: './cambista-data',
    help: 'directory of the database; made when it is not there',
    format: nonEmpty,
  },
  'no-scheduler': flag('do not sync by itself, for an external cron that calls `cambista sync`'),
  ...scheduleOptions(PROVIDERS),
  'backfill-from': {
    value: 'DATE',
    fallback: FIRST_DAY,
    help: 'first day of the history to fetch',
    format: day,
  },
  ...providerOptions(PROVIDERS),
  'max-body': {
    value: 'SIZE',
    fallback: '2GiB',
    help: 'largest upload request, such as 500MiB',
    format: size,
  },
  'min-free': {
    value: 'SIZE',
    fallback: '256MiB',
    help: 'disk space that uploads leave free',
    format: size,
  },
  'max-uploads': {
    value: 'N',
    fallback: '16',
    help: 'uploads at once; others wait their turn briefly',
    format: integer(1, 1000),
  },
  'tls-cert': {
    value: 'FILE',
    fallback: undefined,
    help: 'serve HTTPS with this certificate and its chain, in PEM form; read again when the file changes. Given again: for its names',
    format: nonEmpty,
    repeats: true,
  },
  'tls-key': {
    value: 'FILE',
    fallback: undefined,
    help: 'private key of the certificate; as many as certificates, in their order, with commas between in the variable',
    format: nonEmpty,
    repeats: true,
  },
  'trust-proxy': {
    value: 'CIDR',
    fallback: undefined,
    help: 'proxies whose X-Forwarded-For, -Proto and -Host are believed, such as 10.0.0.0/8 or loopback, with commas between, or any',
    format: { fault: networksOrAnyFault, read: networksOrAny },
  },
  'cors-origin': {
    value: 'ORIGIN',
    fallback: undefined,
    help: 'websites that may call from a browser, such as https://erp.example.com, with commas between, or * for any',
    format: { fault: originsFault, read: originsIn },
  },
  'host-name': {
    value: 'NAME',
    fallback: undefined,
    help: 'names by which browsers open the page, such as rates.example.com, with commas between; addresses, localhost and the name of this machine are known',
    format: { fault: hostNamesFault, read: hostNamesIn },
  },
  'open-rates': {
    value: 'CIDR',
    fallback: undefined,
    help: 'networks whose programs get rates in the shapes of other services without a key, with commas between, or any',
    format: { fault: networksOrAnyFault, read: openIn },
  },
  'serve-rounded': flag('answer rounded values in these shapes too, with the header X-Rounded-To'),
  'no-compat': flag('do not answer in the shapes of other services'),
  'backup-dir': {
    value: 'DIR',
    fallback: undefined,
    help: 'make a backup each night into this backup set, on another disk; without it none is made',
    format: anything,
  },
  'backup-cron': {
    value: 'PATTERN',
    fallback: '30 3 * * *',
    help: 'when to make it, in the time of Costa Rica',
    format: cron,
  },
  'backup-keep': {
    value: 'N',
    fallback: '7',
    help: 'how many backups stay in the set; older ones go once a new one has been verified',
    format: integer(1, 10_000),
  },
  'keep-events': {
    value: 'DAYS',
    fallback: '730',
    help: 'for how many days it is kept who claimed, finished or deleted which document',
    format: integer(1, 36_500),
  },
  'max-attempts': {
    value: 'N',
    fallback: '5',
    help: 'after so many claims that no worker finished a document is failed',
    format: integer(1, 1000),
  },
  metrics: flag(
    'show metrics for Prometheus at /metrics, to clients on this machine that come through no proxy',
  ),
  'metrics-port': {
    value: 'PORT',
    fallback: undefined,
    help: 'show them on this port instead, to every client that reaches it; 0 takes a free one',
    format: integer(0, 65535),
  },
  'metrics-host': {
    value: 'ADDRESS',
    fallback: '127.0.0.1',
    help: 'address of that port',
    format: address,
  },
  'log-format': { value: 'FORMAT', fallback: 'text', help: 'text or json', format: oneOf('text', 'json') },
  'log-level': {
    value: 'LEVEL',
    fallback: 'info',
    help: 'debug, info, warn or error',
    format: oneOf('debug', 'info', 'warn', 'error'),
  },
  ...CLUSTER,
  ...CALL,
} satisfies Record<string, Option>

export const OPTIONS = TABLE as typeof TABLE & Record<ProviderOption, Option>

export type OptionName = keyof typeof OPTIONS

/** Options of one command in place of those of the table. */
export type OwnOptions = { readonly [name in OptionName]?: Option }

export const CALL_ONLY: ReadonlySet<string> = new Set(Object.keys(CALL))

/** Those that do something only where nodes share a database. */
export const CLUSTER_ONLY: ReadonlySet<string> = new Set(Object.keys(CLUSTER))

/** An option of a command: its own one, or that of the table. */
export function optionOf(name: OptionName, own: OwnOptions = {}): Option {
  const option: Option | undefined = own[name] ?? OPTIONS[name]
  if (!option) throw new TypeError(`there is no option ${name}`)
  return option
}
