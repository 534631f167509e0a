// Table of options: each is a flag and an environment variable of the same name. The parser is built from it. Tests
// compare help.txt and the README with it.

import { personFault } from '../../domain/access/login-links.ts'
import { ALLOWED } from '../../domain/access/secrets.ts'
import { HOOK_EVENTS } from '../../domain/hooks/queued-events.ts'
import {
  mailNameError,
  mailSizeError,
  parsePatterns,
  parseSenders,
  patternsError,
  sendersError,
} from '../../domain/mail/settings.ts'
import { originsFault, parseOrigins } from '../../http/endpoint/cors.ts'
import { networksFault, networksOrAny, networksOrAnyFault } from '../../http/listener/networks.ts'
import { parseOpenNetworks } from '../../http/listener/open-networks.ts'
import { hostNamesFault, parseHostNames } from '../../http/listener/own-origin.ts'
import { FIRST_DAY, PROVIDERS } from '../../providers/list.ts'
import { OPINION_SOURCE } from '../../providers/opinion-source.ts'
import { parseQuota, parseSize, quotaFault, sizeFault } from '../../values/sizes.ts'
import { parseTaxIds, taxIdsFault } from '../../values/tax-ids.ts'
import {
  address,
  anything,
  choice,
  choiceList,
  cron,
  currencies,
  currency,
  day,
  httpUrl,
  integer,
  listenUrl,
  nonEmpty,
  pageAddress,
  textFormat,
  time,
} from './formats.ts'
import { flag, list, type Option, option, type ProviderOption } from './names.ts'
import { providerOptions, scheduleOptions } from './provider-options.ts'
import { CLUSTER } from './storage.ts'

const size = { validate: sizeFault, parse: parseSize }
const mailSize = { validate: mailSizeError, parse: parseSize }
const mailName = textFormat(mailNameError)
const id = integer(1, Number.MAX_SAFE_INTEGER)

/** Options of a single call, so they have no environment variable. */
const CALL = {
  from: option('DATE', day),
  to: option('DATE', day),
  series: option('ID', id),
  'accept-jump': option('SERIES', id),
  refined: flag,
  discarded: flag,
  since: option('DATE', day),
  id: option('ID', id),
  name: option('NAME', nonEmpty),
  key: option('NAME', nonEmpty),
  token: option('NAME', nonEmpty),
  'key-file': option('FILE', nonEmpty),
  person: option('NAME', textFormat(personFault)),
  code: option('CODE', nonEmpty),
  company: option('ID', id),
  agent: option('ID', id),
  state: option('STATE', choice('new', 'claimed', 'done', 'failed')),
  document: option('ID', id),
  quota: option('SIZE', { validate: quotaFault, parse: parseQuota }),
  'tax-id': option('IDS', { validate: taxIdsFault, parse: parseTaxIds }),
  description: option('HTML', anything),
  inactive: flag,
  allow: list('FAMILY:METHOD', choice(...ALLOWED)),
  expires: option('DATE', day),
  'in-url': flag,
  'allow-origin': option('ORIGIN', { validate: originsFault, parse: parseOrigins }),
  side: option('SIDE', choice('compra', 'venta'), 'venta'),
  provider: option('CODE', nonEmpty),
  'secret-from': option('FILE', nonEmpty),
  network: option('CIDR', textFormat(networksFault)),
  hook: option('ID', id),
  failed: flag,
  event: list('EVENT', choiceList(...HOOK_EVENTS)),
  'allow-http': flag,
  header: list('HEADER', anything),
  'header-file': option('FILE', nonEmpty),
  overlap: option('TIME', time, '24h'),
  user: option('NAME', mailName),
  owner: option('ID', id),
  'password-file': option('FILE', nonEmpty),
  'oauth-file': option('FILE', nonEmpty),
  security: option('WORD', choice('tls', 'starttls', 'none'), 'tls'),
  folder: option('NAME', mailName, 'INBOX'),
  done: option('NAME', mailName, 'Procesados'),
  rejected: option('NAME', mailName, 'Rechazados'),
  'allow-from': option('LIST', { validate: sendersError, parse: parseSenders }),
  ignore: option('LIST', { validate: patternsError, parse: parsePatterns }),
  'by-tag': flag,
  largest: option('SIZE', mailSize, '40MiB'),
  out: option('FILE', nonEmpty),
  priority: option('N', integer(0, 9)),
  limit: option('N', integer(1, 1000), '50'),
  after: option('ID', integer(0, Number.MAX_SAFE_INTEGER)),
  before: option('ID', id),
  'older-than': option('DAYS', integer(0, 36_500)),
  format: option('FORM', choice('csv', 'ndjson')),
  prices: option('FORM', choice('ledger', 'beancount')),
  base: option('CODES', currencies),
  quote: option('CODE', currency),
  type: option('SIDE', choice('compra', 'venta'), 'venta'),
  bccr: flag,
  indicator: option('CODE', nonEmpty),
  indicators: flag,
  decimal: option('SIGN', choice('comma', 'point')),
  exact: flag,
  replace: flag,
  again: flag,
  yes: flag,
  copy: flag,
  'dry-run': flag,
  url: option('URL', httpUrl),
  fresh: flag,
  wait: option('SECONDS', integer(0, 86_400), '0'),
  pid: option('PID', id),
  root: option('DIR', nonEmpty),
  sums: option('FILE', nonEmpty),
  back: flag,
  'lose-since': flag,
  forget: flag,
  settle: flag,
  changes: flag,
  data: option('STEP', nonEmpty),
  'low-ports': flag,
  force: flag,
  'without-damaged': flag,
  'read-all': flag,
  repair: flag,
  'accept-sums': option('SERIES', id),
  all: flag,
  search: option('TEXT', nonEmpty),
  json: flag,
} satisfies Record<string, Option>

const TABLE = {
  host: option('ADDRESS', address, '127.0.0.1'),
  port: option('PORT', integer(0, 65535), '8080'),
  'also-listen': list('URL', listenUrl),
  'data-dir': option('DIR', nonEmpty, './cambista-data'),
  'no-scheduler': flag,
  ...scheduleOptions(PROVIDERS),
  'backfill-from': option('DATE', day, FIRST_DAY),
  ...providerOptions(PROVIDERS),
  'second-opinion': option('SOURCE', choice(OPINION_SOURCE)),
  'hacienda-url': option('URL', httpUrl, 'https://api.hacienda.go.cr'),
  'max-body': option('SIZE', size, '2GiB'),
  'min-free': option('SIZE', size, '256MiB'),
  'no-ballast': flag,
  'max-uploads': option('N', integer(1, 1000), '16'),
  'tls-cert': list('FILE', nonEmpty),
  'tls-key': list('FILE', nonEmpty),
  'trust-proxy': option('CIDR', { validate: networksOrAnyFault, parse: networksOrAny }),
  'cors-origin': option('ORIGIN', { validate: originsFault, parse: parseOrigins }),
  'host-name': option('NAME', { validate: hostNamesFault, parse: parseHostNames }),
  'public-url': option('URL', pageAddress),
  'open-page': option('CIDR', textFormat(networksFault)),
  organization: option('NAME', anything),
  'organization-id': option('ID', anything),
  'open-rates': option('CIDR', { validate: networksOrAnyFault, parse: parseOpenNetworks }),
  'serve-rounded': flag,
  'no-compat': flag,
  'backup-dir': option('DIR', anything),
  'backup-cron': option('PATTERN', cron, '30 3 * * *'),
  'backup-keep': option('N', integer(1, 10_000), '7'),
  'keep-events': option('DAYS', integer(1, 36_500), '730'),
  'max-attempts': option('N', integer(1, 1000), '5'),
  metrics: flag,
  'metrics-port': option('PORT', integer(0, 65535)),
  'metrics-host': option('ADDRESS', address, '127.0.0.1'),
  'log-format': option('FORMAT', choice('text', 'json'), 'text'),
  'log-level': option('LEVEL', choice('debug', 'info', 'warn', 'error'), 'info'),
  ...CLUSTER,
  ...CALL,
} satisfies Record<string, Option>

export const OPTIONS = TABLE as typeof TABLE & Record<ProviderOption, Option>

export type OptionName = keyof typeof OPTIONS

/** Definitions of one command in place of those of the table. */
export type OptionOverrides = { readonly [name in OptionName]?: Option }

export const CALL_ONLY: ReadonlySet<string> = new Set(Object.keys(CALL))

/** Options without effect unless nodes share a database. */
export const CLUSTER_ONLY: ReadonlySet<string> = new Set(Object.keys(CLUSTER))

/** Returns the option of a command: its override, or the table's. */
export function requireOption(name: OptionName, overrides: OptionOverrides = {}): Option {
  const option: Option | undefined = overrides[name] ?? OPTIONS[name]
  if (!option) throw new TypeError(`there is no option ${name}`)
  return option
}
