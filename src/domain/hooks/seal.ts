// Secrets of hooks: what signs a message (Standard Webhooks, https://www.standardwebhooks.com), and how it is stored.

import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import type { HookRow } from '../../store/hooks/hooks.ts'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32
const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** A new secret as its receiver is given it: `whsec_` and 256 random bits in base64. */
export function makeHookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** A secret as it is stored: nonce, text and tag of AES-256-GCM. */
export function seal(key: Buffer, secret: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce)
  return Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** Undefined: it was sealed with another key. */
export function unseal(key: Buffer, sealed: Buffer): string | undefined {
  try {
    const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES))
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
    const text = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8')
    return text + decipher.final('utf8')
  } catch {
    return undefined
  }
}

/**
 * The secrets that a message of this hook is signed with: its own and, after a rotation, for a while the one before.
 * Undefined: they cannot be read with this key, or there is none, as after a restore.
 */
export function secretsOf(
  hook: Pick<HookRow, 'secret' | 'former_secret' | 'former_ends_at'>,
  key: Buffer | undefined,
  now: Date,
): string[] | undefined {
  const secret = key && unseal(key, hook.secret)
  if (!key || secret === undefined) return undefined
  const { former_secret: sealed, former_ends_at: endsAt } = hook
  const isGood = sealed !== null && endsAt !== null && endsAt > now.toISOString()
  const former = isGood ? unseal(key, sealed) : undefined
  return former === undefined ? [secret] : [secret, former]
}

/** The header `webhook-signature`: a signature for each secret. `seconds` since 1970 are the header `webhook-timestamp`. */
export function signatureOf(
  secrets: readonly string[],
  message: { id: string; seconds: number; body: string },
): string {
  const signed = `${message.id}.${message.seconds}.${message.body}`
  return secrets
    .map((secret) => Buffer.from(secret.slice(PREFIX.length), 'base64'))
    .map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
    .join(' ')
}
