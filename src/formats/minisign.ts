// Public keys and signatures in the form of minisign (https://jedisct1.github.io/minisign). src/packaging/sign.mjs signs.
//
// The first part of a signature is over the BLAKE2b-512 of a file. The second is over the first and the trusted comment.

import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'

const UNTRUSTED = 'untrusted comment: '
const TRUSTED = 'trusted comment: '
const KEY_ALGORITHM = 'Ed'
const SIGNATURE_ALGORITHM = 'ED' // over the hash of the file; the older `Ed` is over the file itself
const ID_BYTES = 8
const KEY_BYTES = 32
const SIGNATURE_BYTES = 64

export type PublicKey = {
  /** In hexadecimal, as minisign prints it. */
  id: string
  key: KeyObject
}

export type Signature = {
  keyId: string
  /** Over the hash of the file. */
  ofFile: Uint8Array
  /** Text that `ofComment` protects. */
  comment: string
  /** Over `ofFile` and the comment. */
  ofComment: Uint8Array
}

/** Parses a public key: the two lines of its file, or the second one alone. Undefined: it is none. */
export function parsePublicKey(text: string): PublicKey | undefined {
  const lines = text.trimEnd().split(/\r?\n/)
  if (lines.length > 2 || (lines.length === 2 && !lines[0]?.startsWith(UNTRUSTED))) return undefined
  const bytes = decode(lines.at(-1), 2 + ID_BYTES + KEY_BYTES)
  if (bytes === undefined || algorithmName(bytes) !== KEY_ALGORITHM) return undefined
  const raw = bytes.subarray(2 + ID_BYTES)
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') },
    format: 'jwk',
  })
  return { id: keyId(bytes), key }
}

/** Parses a signature file. Undefined: it is none, is cut off, or signs without the hash. */
export function parseSignature(text: string): Signature | undefined {
  const [untrusted = '', first, trusted = '', second, ...rest] = text.replace(/\r?\n$/, '').split(/\r?\n/)
  if (!untrusted.startsWith(UNTRUSTED) || !trusted.startsWith(TRUSTED) || rest.length > 0) return undefined
  if (text.includes('\0')) return undefined // ends a line for minisign
  const bytes = decode(first, 2 + ID_BYTES + SIGNATURE_BYTES)
  const ofComment = decode(second, SIGNATURE_BYTES)
  if (bytes === undefined || ofComment === undefined) return undefined
  if (algorithmName(bytes) !== SIGNATURE_ALGORITHM) return undefined
  return {
    keyId: keyId(bytes),
    ofFile: bytes.subarray(2 + ID_BYTES),
    comment: trusted.slice(TRUSTED.length),
    ofComment,
  }
}

/** Returns true if the key signed the comment. */
export function isCommentValid(signature: Signature, { key }: PublicKey): boolean {
  return verify(undefined, signedComment(signature), key, signature.ofComment)
}

/** Returns true if the key signed these bytes. */
export function isFileValid(signature: Signature, { key }: PublicKey, file: Uint8Array): boolean {
  return verify(undefined, hashContent(file), key, signature.ofFile)
}

/** Returns the hash that a signature of a file signs. */
export function hashContent(file: Uint8Array): Buffer {
  return createHash('blake2b512').update(file).digest()
}

/** Returns the bytes that the second part of a signature signs. */
export function signedComment({ ofFile, comment }: Pick<Signature, 'ofFile' | 'comment'>): Buffer {
  return Buffer.concat([ofFile, Buffer.from(comment)])
}

/** Decodes canonical Base64 of an exact length. Buffer itself ignores what is no Base64, and unused bits. */
function decode(text: string | undefined, length: number): Buffer | undefined {
  const bytes = Buffer.from(text ?? '', 'base64')
  return bytes.length === length && bytes.toString('base64') === text ? bytes : undefined
}

function algorithmName(bytes: Buffer): string {
  return bytes.toString('latin1', 0, 2)
}

/** Returns the id of a key, which is stored with its last byte first. */
function keyId(bytes: Buffer): string {
  return Buffer.from(bytes.subarray(2, 2 + ID_BYTES))
    .reverse()
    .toString('hex')
    .toUpperCase()
}
