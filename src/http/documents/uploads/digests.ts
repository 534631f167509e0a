// Verifies Content-Digest and Repr-Digest (RFC 9530). Bodies have no content coding here, so both are of the same
// bytes. Unknown algorithms are ignored, as the standard requires.

import { createHash, type Hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../../runtime/errors.ts'

type StatedDigest = { header: string; algorithm: string; digest: Buffer }

const HEADERS = ['Content-Digest', 'Repr-Digest'] as const
const ALGORITHMS = new Map([
  ['sha-256', { name: 'sha256', bytes: 32 }],
  ['sha-512', { name: 'sha512', bytes: 64 }],
])
const MEMBER = /^([a-z*][\w.*-]*)=:([A-Za-z0-9+/]*={0,2}):$/

/** Passes the body on, and fails at its end on a wrong digest. @throws AppError `bad-request` for an invalid header */
export function verifyDigests(
  headers: IncomingHttpHeaders,
  body: AsyncGenerator<Uint8Array, void>,
): AsyncIterable<Uint8Array> {
  const statedDigests = HEADERS.flatMap((header) => parseDigests(header, headers[header.toLowerCase()]))
  return statedDigests.length > 0 ? verifyBlocks(statedDigests, body) : body
}

async function* verifyBlocks(
  statedDigests: readonly StatedDigest[],
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  const hashes = new Map<string, Hash>(
    statedDigests.map(({ algorithm }) => [algorithm, createHash(algorithm)]),
  )
  for await (const block of body) {
    for (const hash of hashes.values()) hash.update(block)
    yield block
  }
  const digests = new Map([...hashes].map(([algorithm, hash]) => [algorithm, hash.digest()]))
  for (const { header, algorithm, digest } of statedDigests) {
    if (digests.get(algorithm)?.equals(digest)) continue
    throw new AppError(
      'bad-request',
      `The body is not what ${header} says: it was altered on its way, or is another one`,
    )
  }
}

function parseDigests(header: string, value: string | string[] | undefined): StatedDigest[] {
  if (value === undefined) return []
  const digests = new Map<string, StatedDigest>() // the last value of a repeated name counts (RFC 9651, 3.2)
  for (const member of String(value).split(',')) {
    const [, name = '', text = ''] = MEMBER.exec(member.trim()) ?? []
    const algorithm = ALGORITHMS.get(name)
    const digest = Buffer.from(text, 'base64')
    if (name === '' || (algorithm && digest.length !== algorithm.bytes)) {
      throw new AppError('bad-request', `${header} must be written as sha-256=:BASE64: or sha-512=:BASE64:`)
    }
    if (algorithm) digests.set(name, { header, algorithm: algorithm.name, digest })
  }
  return [...digests.values()]
}
