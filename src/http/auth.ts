// Who may ask. Secrets are compared by their SHA-256: what an attacker could learn from the time a look-up
// takes is about a hash that they cannot steer. The active ones are held in memory and renewed when they change.

import { hash, timingSafeEqual } from 'node:crypto'
import type { H3Event } from 'h3'
import type { Clock } from '../dates.ts'
import { todayIn } from '../dates.ts'
import { AppError } from '../errors.ts'
import { selectActiveApiKeyHashes, updateApiKeysUsed } from '../store/api-keys.ts'
import type { Db } from '../store/tables.ts'
import { selectActiveTokens, updateTokensUsed } from '../store/tokens.ts'
import type { Method } from './api.ts'

/** A token that was let in; with a company, to that one alone. */
export type Bearer = { id: number; company_id: number | null }

export type Keyring = {
  /** @throws AppError `unauthorized` unless the key is an active one */
  checkKey(key: string | null): void
  /**
   * The token in an Authorization header.
   * @throws AppError `unauthorized` for none, a bad header, an unknown, revoked or expired token; `forbidden` for
   *   one that is not for this family and method (decisions 3.7)
   */
  checkToken(authorization: string | null, family: 'documents' | 'agent', method: Method): Bearer
  /** Whether there is no active key at all. */
  hasNoKey(): boolean
  /** Reads keys and tokens again, after another process changed them. */
  refresh(): Promise<void>
  /** Writes down which were used since the last time. */
  recordUse(): Promise<void>
}

type Secrets<T> = { known: Map<string, T & { digest: Buffer }>; used: Set<number> }

const MAX_SECRET_LENGTH = 200
const BEARER = /^Bearer +([\x21-\x7e]+) *$/i

export async function openKeyring(db: Db, clock: Clock): Promise<Keyring> {
  const keys = byHash(await selectActiveApiKeyHashes(db))
  const tokens = byHash(await selectActiveTokens(db))
  return {
    checkKey(key) {
      if (!find(keys, key)) throw new AppError('unauthorized', 'Missing or invalid API key')
    },
    checkToken(authorization, family, method) {
      const [, secret] = BEARER.exec(authorization ?? '') ?? []
      if (!secret) throw new AppError('unauthorized', 'Invalid Authorization header format')
      const token = find(tokens, secret)
      if (!token || (token.expires_at !== null && token.expires_at < todayIn(clock))) {
        throw new AppError('unauthorized', 'Invalid or expired token')
      }
      if (!token.allow.includes(`${family}:${method}`)) {
        throw new AppError('forbidden', 'Token not allowed for this endpoint')
      }
      return token
    },
    hasNoKey: () => keys.known.size === 0,
    async refresh() {
      keys.known = byHash(await selectActiveApiKeyHashes(db)).known
      tokens.known = byHash(await selectActiveTokens(db)).known
    },
    async recordUse() {
      const now = clock().toISOString()
      if (keys.used.size > 0) await updateApiKeysUsed(db, taken(keys), now)
      if (tokens.used.size > 0) await updateTokensUsed(db, taken(tokens), now)
    },
  }
}

/** The token of a request to the documents API. */
export function bearerOf(event: H3Event): Bearer {
  return event.context.bearer as Bearer
}

function byHash<T extends { id: number; hash: string }>(rows: readonly T[]): Secrets<T> {
  const known = new Map<string, T & { digest: Buffer }>()
  for (const row of rows) known.set(row.hash, { ...row, digest: Buffer.from(row.hash, 'latin1') })
  return { known, used: new Set() }
}

// As text in a buffer that is there already: a digest in a buffer of its own for each request cost a quarter of
// the requests a second.
const scratch = Buffer.alloc(64)

function find<T extends { id: number }>(secrets: Secrets<T>, secret: string | null): T | undefined {
  if (!secret || secret.length > MAX_SECRET_LENGTH) return undefined
  const digest = hash('sha256', secret, 'hex')
  const found = secrets.known.get(digest)
  scratch.write(digest, 'latin1')
  if (!found || !timingSafeEqual(found.digest, scratch)) return undefined
  secrets.used.add(found.id)
  return found
}

function taken(secrets: Secrets<unknown>): number[] {
  const ids = [...secrets.used]
  secrets.used.clear()
  return ids
}
