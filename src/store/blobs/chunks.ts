// Reads a blob into two alternating blocks: one fills while the other is used. With fresh memory for each chunk the
// garbage collector took half of the processor time of a download.

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { AppError } from '../../runtime/errors.ts'
import { createSemaphore, type Semaphore } from '../../runtime/semaphore.ts'
import { openError } from '../../runtime/storage-error.ts'

/** Bytes from `start` to `end`, both included. */
export type ByteRange = { start: number; end: number }

/** Chunks of a file. Each is valid until the next one is requested, which may overwrite it. */
export type Chunks = AsyncGenerator<Buffer, void, undefined>

/** Number of readers of one folder, and the semaphore of their reads. */
export type ReaderPool = { readers: number; semaphore: Semaphore }

const BLOCK_BYTES = 256 * 1024
// A slow client occupies its blocks. A thousand large pairs are half a gigabyte, which the process would not return to
// the system afterwards.
const LARGE_BLOCKS_FOR = 16
const SMALL_BLOCK_BYTES = 16 * 1024
// Number of Node's threads for files. The event loop handles all finished reads before it accepts one new connection.
// With a thousand parallel reads, a health request waited for five seconds.
const READS_AT_ONCE = 4

export function createReaderPool(): ReaderPool {
  return { readers: 0, semaphore: createSemaphore(READS_AT_ONCE) }
}

/** Yields the chunks of a range. Opens the file at the first request. @throws if the file ends before the range does */
export async function* fileChunks(
  open: () => Promise<FileHandle>,
  { start, end }: ByteRange,
  pool: ReaderPool,
): Chunks {
  const file = await open().catch((error: unknown) => {
    throw openError(error)
  })
  pool.readers += 1
  const blockBytes = Math.min(
    pool.readers > LARGE_BLOCKS_FOR ? SMALL_BLOCK_BYTES : BLOCK_BYTES,
    end + 1 - start,
  )
  const spare: Buffer[] = []
  const read = async (at: number): Promise<Buffer> => {
    const block = spare.pop() ?? Buffer.allocUnsafeSlow(blockBytes)
    using _permit = await pool.semaphore.acquire()
    const { bytesRead } = await file.read(block, 0, Math.min(blockBytes, end + 1 - at), at)
    if (bytesRead === 0) throw new Error('the file is shorter than it was')
    return block.subarray(0, bytesRead)
  }
  let filling: Promise<Buffer> | undefined
  try {
    filling = start <= end ? read(start) : undefined
    for (let at = start; filling; ) {
      const chunk = await filling
      at += chunk.length
      filling = at <= end ? read(at) : undefined
      filling?.catch(() => {}) // the next iteration handles it
      yield chunk
      spare.push(Buffer.from(chunk.buffer))
    }
  } finally {
    await filling?.catch(() => {}) // no read may run when the file is closed
    pool.readers -= 1
    await file.close()
  }
}

/**
 * Yields the chunks of a whole blob and checks their hash before the last one.
 * @throws AppError `failed` instead of the last chunk if the hash differs
 */
export async function* checkedChunks(chunks: Chunks, blob: { sha256: string; size: number }): Chunks {
  const hash = createHash('sha256')
  let byteCount = 0
  const check = () => {
    if (byteCount !== blob.size || hash.digest('hex') === blob.sha256) return
    throw new AppError('failed', `the content ${blob.sha256} was altered on the disk: see cambista doctor`)
  }
  if (blob.size === 0) check() // an empty file has no last chunk
  for await (const chunk of chunks) {
    hash.update(chunk)
    byteCount += chunk.length
    check()
    yield chunk
  }
}

/** Yields copies of chunks, for a caller that stores them. */
export async function* copyChunks(chunks: Chunks): Chunks {
  for await (const chunk of chunks) yield Buffer.from(chunk)
}
