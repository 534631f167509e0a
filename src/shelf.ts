// A bounded place for things that cost time to make: what was not used for longest goes first.

export type Shelf<T> = {
  get(key: string): T | undefined
  /** Keeps it, unless it alone would fill half of the shelf. `bytes` is what it takes, key included, more or less. */
  put(key: string, thing: T, bytes: number): void
  /** What is on it now. */
  held(): { entries: number; bytes: number }
}

/** How often what was asked for was there. */
export type Tally = { hits: number; misses: number }

export function createShelf<T>(maxBytes: number, tally: Tally = { hits: 0, misses: 0 }): Shelf<T> {
  const kept = new Map<string, { thing: T; bytes: number }>() // in the order of use
  let newest: string | undefined
  let held = 0
  return {
    get(key) {
      const found = kept.get(key)
      if (!found) tally.misses += 1
      else {
        tally.hits += 1
        if (key !== newest) {
          kept.delete(key)
          kept.set(key, found)
          newest = key
        }
      }
      return found?.thing
    },
    put(key, thing, bytes) {
      if (bytes > maxBytes / 2) return
      held += bytes - (kept.get(key)?.bytes ?? 0)
      kept.delete(key)
      kept.set(key, { thing, bytes })
      newest = key
      for (const [oldest, one] of kept) {
        if (held <= maxBytes) return
        kept.delete(oldest)
        held -= one.bytes
      }
    },
    held: () => ({ entries: kept.size, bytes: held }),
  }
}
