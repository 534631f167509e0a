// What every way to send documents has in common: a body is read, and leaves an upload that is judged as a whole.

import type { Upload } from '../../../domain/documents/upload.ts'
import type { UploadNeeds } from './collector.ts'

export type UploadReader = {
  /** What was read so far. */
  upload: Upload
  /**
   * Reads the whole body. Throws AppError `bad-request` for what has not the form that it must have, what `memory` throws,
   * and whatever body or contents throw. The body is then left where it is, neither drained nor destroyed, so that the
   * request can still be answered; a caller that drains it iterates over it again.
   */
  read(body: AsyncIterable<Uint8Array>): Promise<void>
  /** Removes the contents that were not committed, and frees the memory that was held for them. */
  discard(): Promise<void>
}

/** A way to send documents. */
export type Way = {
  open(needs: UploadNeeds): UploadReader
  /** Bytes of content that a byte of the body brings, at most. */
  density: number
}

/**
 * The blocks of a body, each lent until the next is asked for. The body is left open when its reader leaves: a `for await`
 * over it would destroy the request's socket.
 */
export async function* blocksOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void> {
  const chunks = body[Symbol.asyncIterator]()
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
    const { buffer, byteOffset, byteLength } = next.value
    yield Buffer.from(buffer, byteOffset, byteLength)
    // Given back now: left to the garbage collector, they made it take a fifth of the processor.
    if (byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
  }
}
