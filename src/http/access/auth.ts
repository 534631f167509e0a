// Authentication of keys and tokens. The active ones are in memory and reloaded when they change. Before an unknown
// secret is rejected they are reloaded, for it may have just been created (decisions#key-first).

import type { H3Event } from 'h3'
import { ALLOWED } from '../../domain/access/secrets.ts'
import type { Access } from '../../domain/documents/access.ts'
import { coalesce } from '../../runtime/coalesce.ts'
import { AppError } from '../../runtime/errors.ts'
import { type ActiveApiKey, selectActiveApiKeyHashes } from '../../store/access/api-keys.ts'
import { selectFormerHashes } from '../../store/access/former-secrets.ts'
import { updateSecretsUsed } from '../../store/access/secret-rows.ts'
import { type ActiveToken, selectActiveTokens } from '../../store/access/tokens.ts'
import type { Actor } from '../../store/documents/events.ts'
import type { Engine } from '../../store/engine.ts'
import type { Clock, IsoDate } from '../../values/dates.ts'
import type { Credentials } from '../endpoint/api.ts'
import { createCors, parseOrigins } from '../endpoint/cors.ts'
import { keyInUrl } from '../endpoint/url-key.ts'
import { createKeyUse } from './key-use.ts'
import {
  findByHash,
  findSecret,
  findSecretAgain,
  indexByHash,
  isSecret,
  type KnownSecretRow,
  type KnownSecrets,
  type SecretEntry,
  takeUsedHashes,
} from './known-secrets.ts'
import { hasSession, isOpenPage } from './session.ts'

/** A valid token. `company_id` and `agent_id` limit it to a company and to the documents of an agent. */
export type AuthorizedToken = {
  id: number
  name: string
  company_id: number | null
  agent_id: number | null
  allow: readonly string[]
  /** Person whose session it is, for events; undefined: a program, or a session without a name. */
  person?: string | undefined
}

/** A valid key: where it may be sent, its preferred side and provider, its network and its websites. */
export type ApiKey = Pick<ActiveApiKey, 'id' | 'name' | 'kind' | 'side' | 'network' | 'origins' | 'provider'>

declare module 'h3' {
  interface H3EventContext {
    /** Valid key of the request, for the log and its counter. */
    key?: ApiKey
  }
}

/** Sender of an upload, and the id of the request for the log. */
export type Client = { token: AuthorizedToken; requestId: string }

/** Valid key and token of a session of the page, and the name of its person. The token has the name too. */
export type SessionCredentials = {
  key: ApiKey | undefined
  token: SessionToken | undefined
  person?: string | undefined
}
export type SessionToken = AuthorizedToken & { expires_at: IsoDate | null }

/**
 * Returns key and token of the session of a request with the header `X-Cambista-Page`.
 * @throws AppError `misdirected`, `forbidden` or `unauthorized` for one that has none
 */
export type FindSession = (event: H3Event) => Promise<SessionCredentials>

/** Admits a request of a page without a session, in an open network. @throws AppError to reject it */
export type AdmitOpenPage = Credentials['check']

export type Keyring = {
  /**
   * Runs `checkKey` or `checkToken`. If the secret is unknown, reloads keys and tokens and runs it again; only then
   * the result is a promise.
   */
  withLookUp<T>(check: () => T): T | Promise<T>
  /** Returns an active key. @throws AppError `unauthorized` for any other, with this message */
  checkKey(key: string | null, message?: string): ApiKey
  /** Returns an active key; undefined: it is not in memory. Does not check the age of the memory. */
  findKey(connection: object, secret: string): ApiKey | undefined
  /**
   * Returns the token in an Authorization header.
   * @throws AppError `unauthorized` for none, a bad header, an unknown, revoked or expired token (decisions#tokens)
   */
  checkToken(authorization: string | null): AuthorizedToken
  /** Returns the valid key of a hash: a session ends with the secret that opened it. */
  findKeyByHash(hash: string | undefined): ApiKey | undefined
  findTokenByHash(hash: string | undefined): SessionToken | undefined
  /** Returns the current hash of a valid key or token. */
  currentHash(kind: 'key' | 'token', id: number): string | undefined
  /** Returns true if there is no valid key. */
  hasNoKey(): boolean
  /** Returns the name of a valid key with a network; undefined: there is none. */
  keyWithNetwork(): string | undefined
  /** Reloads keys and tokens, after another process changed them. */
  refresh(): Promise<void>
  /** Counts a request with a valid key, for `recordUse`. */
  countRequest(keyId: number, network: string): void
  /** Stores the last use of keys and tokens used since the previous call, and the requests of keys. */
  recordUse(): Promise<void>
  /** Like `refresh`, at most 20 times a second: for unknown secrets. */
  lookUp(): Promise<void>
}

const NO_KEY = 'Missing or invalid API key: send it in the header X-API-Key'
/** Error for a key in a URL that was not made for URLs: other programs log URLs. */
export const NOT_FOR_URLS =
  'This key was not made for URLs (cambista key create NAME --in-url): send it in a header'
/** Error for a key made for URLs on a path outside of rates. */
export const ONLY_RATES =
  'This key was made for URLs: it opens rates, conversions and histories, and not this path'
const NO_HEADER = 'Invalid Authorization header format'
const HEADER_HINT = 'send a token (cbt_…) as Authorization: Bearer cbt_…'
const NO_TOKEN = 'Invalid or expired token'
/** Marks the rejection of a secret that may be stored, but is not in memory yet. */
const UNKNOWN = Symbol('unknown secret')
const LOOK_UP_EVERY_MS = 52 // at most 20 a second, with timers that may be 1 ms early
const BEARER = /^Bearer +([\x21-\x7e]+) *$/i

/**
 * Loads all keys and tokens. `reads`: a read connection, so that look-ups never queue behind uploads. `checkMemory`:
 * throws when the data in memory are too old.
 */
export async function openKeyring(
  { db, reads }: Pick<Engine, 'db' | 'reads'>,
  clock: Clock,
  checkMemory: () => unknown = () => undefined,
): Promise<Keyring> {
  const keys: KnownSecrets<ActiveApiKey> = { known: new Map(), used: new Set() }
  const keyUse = createKeyUse(db, clock)
  const tokens: KnownSecrets<ActiveToken> = { known: new Map(), used: new Set() }
  const hasExpired = ({ until }: { until: number }) =>
    until !== Number.POSITIVE_INFINITY && until <= clock().getTime()
  const findValid = <T>(secrets: KnownSecrets<T>, hash: string | undefined) => {
    checkMemory()
    const entry = hash === undefined ? undefined : findByHash(secrets, hash)
    return entry && !hasExpired(entry) ? entry : undefined
  }
  let [started, loaded] = [0, 0] // numbers of the newest reload that began, and of the one in memory
  const refresh = async () => {
    started += 1
    const own = started
    const active = { keys: await selectActiveApiKeyHashes(reads), tokens: await selectActiveTokens(reads) }
    // Read last: a hash that is rotated between the two queries is in both results, not in neither.
    const former = await selectFormerHashes(reads)
    if (own < loaded) return // a later reload has finished before
    loaded = own
    keys.known = indexByHash(active.keys, former, 'key_id')
    tokens.known = indexByHash(active.tokens, former, 'token_id')
  }
  await refresh()
  const lookUp = coalesce(refresh, LOOK_UP_EVERY_MS)
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
    checkKey(key, message = NO_KEY) {
      checkMemory()
      const entry = findSecret(keys, key)
      if (!entry) throw refusal(message, key)
      if (hasExpired(entry)) throw new AppError('unauthorized', message)
      return entry
    },
    findKey(connection, secret) {
      const entry = findSecretAgain(connection, keys, secret)
      return entry && !hasExpired(entry) ? entry : undefined
    },
    checkToken(authorization) {
      const [, secret] = BEARER.exec(authorization ?? '') ?? []
      if (!secret) throw new AppError('unauthorized', NO_HEADER, { details: { hint: HEADER_HINT } })
      checkMemory()
      const token = findSecret(tokens, secret)
      if (!token) throw refusal(NO_TOKEN, secret)
      if (hasExpired(token)) throw new AppError('unauthorized', NO_TOKEN)
      return token
    },
    findKeyByHash: (hash) => findValid(keys, hash),
    findTokenByHash: (hash) => findValid(tokens, hash),
    currentHash(kind, id) {
      const entries: Map<string, SecretEntry<KnownSecretRow>> = kind === 'key' ? keys.known : tokens.known
      const { hash = '' } = entries.values().find((one) => one.id === id) ?? {}
      const entry = entries.get(hash)
      return entry && !hasExpired(entry) ? hash : undefined
    },
    hasNoKey: () => keys.known.values().every(hasExpired),
    keyWithNetwork: () => keys.known.values().find((key) => key.network !== null && !hasExpired(key))?.name,
    refresh,
    countRequest: keyUse.count,
    async recordUse() {
      const hashes = [...takeUsedHashes(keys), ...takeUsedHashes(tokens)]
      if (hashes.length > 0) await updateSecretsUsed(db, hashes, clock().toISOString())
      await keyUse.store()
    },
  }
}

/**
 * Key in the header `X-API-Key`, else that of a session, else an open network. Endpoints with the permission `url-key` accept keys made for
 * URLs in the URL too.
 */
export function keyCredentials(
  keyring: Keyring,
  findSession: FindSession,
  admitOpenPage?: AdmitOpenPage,
): Credentials {
  return {
    permissions: ['key', 'url-key'],
    check(event, endpoint) {
      const { permission } = endpoint
      const takesUrlKeys = permission === 'url-key'
      const inHeader = event.req.headers.get('x-api-key')
      if (inHeader === null && hasSession(event)) {
        if (admitOpenPage && isOpenPage(event)) return admitOpenPage(event, endpoint)
        return findSession(event).then(({ key }) => {
          if (!key) throw new AppError('unauthorized', 'This session has no key: sign in with one')
          event.context.key = key
        })
      }
      return keyring.withLookUp(() => {
        const inUrl = inHeader === null && takesUrlKeys ? keyInUrl(event) : undefined
        event.context.rejectedKey = inUrl // until it is found valid
        const key = keyring.checkKey(inUrl?.secret ?? inHeader)
        if (key.kind === 'bank') throw new AppError('unauthorized', NO_KEY)
        event.context.rejectedKey = undefined
        if (key.kind === 'url' && !takesUrlKeys) throw new AppError('unauthorized', ONLY_RATES)
        if (key.kind === 'header' && inHeader === null) throw new AppError('unauthorized', NOT_FOR_URLS)
        admitKey(event, key)
      })
    },
    name: 'apiKey',
    scheme: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    refusals: { 401: 'Missing or invalid API key' },
  }
}

/**
 * Token in the header `Authorization`, else that of a session. The token must have the permission of the endpoint
 * (decisions#tokens).
 */
export function tokenCredentials(keyring: Keyring, findSession: FindSession): Credentials {
  return {
    permissions: ALLOWED,
    check(event, { permission }) {
      const admit = (token: AuthorizedToken) => {
        event.context.token = token // logged, also if the token is not allowed
        checkAllowed(token, permission)
      }
      const inHeader = event.req.headers.get('authorization')
      if (inHeader === null && hasSession(event)) {
        return findSession(event).then(({ token }) => {
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

/** Records the key of a request. Websites of the key alone may read the answer. */
export function admitKey(event: H3Event, key: ApiKey): void {
  event.context.key = key
  if (key.origins === null) return
  event.context.cors = createCors(parseOrigins(key.origins))(event.req.headers.get('origin'))
}

/** @throws AppError `forbidden` for a token without this permission, such as `documents:GET` */
export function checkAllowed({ allow }: AuthorizedToken, needed: string): void {
  if (allow.includes(needed)) return
  const details = { hint: `the token needs the permission ${needed}` }
  throw new AppError('forbidden', 'Token not allowed for this endpoint', { details })
}

/** Token of a request to the documents API. */
export function authorizedToken(event: H3Event): AuthorizedToken {
  return event.context.token as AuthorizedToken
}

/** Actor of the events that a request to the documents API causes. */
export function requestActor(event: H3Event): Actor {
  const { name, person } = authorizedToken(event)
  return { via: 'token', actor: name, person }
}

/** Company and agent whose documents a token may access. */
export function tokenAccess({ company_id, agent_id }: AuthorizedToken): Access {
  return { companyId: company_id, agentId: agent_id }
}

function refusal(message: string, secret: string | null): AppError {
  return new AppError('unauthorized', message, isSecret(secret) ? { details: UNKNOWN } : {})
}
