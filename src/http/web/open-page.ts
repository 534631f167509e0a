// Rates for the page without signing in, from the networks of `--open-page` (decisions#open-rates). The host must be
// this server. The header `X-Cambista-Page: open` needs a preflight of the browser, which no other website is granted.

import type { BlockList } from 'node:net'
import type { H3Event } from 'h3'
import { AppError } from '../../runtime/errors.ts'
import { createLruCache } from '../../runtime/lru.ts'
import type { Clock } from '../../values/dates.ts'
import type { AdmitOpenPage } from '../access/auth.ts'
import { nodeContext } from '../endpoint/answers/send.ts'
import { isRequestAllowed } from '../listener/open-networks.ts'
import { checkSameOrigin, type HostNames, serverOrigin } from '../listener/own-origin.ts'
import { clientAddress } from '../listener/proxy.ts'

export type OpenPage = {
  /** Returns true for the address of a client that may read rates. */
  isOpen(event: H3Event): boolean
  /** @throws AppError as `checkOpenPage` does, `unauthorized` for another address or path, `too-many` for a flood */
  admit: AdmitOpenPage
}

/** The rates of the page. Neither the state of the server nor exports nor documents are among them. */
const OPEN: ReadonlySet<string> = new Set([
  'GET /api/v1/series',
  'GET /api/v1/series/{series_id}/history',
  'GET /api/v1/rates',
  'GET /api/v1/rates/latest',
  'GET /api/v1/history',
  'GET /api/v1/convert',
  'GET /api/v1/convert/statement',
  'POST /api/v1/convert/batch',
])
const REQUESTS_A_MINUTE = 600
const MINUTE_MS = 60_000
const ADDRESSES_BYTES = 1024 * 1024
export const SIGN_IN = 'Without signing in only rates are open here, and only to the networks of --open-page'

export function createOpenPage({
  networks,
  names,
  clock,
}: {
  /** Undefined: none is open. */
  networks: BlockList | undefined
  names: HostNames
  clock: Clock
}): OpenPage {
  const countRequest = createRequestLimit(clock)
  const isOpen = (event: H3Event) =>
    networks !== undefined && isRequestAllowed(nodeContext(event).req, networks, names.proxies)
  return {
    isOpen,
    admit(event, { method, path }) {
      checkOpenPage(event, names)
      if (!isOpen(event) || !OPEN.has(`${method} ${path}`)) throw new AppError('unauthorized', SIGN_IN)
      countRequest(clientAddress(nodeContext(event).req, names.proxies))
    },
  }
}

/**
 * Rejects requests of other websites and under other names, and removes the permission of websites to read the answer.
 * @throws AppError `misdirected` or `forbidden`
 */
export function checkOpenPage(event: H3Event, names: HostNames): void {
  event.context.cors = event.context.cors?.vary ? { vary: event.context.cors.vary } : undefined
  const { req } = nodeContext(event)
  const why = 'Rates are open to the page of this server alone, not to another website'
  checkSameOrigin(req, serverOrigin(req, names), why)
}

/** Returns a function that counts the requests of an address. */
function createRequestLimit(clock: Clock): (address: string) => void {
  const counts = createLruCache<{ count: number; until: number }>(ADDRESSES_BYTES)
  return (address) => {
    const now = clock().getTime()
    const before = counts.get(address)
    const isCurrent = before !== undefined && before.until > now && before.until <= now + MINUTE_MS
    const entry = isCurrent ? before : { count: 0, until: now + MINUTE_MS }
    entry.count += 1
    if (!isCurrent) counts.put(address, entry, address.length + 100)
    if (entry.count <= REQUESTS_A_MINUTE) return
    throw new AppError('too-many', `At most ${REQUESTS_A_MINUTE} requests a minute are open to an address`, {
      retryAfter: (entry.until - now) / 1000,
    })
  }
}
