// Hosts of a certificate: names and addresses that clients connect to.

import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import type { Format } from '../../options/formats.ts'
import type { Hosts } from './certificate.ts'

const LABELS = /^(\*\.)?[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/

/** Format of a list of hosts, separated by commas. */
export const hostList: Format<string[]> = {
  validate: (text) =>
    text
      .split(',')
      .map(hostError)
      .find((error) => error !== undefined),
  parse: (text) => text.split(',').map(normalizeHost),
}

/** Merges lists of hosts, without duplicates. */
export function mergeHosts([first, ...rest]: readonly [string[], ...string[][]]): Hosts {
  const hosts = new Set([first, ...rest].flat())
  return [...hosts] as unknown as Hosts // each list has at least one host
}

export function isAddress(host: string): boolean {
  return isIP(host) !== 0
}

/** Returns the error of a host for a certificate; undefined if valid. */
function hostError(text: string): string | undefined {
  const host = normalizeHost(text)
  if (isAddress(host) && /^[0:.]+$/.test(host))
    return 'must be a name or address by which clients ask, not one to listen on'
  if (isAddress(host) || (host.length <= 253 && LABELS.test(host))) return undefined
  return 'must be a host name such as cambista.example.com, or an IP address, without port and path'
}

/** Normalizes a host: ASCII, lower case, no brackets. */
function normalizeHost(text: string): string {
  const bare = text.trim().replace(/^\[(.*)\]$/, '$1')
  return (/[^ -~]/.test(bare) ? domainToASCII(bare) : bare).toLowerCase()
}
