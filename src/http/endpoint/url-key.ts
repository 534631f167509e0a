// A key where no header can be set: in the path, where http/compat/addresses.ts cuts it out before anything is routed, or
// in the query under one of the names that other services have for it.

import type { IncomingMessage } from 'node:http'
import type { H3Event } from 'h3'
import { nodeOf } from './send.ts'

/** The names of a key in a query, in the order in which they are looked at. */
export const KEY_NAMES = ['access_key', 'app_id', 'apikey', 'api_key', 'key'] as const

const PATH_KEY = Symbol('key in the path')

type Keyed = IncomingMessage & { [PATH_KEY]?: string | undefined }

/** Notes the key that was cut out of a request's path. */
export function notePathKey(req: IncomingMessage, key: string): void {
  ;(req as Keyed)[PATH_KEY] = key
}

/** The key in the query or in the path of a request; null: there is none. */
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
  return (nodeOf(event).req as Keyed)[PATH_KEY] ?? null
}
