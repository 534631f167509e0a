// The one table of options. Each is a flag and an environment variable of the same name, flag first; the help
// texts, the README and the parser are all made from, or compared with, this.

import { isIsoDate } from '../dates.ts'
import { ALLOWED } from '../domain/secrets.ts'
import { originsFault } from '../http/cors.ts'
import { proxiesFault } from '../http/proxy.ts'
import { cronFault } from '../schedule.ts'

export type Option = {
  /** What stands for the value in the help; undefined: a switch. */
  value: string | undefined
  /** The text that is parsed when neither flag nor variable is given; undefined: none. */
  fallback: string | undefined
  help: string
  /** Says what is wrong with a text; undefined: nothing. */
  fault: (text: string) => string | undefined
  /** May be given several times. Such an option has no default and no environment variable. */
  repeats?: boolean
}

const anything = () => undefined
const nonEmpty = (text: string) => (text === '' ? 'must not be empty' : undefined)
const day = (text: string) => (isIsoDate(text) ? undefined : 'must be a calendar day written YYYY-MM-DD')
const oneOf =
  (...words: string[]) =>
  (text: string) =>
    words.includes(text) ? undefined : `must be one of ${words.join(', ')}`
const integer = (low: number, high: number) => (text: string) =>
  /^\d+$/.test(text) && Number(text) >= low && Number(text) <= high
    ? undefined
    : `must be an integer from ${low} to ${high}`

const SIZE = /^(\d{1,12})(|KiB|MiB|GiB|TiB)$/i
const UNITS = ['', 'kib', 'mib', 'gib', 'tib']
const size = (text: string) =>
  SIZE.test(text) && Number.isSafeInteger(bytesOf(text))
    ? undefined
    : 'must be a number of bytes, or of KiB, MiB, GiB or TiB, such as 500MiB'

/** The bytes that a size such as `2GiB` says; the text must be one. */
export function bytesOf(text: string): number {
  const [, digits = '', unit = ''] = SIZE.exec(text) ?? []
  return Number(digits) * 1024 ** UNITS.indexOf(unit.toLowerCase())
}

/** Makes sense for one call only, and so has no environment variable. */
const call = (value: string | undefined, help: string, fault: Option['fault'], fallback?: string) => ({
  value,
  fallback,
  help,
  fault,
})
const id = integer(1, Number.MAX_SAFE_INTEGER)
const cron = (text: string) => {
  const fault = cronFault(text)
  return fault && `must be a cron pattern such as "0 5 * * *": ${fault}`
}
const httpUrl = (text: string) =>
  /^https?:\/\/[^/?#@\\]+([/?#]|$)/.test(text) && URL.canParse(text)
    ? undefined
    : 'must be an http or https URL without user and password' // no request is made with them, but a message

const CALL = {
  from: call('DATE', 'first day of the range to read', day),
  to: call('DATE', 'last day of the range to read', day),
  series: call('ID', 'only this series', id),
  since: call('DATE', 'only what was replaced on or after this day', day),
  id: call('ID', 'its id, such as the one it has in your ERP; else the next free one', id),
  name: call('NAME', 'its name', nonEmpty),
  code: call('CODE', 'its service code, which no other company has', nonEmpty),
  company: call('ID', 'id of the company', id),
  agent: call('ID', 'id of the agent', id),
  description: call('HTML', 'what the agent is for; clients read it as plain text', anything),
  inactive: call(undefined, 'make it inactive: it is not listed and gets no documents', anything),
  allow: {
    ...call('FAMILY:METHOD', `${ALLOWED.join(', ')}; give the flag again for each`, oneOf(...ALLOWED)),
    repeats: true,
  },
  expires: call('DATE', 'last day on which it is valid, in Costa Rica; else it does not expire', day),
  out: call('FILE', 'write to this new file; one that is there is never overwritten', nonEmpty),
  limit: call('N', 'at most so many', integer(1, 1000), '50'),
  after: call(
    'ID',
    'only those of a greater id, to go on where the last list ended',
    integer(0, Number.MAX_SAFE_INTEGER),
  ),
  'older-than': call(
    'DAYS',
    'only what was uploaded at least so many times 24 hours ago',
    integer(0, 36_500),
  ),
  'dry-run': call(undefined, 'only say what would be deleted', anything),
  url: call('URL', 'address of the server; else that of --host and --port', httpUrl),
  wait: call('SECONDS', 'try again for so long', integer(0, 86_400), '0'),
  pid: call('PID', 'wait no longer when this process of the server has ended', id),
  root: call('DIR', 'for images and tests: use the files below DIR, start and stop nothing', nonEmpty),
  repair: call(
    undefined,
    'remove contents that belong to no document, and temporary files; the server must be stopped',
    anything,
  ),
  json: call(undefined, 'print one JSON document', anything),
} satisfies Record<string, Option>

export const OPTIONS = {
  host: { value: 'ADDRESS', fallback: '127.0.0.1', help: 'address to listen on', fault: nonEmpty },
  port: {
    value: 'PORT',
    fallback: '8080',
    help: 'port to listen on; 0 takes a free one',
    fault: integer(0, 65535),
  },
  'data-dir': {
    value: 'DIR',
    fallback: './cambista-data',
    help: 'directory of the database; made when it is not there',
    fault: nonEmpty,
  },
  'no-scheduler': {
    value: undefined,
    fallback: undefined,
    help: 'do not sync by itself, for an external cron that calls `cambista sync`',
    fault: anything,
  },
  'sync-cron': {
    value: 'PATTERN',
    fallback: '0 5 * * *',
    help: 'when to sync, in the time of Costa Rica',
    fault: cron,
  },
  'backfill-from': {
    value: 'DATE',
    fallback: '1983-01-01',
    help: 'first day of the history to fetch',
    fault: day,
  },
  'bccr-url': {
    value: 'URL',
    fallback: 'https://apim.bccr.fi.cr/SDDE/api',
    help: "base of the central bank's services",
    fault: httpUrl,
  },
  'bccr-pace': {
    value: 'MS',
    fallback: '1000',
    help: 'least milliseconds between two requests to the bank',
    fault: integer(0, 600_000),
  },
  'bccr-token-file': {
    value: 'FILE',
    fallback: undefined,
    help: "file with the bank's token (or the token itself in CAMBISTA_BCCR_TOKEN); read anew for each sync",
    fault: anything,
  },
  'max-body': {
    value: 'SIZE',
    fallback: '2GiB',
    help: 'largest upload request, such as 500MiB',
    fault: size,
  },
  'min-free': {
    value: 'SIZE',
    fallback: '256MiB',
    help: 'disk space that uploads leave free',
    fault: size,
  },
  'max-uploads': {
    value: 'N',
    fallback: '16',
    help: 'uploads at once; others wait their turn briefly',
    fault: integer(1, 1000),
  },
  'tls-cert': {
    value: 'FILE',
    fallback: undefined,
    help: 'serve HTTPS with this certificate and its chain, in PEM form; read again when the file changes',
    fault: nonEmpty,
  },
  'tls-key': {
    value: 'FILE',
    fallback: undefined,
    help: 'private key of the certificate',
    fault: nonEmpty,
  },
  'trust-proxy': {
    value: 'CIDR',
    fallback: undefined,
    help: 'proxies whose X-Forwarded-For names the client in the log, such as 10.0.0.0/8 or loopback, with commas between',
    fault: proxiesFault,
  },
  'cors-origin': {
    value: 'ORIGIN',
    fallback: undefined,
    help: 'websites that may call from a browser, such as https://erp.example.com, with commas between, or * for any',
    fault: originsFault,
  },
  'backup-dir': {
    value: 'DIR',
    fallback: undefined,
    help: 'make a backup each night into this backup set, on another disk; without it none is made',
    fault: anything,
  },
  'backup-cron': {
    value: 'PATTERN',
    fallback: '30 3 * * *',
    help: 'when to make it, in the time of Costa Rica',
    fault: cron,
  },
  'backup-keep': {
    value: 'N',
    fallback: '7',
    help: 'how many backups stay in the set; older ones go once a new one has been verified',
    fault: integer(1, 10_000),
  },
  metrics: {
    value: undefined,
    fallback: undefined,
    help: 'show metrics for Prometheus at /metrics, to who asks on this machine and through no proxy',
    fault: anything,
  },
  'metrics-port': {
    value: 'PORT',
    fallback: undefined,
    help: 'show them on this port instead, to everybody who gets to it; 0 takes a free one',
    fault: integer(0, 65535),
  },
  'metrics-host': {
    value: 'ADDRESS',
    fallback: '127.0.0.1',
    help: 'address of that port',
    fault: nonEmpty,
  },
  'log-format': { value: 'FORMAT', fallback: 'text', help: 'text or json', fault: oneOf('text', 'json') },
  'log-level': {
    value: 'LEVEL',
    fallback: 'info',
    help: 'debug, info, warn or error',
    fault: oneOf('debug', 'info', 'warn', 'error'),
  },
  ...CALL,
} satisfies Record<string, Option>

export type OptionName = keyof typeof OPTIONS

export const CALL_ONLY: ReadonlySet<string> = new Set(Object.keys(CALL))

export function variableOf(name: OptionName): string {
  return `CAMBISTA_${name.toUpperCase().replaceAll('-', '_')}`
}
