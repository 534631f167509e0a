// Addresses that a hook over plain HTTP may have: those of this machine and of private networks. Each connection checks
// the addresses that it uses, so a later answer of a name server changes nothing (decisions#hook-secrets).

import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { parseHostRule } from '../../runtime/outgoing-proxies.ts'

const NETWORKS = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '127.0.0.0/8', 'fc00::/7', '::1']
const PRIVATE = NETWORKS.map(parseHostRule)

/** Returns why plain HTTP must not reach an address; undefined: it may, or the text is a name. */
export function addressFault(host: string): string | undefined {
  const address = host.replace(/^\[|\]$/g, '')
  return isIP(address) === 0 || PRIVATE.some((network) => network.has(address))
    ? undefined
    : `${address} is in no private network (RFC 1918, fc00::/7)`
}

/** Returns a lookup that fails for a name with any other address. */
export function createPrivateLookup(resolve: typeof lookup = lookup): LookupFunction {
  return (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      const fault = addresses?.map(({ address }) => addressFault(address)).find((one) => one !== undefined)
      const [first] = addresses ?? []
      if (error || !first) callback(error ?? new Error('its name has no address'), [])
      else if (fault !== undefined) callback(new Error(`its address ${fault}`), [])
      else if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}
