// The bytes of a blob, read into two blocks by turns: while one is used, the other fills. Fresh memory for each chunk
// took half of the processor of a download, in the garbage collector.

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { AppError } from '../../errors.ts'
import { createSemaphore, type Semaphore } from '../../semaphore.ts'
import { openError } from '../../storage-error.ts'

/** Bytes from `start` to `end`, both included. */
export type ByteRange = { start: number; end: number }

/** Chunks of a file, each good until the next is asked for, which is written over it. */
export type Chunks = AsyncGenerator<Buffer, void, undefined>

/** Those who read chunks of one folder: how many there are, and their turns to read one. */
export type ReaderPool = { readers: number; semaphore: Semaphore }

const BLOCK_BYTES = 256 * 1024
// A client that does not read keeps its blocks: a thousand of them would keep half a gigabyte, which the process would
// not even give back to the system when they are gone.
const LARGE_BLOCKS_FOR = 16
const SMALL_BLOCK_BYTES = 16 * 1024
// As many as Node has threads for them. Between two looks at the network all reads that are done are dealt with, and one
// new connection is taken: with a thousand readers, a request for health waited for five seconds.
const READS_AT_ONCE = 4

export function createReaderPool(): ReaderPool {
  return { readers: 0, semaphore: createSemaphore(READS_AT_ONCE) }
}

/** No file is open until the first chunk is asked for. @throws if the file ends before the range does */
export async function* chunksOf(
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
      filling?.catch(() => {}) // met by the next turn
      yield chunk
      spare.push(Buffer.from(chunk.buffer))
    }
  } finally {
    await filling?.catch(() => {}) // nothing may be read any more when the file is closed
    pool.readers -= 1
    await file.close()
  }
}

/**
 * The same, of a whole content, whose last chunk is given only if all of them together are the ones that were uploaded.
 * @throws AppError `failed` in its place if not
 */
export async function* checkedChunks(chunks: Chunks, content: { sha256: string; size: number }): Chunks {
  const hash = createHash('sha256')
  let seen = 0
  for await (const chunk of chunks) {
    hash.update(chunk)
    seen += chunk.length
    if (seen === content.size && hash.digest('hex') !== content.sha256) {
      throw new AppError(
        'failed',
        `the content ${content.sha256} was altered on the disk: see cambista doctor`,
      )
    }
    yield chunk
  }
}

/** The same in memory of their own, for a caller that keeps them. */
export async function* copiesOf(chunks: Chunks): Chunks {
  for await (const chunk of chunks) yield Buffer.from(chunk)
}
