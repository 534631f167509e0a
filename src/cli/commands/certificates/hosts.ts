// For which hosts a certificate is made: names and addresses by which clients ask.

import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import type { Format } from '../../option-formats.ts'
import type { Hosts } from './certificate.ts'

const LABELS = /^(\*\.)?[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/

/** One host, or several with commas between. */
export const hostList: Format<string[]> = {
  fault: (text) =>
    text
      .split(',')
      .map(hostFault)
      .find((fault) => fault !== undefined),
  read: (text) => text.split(',').map(hostOf),
}

/** All hosts of several lists, each once. */
export function allOf([first, ...rest]: readonly [string[], ...string[][]]): Hosts {
  const hosts = new Set([first, ...rest].flat())
  return [...hosts] as unknown as Hosts // a list has a host, as its text has
}

export function isAddress(host: string): boolean {
  return isIP(host) !== 0
}

/** What is wrong with a name for a certificate; undefined: nothing. */
function hostFault(text: string): string | undefined {
  const host = hostOf(text)
  if (isAddress(host) && /^[0:.]+$/.test(host))
    return 'must be a name or address by which clients ask, not one to listen on'
  if (isAddress(host) || (host.length <= 253 && LABELS.test(host))) return undefined
  return 'must be a host name such as cambista.example.com, or an IP address, without port and path'
}

/** As it stands in a certificate. */
function hostOf(text: string): string {
  const bare = text.trim().replace(/^\[(.*)\]$/, '$1')
  return (/[^ -~]/.test(bare) ? domainToASCII(bare) : bare).toLowerCase()
}
