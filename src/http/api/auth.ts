// Which clients may ask. Secrets are compared by their SHA-256: what an attacker could learn from the time a look-up
// takes is about a hash that they cannot steer. The active ones are held in memory and renewed when they change; before
// one that is not among them is refused, memory is renewed, for it may have been made a moment ago (decisions 1.6).

import { hash, timingSafeEqual } from 'node:crypto'
import type { H3Event } from 'h3'
import type { Clock, IsoDate } from '../../dates.ts'
import { expiryOf } from '../../domain/rotation.ts'
import { AppError } from '../../errors.ts'
import { type ActiveApiKey, selectActiveApiKeyHashes, updateApiKeysUsed } from '../../store/api-keys.ts'
import { selectFormerHashes, updateFormerSecretsUsed } from '../../store/former-secrets.ts'
import type { Db } from '../../store/tables.ts'
import { type ActiveToken, selectActiveTokens, updateTokensUsed } from '../../store/tokens.ts'
import type { Credentials } from './api.ts'
import { coalesced } from './coalesced.ts'
import { keyInUrl } from './url-key.ts'

/** A valid token; with a company, it is for that one alone. */
export type AuthorizedToken = {
  id: number
  name: string
  company_id: number | null
  allow: readonly string[]
}

/** A valid key: where it may stand, and what it prefers. */
export type ApiKey = Pick<ActiveApiKey, 'id' | 'name' | 'kind' | 'side' | 'network'>

export type Keyring = {
  /**
   * Does a check of the two below, and where it refuses a secret that memory does not know, once more when keys and
   * tokens were read again. A promise only then.
   */
  withLookUp<T>(check: () => T): T | Promise<T>
  /** An active key. @throws AppError `unauthorized` for any other */
  checkKey(key: string | null): ApiKey
  /**
   * The token in an Authorization header.
   * @throws AppError `unauthorized` for none, a bad header, an unknown, revoked or expired token (decisions 3.7)
   */
  checkToken(authorization: string | null): AuthorizedToken
  /** Whether there is no key that is let in. */
  hasNoKey(): boolean
  /** Reads keys and tokens again, after another process changed them. */
  refresh(): Promise<void>
  /** Writes down which were used since the last time. */
  recordUse(): Promise<void>
}

/** A secret that opens what its key or token opens, until a moment in milliseconds since 1970. */
type Known<T> = T & { digest: Buffer; until: number }
type Secrets<T> = { known: Map<string, Known<T>>; used: Set<string> }
type Stored = { id: number; name: string; hash: string; expires_at: IsoDate | null }

const NO_KEY = 'Missing or invalid API key: send it in the header X-API-Key'
/** Why a key that other programs write into their logs is refused, and one that must not get there. */
export const NOT_FOR_URLS =
  'This key was not made for URLs (cambista key create NAME --in-url): send it in a header'
const ONLY_RATES = 'This key was made for URLs: it opens rates, conversions and histories, and not this path'
const NO_TOKEN = 'Invalid or expired token'
/** Marks the refusal of a secret that may be stored and not yet known. */
const UNKNOWN = Symbol('unknown secret')
const MAX_SECRET_LENGTH = 200
const LOOK_UP_EVERY_MS = 52 // 20 a second at most, whatever is sent; timers may be a millisecond early
const BEARER = /^Bearer +([\x21-\x7e]+) *$/i

export async function openKeyring(db: Db, clock: Clock): Promise<Keyring> {
  const keys: Secrets<ActiveApiKey> = { known: new Map(), used: new Set() }
  const tokens: Secrets<ActiveToken> = { known: new Map(), used: new Set() }
  const isOver = ({ until }: { until: number }) =>
    until !== Number.POSITIVE_INFINITY && until <= clock().getTime()
  const refresh = async () => {
    const active = { keys: await selectActiveApiKeyHashes(db), tokens: await selectActiveTokens(db) }
    // After the active ones: a rotation between the two looks leaves its former hash among both, and not among neither.
    const former = await selectFormerHashes(db)
    keys.known = byHash(active.keys, former, 'key_id')
    tokens.known = byHash(active.tokens, former, 'token_id')
  }
  await refresh()
  const lookUp = coalesced(refresh, LOOK_UP_EVERY_MS)
  return {
    withLookUp(check) {
      try {
        return check()
      } catch (error) {
        if (!(error instanceof AppError) || error.details !== UNKNOWN) throw error
        return lookUp().then(check)
      }
    },
    checkKey(key) {
      const found = find(keys, key)
      if (!found) throw refusal(NO_KEY, key)
      if (isOver(found)) throw new AppError('unauthorized', NO_KEY)
      return found
    },
    checkToken(authorization) {
      const [, secret] = BEARER.exec(authorization ?? '') ?? []
      if (!secret) throw new AppError('unauthorized', 'Invalid Authorization header format')
      const token = find(tokens, secret)
      if (!token) throw refusal(NO_TOKEN, secret)
      if (isOver(token)) throw new AppError('unauthorized', NO_TOKEN)
      return token
    },
    hasNoKey: () => keys.known.values().every(isOver),
    refresh,
    async recordUse() {
      const used = [...taken(keys), ...taken(tokens)]
      if (used.length === 0) return
      const now = clock().toISOString()
      await updateApiKeysUsed(db, used, now)
      await updateTokensUsed(db, used, now)
      await updateFormerSecretsUsed(db, used, now)
    },
  }
}

/** A key in the header `X-API-Key`, or in the URL where the endpoint takes it and the key was made for it. */
export function keyCredentials(keyring: Keyring): Credentials {
  return {
    check: (event, { takesUrlKeys }) =>
      keyring.withLookUp(() => {
        const inHeader = event.req.headers.get('x-api-key')
        const secret = inHeader ?? (takesUrlKeys ? keyInUrl(event) : null)
        const key = keyring.checkKey(secret)
        if (key.kind === 'bank') throw new AppError('unauthorized', NO_KEY)
        if (key.kind === 'url' && !takesUrlKeys) throw new AppError('unauthorized', ONLY_RATES)
        if (key.kind === 'header' && inHeader === null) throw new AppError('unauthorized', NOT_FOR_URLS)
        event.context.key = key.name
      }),
    name: 'apiKey',
    scheme: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    refusals: { 401: 'Missing or invalid API key' },
  }
}

/** A token in the header `Authorization`, which must be for the endpoint's scope and method (decisions 3.7). */
export function tokenCredentials(keyring: Keyring): Credentials {
  return {
    check: (event, { scope, method }) =>
      keyring.withLookUp(() => {
        const token = keyring.checkToken(event.req.headers.get('authorization'))
        event.context.token = token // known to the log, whatever it may do
        if (!token.allow.includes(`${scope}:${method}`)) {
          throw new AppError('forbidden', 'Token not allowed for this endpoint')
        }
      }),
    name: 'bearer',
    scheme: {
      type: 'http',
      scheme: 'bearer',
      description: 'To a token of one company the agents and documents of others are not there: 404.',
    },
    refusals: { 401: 'Missing, invalid or expired token', 403: 'Token not allowed for this endpoint' },
  }
}

/** The token of a request to the documents API. */
export function authorizedToken(event: H3Event): AuthorizedToken {
  return event.context.token as AuthorizedToken
}

function byHash<T extends Stored>(
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

function find<T>(secrets: Secrets<T>, secret: string | null): Known<T> | undefined {
  if (!isSecret(secret)) return undefined
  const digest = hash('sha256', secret, 'hex')
  const found = secrets.known.get(digest)
  scratch.write(digest, 'latin1')
  if (!found || !timingSafeEqual(found.digest, scratch)) return undefined
  secrets.used.add(digest)
  return found
}

function isSecret(secret: string | null): secret is string {
  return !!secret && secret.length <= MAX_SECRET_LENGTH
}

function refusal(message: string, secret: string | null): AppError {
  return new AppError('unauthorized', message, isSecret(secret) ? { details: UNKNOWN } : {})
}

function taken(secrets: Secrets<unknown>): string[] {
  const hashes = [...secrets.used]
  secrets.used.clear()
  return hashes
}
