// A new secret for a key or token. The one before goes on for a while, so that its users can change over, and then ends
// by itself: its end is written down now, and compared with the clock at each request.

import { endOfDay, type IsoDate } from '../dates.ts'
import { AppError } from '../errors.ts'
import { type ApiKeyRow, replaceApiKeyHash } from '../store/api-keys.ts'
import { deleteEndedSecrets, endFormerSecrets, insertFormerSecret } from '../store/secrets/former-secrets.ts'
import type { Db } from '../store/tables.ts'
import { replaceTokenHash, type TokenRow } from '../store/tokens.ts'

export type Rotation = {
  /** SHA-256 of the new secret. */
  hash: string
  /** How long the one before goes on; 0: it ends now. */
  overlapMs: number
  /** The last day of the new one; undefined: as it was. */
  expiresAt: IsoDate | undefined
  now: Date
}

/** What a rotation made: the last day of the key or token, and when the secret of before ends. */
export type Rotated = { expiresAt: IsoDate | null; formerEndsAt: string }

/** When a key or token is refused because of its last day, in milliseconds since 1970; without one it never is. */
export function expiryOf({ expires_at }: { expires_at: IsoDate | null }): number {
  return expires_at === null ? Number.POSITIVE_INFINITY : endOfDay(expires_at)
}

/**
 * Secrets of earlier rotations end with the one before, at the latest.
 * @throws AppError `conflict` when the key is revoked, is a token of the bank, or has expired and is given no new day
 */
export async function rotateKey(db: Db, key: ApiKeyRow, rotation: Rotation): Promise<Rotated> {
  if (key.kind === 'bank') {
    throw new AppError(
      'conflict',
      `key ${key.id} (${key.name}) is a token of the bank, which has no new secret`,
    )
  }
  return rotate(
    db,
    { kind: 'key', row: key, owner: { key_id: key.id }, replace: replaceApiKeyHash },
    rotation,
  )
}

/** @throws AppError `conflict` when the token is revoked, or has expired and is given no new day */
export function rotateToken(db: Db, token: TokenRow, rotation: Rotation): Promise<Rotated> {
  const owner = { token_id: token.id }
  return rotate(db, { kind: 'token', row: token, owner, replace: replaceTokenHash }, rotation)
}

type Rotating = {
  kind: 'key' | 'token'
  row: ApiKeyRow | TokenRow
  owner: { key_id: number } | { token_id: number }
  replace: typeof replaceApiKeyHash
}

async function rotate(db: Db, { kind, row, owner, replace }: Rotating, rotation: Rotation): Promise<Rotated> {
  const { hash, overlapMs, now } = rotation
  const name = `${kind} ${row.id} (${row.name})`
  if (row.revoked_at !== null) {
    throw new AppError('conflict', `${name} was revoked at ${row.revoked_at}`, {
      advice: { about: 'new-secret', kind },
    })
  }
  const expiry = expiryOf(row)
  if (expiry <= now.getTime() && rotation.expiresAt === undefined) {
    throw new AppError('conflict', `${name} expired on ${row.expires_at}`, { advice: { about: 'expiry' } })
  }
  const expiresAt = rotation.expiresAt ?? row.expires_at
  // A later last day is for the new secret: the one before ends no later than it would have.
  const end = Math.max(now.getTime(), Math.min(now.getTime() + overlapMs, expiry))
  const formerEndsAt = new Date(end).toISOString()
  const before = await replace(db, row.id, { hash, expiresAt }) // first: a rotation of another node has ended then
  await deleteEndedSecrets(db, now.toISOString())
  await endFormerSecrets(db, owner, formerEndsAt)
  if (end > now.getTime()) await insertFormerSecret(db, { ...owner, ...before, ends_at: formerEndsAt })
  return { expiresAt, formerEndsAt }
}
