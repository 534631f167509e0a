// Lists of networks in options: 10.0.0.0/8,loopback. The whole internet must be written `any`, so that a typing error of
// the prefix cannot open it. The internet in pieces, such as 0.0.0.0/1,128.0.0.0/1, is rejected too.

import { BlockList, isIP } from 'node:net'
import { AppError } from '../../runtime/errors.ts'

const LOOPBACK = ['127.0.0.0/8', '::1/128']

/** Every address. */
export const ANY_ADDRESS = new BlockList()
ANY_ADDRESS.addSubnet('0.0.0.0', 0, 'ipv4')
ANY_ADDRESS.addSubnet('::', 0, 'ipv6')

/** Error for trusting every proxy together with options that depend on the client's address. */
export const FORGEABLE_ADDRESS =
  '--trust-proxy any lets each client forge its address, on which --open-page, --open-rates and a key with --network depend: name the proxies, such as 10.0.0.0/8'

/** @throws AppError `usage` for a key with a network beside proxies whose addresses any client can forge */
export function requireRealAddresses(
  proxies: BlockList | undefined,
  keyWithNetwork: string | undefined,
): void {
  if (proxies !== ANY_ADDRESS || keyWithNetwork === undefined) return
  throw new AppError(
    'usage',
    `${FORGEABLE_ADDRESS}, or revoke the key ${keyWithNetwork}, which has a network`,
  )
}

/** Returns the addresses that a list such as `loopback,10.0.0.0/8` names; it must have no fault. */
export function parseNetworks(text: string): BlockList {
  const list = new BlockList()
  for (const network of splitNetworks(text)) {
    const [address = '', prefix] = network.split('/')
    const family = addressFamily(address)
    list.addSubnet(address, prefix === undefined ? addressBits(address) : Number(prefix), family)
  }
  return list
}

/** Returns the error of a list with an invalid network, or of the whole internet; undefined: it is valid. */
export function networksFault(text: string): string | undefined {
  const networks = splitNetworks(text)
  const wrong = networks.find((network) => {
    const [address = '', prefix = '0', ...rest] = network.split('/')
    return (
      !isIP(address) || !/^\d{1,3}$/.test(prefix) || Number(prefix) > addressBits(address) || rest.length > 0
    )
  })
  if (wrong !== undefined) {
    return `must be addresses or networks such as 10.0.0.0/8, or the word loopback, with commas between: ${JSON.stringify(wrong)} is none`
  }
  const isEverybody = INTERNET.some((part) => covers(networks.map(parseRange), part))
  return isEverybody ? EVERYBODY : undefined
}

const EVERYBODY = 'must not be the whole internet'

/** Returns the error of a list that may be the word any; undefined: it is valid. */
export function networksOrAnyFault(text: string): string | undefined {
  if (text === 'any') return undefined
  if (/(^|,)\s*any\s*(,|$)/i.test(text)) return 'must be the word any in small letters and alone, or networks'
  const fault = networksFault(text)
  return fault === EVERYBODY ? 'must not be the whole internet: write any, if that is meant' : fault
}

export function networksOrAny(text: string): BlockList {
  return text === 'any' ? ANY_ADDRESS : parseNetworks(text)
}

const MOST_NETWORKS = 16
const MOST_ADDRESSES = 65_536n
const LONGEST_PREFIX_BITS = 80n // a /48
const LIMITS =
  'must be private networks, or at most 65,536 IPv4 addresses (a /16) or a /48 of IPv6 each, because such tokens are known to others'

/**
 * Returns the error of networks that are too wide for a secret that others may know; undefined: valid. Sixteen networks
 * of 65,536 IPv4 addresses allow at most 1,048,576 addresses.
 */
export function wideNetworksFault(text: string): string | undefined {
  const networks = splitNetworks(text)
  if (networks.length > MOST_NETWORKS) {
    return `must be at most ${MOST_NETWORKS} networks, and ${networks.length} are given`
  }
  const wide = networks.find((network) => isWide(parseRange(network)))
  return wide === undefined ? undefined : `${LIMITS}: ${wide} is larger`
}

/** Returns true if an address is in one of the networks. */
export function isInNetworks(address: string, list: BlockList): boolean {
  return isIP(address) !== 0 && list.check(address, addressFamily(address))
}

/** Returns the network of a client, such as 192.0.2.0/24 or 2001:db8:1::/48. */
export function clientNetwork(address: string): string {
  if (addressFamily(address) === 'ipv4') return `${address.slice(0, address.lastIndexOf('.'))}.0/24`
  const first = addressNumber(address) >> LONGEST_PREFIX_BITS
  const groups = [first >> 32n, (first >> 16n) & 0xffffn, first & 0xffffn].map((group) => group.toString(16))
  return `${groups.join(':').replace(/(:0)+$/, '')}::/48`
}

function splitNetworks(text: string): string[] {
  return text.split(',').flatMap((one) => (one.trim() === 'loopback' ? LOOPBACK : [one.trim()]))
}

/** First and last address as 128 bits. As in Node, ::ffff:10.0.0.0/104 is the IPv4 network 10.0.0.0/8. */
type AddressRange = { first: bigint; last: bigint }

const parseRanges = (text: string) => text.split(' ').map(parseRange)
const IPV4 = parseRange('0.0.0.0/0')
const INTERNET = [
  { first: parseRange('1.0.0.0').first, last: parseRange('223.255.255.255').last },
  parseRange('2000::/3'), // routed IPv6
]
const PRIVATE = parseRanges(
  '10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 fc00::/7 ::1 fe80::/10',
)

function isWide(range: AddressRange): boolean {
  if (PRIVATE.some((one) => isInside(range, one))) return false
  const size = range.last - range.first + 1n
  if (isInside(range, IPV4)) return size > MOST_ADDRESSES
  const hasIpv4 = range.first <= IPV4.last && range.last >= IPV4.first
  return hasIpv4 || size > 1n << LONGEST_PREFIX_BITS
}

function isInside(range: AddressRange, other: AddressRange): boolean {
  return range.first >= other.first && range.last <= other.last
}

/** Returns true if the ranges together contain each address of a range. */
function covers(ranges: readonly AddressRange[], { first, last }: AddressRange): boolean {
  let next = first
  for (const range of ranges.toSorted((a, b) => (a.first < b.first ? -1 : 1))) {
    if (range.first > next) return false
    if (range.last >= next) next = range.last + 1n
    if (next > last) return true
  }
  return false
}

function parseRange(network: string): AddressRange {
  const [address = '', prefix] = network.split('/')
  const bits = prefix === undefined ? addressBits(address) : Number(prefix)
  const rest = (1n << BigInt(addressBits(address) - bits)) - 1n
  const first = (addressNumber(address) | rest) ^ rest
  return { first, last: first | rest }
}

/** Converts an address to 128 bits, an IPv4 one in its IPv6 form. */
function addressNumber(address: string): bigint {
  if (addressFamily(address) === 'ipv4') {
    return (0xffffn << 32n) | joinBits(address.split('.').map(Number), 8n)
  }
  const [plain = ''] = address.split('%', 1)
  const [, before, v4] = /^(.*:)([\d.]+\.[\d.]+)$/.exec(plain) ?? []
  const low = v4 === undefined ? '' : (addressNumber(v4) & 0xffff_ffffn).toString(16).padStart(8, '0')
  const text = v4 === undefined ? plain : `${before}${low.slice(0, 4)}:${low.slice(4)}`
  const [head = '', tail] = text.split('::')
  const [left, right] = [hexGroups(head), hexGroups(tail ?? '')]
  return joinBits([...left, ...Array(8 - left.length - right.length).fill(0), ...right], 16n)
}

function hexGroups(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}

function joinBits(parts: readonly number[], bits: bigint): bigint {
  return parts.reduce((sum, part) => (sum << bits) | BigInt(part), 0n)
}

// Decides by colons: isIP would compile Node's pattern of IPv6, which takes 3 ms of each start.
function addressFamily(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}

function addressBits(address: string): number {
  return addressFamily(address) === 'ipv6' ? 128 : 32
}
