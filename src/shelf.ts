// A bounded place for things that cost time to make: what was not used for longest goes first.

export type Shelf = {
  get(key: string): Buffer | undefined
  /** Keeps the bytes, unless they alone would fill half of the shelf. */
  put(key: string, bytes: Buffer): void
  /** What is on it now. */
  held(): { entries: number; bytes: number }
}

/** How often what was asked for was there. */
export type Tally = { hits: number; misses: number }

export function createShelf(maxBytes: number, tally: Tally = { hits: 0, misses: 0 }): Shelf {
  const kept = new Map<string, Buffer>() // in the order of use
  let held = 0
  return {
    get(key) {
      const bytes = kept.get(key)
      if (bytes) {
        kept.delete(key)
        kept.set(key, bytes)
        tally.hits += 1
      } else tally.misses += 1
      return bytes
    },
    put(key, bytes) {
      if (bytes.length > maxBytes / 2) return
      held += bytes.length - (kept.get(key)?.length ?? 0)
      kept.delete(key)
      kept.set(key, bytes)
      for (const [oldest, { length }] of kept) {
        if (held <= maxBytes) return
        kept.delete(oldest)
        held -= length
      }
    },
    held: () => ({ entries: kept.size, bytes: held }),
  }
}
