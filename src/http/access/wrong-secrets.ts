// Rate limit of wrong secrets by client address: 429 beyond it. A right secret is always accepted, so that clients
// behind one address cannot lock each other out.

import { AppError } from '../../runtime/errors.ts'
import { createLruCache } from '../../runtime/lru.ts'
import type { Clock } from '../../values/dates.ts'

type WrongSecrets = {
  /** Throws the error; `too-many` instead of an `unauthorized` over the limit of the client's address. */
  refuse(client: string, error: unknown): never
}

const MINUTE_MS = 60_000
const ADDRESSES_BYTES = 1024 * 1024

export function createWrongSecrets(
  clock: Clock,
  { perMinute, message }: { perMinute: number; message: string },
): WrongSecrets {
  const wrong = createLruCache<{ count: number; until: number }>(ADDRESSES_BYTES)
  return {
    refuse(client, error) {
      if (!(error instanceof AppError) || error.code !== 'unauthorized') throw error
      const now = clock().getTime()
      const before = wrong.get(client)
      const entry = before && before.until > now ? before : { count: 0, until: now + MINUTE_MS }
      entry.count += 1
      wrong.put(client, entry, client.length + 100)
      if (entry.count <= perMinute) throw error
      throw new AppError('too-many', message, { retryAfter: (entry.until - now) / 1000 })
    },
  }
}
