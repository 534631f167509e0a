// How much memory requests may hold, each and all together (decisions 3.3). What is counted is what is taken: the buffers
// come from here, and go back to the system when they are freed, not when the garbage collector finds them.

import { AppError } from './errors.ts'

export type MemoryLimits = {
  /** Bytes that one request may hold. */
  each: number
  /** Bytes that all of them may hold together. */
  all: number
}

export type MemoryBudget = {
  /** The share of one request. */
  open(): MemoryShare
  /** Bytes that are held. */
  held(): number
}

/** Disposing of it frees all that was taken of it and its parts; once more is harmless. */
export type MemoryShare = Disposable & {
  /** Zeroed bytes. @throws AppError `too-large` over the limit of one request, `busy` over that of all */
  take(bytes: number): Buffer
  /** Frees what `take` gave, which has no bytes any more then. */
  free(bytes: Uint8Array): void
  /** A share within this one, that can be disposed of before it. */
  part(): MemoryShare
  /** Bytes that are held. */
  held(): number
}

export function createMemoryBudget({ each, all }: MemoryLimits): MemoryBudget {
  let total = 0
  return {
    held: () => total,
    open() {
      let held = 0
      return shareOf((bytes) => {
        if (bytes > 0 && held + bytes > each) throw tooLarge(each)
        if (bytes > 0 && total + bytes > all) throw busy(all)
        held += bytes
        total += bytes
      })
    },
  }
}

/** `count` is told how many bytes more or fewer are held, and may refuse more. */
function shareOf(count: (bytes: number) => void): MemoryShare {
  const taken = new Set<Uint8Array>()
  const parts = new Set<MemoryShare>()
  let held = 0
  const counted = (bytes: number) => {
    count(bytes)
    held += bytes
  }
  const free = (bytes: Uint8Array) => {
    if (!taken.delete(bytes)) return
    counted(-bytes.length)
    ;(bytes.buffer as ArrayBuffer).transfer(0) // gives it back now
  }
  return {
    take(size) {
      counted(size)
      const bytes = Buffer.alloc(size)
      taken.add(bytes)
      return bytes
    },
    free,
    part() {
      const part = shareOf(counted)
      parts.add(part)
      return {
        ...part,
        [Symbol.dispose]() {
          parts.delete(part)
          part[Symbol.dispose]()
        },
      }
    },
    held: () => held,
    [Symbol.dispose]() {
      for (const part of parts) part[Symbol.dispose]()
      for (const bytes of taken) free(bytes)
    },
  }
}

function tooLarge(each: number): AppError {
  const words = `What a request holds in memory beside its contents (names, types) is limited to ${inMiB(each)}`
  return new AppError('too-large', `${words}: send fewer documents at once`)
}

function busy(all: number): AppError {
  const words = `The uploads under way hold all the memory that they may have (${inMiB(all)})`
  return new AppError('busy', `${words}: try again in a moment`)
}

function inMiB(bytes: number): string {
  return `${bytes / 1024 ** 2} MiB`
}
