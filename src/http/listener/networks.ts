// Lists of networks that an operator writes: 10.0.0.0/8,loopback. The whole internet is the word any alone, so that nobody
// opens it by a slip of the prefix; a range of it in pieces, such as 0.0.0.0/1,128.0.0.0/1, is rejected too.

import { BlockList, isIP } from 'node:net'

const LOOPBACK = ['127.0.0.0/8', '::1/128']

/** Every address. */
export const ANY_ADDRESS = new BlockList()
ANY_ADDRESS.addSubnet('0.0.0.0', 0, 'ipv4')
ANY_ADDRESS.addSubnet('::', 0, 'ipv6')

/** Why trusting every proxy does not go with anything that is decided by the client's address. */
export const FORGEABLE_ADDRESS =
  '--trust-proxy any lets everybody forge the address that --open-rates and the --network of a key go by: name the proxies, such as 10.0.0.0/8'

/** Returns the addresses that a list such as `loopback,10.0.0.0/8` names; it must have no fault. */
export function networksOf(text: string): BlockList {
  const list = new BlockList()
  for (const network of networksIn(text)) {
    const [address = '', prefix] = network.split('/')
    const family = familyOf(address)
    list.addSubnet(address, prefix === undefined ? bitsOf(address) : Number(prefix), family)
  }
  return list
}

/** Names the part of such a list that is no network, and a list that is the whole internet; undefined: all is right. */
export function networksFault(text: string): string | undefined {
  const networks = networksIn(text)
  const wrong = networks.find((network) => {
    const [address = '', prefix = '0', ...rest] = network.split('/')
    return !isIP(address) || !/^\d{1,3}$/.test(prefix) || Number(prefix) > bitsOf(address) || rest.length > 0
  })
  if (wrong !== undefined) {
    return `must be addresses or networks such as 10.0.0.0/8, or the word loopback, with commas between: ${JSON.stringify(wrong)} is none`
  }
  const isEverybody = INTERNET.some((part) => covers(networks.map(rangeOf), part))
  return isEverybody ? EVERYBODY : undefined
}

const EVERYBODY = 'must not be the whole internet'

/** The same of a list that may be the word any. */
export function networksOrAnyFault(text: string): string | undefined {
  if (text === 'any') return undefined
  if (/(^|,)\s*any\s*(,|$)/i.test(text)) return 'must be the word any in small letters and alone, or networks'
  const fault = networksFault(text)
  return fault === EVERYBODY ? `${fault}: write any, if that is meant` : fault
}

export function networksOrAny(text: string): BlockList {
  return text === 'any' ? ANY_ADDRESS : networksOf(text)
}

const MOST_NETWORKS = 16
const MOST_ADDRESSES = 65_536n
const LONGEST_PREFIX_BITS = 80n // of a /48
const LIMITS =
  'must be private networks, or at most 65,536 IPv4 addresses (a /16) or a /48 of IPv6 each, because such tokens are known to others'

/**
 * Says why a list of networks is too wide for a secret that others may know; undefined: it is not. Sixteen networks of
 * 65,536 IPv4 addresses are 1,048,576, the most that are allowed together.
 */
export function wideNetworksFault(text: string): string | undefined {
  const networks = networksIn(text)
  if (networks.length > MOST_NETWORKS) {
    return `must be at most ${MOST_NETWORKS} networks, and ${networks.length} are given`
  }
  const wide = networks.find((network) => isWide(rangeOf(network)))
  return wide === undefined ? undefined : `${LIMITS}: ${wide} is larger`
}

/** Whether an address is in one of the networks. */
export function isAmong(address: string, list: BlockList): boolean {
  return isIP(address) !== 0 && list.check(address, familyOf(address))
}

function networksIn(text: string): string[] {
  return text.split(',').flatMap((one) => (one.trim() === 'loopback' ? LOOPBACK : [one.trim()]))
}

/** First and last address as 128 bits: Node takes ::ffff:10.0.0.0/104 for the IPv4 network 10.0.0.0/8, and so do ranges. */
type Range = { first: bigint; last: bigint }

const rangesOf = (text: string) => text.split(' ').map(rangeOf)
const IPV4 = rangeOf('0.0.0.0/0')
const INTERNET = [
  { first: rangeOf('1.0.0.0').first, last: rangeOf('223.255.255.255').last },
  rangeOf('2000::/3'), // all of IPv6 that is routed
]
const PRIVATE = rangesOf(
  '10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 fc00::/7 ::1 fe80::/10',
)

function isWide(range: Range): boolean {
  if (PRIVATE.some((one) => isInside(range, one))) return false
  const size = range.last - range.first + 1n
  if (isInside(range, IPV4)) return size > MOST_ADDRESSES
  const hasIpv4 = range.first <= IPV4.last && range.last >= IPV4.first
  return hasIpv4 || size > 1n << LONGEST_PREFIX_BITS
}

function isInside(range: Range, other: Range): boolean {
  return range.first >= other.first && range.last <= other.last
}

/** Whether ranges together leave no address of a range out. */
function covers(ranges: readonly Range[], { first, last }: Range): boolean {
  let next = first
  for (const range of ranges.toSorted((a, b) => (a.first < b.first ? -1 : 1))) {
    if (range.first > next) return false
    if (range.last >= next) next = range.last + 1n
    if (next > last) return true
  }
  return false
}

function rangeOf(network: string): Range {
  const [address = '', prefix] = network.split('/')
  const bits = prefix === undefined ? bitsOf(address) : Number(prefix)
  const rest = (1n << BigInt(bitsOf(address) - bits)) - 1n
  const first = (numberOf(address) | rest) ^ rest
  return { first, last: first | rest }
}

/** An address as 128 bits, an IPv4 one as its IPv6 form. */
function numberOf(address: string): bigint {
  if (familyOf(address) === 'ipv4') {
    return (0xffffn << 32n) | numberIn(address.split('.').map(Number), 8n)
  }
  const [plain = ''] = address.split('%', 1)
  const [, before, v4] = /^(.*:)([\d.]+\.[\d.]+)$/.exec(plain) ?? []
  const low = v4 === undefined ? '' : (numberOf(v4) & 0xffff_ffffn).toString(16).padStart(8, '0')
  const text = v4 === undefined ? plain : `${before}${low.slice(0, 4)}:${low.slice(4)}`
  const [head = '', tail] = text.split('::')
  const [left, right] = [groupsIn(head), groupsIn(tail ?? '')]
  return numberIn([...left, ...Array(8 - left.length - right.length).fill(0), ...right], 16n)
}

function groupsIn(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}

function numberIn(parts: readonly number[], bits: bigint): bigint {
  return parts.reduce((sum, part) => (sum << bits) | BigInt(part), 0n)
}

// Of what is an address, by its colons: to ask isIP again would have Node compile its pattern of IPv6, 3 ms of each start.
function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}

function bitsOf(address: string): number {
  return familyOf(address) === 'ipv6' ? 128 : 32
}
