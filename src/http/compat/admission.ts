// Who may ask in the shapes of other services: a key in one of the ways in which their programs send one, or a client of a
// network that the operator opened. Most of these programs can set an address and nothing else.

import type { IncomingMessage } from 'node:http'
import type { BlockList } from 'node:net'
import type { H3Event } from 'h3'
import type { Clock } from '../../dates.ts'
import { AppError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Side } from '../../store/tables.ts'
import { type ApiKey, type Keyring, NOT_FOR_URLS } from '../api/auth.ts'
import { nodeOf } from '../api/send.ts'
import { keyInPath, keyInQuery } from '../api/url-key.ts'
import { createWrongSecrets } from '../credentials/wrong-secrets.ts'
import { ANY_ADDRESS, FORGEABLE_ADDRESS, isAmong, networksOf } from '../listener/networks.ts'
import { clientBehind, clientOf, isForwarded, isLocal, isLoopback, peerOf } from '../listener/proxy.ts'

/** Networks whose clients need no key; `any`: all. */
export type OpenNetworks = BlockList | 'any'

/** The networks that a list or the word any opens. */
export function openIn(text: string): OpenNetworks {
  return text === 'any' ? 'any' : networksOf(text)
}

export type AdmissionDeps = {
  keyring: Keyring
  clock: Clock
  log: Log
  open: OpenNetworks | undefined
  /** Proxies whose X-Forwarded-For is believed. */
  proxies: BlockList | undefined
}

/** What is known of a client that was let in: the side of the dollar that its key is for. */
export type Admitted = { side: Side }

/** `inBody`: a key that came in a form or in SOAP. @throws AppError `unauthorized`, or `too-many` after many wrong ones */
export type Admission = (event: H3Event, inBody?: string | null) => Admitted | Promise<Admitted>

const WRONG_A_MINUTE = 20
const TOO_MANY = 'Too many wrong keys: try again in a minute'
const NO_KEY = 'Missing or invalid key'
/** What is known of a refusal where no key was sent: some services call that another error. */
export const NO_KEY_SENT = 'no key sent'

export function createAdmission(deps: AdmissionDeps): Admission {
  const { keyring, clock, log, open, proxies } = deps
  const wrong = createWrongSecrets(clock, { aMinute: WRONG_A_MINUTE, message: TOO_MANY })
  const forgeable = new Set<string>()
  const warnOfForgery = (name: string) => {
    if (forgeable.has(name)) return
    forgeable.add(name)
    log.warn('a key with a network is rejected', { key: name, reason: FORGEABLE_ADDRESS })
  }
  return (event, inBody) => {
    const { req } = nodeOf(event)
    const sent = secretOf(event, inBody)
    const isOpen = open !== undefined && isInside(req, open, proxies)
    const admit = (): Admitted => {
      if (sent === undefined) {
        if (isOpen) return { side: 'venta' }
        throw new AppError('unauthorized', NO_KEY, { details: NO_KEY_SENT })
      }
      const key = keyring.checkKey(sent.secret)
      if (key.network !== null && proxies === ANY_ADDRESS) warnOfForgery(key.name)
      checkPlace(key, sent.isHeader, inBody !== undefined, (network) => isInside(req, network, proxies))
      event.context.key = key.name
      return { side: key.side }
    }
    const refused = (error: unknown): Admitted => {
      // Where no key is needed, an old token that a program goes on sending is no reason to refuse it.
      if (isOpen && error instanceof AppError && error.code === 'unauthorized') return { side: 'venta' }
      if (sent === undefined) throw error
      return wrong.refuse(clientBehind(req, proxies), error)
    }
    try {
      const admitted = keyring.withLookUp(admit)
      return admitted instanceof Promise ? admitted.catch(refused) : admitted
    } catch (error) {
      return refused(error)
    }
  }
}

/** Whether a request brings a key, right or wrong. */
export function bringsKey(event: H3Event, inBody?: string | null): boolean {
  return secretOf(event, inBody) !== undefined
}

/** Whether a request comes from one of the networks: by its socket, or by what a trusted proxy says of it. */
export function isInside(req: IncomingMessage, open: OpenNetworks, proxies: BlockList | undefined): boolean {
  if (open === 'any') return true
  if (proxies === ANY_ADDRESS) return false // whoever asks may name any address
  const peer = peerOf(req)
  const isProxied = proxies !== undefined && isAmong(peer, proxies)
  if (!isProxied && isForwarded(req)) return false
  const client = isProxied ? clientOf(peer, req, proxies) : peer
  if (isProxied && isAmong(client, proxies)) return false // it names no client before itself
  if (isLoopback(client)) return !isProxied && isLocal(req) && isAmong(client, open)
  return isAmong(client, open)
}

/** A key of its kind only where it was made for, and one of the bank only from its network. */
function checkPlace(
  key: ApiKey,
  isHeader: boolean,
  isLegacy: boolean,
  isFrom: (network: BlockList) => boolean,
): void {
  if (key.kind === 'header' && !isHeader) throw new AppError('unauthorized', NOT_FOR_URLS)
  if (key.kind !== 'bank') return
  const isNear = isLegacy && key.network !== null && isFrom(networksOf(key.network))
  if (!isNear) throw new AppError('unauthorized', NO_KEY)
}

/** The key of a request, of the ways of sending one the first that was used. */
function secretOf(
  event: H3Event,
  inBody: string | null | undefined,
): { secret: string; isHeader: boolean } | undefined {
  const { headers } = event.req
  const inHeader =
    headers.get('x-api-key') || headers.get('apikey') || authorization(headers.get('authorization'))
  if (inHeader) return { secret: inHeader, isHeader: true }
  const secret = keyInQuery(event) || event.url.searchParams.get('Token') || inBody || keyInPath(event)
  return secret ? { secret, isHeader: false } : undefined
}

/** A bearer token; or of Basic the password, or the user where there is no password. */
function authorization(header: string | null): string | undefined {
  const [, scheme = '', sent = ''] = /^(bearer|basic) +([\x21-\x7e]+) *$/i.exec(header ?? '') ?? []
  if (scheme.toLowerCase() !== 'basic') return sent || undefined
  const [user = '', ...password] = Buffer.from(sent, 'base64').toString().split(':')
  return password.join(':') || user || undefined
}
