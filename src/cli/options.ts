// The one table of options. Each is a flag and an environment variable of the same name, flag first; the help
// texts, the README and the parser are all made from, or compared with, this.

import { ALLOWED } from '../domain/secrets.ts'
import { originsFault, originsIn } from '../http/api/cors.ts'

import { openFault, openIn } from '../http/compat/admission.ts'
import { networksFault, networksOf } from '../http/listener/proxy.ts'
import { FIRST_DAY, PROVIDERS } from '../providers/list.ts'

import { bytesOf, quotaFault, quotaOf, sizeFault } from '../sizes.ts'
import { address, anything, cron, day, httpUrl, integer, nonEmpty, oneOf, time } from './option-formats.ts'
import type { Option, ProviderOption } from './option-names.ts'
import { providerOptions, scheduleOptions } from './provider-options.ts'

/** Makes sense for one call only, and so has no environment variable. */
const call = <F>(value: string, help: string, format: F) => ({ value, fallback: undefined, help, format })
const flag = (help: string) => ({ value: undefined, fallback: undefined, help, format: anything })
const id = integer(1, Number.MAX_SAFE_INTEGER)
const size = { fault: sizeFault, read: bytesOf }

const CALL = {
  from: call('DATE', 'first day of the range to read', day),
  to: call('DATE', 'last day of the range to read', day),
  series: call('ID', 'only this series', id),
  refined: flag('those instead in which a rounded value became exact'),
  since: call('DATE', 'only what was replaced on or after this day', day),
  id: call('ID', 'its id, such as the one it has in your ERP; else the next free one', id),
  name: call('NAME', 'its name', nonEmpty),
  code: call('CODE', 'its service code, which no other company has', nonEmpty),
  company: call('ID', 'id of the company', id),
  agent: call('ID', 'id of the agent', id),
  document: call('ID', 'only those of this document', id),
  quota: call('SIZE', 'how much its documents may have together, such as 10GiB; none: any amount', {
    fault: quotaFault,
    read: quotaOf,
  }),
  description: call('HTML', 'what the agent is for; clients read it as plain text', anything),
  inactive: flag('make it inactive: it is not listed and gets no documents'),
  allow: {
    ...call('FAMILY:METHOD', `${ALLOWED.join(', ')}; give the flag again for each`, oneOf(...ALLOWED)),
    repeats: true,
  },
  expires: call('DATE', 'last day on which it is valid, in Costa Rica; else it does not expire', day),
  'in-url': flag(
    'for programs that can only put it into the address or a form; it opens rates and nothing else',
  ),
  side: {
    ...call(
      'SIDE',
      'compra or venta: of the dollar, in the shapes that have one rate',
      oneOf('compra', 'venta'),
    ),
    fallback: 'venta',
  },
  'secret-from': call(
    'FILE',
    'register the token in this file instead of making one: an old one of the bank',
    nonEmpty,
  ),
  network: call('CIDR', 'where the programs are that send it, such as 10.0.0.0/8', {
    fault: networksFault,
    read: (text: string) => text,
  }),
  overlap: {
    ...call('TIME', 'how long the secret before goes on, such as 30m, 24h or 7d; 0: not at all', time),
    fallback: '24h',
  },
  out: call('FILE', 'write to this new file; one that is there is never overwritten', nonEmpty),
  limit: { ...call('N', 'at most so many', integer(1, 1000)), fallback: '50' },
  after: call(
    'ID',
    'only those of a greater id, to go on where the last list ended',
    integer(0, Number.MAX_SAFE_INTEGER),
  ),
  before: call('ID', 'only those of a smaller id, to go on where the last list ended', id),
  'older-than': call(
    'DAYS',
    'only what was uploaded at least so many times 24 hours ago',
    integer(0, 36_500),
  ),
  'dry-run': flag('only say what would be deleted'),
  url: call('URL', 'address of the server; else that of --host and --port', httpUrl),
  fresh: flag('fail too when a side of the dollar is older than two days'),
  wait: { ...call('SECONDS', 'try again for so long', integer(0, 86_400)), fallback: '0' },
  pid: call('PID', 'wait no longer when this process of the server has ended', id),
  root: call('DIR', 'for images and tests: use the files below DIR, start and stop nothing', nonEmpty),
  'without-damaged': flag('leave out contents that are missing or altered; exit code 3'),
  repair: flag('remove contents that belong to no document, and temporary files; the server must be stopped'),
  json: flag('print one JSON document'),
} satisfies Record<string, Option>

const TABLE = {
  host: { value: 'ADDRESS', fallback: '127.0.0.1', help: 'address to listen on', format: address },
  port: {
    value: 'PORT',
    fallback: '8080',
    help: 'port to listen on; 0 takes a free one',
    format: integer(0, 65535),
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
    help: 'serve HTTPS with this certificate and its chain, in PEM form; read again when the file changes',
    format: nonEmpty,
  },
  'tls-key': {
    value: 'FILE',
    fallback: undefined,
    help: 'private key of the certificate',
    format: nonEmpty,
  },
  'trust-proxy': {
    value: 'CIDR',
    fallback: undefined,
    help: 'proxies whose X-Forwarded-For names the client in the log, such as 10.0.0.0/8 or loopback, with commas between',
    format: { fault: networksFault, read: networksOf },
  },
  'cors-origin': {
    value: 'ORIGIN',
    fallback: undefined,
    help: 'websites that may call from a browser, such as https://erp.example.com, with commas between, or * for any',
    format: { fault: originsFault, read: originsIn },
  },
  'open-rates': {
    value: 'CIDR',
    fallback: undefined,
    help: 'networks whose programs get rates in the shapes of other services without a key, with commas between, or any',
    format: { fault: openFault, read: openIn },
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
    help: 'for how many days it is kept who deleted which document',
    format: integer(1, 36_500),
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
  ...CALL,
} satisfies Record<string, Option>

export const OPTIONS = TABLE as typeof TABLE & Record<ProviderOption, Option>

export type OptionName = keyof typeof OPTIONS

/** Options of one command in place of those of the table. */
export type OwnOptions = { readonly [name in OptionName]?: Option }

export const CALL_ONLY: ReadonlySet<string> = new Set(Object.keys(CALL))

/** An option of a command: its own one, or that of the table. */
export function optionOf(name: OptionName, own: OwnOptions = {}): Option {
  const option: Option | undefined = own[name] ?? OPTIONS[name]
  if (!option) throw new TypeError(`there is no option ${name}`)
  return option
}
