// A self-signed certificate for a server (RFC 5280, version 3), and the only door to the ASN.1 library. Node reads
// certificates and makes none. It is for its names alone: not an authority, so that its key cannot make others.

import { createHash, generateKeyPairSync, randomBytes, sign, X509Certificate } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import * as asn1 from 'asn1js'

export type SelfSigned = {
  certificate: X509Certificate
  /** PEM; the key is PKCS #8 without a passphrase. */
  pem: { cert: string; key: string }
}

type Block = asn1.BaseBlock

const OID = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
}
const VERSION_3 = 2
const LONGEST_COMMON_NAME = 64
const CONTEXT = 3 // the tag class of what a structure numbers itself

/** A certificate with a new P-256 key for DNS names and IP addresses, whole seconds from one instant to another. */
export function selfSigned(
  hosts: readonly [string, ...string[]],
  valid: { from: Date; to: Date },
): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const name = distinguishedName(hosts[0].length <= LONGEST_COMMON_NAME ? hosts[0] : 'cambista')
  const algorithm = sequence(oid(OID.ecdsaWithSha256))
  const signed = sequence(
    new asn1.Constructed({ idBlock: tag(0), value: [new asn1.Integer({ value: VERSION_3 })] }),
    new asn1.Integer({ valueHex: arrayOf(serialNumber()) }),
    algorithm,
    name,
    sequence(time(valid.from), time(valid.to)),
    name,
    asn1.fromBER(arrayOf(spki)).result,
    new asn1.Constructed({ idBlock: tag(3), value: [extensions(hosts, spki)] }),
  )
  const signature = sign('sha256', derOf(signed), privateKey)
  const der = derOf(sequence(signed, algorithm, new asn1.BitString({ valueHex: arrayOf(signature) })))
  const certificate = new X509Certificate(der)
  const key = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return { certificate, pem: { cert: certificate.toString(), key } }
}

function extensions(hosts: readonly string[], spki: Buffer): Block {
  const keyId = createHash('sha1').update(publicKeyBits(spki)).digest() // RFC 5280, 4.2.1.2
  const digitalSignature = new asn1.BitString({ valueHex: arrayOf(Buffer.from([0x80])), unusedBits: 7 })
  return sequence(
    extension(OID.basicConstraints, sequence(), { critical: true }),
    extension(OID.keyUsage, digitalSignature, { critical: true }),
    extension(OID.extKeyUsage, sequence(oid(OID.serverAuth))),
    extension(OID.subjectAltName, sequence(...hosts.map(generalName))),
    extension(OID.subjectKeyIdentifier, new asn1.OctetString({ valueHex: arrayOf(keyId) })),
    extension(OID.authorityKeyIdentifier, sequence(primitive(0, keyId))),
  )
}

function extension(id: string, value: Block, { critical = false } = {}): Block {
  const octets = new asn1.OctetString({ valueHex: value.toBER() })
  return sequence(oid(id), ...(critical ? [new asn1.Boolean({ value: true })] : []), octets)
}

function generalName(host: string): Block {
  const address = bytesOfAddress(host)
  return address ? primitive(7, address) : primitive(2, Buffer.from(host, 'latin1'))
}

/** The 4 or 16 bytes of an IP address; undefined: it is none. */
function bytesOfAddress(host: string): Buffer | undefined {
  if (isIPv4(host)) return Buffer.from(host.split('.').map(Number))
  if (!isIPv6(host)) return undefined
  // As a URL it is written in one way, all groups hexadecimal.
  const [head = '', tail] = new URL(`http://[${host}]`).hostname.slice(1, -1).split('::')
  const groups = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':')))
  const [before = [], after = []] = groups
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex')
}

function distinguishedName(commonName: string): Block {
  return sequence(
    new asn1.Set({ value: [sequence(oid(OID.commonName), new asn1.Utf8String({ value: commonName }))] }),
  )
}

/** To the second; UTCTime has two digits for the year, and ends with 2049 (RFC 5280, 4.1.2.5). */
function time(instant: Date): Block {
  const valueDate = new Date(Math.floor(instant.getTime() / 1000) * 1000)
  return valueDate.getUTCFullYear() < 2050
    ? new asn1.UTCTime({ valueDate })
    : new asn1.GeneralizedTime({ valueDate })
}

/** Random, positive, and with as many bytes as its number needs. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40
  return bytes
}

/** The bits of the key itself, behind its algorithm. */
function publicKeyBits(spki: Buffer): Buffer {
  return spki.subarray(-65) // an uncompressed point of P-256
}

function sequence(...value: Block[]): Block {
  return new asn1.Sequence({ value })
}

function oid(value: string): Block {
  return new asn1.ObjectIdentifier({ value })
}

function primitive(tagNumber: number, bytes: Buffer): Block {
  return new asn1.Primitive({ idBlock: tag(tagNumber), valueHex: arrayOf(bytes) })
}

function tag(tagNumber: number) {
  return { tagClass: CONTEXT, tagNumber }
}

function derOf(block: Block): Buffer {
  return Buffer.from(block.toBER())
}

function arrayOf(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}
