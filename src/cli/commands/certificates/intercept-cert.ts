// Certificate for answering in place of the bank's or Hacienda's host, for programs whose address is fixed. Its
// authority can sign nothing more: its key is never written, and name constraints exclude other hosts.

import { hostname, networkInterfaces } from 'node:os'
import { resolve } from 'node:path'
import { AppError } from '../../../runtime/errors.ts'
import { command, printResult } from '../../command.ts'
import { nonEmpty } from '../../options/formats.ts'
import { list, option } from '../../options/names.ts'
import { authority, type Hosts, validityPeriod } from './certificate.ts'
import { keyAccessHint, writeNewFiles } from './files.ts'
import { guidance, warnings } from './guidance.ts'
import { hostList, isAddress, mergeHosts } from './hosts.ts'

// Longest validity that browsers accept from a public authority.
const VALID_DAYS = 398
const DOMAINS = ['bccr.fi.cr', 'hacienda.go.cr']

export const compatCert = command({
  name: 'compat cert',
  options: ['host', 'out', 'force', 'json'],
  required: ['host', 'out'],
  overrides: { host: list('NAME', hostList), out: option('DIR', nonEmpty) },
  ignoresService: true,
  async run({ options, terminal }) {
    const hosts = mergeHosts(options.host)
    const here = thisMachine()
    checkHosts(hosts, options.force ? undefined : here.names)
    const ca = authority(hosts, validityPeriod(VALID_DAYS, Date.now()))
    const { certificate, pem } = ca.issue(hosts)
    const files = writeNewFiles(resolve(options.out), { ...pem, ca: ca.certificate.toString() })
    const until = certificate.validToDate.toISOString()
    const sha256 = ca.certificate.fingerprint256
    const { ca: trust, cert, key } = files
    printResult(terminal, options, { ca: trust, cert, key, hosts, until, sha256 }, [trust, cert, key])
    const fixed = hosts.filter((host) => !here.names.includes(host) && !isAddress(host))
    terminal.err(guidance({ hosts, fixed, files, until, sha256, address: here.address }) + keyAccessHint(key))
    for (const warning of warnings(hosts)) terminal.err(`Warning: ${warning}\n`)
  },
})

/** @throws AppError `usage` for a host that needs --force, a wildcard, or addresses alone */
function checkHosts(hosts: Hosts, ownNames: readonly string[] | undefined): void {
  const wildcard = hosts.find((host) => host.startsWith('*'))
  if (wildcard) {
    throw new AppError(
      'usage',
      `--host must be a whole name, not ${JSON.stringify(wildcard)}: give each host`,
    )
  }
  if (hosts.every(isAddress)) {
    const instead = 'for addresses alone cambista cert create makes a certificate'
    throw new AppError('usage', `--host must have a name among the hosts: ${instead}`)
  }
  const foreign = ownNames && hosts.find((host) => !ownNames.includes(host) && !isInterceptable(host))
  if (foreign === undefined) return
  const allowed = `of ${DOMAINS.join(' or ')}, or this machine's own`
  throw new AppError(
    'usage',
    `--host must be ${allowed}, not ${JSON.stringify(foreign)}: --force takes others too`,
  )
}

function isInterceptable(host: string): boolean {
  return DOMAINS.some((domain) => host === domain || host.endsWith(`.${domain}`))
}

/** Returns names and addresses of this machine, and the address that other machines probably reach. */
function thisMachine(): { names: string[]; address: string | undefined } {
  const name = hostname().toLowerCase()
  const interfaces = Object.values(networkInterfaces()).flatMap((one) => one ?? [])
  const external = interfaces.find(({ internal, family }) => !internal && family === 'IPv4')
  const names = [name, name.split('.')[0] ?? name, 'localhost', ...interfaces.map(({ address }) => address)]
  return { names, address: external?.address }
}
