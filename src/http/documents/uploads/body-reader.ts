// Shared types of the upload formats: a reader reads a body into an upload, which is validated as a whole.

import type { Upload } from '../../../domain/documents/uploads/upload.ts'
import type { UploadNeeds } from './collector.ts'

export type UploadReader = {
  /** Fields so far. */
  upload: Upload
  /**
   * Reads the whole body. After an error the body is neither drained nor destroyed, so that the request can still be
   * answered. A caller that drains it iterates over it again.
   * @throws AppError `bad-request` for a malformed body, and errors of `memory`, the body and the blobs
   */
  read(body: AsyncIterable<Uint8Array>): Promise<void>
  /** Removes the uncommitted blobs, and frees their memory. */
  discard(): Promise<void>
}

/** Format of an upload body. */
export type BodyFormat = {
  open(needs: UploadNeeds): UploadReader
  /** Maximum of blob bytes for a body byte. */
  density: number
  /** Priority in the query. */
  priority?: number | undefined
  /** `duplicates=refuse` in the query. */
  refusesDuplicates?: boolean
}

/**
 * Iterates over the blocks of a body; each is valid until the next. The body stays open at the end: a `for await`
 * would destroy the request's socket.
 */
export async function* readBlocks(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void> {
  const chunks = body[Symbol.asyncIterator]()
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
    const { buffer, byteOffset, byteLength } = next.value
    yield Buffer.from(buffer, byteOffset, byteLength)
    // Given back now: left to the garbage collector, they made it take a fifth of the processor.
    if (byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
  }
}
