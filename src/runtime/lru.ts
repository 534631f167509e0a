// LRU cache with a limit of bytes. The only door to the library.

import { LRUCache } from 'lru-cache'

export type LruCache<T> = {
  get(key: string): T | undefined
  /** Caches a value, unless it alone would fill half of the cache. `bytes` is its approximate size. */
  put(key: string, value: T, bytes: number): void
  size(): { entries: number; bytes: number }
}

export type CacheStats = { hits: number; misses: number }

/** `stats` continue those of an earlier cache. */
export function createLruCache<T extends NonNullable<unknown>>(
  maxBytes: number,
  stats: CacheStats = { hits: 0, misses: 0 },
): LruCache<T> {
  const cache = new LRUCache<string, T>({ maxSize: maxBytes, maxEntrySize: Math.floor(maxBytes / 2) })
  return {
    get(key) {
      const value = cache.get(key)
      if (value === undefined) stats.misses += 1
      else stats.hits += 1
      return value
    },
    put(key, value, bytes) {
      cache.set(key, value, { size: bytes })
    },
    size: () => ({ entries: cache.size, bytes: cache.calculatedSize }),
  }
}

/** LRU caches by owner. The cache of an owner is freed with it. */
export type CachesByOwner<T> = {
  of(owner: object): LruCache<T>
  /** Size of the newest cache. */
  size: LruCache<T>['size']
}

/** Each cache has the limit of bytes, and all share the statistics. */
export function createCachesByOwner<T extends NonNullable<unknown>>(
  maxBytes: number,
  stats?: CacheStats,
): CachesByOwner<T> {
  const caches = new WeakMap<object, LruCache<T>>()
  let newest: WeakRef<LruCache<T>> | undefined
  const open = () => {
    const cache = createLruCache<T>(maxBytes, stats)
    newest = new WeakRef(cache)
    return cache
  }
  return {
    of: (owner) => caches.getOrInsertComputed(owner, open),
    size: () => newest?.deref()?.size() ?? { entries: 0, bytes: 0 },
  }
}
