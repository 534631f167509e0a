// Memory of batches whose clients are sending or reading, which may take minutes. Slow clients take memory, but no
// permit, and block no other batch. When the memory is full, the oldest is cut, if it is older than 10 seconds.

import { AppError } from '../../runtime/errors.ts'
import type { Chunks } from '../../store/blobs/chunks.ts'

export type BatchMemoryLimits = {
  /** Bytes of all bodies and answers together. */
  bytes: number
  /** Age from which a body or answer is cut for another one. */
  graceMs: number
}

/** Pieces of a body or an answer. Disposal releases them; a second disposal is harmless. */
export type BatchPieces = Disposable & {
  list: readonly Uint8Array[]
  /** @throws AppError `busy` if the memory is full */
  add(piece: Uint8Array): void
  /** Yields the pieces, and releases them at the end. */
  chunks(): Chunks
}

const LIMITS: BatchMemoryLimits = { bytes: 128 * 1024 ** 2, graceMs: 10_000 }
const BUFFER_BYTES = 512 // each buffer takes that beside its content, and a client may send single bytes

/** Returns a function that opens the pieces of a body or answer. `cut` must close its connection. */
export function createBatchMemory({ bytes, graceMs } = LIMITS): (cut: () => void) => BatchPieces {
  const entries = new Set<{ bytes: number; startMs: number; cut: () => void }>() // the oldest first
  let usedBytes = 0
  const cutOldest = () => {
    const [oldest] = entries
    if (!oldest || performance.now() - oldest.startMs < graceMs) throw busy(bytes)
    entries.delete(oldest)
    usedBytes -= oldest.bytes
    oldest.cut()
  }
  return (cut) => {
    const list: Buffer[] = []
    const entry = { bytes: 0, startMs: performance.now(), cut }
    entries.add(entry)
    const release = () => {
      if (entries.delete(entry)) usedBytes -= entry.bytes
      list.length = 0
    }
    return {
      list,
      add(piece) {
        const size = piece.length + BUFFER_BYTES
        while (entries.has(entry) && usedBytes + size > bytes) cutOldest()
        if (!entries.has(entry)) throw busy(bytes)
        usedBytes += size
        entry.bytes += size
        list.push(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength))
      },
      async *chunks() {
        try {
          yield* list
        } finally {
          release()
        }
      },
      [Symbol.dispose]: release,
    }
  }
}

function busy(bytes: number): AppError {
  const words = `The batches under way have all the memory that they may have (${bytes / 1024 ** 2} MiB)`
  return new AppError('busy', `${words}: try again in a moment`)
}
