// A certificate with which this machine answers in the place of the bank's or Hacienda's host, for programs whose address is
// fixed. Its authority can sign nothing more: its key is in no file, and what it signed for other names would be refused.

import { hostname, networkInterfaces } from 'node:os'
import { resolve } from 'node:path'
import { AppError } from '../../../errors.ts'
import { command, printResult } from '../../command.ts'
import { nonEmpty } from '../../option-formats.ts'
import type { Hosts } from './certificate.ts'
import { allOf, hostList, isAddress } from './hosts.ts'

// As long as authorities that all browsers trust may make one for.
const VALID_DAYS = 398
const STANDS_IN_FOR = ['bccr.fi.cr', 'hacienda.go.cr']

export const compatCert = command({
  name: 'compat cert',
  positionals: [],
  summary: "make a certificate to answer in the place of the bank's host, and the CA to trust for it",
  about: `DIR/cert.pem is for the hosts alone, for ${VALID_DAYS} days; DIR/key.pem, with mode 0600, is its key. DIR/ca.pem is the authority
(CA) that signed it, for the programs' machines to trust: it exists for this one signature, its key is never written, and
it is constrained to these hosts. No file is overwritten. Hosts are those below ${STANDS_IN_FOR.join(' and ')} and this machine's
own; --force makes one for others too. It prints what to do next, on this machine and on those of the programs.`,
  options: ['host', 'out', 'force', 'json'],
  required: ['host', 'out'],
  own: {
    host: {
      value: 'NAME',
      fallback: undefined,
      help: 'host to stand in for, such as gee.bccr.fi.cr; with commas between, or the flag again for each',
      format: hostList,
      repeats: true,
    },
    out: {
      value: 'DIR',
      fallback: undefined,
      help: 'directory for ca.pem, cert.pem and key.pem; made when it is not there',
      format: nonEmpty,
    },
  },
  ignoresService: true,
  changesData: false,
  example: 'sudo cambista compat cert --host gee.bccr.fi.cr --out /etc/cambista/gee',
  async run({ options, terminal }) {
    const hosts = allOf(options.host)
    const here = thisMachine()
    checkHosts(hosts, options.force ? undefined : here.names)
    const { authority, validFor } = await import('./certificate.ts') // a library that other commands do not need
    const { keyForService, writeNew } = await import('./files.ts')
    const { guidance, warnings } = await import('./guidance.ts')
    const ca = authority(hosts, validFor(VALID_DAYS, Date.now()))
    const { certificate, pem } = ca.issue(hosts)
    const files = writeNew(resolve(options.out), { ...pem, ca: ca.certificate.toString() })
    const until = certificate.validToDate.toISOString()
    const sha256 = ca.certificate.fingerprint256
    const { ca: trust, cert, key } = files
    printResult(terminal, options, { ca: trust, cert, key, hosts, until, sha256 }, [trust, cert, key])
    const fixed = hosts.filter((host) => !here.names.includes(host) && !isAddress(host))
    terminal.err(guidance({ hosts, fixed, files, until, sha256, address: here.address }) + keyForService(key))
    for (const warning of warnings(hosts)) terminal.err(`Warning: ${warning}\n`)
    return 0
  },
})

/** @throws AppError `usage` for a host that needs --force, and for what cannot be meant */
function checkHosts(hosts: Hosts, own: readonly string[] | undefined): void {
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
  const foreign = own && hosts.find((host) => !own.includes(host) && !isStoodInFor(host))
  if (foreign === undefined) return
  const allowed = `of ${STANDS_IN_FOR.join(' or ')}, or this machine's own`
  throw new AppError(
    'usage',
    `--host must be ${allowed}, not ${JSON.stringify(foreign)}: --force takes others too`,
  )
}

function isStoodInFor(host: string): boolean {
  return STANDS_IN_FOR.some((domain) => host === domain || host.endsWith(`.${domain}`))
}

/** Its names and addresses, and the one of them at which other machines probably reach it. */
function thisMachine(): { names: string[]; address: string | undefined } {
  const name = hostname().toLowerCase()
  const interfaces = Object.values(networkInterfaces()).flatMap((one) => one ?? [])
  const reached = interfaces.find(({ internal, family }) => !internal && family === 'IPv4')
  const names = [name, name.split('.')[0] ?? name, 'localhost', ...interfaces.map(({ address }) => address)]
  return { names, address: reached?.address }
}
