// Secrets of keys and tokens in memory, by their SHA-256. The time of a look-up reveals only bits of a hash, which an
// attacker cannot choose. A connection has its last valid secret as it was sent, until it is closed.

import { hash, timingSafeEqual } from 'node:crypto'
import { expiryMs } from '../../domain/access/rotation.ts'
import type { selectFormerHashes } from '../../store/access/former-secrets.ts'
import type { IsoDate } from '../../values/dates.ts'

/** Row of a key or token with the digest of its secret. `until`: expiry in milliseconds since 1970. */
export type SecretEntry<T> = T & { digest: Buffer; until: number }
export type KnownSecrets<T> = { known: Map<string, SecretEntry<T>>; used: Set<string> }
export type KnownSecretRow = { id: number; name: string; hash: string; expires_at: IsoDate | null }

const MAX_SECRET_LENGTH = 200

export function indexByHash<T extends KnownSecretRow>(
  rows: readonly T[],
  former: Awaited<ReturnType<typeof selectFormerHashes>>,
  column: 'key_id' | 'token_id',
): Map<string, SecretEntry<T>> {
  const entries = new Map<string, SecretEntry<T>>()
  const add = (row: T, hash: string, until: number) =>
    entries.set(hash, { ...row, digest: Buffer.from(hash, 'latin1'), until })
  const byId = new Map<number, T>()
  for (const row of rows) {
    byId.set(row.id, row)
    add(row, row.hash, expiryMs(row))
  }
  for (const { hash, ends_at, [column]: id } of former) {
    const row = byId.get(id ?? 0)
    if (row) add(row, hash, Math.min(Date.parse(ends_at), expiryMs(row)))
  }
  return entries
}

// Shared buffer: a new buffer for each request cost a quarter of the requests a second.
const scratch = Buffer.alloc(64)

/** Finds the entry of a secret and records its use. */
export function findSecret<T>(secrets: KnownSecrets<T>, secret: string | null): SecretEntry<T> | undefined {
  if (!isSecret(secret)) return undefined
  const digest = hash('sha256', secret, 'hex')
  const entry = secrets.known.get(digest)
  scratch.write(digest, 'latin1')
  if (!entry || !timingSafeEqual(entry.digest, scratch)) return undefined
  secrets.used.add(digest)
  return entry
}

const LAST = Symbol('last valid secret of a connection')
type OwnConnection = object & { [LAST]?: { secret: string; hash: string } }

/** Finds an entry as `findSecret` does. The last valid secret of a connection is not hashed again. */
export function findSecretAgain<T>(
  connection: object,
  secrets: KnownSecrets<T>,
  secret: string,
): SecretEntry<T> | undefined {
  const last = (connection as OwnConnection)[LAST]
  if (last && isSame(last.secret, secret)) return findByHash(secrets, last.hash)
  const entry = findSecret(secrets, secret)
  if (entry) (connection as OwnConnection)[LAST] = { secret, hash: entry.digest.toString('latin1') }
  return entry
}

/** Compares two secrets, whose length is known, in constant time. */
function isSame(one: string, other: string): boolean {
  if (one.length !== other.length) return false
  let difference = 0
  for (let at = 0; at < other.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at)
  return difference === 0
}

/** Finds an entry by hash and records its use. The hash is from the database, so timing reveals nothing. */
export function findByHash<T>({ known, used }: KnownSecrets<T>, hash: string): SecretEntry<T> | undefined {
  const entry = known.get(hash)
  if (entry) used.add(hash)
  return entry
}

/** Returns true if the length is that of a secret. */
export function isSecret(secret: string | null): secret is string {
  return !!secret && secret.length <= MAX_SECRET_LENGTH
}

/** Returns and resets the hashes used since the previous call. */
export function takeUsedHashes(secrets: KnownSecrets<unknown>): string[] {
  const hashes = [...secrets.used]
  secrets.used.clear()
  return hashes
}
