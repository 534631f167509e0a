// A bounded place for things that cost time to make: what was not used for longest goes first.

export type Shelf = {
  get(key: string): Buffer | undefined
  /** Keeps the bytes, unless they alone would fill half of the shelf. */
  put(key: string, bytes: Buffer): void
}

export function createShelf(maxBytes: number): Shelf {
  const kept = new Map<string, Buffer>() // in the order of use
  let held = 0
  return {
    get(key) {
      const bytes = kept.get(key)
      if (bytes) {
        kept.delete(key)
        kept.set(key, bytes)
      }
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
  }
}
