// API keys in URLs, for programs that cannot set headers. A key in the path is cut out by http/compat/addresses.ts
// before routing. A key in the query has one of the parameter names of other services.

import type { IncomingMessage } from 'node:http'
import type { H3Event } from 'h3'
import { nodeContext } from './answers/send.ts'

/** Query parameters of a key, in order of precedence. */
export const KEY_NAMES = ['access_key', 'app_id', 'apikey', 'api_key', 'key'] as const

const PATH_KEY = Symbol('key in the path')

type Keyed = IncomingMessage & { [PATH_KEY]?: string | undefined }

/** Stores the key that was cut out of the path of a request. */
export function notePathKey(req: IncomingMessage, key: string): void {
  ;(req as Keyed)[PATH_KEY] = key
}

/** A key, and its place in the request for errors. */
export type PlacedKey = { secret: string; place: string }

/** Returns the key in the query or path of a request; undefined: there is none. */
export function keyInUrl(event: H3Event): PlacedKey | undefined {
  return keyInQuery(event, KEY_NAMES) ?? keyInPath(event)
}

/** Returns the first parameter of these names that is not empty. */
export function keyInQuery({ url }: H3Event, names: readonly string[]): PlacedKey | undefined {
  for (const name of names) {
    const secret = url.searchParams.get(name)
    if (secret) return { secret, place: `the parameter ${name}` }
  }
  return undefined
}

export function keyInPath(event: H3Event): PlacedKey | undefined {
  const secret = (nodeContext(event).req as Keyed)[PATH_KEY]
  return secret ? { secret, place: 'the path' } : undefined
}

/** Error text for a wrong key: the same for all, so that nobody learns which ones were revoked. */
export function wrongKey({ place }: PlacedKey): string {
  return `The key in ${place} is unknown, revoked or expired`
}
