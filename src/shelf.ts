// A bounded place for things that cost time to make. Two halves: what is new or used goes into the younger one;
// when that is full it becomes the older one, and what was in the older one and not used since is gone. So what
// is used stays, and a hit moves nothing (a Map whose oldest entry is deleted at each turn walks over the holes).

export type Shelf<T> = {
  get(key: string): T | undefined
  /** Keeps it, unless it alone would fill half of the shelf. `bytes` is what it takes, more or less. */
  put(key: string, thing: T, bytes: number): void
  /** What is on it now. */
  held(): { entries: number; bytes: number }
}

/** How often what was asked for was there. */
export type Tally = { hits: number; misses: number }

type Half<T> = { things: Map<string, { thing: T; bytes: number }>; bytes: number }

export function createShelf<T>(maxBytes: number, tally: Tally = { hits: 0, misses: 0 }): Shelf<T> {
  let young: Half<T> = { things: new Map(), bytes: 0 }
  let old: Half<T> = { things: new Map(), bytes: 0 }
  const remove = (half: Half<T>, key: string) => {
    const found = half.things.get(key)
    if (!found) return
    half.things.delete(key)
    half.bytes -= found.bytes
  }
  const put = (key: string, thing: T, bytes: number) => {
    remove(young, key)
    remove(old, key)
    if (bytes > maxBytes / 2) return
    if (young.bytes + bytes > maxBytes / 2) {
      old = young
      young = { things: new Map(), bytes: 0 }
    }
    young.things.set(key, { thing, bytes })
    young.bytes += bytes
  }
  return {
    get(key) {
      const found = young.things.get(key)
      const aged = found ? undefined : old.things.get(key)
      if (aged) put(key, aged.thing, aged.bytes)
      const there = found ?? aged
      if (there) tally.hits += 1
      else tally.misses += 1
      return there?.thing
    },
    put,
    held: () => ({ entries: young.things.size + old.things.size, bytes: young.bytes + old.bytes }),
  }
}
