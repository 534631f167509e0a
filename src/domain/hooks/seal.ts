// Secrets of hooks: signatures (Standard Webhooks, https://www.standardwebhooks.com) and encryption for storage.

import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import type { HookRow } from '../../store/hooks/hooks.ts'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32
const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Creates a secret in the form for its receiver: `whsec_` and 256 random bits in base64. */
export function makeHookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** Encrypts a secret for storage: nonce, ciphertext and tag of AES-256-GCM. */
export function seal(key: Buffer, secret: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce)
  return Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** Decrypts a secret; undefined: it was encrypted with another key. */
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

/** Parts of a hook that are stored encrypted. */
export type UnsealedHook = {
  /** Secrets that sign its messages: its own and, for a time after a rotation, the former one. */
  secrets: string[]
  /** Headers of the operator, with the secret ones. */
  headers: Readonly<Record<string, string>>
}

/** Decrypts what a hook needs for its messages; undefined: the key is missing or wrong, as after a restore. */
export function unsealHook(hook: HookRow, key: Buffer | undefined, now: Date): UnsealedHook | undefined {
  const secret = key && unseal(key, hook.secret)
  const secretHeaders = key && (hook.secret_headers === null ? '{}' : unseal(key, hook.secret_headers))
  if (!key || secret === undefined || secretHeaders === undefined) return undefined
  const { former_secret: sealed, former_ends_at: endsAt } = hook
  const isGood = sealed !== null && endsAt !== null && endsAt > now.toISOString()
  const former = isGood ? unseal(key, sealed) : undefined
  return {
    secrets: former === undefined ? [secret] : [secret, former],
    headers: { ...hook.headers, ...JSON.parse(secretHeaders) },
  }
}

/**
 * Header `webhook-signature`, with a signature for each secret. `seconds` since 1970 are the header
 * `webhook-timestamp`.
 */
export function signatureHeader(
  secrets: readonly string[],
  message: { id: string; seconds: number; body: string },
): string {
  const signedText = `${message.id}.${message.seconds}.${message.body}`
  return secrets
    .map((secret) => Buffer.from(secret.slice(PREFIX.length), 'base64'))
    .map((key) => `v1,${createHmac('sha256', key).update(signedText).digest('base64')}`)
    .join(' ')
}
