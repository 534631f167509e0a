// Pairs of keys and signatures in the form of minisign, whose own program reads and writes the same files. The other
// half is src/formats/minisign.ts: public keys, and the check of a signature.

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  scryptSync,
  sign,
} from 'node:crypto'
import { hashContent, signedComment } from '../formats/minisign.ts'

const ID_BYTES = 8
const SEED_BYTES = 32
const KEY_BYTES = 32 // a public key
// A secret key has a head: algorithms of signature, password and checksum, salt, two limits of scrypt.
const HEAD_BYTES = 2 + 2 + 2 + 32 + 8 + 8
const SECRET_BYTES = ID_BYTES + SEED_BYTES + KEY_BYTES + 32 // the last part is a checksum
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex') // precedes the seed of an Ed25519 key
const SCRYPT_BLOCK = 8
const PASSWORD_VARIABLE = 'RELEASE_PASSWORD'

/** Makes a pair of keys, as the texts of its two files. The secret one has no password, as with `minisign -G -W`. */
export function makeKeyPair() {
  const { privateKey } = generateKeyPairSync('ed25519')
  const { d, x } = privateKey.export({ format: 'jwk' })
  const [seed, publicBytes] = [d, x].map((text) => Buffer.from(text, 'base64url'))
  const id = randomBytes(ID_BYTES)
  // Algorithms: Ed25519, no password, BLAKE2.
  const head = Buffer.concat([Buffer.from('Ed\0\0B2'), Buffer.alloc(HEAD_BYTES - 6)])
  const secret = Buffer.concat([head, id, seed, publicBytes, Buffer.alloc(32)]) // without a password minisign has no checksum
  return {
    secretKey: `untrusted comment: minisign encrypted secret key\n${secret.toString('base64')}\n`,
    publicKey: publicKeyText(id, publicBytes),
  }
}

/**
 * Reads a secret key, with its password if it has one.
 * @throws Error that names the fault
 */
export function readSecretKey(text, password) {
  const lines = text.trimEnd().split('\n')
  const bytes = Buffer.from(lines.length === 2 ? lines[1] : '', 'base64')
  if (bytes.length !== HEAD_BYTES + SECRET_BYTES || bytes.toString('latin1', 0, 2) !== 'Ed')
    throw new Error('it is no secret key of minisign')
  const parts = decrypt(bytes, password)
  const id = parts.subarray(0, ID_BYTES)
  const seed = parts.subarray(ID_BYTES, ID_BYTES + SEED_BYTES)
  const publicBytes = parts.subarray(ID_BYTES + SEED_BYTES, ID_BYTES + SEED_BYTES + KEY_BYTES)
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
  // OpenSSL derives the public key from the seed. A wrong password makes another seed and another public key.
  if (createPublicKey(key).export({ format: 'jwk' }).x !== publicBytes.toString('base64url'))
    throw new Error('its password is wrong, or it is damaged')
  return { id, key, publicKey: publicKeyText(id, publicBytes) }
}

/** Returns the text of a signature file. The same key, bytes and comment make the same text. */
export function signContent({ id, key }, content, comment) {
  const ofFile = sign(undefined, hashContent(content), key)
  const ofComment = sign(undefined, signedComment({ ofFile, comment }), key)
  return [
    'untrusted comment: signature of a release of cambista',
    Buffer.concat([Buffer.from('ED'), id, ofFile]).toString('base64'),
    `trusted comment: ${comment}`,
    `${ofComment.toString('base64')}\n`,
  ].join('\n')
}

function publicKeyText(id, publicBytes) {
  const name = Buffer.from(id).reverse().toString('hex').toUpperCase()
  const text = Buffer.concat([Buffer.from('Ed'), id, publicBytes]).toString('base64')
  return `untrusted comment: minisign public key ${name}\n${text}\n`
}

/** Returns id, seed, public key and checksum. A password makes a stream of bytes that hides them. */
function decrypt(bytes, password) {
  const method = bytes.toString('latin1', 2, 4)
  const secret = bytes.subarray(HEAD_BYTES)
  if (method === '\0\0') return secret
  if (method !== 'Sc') throw new Error('it is encrypted in an unknown way')
  if (!password) throw new Error(`it has a password: set the variable ${PASSWORD_VARIABLE}`)
  const salt = bytes.subarray(6, 38)
  const limits = scryptLimits(Number(bytes.readBigUInt64LE(38)), Number(bytes.readBigUInt64LE(46)))
  const stream = scryptSync(password, salt, SECRET_BYTES, limits)
  return secret.map((byte, at) => byte ^ stream[at])
}

/** Returns the numbers of scrypt for limits of work and memory, as libsodium chooses them. */
function scryptLimits(work, memory) {
  const limit = Math.max(work, 32_768)
  const isShort = limit < memory / 32
  const most = isShort ? limit / (SCRYPT_BLOCK * 4) : memory / (SCRYPT_BLOCK * 128)
  let N = 2
  while (N <= most / 2) N *= 2
  const p = isShort ? 1 : Math.floor(Math.min(limit / 4 / N, 0x3fffffff) / SCRYPT_BLOCK)
  return { N, r: SCRYPT_BLOCK, p, maxmem: 128 * SCRYPT_BLOCK * (N + p) + 1024 ** 2 }
}
