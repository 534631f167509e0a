// X.509 certificates for a server (RFC 5280, version 3), by an ASN.1 library, since Node cannot make certificates. A
// self-signed certificate is no authority, so its key cannot sign others.

import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import * as asn1 from 'asn1js'

/** DNS names and IP addresses. */
export type Hosts = readonly [string, ...string[]]

/** Period of validity, in whole seconds. */
export type Validity = { from: Date; to: Date }

export type IssuedCertificate = {
  certificate: X509Certificate
  /** PEM; the key is PKCS #8 without a passphrase. */
  pem: { cert: string; key: string }
}

export type Authority = {
  certificate: X509Certificate
  /** Issues a server's certificate. The signing key exists only in this function. */
  issue(hosts: Hosts): IssuedCertificate
}

type Block = asn1.BaseBlock
type Keys = { publicKey: Buffer; privateKey: KeyObject; id: Buffer }
type Signer = { name: Block; keys: Keys }

const OID = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  authorityKeyIdentifier: '2.5.29.35',
  extKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
}
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const VERSION_3 = 2
const LONGEST_COMMON_NAME = 64
const CONTEXT = 3 // tag class of numbered members of a structure
const DIGITAL_SIGNATURE = { bits: 0x80, unusedBits: 7 }
const KEY_CERT_SIGN = { bits: 0x04, unusedBits: 2 }
const POINT_BYTES = 65 // an uncompressed point of P-256
const EVERY_IPV4 = Buffer.alloc(8)
const EVERY_IPV6 = Buffer.alloc(32)

/** Starts an hour ago, since the clock of a client may be late. Both ends are valid (RFC 5280, 4.1.2.5). */
export function validityPeriod(days: number, now: number): Validity {
  const from = now - HOUR_MS
  return { from: new Date(from), to: new Date(from + days * DAY_MS - 1000) }
}

/** Makes a certificate with a new P-256 key for DNS names and IP addresses. */
export function createSelfSigned(hosts: Hosts, valid: Validity): IssuedCertificate {
  const keys = newKeys()
  const signer = { name: serverName(hosts), keys }
  return serverCertificate(hosts, signer, keys, valid)
}

/**
 * Makes an authority for these hosts alone; one must be a DNS name. Its critical name constraints (RFC 5280, 4.2.1.10)
 * make clients reject certificates for other hosts. Subdomains of the names are allowed.
 */
export function authority(hosts: Hosts, valid: Validity): Authority {
  const keys = newKeys()
  // The digits distinguish it from an earlier authority for the same hosts.
  const digits = keys.id.toString('hex').slice(0, 8)
  const full = `cambista for ${hosts[0]} only ${digits}`
  const name = distinguishedName(
    full.length <= LONGEST_COMMON_NAME ? full : `cambista for one host only ${digits}`,
  )
  const signer = { name, keys }
  const certificate = signCertificate(signer, { name, keys }, valid, [
    extension(OID.basicConstraints, sequence(new asn1.Boolean({ value: true }), integerBlock(0)), {
      critical: true,
    }),
    extension(OID.keyUsage, bitString(KEY_CERT_SIGN), { critical: true }),
    extension(OID.extKeyUsage, sequence(oid(OID.serverAuth))),
    extension(OID.nameConstraints, nameConstraints(hosts), { critical: true }),
  ])
  return { certificate, issue: (servedHosts) => serverCertificate(servedHosts, signer, newKeys(), valid) }
}

function serverCertificate(hosts: Hosts, signer: Signer, keys: Keys, valid: Validity): IssuedCertificate {
  const certificate = signCertificate(signer, { name: serverName(hosts), keys }, valid, [
    extension(OID.basicConstraints, sequence(), { critical: true }),
    extension(OID.keyUsage, bitString(DIGITAL_SIGNATURE), { critical: true }),
    extension(OID.extKeyUsage, sequence(oid(OID.serverAuth))),
    extension(OID.subjectAltName, sequence(...hosts.map((host) => generalName(host)))),
  ])
  const key = String(keys.privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return { certificate, pem: { cert: certificate.toString(), key } }
}

function signCertificate(
  signer: Signer,
  subject: Signer,
  valid: Validity,
  extensions: Block[],
): X509Certificate {
  const algorithm = sequence(oid(OID.ecdsaWithSha256))
  const ids = [
    extension(OID.subjectKeyIdentifier, new asn1.OctetString({ valueHex: toArrayBuffer(subject.keys.id) })),
    extension(OID.authorityKeyIdentifier, sequence(primitive(0, signer.keys.id))),
  ]
  const content = sequence(
    constructed(0, integerBlock(VERSION_3)),
    new asn1.Integer({ valueHex: toArrayBuffer(serialNumber()) }),
    algorithm,
    signer.name,
    sequence(time(valid.from), time(valid.to)),
    subject.name,
    asn1.fromBER(toArrayBuffer(subject.keys.publicKey)).result,
    constructed(3, sequence(...extensions, ...ids)),
  )
  const signature = sign('sha256', encodeDer(content), signer.keys.privateKey)
  const bits = new asn1.BitString({ valueHex: toArrayBuffer(signature) })
  return new X509Certificate(encodeDer(sequence(content, algorithm, bits)))
}

/** Permits each host. Without a host of IPv4 or IPv6, all addresses of that version are excluded. */
function nameConstraints(hosts: Hosts): Block {
  const permitted = hosts.map((host) => sequence(generalName(host, { asNetwork: true })))
  const excluded = [
    ...(hosts.some((host) => isIPv4(host)) ? [] : [sequence(primitive(7, EVERY_IPV4))]),
    ...(hosts.some((host) => isIPv6(host)) ? [] : [sequence(primitive(7, EVERY_IPV6))]),
  ]
  return sequence(constructed(0, ...permitted), ...(excluded.length > 0 ? [constructed(1, ...excluded)] : []))
}

function newKeys(): Keys {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const id = createHash('sha1').update(spki.subarray(-POINT_BYTES)).digest() // RFC 5280, 4.2.1.2
  return { publicKey: spki, privateKey, id }
}

function extension(id: string, value: Block, { critical = false } = {}): Block {
  const octets = new asn1.OctetString({ valueHex: value.toBER() })
  return sequence(oid(id), ...(critical ? [new asn1.Boolean({ value: true })] : []), octets)
}

/** Encodes a host. As a network, an address has a mask of all ones. */
function generalName(host: string, { asNetwork = false } = {}): Block {
  const address = addressBytes(host)
  if (!address) return primitive(2, Buffer.from(host, 'latin1'))
  const mask = Buffer.alloc(asNetwork ? address.length : 0, 0xff)
  return primitive(7, Buffer.concat([address, mask]))
}

/** Returns the 4 or 16 bytes of an IP address; undefined for a name. */
function addressBytes(host: string): Buffer | undefined {
  if (isIPv4(host)) return Buffer.from(host.split('.').map(Number))
  if (!isIPv6(host)) return undefined
  // A URL normalizes it to hexadecimal groups.
  const [head = '', tail] = new URL(`http://[${host}]`).hostname.slice(1, -1).split('::')
  const groups = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':')))
  const [before = [], after = []] = groups
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex')
}

function serverName([first]: Hosts): Block {
  return distinguishedName(first.length <= LONGEST_COMMON_NAME ? first : 'cambista')
}

function distinguishedName(commonName: string): Block {
  return sequence(
    new asn1.Set({ value: [sequence(oid(OID.commonName), new asn1.Utf8String({ value: commonName }))] }),
  )
}

/** Encodes an instant in seconds. UTCTime has a year of two digits, up to 2049 (RFC 5280, 4.1.2.5). */
function time(instant: Date): Block {
  const valueDate = new Date(Math.floor(instant.getTime() / 1000) * 1000)
  return valueDate.getUTCFullYear() < 2050
    ? new asn1.UTCTime({ valueDate })
    : new asn1.GeneralizedTime({ valueDate })
}

/** Returns a random positive number of exactly 16 bytes in DER. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40
  return bytes
}

function sequence(...value: Block[]): Block {
  return new asn1.Sequence({ value })
}

function integerBlock(value: number): Block {
  return new asn1.Integer({ value })
}

function bitString({ bits, unusedBits }: { bits: number; unusedBits: number }): Block {
  return new asn1.BitString({ valueHex: toArrayBuffer(Buffer.from([bits])), unusedBits })
}

function oid(value: string): Block {
  return new asn1.ObjectIdentifier({ value })
}

function primitive(tagNumber: number, bytes: Buffer): Block {
  return new asn1.Primitive({ idBlock: tag(tagNumber), valueHex: toArrayBuffer(bytes) })
}

function constructed(tagNumber: number, ...value: Block[]): Block {
  return new asn1.Constructed({ idBlock: tag(tagNumber), value })
}

function tag(tagNumber: number) {
  return { tagClass: CONTEXT, tagNumber }
}

function encodeDer(block: Block): Buffer {
  return Buffer.from(block.toBER())
}

function toArrayBuffer(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}
