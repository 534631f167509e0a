// Rotates the secret of a key or token. The former secret stays valid for a time, so that its users can change over.
// Its end is stored at the rotation and compared with the clock at each request.

import { AppError } from '../../runtime/errors.ts'
import type { ApiKeyRow } from '../../store/access/api-keys.ts'
import {
  deleteEndedSecrets,
  endFormerSecrets,
  insertFormerSecret,
} from '../../store/access/former-secrets.ts'
import { replaceHash } from '../../store/access/secret-rows.ts'
import type { TokenRow } from '../../store/access/tokens.ts'
import type { WriteDb } from '../../store/tables.ts'
import { endOfDay, type IsoDate } from '../../values/dates.ts'

export type Rotation = {
  /** SHA-256 of the new secret. */
  hash: string
  /** How long the former secret stays valid; 0: it ends now. */
  overlapMs: number
  /** Last day of the key or token; undefined: unchanged. */
  expiresAt: IsoDate | undefined
  now: Date
}

/** Result of a rotation: the last day of the key or token, and the end of its former secret. */
export type RotationResult = { expiresAt: IsoDate | null; formerEndsAt: string }

/** Milliseconds since 1970 from which a key or token is rejected for its last day; without such a day, infinity. */
export function expiryMs({ expires_at }: { expires_at: IsoDate | null }): number {
  return expires_at === null ? Number.POSITIVE_INFINITY : endOfDay(expires_at)
}

/**
 * Rotates a key. Secrets of earlier rotations end with the former one, at the latest.
 * @throws AppError `conflict` when the key is revoked, is a token of the bank, or has expired and gets no new day
 */
export async function rotateKey(db: WriteDb, key: ApiKeyRow, rotation: Rotation): Promise<RotationResult> {
  if (key.kind === 'bank') {
    throw new AppError(
      'conflict',
      `key ${key.id} (${key.name}) is a token of the bank, which has no new secret`,
    )
  }
  return rotate(db, 'key', key, rotation)
}

/** Rotates a token. @throws AppError `conflict` when the token is revoked, or has expired and gets no new day */
export function rotateToken(db: WriteDb, token: TokenRow, rotation: Rotation): Promise<RotationResult> {
  return rotate(db, 'token', token, rotation)
}

async function rotate(
  db: WriteDb,
  kind: 'key' | 'token',
  row: ApiKeyRow | TokenRow,
  rotation: Rotation,
): Promise<RotationResult> {
  const { hash, overlapMs, now } = rotation
  const name = `${kind} ${row.id} (${row.name})`
  if (row.revoked_at !== null) {
    throw new AppError('conflict', `${name} was revoked at ${row.revoked_at}`, {
      advice: { about: 'new-secret', kind },
    })
  }
  const expiry = expiryMs(row)
  if (expiry <= now.getTime() && rotation.expiresAt === undefined) {
    throw new AppError('conflict', `${name} expired on ${row.expires_at}`, { advice: { about: 'expiry' } })
  }
  const expiresAt = rotation.expiresAt ?? row.expires_at
  // A later last day is for the new secret: the end of the former one is not extended.
  const end = Math.max(now.getTime(), Math.min(now.getTime() + overlapMs, expiry))
  const formerEndsAt = new Date(end).toISOString()
  const [table, owner] =
    kind === 'key' ? (['api_keys', { key_id: row.id }] as const) : (['tokens', { token_id: row.id }] as const)
  const former = await replaceHash(db, table, row.id, { hash, expiresAt }) // first: this waits for a concurrent rotation by another node
  await deleteEndedSecrets(db, now.toISOString())
  await endFormerSecrets(db, owner, formerEndsAt)
  if (end > now.getTime()) await insertFormerSecret(db, { ...owner, ...former, ends_at: formerEndsAt })
  return { expiresAt, formerEndsAt }
}
