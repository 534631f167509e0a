// Content-Digest and Repr-Digest (RFC 9530): what a client says that its body hashes to. A body is never coded here, so that
// both are of the same bytes. An algorithm that is not known is passed over, as the standard has it.

import { createHash, type Hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../../errors.ts'

type Stated = { header: string; algorithm: string; digest: Buffer }

const HEADERS = ['Content-Digest', 'Repr-Digest'] as const
const ALGORITHMS = new Map([
  ['sha-256', { name: 'sha256', bytes: 32 }],
  ['sha-512', { name: 'sha512', bytes: 64 }],
])
const MEMBER = /^([a-z*][\w.*-]*)=:([A-Za-z0-9+/]*={0,2}):$/

/**
 * The same body, whose end is an error when it is not what the client says it is.
 * @throws AppError `bad-request` for a header that cannot be read
 */
export function checkingDigests(
  headers: IncomingHttpHeaders,
  body: AsyncGenerator<Uint8Array, void>,
): AsyncIterable<Uint8Array> {
  const stated = HEADERS.flatMap((header) => digestsIn(header, headers[header.toLowerCase()]))
  return stated.length > 0 ? checking(stated, body) : body
}

async function* checking(
  stated: readonly Stated[],
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  const hashes = new Map<string, Hash>(stated.map(({ algorithm }) => [algorithm, createHash(algorithm)]))
  for await (const block of body) {
    for (const hash of hashes.values()) hash.update(block)
    yield block
  }
  const found = new Map([...hashes].map(([algorithm, hash]) => [algorithm, hash.digest()]))
  for (const { header, algorithm, digest } of stated) {
    if (found.get(algorithm)?.equals(digest)) continue
    throw new AppError(
      'bad-request',
      `The body is not what ${header} says: it was altered on its way, or is another one`,
    )
  }
}

function digestsIn(header: string, sent: string | string[] | undefined): Stated[] {
  if (sent === undefined) return []
  const found = new Map<string, Stated>() // of a repeated one the last counts (RFC 9651, 3.2)
  for (const member of String(sent).split(',')) {
    const [, name = '', text = ''] = MEMBER.exec(member.trim()) ?? []
    const known = ALGORITHMS.get(name)
    const digest = Buffer.from(text, 'base64')
    if (name === '' || (known && digest.length !== known.bytes)) {
      throw new AppError('bad-request', `${header} must be written as sha-256=:BASE64: or sha-512=:BASE64:`)
    }
    if (known) found.set(name, { header, algorithm: known.name, digest })
  }
  return [...found.values()]
}
