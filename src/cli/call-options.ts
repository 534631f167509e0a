// The options that make sense for one call only, and so have no environment variable.

import { HOOK_EVENTS } from '../domain/hooks/events.ts'
import { ALLOWED } from '../domain/secrets.ts'
import { networksFault } from '../http/listener/networks.ts'
import { quotaFault, quotaOf } from '../sizes.ts'
import { anything, day, httpUrl, integer, nonEmpty, oneOf, someOf, time } from './option-formats.ts'
import type { Option } from './option-names.ts'

/** An option with a value. */
export const call = <F>(value: string, help: string, format: F) => ({
  value,
  fallback: undefined,
  help,
  format,
})
/** A switch. */
export const flag = (help: string) => ({ value: undefined, fallback: undefined, help, format: anything })
const id = integer(1, Number.MAX_SAFE_INTEGER)

export const CALL = {
  from: call('DATE', 'first day of the range to read', day),
  to: call('DATE', 'last day of the range to read', day),
  series: call('ID', 'only this series', id),
  refined: flag('those instead in which a rounded value became exact'),
  discarded: flag('those instead that cambista rates discard removed'),
  since: call('DATE', 'only what was replaced on or after this day', day),
  id: call('ID', 'its id, such as the one it has in your ERP; else the next free one', id),
  name: call('NAME', 'its name', nonEmpty),
  key: call('NAME', 'a key of the rates API', nonEmpty),
  token: call('NAME', 'a token of the documents API', nonEmpty),
  'key-file': call('FILE', 'file with a key, a token or both, one a line', nonEmpty),
  code: call('CODE', 'its service code, which no other company has', nonEmpty),
  company: call('ID', 'id of the company', id),
  agent: call('ID', 'id of the agent', id),
  state: call('STATE', 'only those in this state', oneOf('new', 'claimed', 'done', 'failed')),
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
  event: {
    ...call(
      'EVENT',
      `${HOOK_EVENTS.join(', ')}; with commas between, or the flag again for each`,
      someOf(...HOOK_EVENTS),
    ),
    repeats: true,
  },
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
  format: call('FORM', 'csv or ndjson', oneOf('csv', 'ndjson')),
  bccr: flag("FILE is one that the central bank's website hands out"),
  indicator: call(
    'CODE',
    'the code at the bank of the one that FILE is of, such as 318; else its titles say',
    nonEmpty,
  ),
  decimal: call(
    'SIGN',
    'comma or point: the decimal sign of numbers that are text, where they leave it open',
    oneOf('comma', 'point'),
  ),
  exact: flag('its values are as published, and not rounded to the decimals that it shows'),
  replace: flag('replace exact values, too, by those of the file; what they were is kept as a revision'),
  yes: flag('do not ask'),
  'dry-run': flag('only say what would be deleted'),
  url: call('URL', 'address of the server; else that of --host and --port', httpUrl),
  fresh: flag('fail too when a side of the dollar is older than two days'),
  wait: { ...call('SECONDS', 'try again for so long', integer(0, 86_400)), fallback: '0' },
  pid: call('PID', 'wait no longer when this process of the server has ended', id),
  root: call('DIR', 'for images and tests: use the files below DIR, start and stop nothing', nonEmpty),
  'low-ports': flag('the drop-in of the unit instead that lets it take ports below 1024, such as 80 and 443'),
  force: flag('for other hosts too'),
  'without-damaged': flag('leave out contents that are missing or altered; exit code 3'),
  'read-all': flag('read every content that nodes share, and compare it with its hash'),
  repair: flag('remove contents that belong to no document, and temporary files; the server must be stopped'),
  json: flag('print one JSON document'),
} satisfies Record<string, Option>
