// API keys in URLs, for programs that cannot set headers. A key in the path is cut out by http/compat/addresses.ts
// before routing. A key in the query has one of the parameter names of other services.

import type { IncomingMessage } from 'node:http'
import type { H3Event } from 'h3'
import { nodeContext } from './send.ts'

/** Query parameters of a key, in order of precedence. */
export const KEY_NAMES = ['access_key', 'app_id', 'apikey', 'api_key', 'key'] as const

const PATH_KEY = Symbol('key in the path')

type Keyed = IncomingMessage & { [PATH_KEY]?: string | undefined }

/** Stores the key that was cut out of the path of a request. */
export function notePathKey(req: IncomingMessage, key: string): void {
  ;(req as Keyed)[PATH_KEY] = key
}

/** Returns the key in the query or path of a request; null: there is none. */
export function keyInUrl(event: H3Event): string | null {
  return keyInQuery(event) ?? keyInPath(event)
}

export function keyInQuery({ url: { searchParams } }: H3Event): string | null {
  for (const name of KEY_NAMES) {
    const key = searchParams.get(name)
    if (key) return key
  }
  return null
}

export function keyInPath(event: H3Event): string | null {
  return (nodeContext(event).req as Keyed)[PATH_KEY] ?? null
}
