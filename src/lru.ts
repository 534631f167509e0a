// A bounded cache of things that cost time to make. Two halves: what is new or used goes into the younger one; when that
// is full it becomes the older one, and what was in the older one and not used since is gone. So what is used stays, and
// a hit moves nothing (a Map whose oldest entry is deleted each time walks over the holes).

export type LruCache<T> = {
  get(key: string): T | undefined
  /** Keeps a value, unless it alone would fill half of the cache. `bytes` is what it takes, more or less. */
  put(key: string, value: T, bytes: number): void
  size(): { entries: number; bytes: number }
}

export type CacheStats = { hits: number; misses: number }

type Half<T> = { entries: Map<string, { value: T; bytes: number }>; bytes: number }

export function createLruCache<T>(maxBytes: number, stats: CacheStats = { hits: 0, misses: 0 }): LruCache<T> {
  let young: Half<T> = { entries: new Map(), bytes: 0 }
  let old: Half<T> = { entries: new Map(), bytes: 0 }
  const remove = (half: Half<T>, key: string) => {
    const found = half.entries.get(key)
    if (!found) return
    half.entries.delete(key)
    half.bytes -= found.bytes
  }
  const put = (key: string, value: T, bytes: number) => {
    remove(young, key)
    remove(old, key)
    if (bytes > maxBytes / 2) return
    if (young.bytes + bytes > maxBytes / 2) {
      old = young
      young = { entries: new Map(), bytes: 0 }
    }
    young.entries.set(key, { value, bytes })
    young.bytes += bytes
  }
  return {
    get(key) {
      const found = young.entries.get(key)
      const aged = found ? undefined : old.entries.get(key)
      if (aged) put(key, aged.value, aged.bytes)
      const hit = found ?? aged
      if (hit) stats.hits += 1
      else stats.misses += 1
      return hit?.value
    },
    put,
    size: () => ({ entries: young.entries.size + old.entries.size, bytes: young.bytes + old.bytes }),
  }
}
