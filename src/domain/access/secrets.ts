// API keys and tokens: how they are made and stored. Their 30 base62 characters are 178 bits, so a plain SHA-256 at
// rest is enough. The checksum lets a person or a script detect a mistyped key.

import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** `cbk_`: key of the rates API; `cbt_`: token of the documents API. */
export type KeyPrefix = 'cbk_' | 'cbt_'

/** Permissions of a token: a family of endpoints and a method or an action (decisions#tokens). */
export const ALLOWED = [
  'documents:POST',
  'agent:POST',
  'documents:GET',
  'documents:CLAIM',
  'documents:DELETE',
  'documents:RETRY',
] as const

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_CHARS = 30
const CHECKSUM_CHARS = 6
const CODE_BYTES = 24

/** Creates a secret: the prefix, 30 random base62 characters and a 6-character checksum of them. */
export function makeSecret(prefix: KeyPrefix): string {
  let random = ''
  while (random.length < RANDOM_CHARS) {
    for (const byte of randomBytes(RANDOM_CHARS)) {
      // 248 is the largest multiple of 62 in a byte: beyond it some characters would be more frequent.
      if (byte < 248 && random.length < RANDOM_CHARS) random += BASE62[byte % 62]
    }
  }
  return `${prefix}${random}${checksum(random)}`
}

/** Creates 192 random bits as text for a URL, a header or a cookie. For short-lived secrets only. */
export function makeCode(): string {
  return randomBytes(CODE_BYTES).toString('base64url')
}

/** Stored form of a secret: its SHA-256 in hex. */
export function hashOfSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let at = 0; at < CHECKSUM_CHARS; at += 1) {
    digits = BASE62[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
