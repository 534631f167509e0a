// Secrets of keys and tokens in memory, by their SHA-256: what an attacker could learn from the time a look-up takes is
// about a hash that they cannot steer.

import { hash, timingSafeEqual } from 'node:crypto'
import type { IsoDate } from '../../dates.ts'
import { expiryOf } from '../../domain/rotation.ts'
import type { selectFormerHashes } from '../../store/secrets/former-secrets.ts'

/** A secret that opens what its key or token opens, until a moment in milliseconds since 1970. */
export type Known<T> = T & { digest: Buffer; until: number }
export type Secrets<T> = { known: Map<string, Known<T>>; used: Set<string> }
export type Stored = { id: number; name: string; hash: string; expires_at: IsoDate | null }

const MAX_SECRET_LENGTH = 200

export function byHash<T extends Stored>(
  rows: readonly T[],
  former: Awaited<ReturnType<typeof selectFormerHashes>>,
  column: 'key_id' | 'token_id',
): Map<string, Known<T>> {
  const known = new Map<string, Known<T>>()
  const add = (row: T, hash: string, until: number) =>
    known.set(hash, { ...row, digest: Buffer.from(hash, 'latin1'), until })
  const byId = new Map<number, T>()
  for (const row of rows) {
    byId.set(row.id, row)
    add(row, row.hash, expiryOf(row))
  }
  for (const { hash, ends_at, [column]: id } of former) {
    const row = byId.get(id ?? 0)
    if (row) add(row, hash, Math.min(Date.parse(ends_at), expiryOf(row)))
  }
  return known
}

// As text in a buffer that is there already: a digest in a buffer of its own for each request cost a quarter of
// the requests a second.
const scratch = Buffer.alloc(64)

/** What a secret opens; it is noted as used. */
export function find<T>(secrets: Secrets<T>, secret: string | null): Known<T> | undefined {
  if (!isSecret(secret)) return undefined
  const digest = hash('sha256', secret, 'hex')
  const found = secrets.known.get(digest)
  scratch.write(digest, 'latin1')
  if (!found || !timingSafeEqual(found.digest, scratch)) return undefined
  secrets.used.add(digest)
  return found
}

/** What the secret of a hash opens; it is noted as used. The hash is one that we made ourselves, and nothing to guess. */
export function findHash<T>({ known, used }: Secrets<T>, hash: string): Known<T> | undefined {
  const found = known.get(hash)
  if (found) used.add(hash)
  return found
}

/** Whether it may be a secret, by its length. */
export function isSecret(secret: string | null): secret is string {
  return !!secret && secret.length <= MAX_SECRET_LENGTH
}

/** The hashes that were used since the last time. */
export function taken(secrets: Secrets<unknown>): string[] {
  const hashes = [...secrets.used]
  secrets.used.clear()
  return hashes
}
