// A bounded cache of things that cost time to make: what was not used for longest goes first. The only door to the library.

import { LRUCache } from 'lru-cache'

export type LruCache<T> = {
  get(key: string): T | undefined
  /** Keeps a value, unless it alone would fill half of the cache. `bytes` is what it takes, more or less. */
  put(key: string, value: T, bytes: number): void
  size(): { entries: number; bytes: number }
}

export type CacheStats = { hits: number; misses: number }

/** `stats` are counted on: they may be those of a cache before this one. */
export function createLruCache<T extends NonNullable<unknown>>(
  maxBytes: number,
  stats: CacheStats = { hits: 0, misses: 0 },
): LruCache<T> {
  const kept = new LRUCache<string, T>({ maxSize: maxBytes, maxEntrySize: Math.floor(maxBytes / 2) })
  return {
    get(key) {
      const found = kept.get(key)
      if (found === undefined) stats.misses += 1
      else stats.hits += 1
      return found
    },
    put(key, value, bytes) {
      kept.set(key, value, { size: bytes })
    },
    size: () => ({ entries: kept.size, bytes: kept.calculatedSize }),
  }
}
