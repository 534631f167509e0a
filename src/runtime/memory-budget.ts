// Memory limits for each request and for all together (decisions#document). Buffers are allocated here, so the count is
// exact. A freed buffer returns to the system at once, without the garbage collector.

import { AppError } from './errors.ts'

export type MemoryLimits = {
  /** Bytes for a request. */
  each: number
  /** Bytes for all requests together. */
  all: number
}

export type MemoryBudget = {
  /** Opens the share of a request. */
  open(): MemoryShare
  usedBytes(): number
}

/** Memory of a request. Disposal frees the buffers of the share and its parts; a second disposal is harmless. */
export type MemoryShare = Disposable & {
  /** Allocates zeroed bytes. @throws AppError `too-large` over the limit of a request, `busy` over that of all */
  take(bytes: number): Buffer
  /** Frees a buffer of `take`, which is empty then. */
  free(bytes: Uint8Array): void
  /** Opens a share within this one, which can be disposed of first. */
  part(): MemoryShare
  usedBytes(): number
}

export function createMemoryBudget({ each, all }: MemoryLimits): MemoryBudget {
  let total = 0
  return {
    usedBytes: () => total,
    open() {
      let usedBytes = 0
      return createShare((bytes) => {
        if (bytes > 0 && usedBytes + bytes > each) throw tooLarge(each)
        if (bytes > 0 && total + bytes > all) throw busy(all)
        usedBytes += bytes
        total += bytes
      })
    },
  }
}

/** `count` receives each change of the used bytes, and may throw on an increase. */
function createShare(count: (bytes: number) => void): MemoryShare {
  const buffers = new Set<Uint8Array>()
  const parts = new Set<MemoryShare>()
  let usedBytes = 0
  const countBytes = (bytes: number) => {
    count(bytes)
    usedBytes += bytes
  }
  const free = (bytes: Uint8Array) => {
    if (!buffers.delete(bytes)) return
    countBytes(-bytes.length)
    ;(bytes.buffer as ArrayBuffer).transfer(0) // returns the memory to the system at once
  }
  return {
    take(size) {
      countBytes(size)
      const bytes = Buffer.alloc(size)
      buffers.add(bytes)
      return bytes
    },
    free,
    part() {
      const part = createShare(countBytes)
      parts.add(part)
      return {
        ...part,
        [Symbol.dispose]() {
          parts.delete(part)
          part[Symbol.dispose]()
        },
      }
    },
    usedBytes: () => usedBytes,
    [Symbol.dispose]() {
      for (const part of parts) part[Symbol.dispose]()
      for (const bytes of buffers) free(bytes)
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
