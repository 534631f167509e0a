// Which clients may ask. The active ones are held in memory and renewed when they change; before
// one that is not among them is refused, memory is renewed, for it may have been made a moment ago (decisions 1.6).

import type { H3Event } from 'h3'
import type { Clock, IsoDate } from '../../dates.ts'
import type { Access } from '../../domain/documents/access.ts'
import { AppError } from '../../errors.ts'
import { type ActiveApiKey, selectActiveApiKeyHashes, updateApiKeysUsed } from '../../store/api-keys.ts'
import type { Engine } from '../../store/engine.ts'
import { selectFormerHashes, updateFormerSecretsUsed } from '../../store/secrets/former-secrets.ts'
import { type ActiveToken, selectActiveTokens, updateTokensUsed } from '../../store/tokens.ts'
import {
  byHash,
  find,
  findHash,
  isSecret,
  type Known,
  type Secrets,
  type Stored,
  taken,
} from '../credentials/known-secrets.ts'
import { isOfSession } from '../credentials/session.ts'
import type { Credentials } from './api.ts'
import { coalesced } from './coalesced.ts'
import { keyInUrl } from './url-key.ts'

/** A valid token; with a company, it is for that one alone, and with an agent for its documents alone. */
export type AuthorizedToken = {
  id: number
  name: string
  company_id: number | null
  agent_id: number | null
  allow: readonly string[]
}

/** A valid key: where it may stand, and what it prefers. */
export type ApiKey = Pick<ActiveApiKey, 'id' | 'name' | 'kind' | 'side' | 'network'>

/** What a session of the page holds that is let in now. */
export type SessionHolds = { key: ApiKey | undefined; token: HeldToken | undefined }
export type HeldToken = AuthorizedToken & { expires_at: IsoDate | null }

/**
 * The session of a request that says in the header `X-Cambista-Page` that it has one.
 * @throws AppError `misdirected`, `forbidden` or `unauthorized` for one that has none
 */
export type SessionOf = (event: H3Event) => Promise<SessionHolds>

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
  /** The key of a hash, if it is let in: a session is open for as long as the secret is good that opened it. */
  keyOfHash(hash: string | undefined): ApiKey | undefined
  tokenOfHash(hash: string | undefined): HeldToken | undefined
  /** The hash of the secret that the key or token of an id has now, if it is let in. */
  hashOf(kind: 'key' | 'token', id: number): string | undefined
  /** Whether there is no key that is let in. */
  hasNoKey(): boolean
  /** The name of a key that is let in from its network alone; undefined: there is none. */
  keyWithNetwork(): string | undefined
  /** Reads keys and tokens again, after another process changed them. */
  refresh(): Promise<void>
  /** Writes down which were used since the last time. */
  recordUse(): Promise<void>
  /** As `refresh`, a few times a second at most: for what memory does not know. */
  lookUp(): Promise<void>
}

const NO_KEY = 'Missing or invalid API key: send it in the header X-API-Key'
/** Why a key that other programs write into their logs is refused, and one that must not get there. */
export const NOT_FOR_URLS =
  'This key was not made for URLs (cambista key create NAME --in-url): send it in a header'
/** Why a key that was made for URLs is refused where they are not for rates. */
export const ONLY_RATES =
  'This key was made for URLs: it opens rates, conversions and histories, and not this path'
const NO_TOKEN = 'Invalid or expired token'
/** Marks the refusal of a secret that may be stored and not yet known. */
const UNKNOWN = Symbol('unknown secret')
const LOOK_UP_EVERY_MS = 52 // 20 a second at most, whatever is sent; timers may be a millisecond early
const BEARER = /^Bearer +([\x21-\x7e]+) *$/i

/**
 * `reads`: for what is read, which uploads that wait for one another must not keep waiting. `checkMemory`: throws when what
 * is in memory is too old to be believed.
 */
export async function openKeyring(
  { db, reads }: Pick<Engine, 'db' | 'reads'>,
  clock: Clock,
  checkMemory: () => unknown = () => undefined,
): Promise<Keyring> {
  const keys: Secrets<ActiveApiKey> = { known: new Map(), used: new Set() }
  const tokens: Secrets<ActiveToken> = { known: new Map(), used: new Set() }
  const isOver = ({ until }: { until: number }) =>
    until !== Number.POSITIVE_INFINITY && until <= clock().getTime()
  const ofHash = <T>(secrets: Secrets<T>, hash: string | undefined) => {
    checkMemory()
    const found = hash === undefined ? undefined : findHash(secrets, hash)
    return found && !isOver(found) ? found : undefined
  }
  let [begun, kept] = [0, 0]
  const refresh = async () => {
    begun += 1
    const own = begun
    const active = { keys: await selectActiveApiKeyHashes(reads), tokens: await selectActiveTokens(reads) }
    // After the active ones: a rotation between the two looks leaves its former hash among both, and not among neither.
    const former = await selectFormerHashes(reads)
    if (own < kept) return // what began later and is here already knows more
    kept = own
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
    lookUp,
    checkKey(key) {
      checkMemory()
      const found = find(keys, key)
      if (!found) throw refusal(NO_KEY, key)
      if (isOver(found)) throw new AppError('unauthorized', NO_KEY)
      return found
    },
    checkToken(authorization) {
      const [, secret] = BEARER.exec(authorization ?? '') ?? []
      if (!secret) throw new AppError('unauthorized', 'Invalid Authorization header format')
      checkMemory()
      const token = find(tokens, secret)
      if (!token) throw refusal(NO_TOKEN, secret)
      if (isOver(token)) throw new AppError('unauthorized', NO_TOKEN)
      return token
    },
    keyOfHash: (hash) => ofHash(keys, hash),
    tokenOfHash: (hash) => ofHash(tokens, hash),
    hashOf(kind, id) {
      const known: Map<string, Known<Stored>> = kind === 'key' ? keys.known : tokens.known
      const { hash = '' } = known.values().find((one) => one.id === id) ?? {}
      const found = known.get(hash)
      return found && !isOver(found) ? hash : undefined
    },
    hasNoKey: () => keys.known.values().every(isOver),
    keyWithNetwork: () => keys.known.values().find((key) => key.network !== null && !isOver(key))?.name,
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

/**
 * A key in the header `X-API-Key`, or in the URL where the endpoint takes it and the key was made for it; without that
 * header the one of a session.
 */
export function keyCredentials(keyring: Keyring, sessionOf?: SessionOf): Credentials {
  return {
    check(event, { takesUrlKeys }) {
      const inHeader = event.req.headers.get('x-api-key')
      if (inHeader === null && sessionOf && isOfSession(event)) {
        return sessionOf(event).then(({ key }) => {
          if (!key) throw new AppError('unauthorized', 'This session has no key: sign in with one')
          event.context.key = key.name
        })
      }
      return keyring.withLookUp(() => {
        const secret = inHeader ?? (takesUrlKeys ? keyInUrl(event) : null)
        const key = keyring.checkKey(secret)
        if (key.kind === 'bank') throw new AppError('unauthorized', NO_KEY)
        if (key.kind === 'url' && !takesUrlKeys) throw new AppError('unauthorized', ONLY_RATES)
        if (key.kind === 'header' && inHeader === null) throw new AppError('unauthorized', NOT_FOR_URLS)
        event.context.key = key.name
      })
    },
    name: 'apiKey',
    scheme: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    refusals: { 401: 'Missing or invalid API key' },
  }
}

/**
 * A token in the header `Authorization`, without that header the one of a session. It must be for the endpoint's scope
 * and its method or action (decisions 3.7).
 */
export function tokenCredentials(keyring: Keyring, sessionOf?: SessionOf): Credentials {
  return {
    check(event, { scope, method, action = method }) {
      const admit = (token: AuthorizedToken) => {
        event.context.token = token // known to the log, whatever it may do
        checkAllowed(token, `${scope}:${action}`)
      }
      const inHeader = event.req.headers.get('authorization')
      if (inHeader === null && sessionOf && isOfSession(event)) {
        return sessionOf(event).then(({ token }) => {
          if (!token) throw new AppError('unauthorized', 'This session has no token: sign in with one')
          admit(token)
        })
      }
      return keyring.withLookUp(() => admit(keyring.checkToken(inHeader)))
    },
    name: 'bearer',
    scheme: {
      type: 'http',
      scheme: 'bearer',
      description: 'To a token of one company the agents and documents of others are not there: 404.',
    },
    refusals: { 401: 'Missing, invalid or expired token', 403: 'Token not allowed for this endpoint' },
  }
}

/** @throws AppError `forbidden` for a token that is not for this family and method, such as `documents:GET` */
export function checkAllowed({ allow }: AuthorizedToken, needed: string): void {
  if (!allow.includes(needed)) throw new AppError('forbidden', 'Token not allowed for this endpoint')
}

/** The token of a request to the documents API. */
export function authorizedToken(event: H3Event): AuthorizedToken {
  return event.context.token as AuthorizedToken
}

/** What a token may see. */
export function accessOf({ company_id, agent_id }: AuthorizedToken): Access {
  return { companyId: company_id, agentId: agent_id }
}

function refusal(message: string, secret: string | null): AppError {
  return new AppError('unauthorized', message, isSecret(secret) ? { details: UNKNOWN } : {})
}
