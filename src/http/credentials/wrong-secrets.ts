// How often a client may try a wrong secret. Wrong ones beyond the limit are answered with 429; a right one is let in
// whatever came before, so that no client can lock another out behind the same address.

import type { Clock } from '../../dates.ts'
import { AppError } from '../../errors.ts'
import { createLruCache } from '../../lru.ts'

export type WrongSecrets = {
  /** Throws the error, or `too-many` in place of an `unauthorized` that is one too many for the client's address. */
  refuse(client: string, error: unknown): never
}

const MINUTE_MS = 60_000
const ADDRESSES_BYTES = 1024 * 1024

export function createWrongSecrets(
  clock: Clock,
  { aMinute, message }: { aMinute: number; message: string },
): WrongSecrets {
  const wrong = createLruCache<{ count: number; until: number }>(ADDRESSES_BYTES)
  return {
    refuse(client, error) {
      if (!(error instanceof AppError) || error.code !== 'unauthorized') throw error
      const now = clock().getTime()
      const before = wrong.get(client)
      const counted = before && before.until > now ? before : { count: 0, until: now + MINUTE_MS }
      counted.count += 1
      wrong.put(client, counted, client.length + 100)
      throw counted.count > aMinute ? new AppError('too-many', message) : error
    },
  }
}
