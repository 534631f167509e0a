// Authenticates clients of the compat API by a key or by an open network. The key may be in any place where the
// upstream's programs send one. Most of these programs can set an address and nothing else.

import type { BlockList } from 'node:net'
import type { H3Event } from 'h3'
import { DEFAULT_PROVIDER } from '../../providers/list.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import type { Side } from '../../store/tables.ts'
import type { Clock } from '../../values/dates.ts'
import { type ApiKey, admitKey, type Keyring, NOT_FOR_URLS } from '../access/auth.ts'
import { createWrongSecrets } from '../access/wrong-secrets.ts'
import { nodeContext } from '../endpoint/answers/send.ts'
import { KEY_NAMES, keyInPath, keyInQuery, type PlacedKey, wrongKey } from '../endpoint/url-key.ts'
import { ANY_ADDRESS, FORGEABLE_ADDRESS, parseNetworks } from '../listener/networks.ts'
import { isRequestAllowed, type OpenNetworks } from '../listener/open-networks.ts'
import { clientAddress } from '../listener/proxy.ts'

export type AdmissionDeps = {
  keyring: Keyring
  clock: Clock
  log: Log
  open: OpenNetworks | undefined
  /** Proxies whose X-Forwarded-For is trusted. */
  proxies: BlockList | undefined
}

/** An authenticated client: the side of the dollar and the provider of its key. */
export type AdmittedClient = { side: Side; provider: string }

/** A client without a key. */
export const KEYLESS_CLIENT: AdmittedClient = { side: 'venta', provider: DEFAULT_PROVIDER.code }

/** `inBody`: a key that came in a form or in SOAP. @throws AppError `unauthorized`, or `too-many` after many wrong ones */
export type Admission = (event: H3Event, bodyKey?: string | null) => AdmittedClient | Promise<AdmittedClient>

const WRONG_PER_MINUTE = 20
const TOO_MANY = 'Too many wrong keys: try again in a minute'
const NO_KEY =
  'Missing key: send it in the header X-API-Key, in the path as /k/KEY, or in the query as key=KEY'
/** Parameters of a key; `Token` is that of the bank's old service. */
const PARAMETERS = [...KEY_NAMES, 'Token']
/** Details of a 401 without any key: some services have another error for that. */
export const NO_KEY_SENT = 'no key sent'

export function createAdmission(deps: AdmissionDeps): Admission {
  const { keyring, clock, log, open, proxies } = deps
  const wrongSecrets = createWrongSecrets(clock, { perMinute: WRONG_PER_MINUTE, message: TOO_MANY })
  const forgeable = new Set<string>()
  const warnOfForgery = (name: string) => {
    if (forgeable.has(name)) return
    forgeable.add(name)
    log.warn('a key with a network is rejected', { key: name, reason: FORGEABLE_ADDRESS })
  }
  return (event, bodyKey) => {
    const { req } = nodeContext(event)
    const credential = readSecret(event, bodyKey)
    const isOpen = open !== undefined && isRequestAllowed(req, open, proxies)
    const admit = (): AdmittedClient => {
      if (credential === undefined) {
        if (isOpen) return KEYLESS_CLIENT
        throw new AppError('unauthorized', NO_KEY, { details: NO_KEY_SENT })
      }
      const message = wrongKey(credential)
      const key = keyring.checkKey(credential.secret, message)
      if (key.network !== null && proxies === ANY_ADDRESS) warnOfForgery(key.name)
      if (key.kind === 'header' && !credential.isHeader) throw new AppError('unauthorized', NOT_FOR_URLS)
      const isInNetwork = (network: BlockList) => isRequestAllowed(req, network, proxies)
      if (key.kind === 'bank' && !(bodyKey !== undefined && isBankTokenAllowed(key, isInNetwork)))
        throw new AppError('unauthorized', message)
      admitKey(event, key)
      return { side: key.side, provider: key.provider ?? DEFAULT_PROVIDER.code }
    }
    const handleError = (error: unknown): AdmittedClient => {
      // An open network needs no key, so an outdated token of a program is ignored.
      if (isOpen && error instanceof AppError && error.code === 'unauthorized') return KEYLESS_CLIENT
      if (credential === undefined) throw error
      return wrongSecrets.refuse(clientAddress(req, proxies), error)
    }
    try {
      const admitted = keyring.withLookUp(admit)
      return admitted instanceof Promise ? admitted.catch(handleError) : admitted
    } catch (error) {
      return handleError(error)
    }
  }
}

/** Returns true for a request with a key, valid or not. */
export function hasKey(event: H3Event, bodyKey?: string | null): boolean {
  return readSecret(event, bodyKey) !== undefined
}

/** Returns true for a token of the bank's old service in its network. */
function isBankTokenAllowed({ network }: ApiKey, isInNetwork: (network: BlockList) => boolean): boolean {
  return network !== null && isInNetwork(parseNetworks(network))
}

/** Returns the key of a request: the first of the places where it was sent. */
function readSecret(
  event: H3Event,
  bodyKey: string | null | undefined,
): (PlacedKey & { isHeader: boolean }) | undefined {
  const { headers } = event.req
  for (const [name, secret] of [
    ['X-API-Key', headers.get('x-api-key')],
    ['apikey', headers.get('apikey')],
    ['Authorization', authorizationSecret(headers.get('authorization'))],
  ] as const)
    if (secret) return { secret, place: `the header ${name}`, isHeader: true }
  const inBody = bodyKey ? { secret: bodyKey, place: 'the body' } : undefined
  const key = keyInQuery(event, PARAMETERS) ?? inBody ?? keyInPath(event)
  return key && { ...key, isHeader: false }
}

/** Returns a bearer token, or the password of Basic, or its user if there is no password. */
function authorizationSecret(header: string | null): string | undefined {
  const [, scheme = '', secret = ''] = /^(bearer|basic) +([\x21-\x7e]+) *$/i.exec(header ?? '') ?? []
  if (scheme.toLowerCase() !== 'basic') return secret || undefined
  const [user = '', ...password] = Buffer.from(secret, 'base64').toString().split(':')
  return password.join(':') || user || undefined
}
