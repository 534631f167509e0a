// The bytes of a blob, read into two blocks by turns: while one is used, the other fills. Fresh memory for each piece
// took half of the processor of a download, in the garbage collector.

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { AppError } from '../errors.ts'
import { createTurns, type Turns } from '../turns.ts'
import { openError } from './storage-error.ts'

/** Bytes from `start` to `end`, both included. */
export type ByteRange = { start: number; end: number }

/** Pieces of a file, each good until the next is asked for, which is written over it. */
export type Pieces = AsyncGenerator<Buffer, void, undefined>

/** Those who read pieces of one folder: how many there are, and their turns to read one. */
export type Crowd = { readers: number; turns: Turns }

const BLOCK_BYTES = 256 * 1024
// A client that does not read keeps its blocks: a thousand of them would keep half a gigabyte, which the process would
// not even give back to the system when they are gone.
const LARGE_BLOCKS_FOR = 16
const CROWD_BLOCK_BYTES = 16 * 1024
// As many as Node has threads for them. Between two looks at the network all reads that are done are dealt with, and one
// new connection is taken: with a thousand readers, who asked for health waited for five seconds.
const READS_AT_ONCE = 4

export function createCrowd(): Crowd {
  return { readers: 0, turns: createTurns(READS_AT_ONCE) }
}

/** No file is open until the first piece is asked for. @throws if the file ends before the range does */
export async function* piecesOf(
  open: () => Promise<FileHandle>,
  { start, end }: ByteRange,
  crowd: Crowd,
): Pieces {
  const file = await open().catch((error: unknown) => {
    throw openError(error)
  })
  crowd.readers += 1
  const blockBytes = Math.min(
    crowd.readers > LARGE_BLOCKS_FOR ? CROWD_BLOCK_BYTES : BLOCK_BYTES,
    end + 1 - start,
  )
  const spare: Buffer[] = []
  const read = async (at: number): Promise<Buffer> => {
    const block = spare.pop() ?? Buffer.allocUnsafeSlow(blockBytes)
    using _turn = await crowd.turns.take()
    const { bytesRead } = await file.read(block, 0, Math.min(blockBytes, end + 1 - at), at)
    if (bytesRead === 0) throw new Error('the file is shorter than it was')
    return block.subarray(0, bytesRead)
  }
  let filling: Promise<Buffer> | undefined
  try {
    filling = start <= end ? read(start) : undefined
    for (let at = start; filling; ) {
      const piece = await filling
      at += piece.length
      filling = at <= end ? read(at) : undefined
      filling?.catch(() => {}) // met by the next turn
      yield piece
      spare.push(Buffer.from(piece.buffer))
    }
  } finally {
    await filling?.catch(() => {}) // nothing may be read any more when the file is closed
    crowd.readers -= 1
    await file.close()
  }
}

/**
 * The same, of a whole content, whose last piece is given only if all of them together are the ones that were uploaded.
 * @throws AppError `failed` in its place if not
 */
export async function* checkedPieces(pieces: Pieces, content: { sha256: string; size: number }): Pieces {
  const hash = createHash('sha256')
  let seen = 0
  for await (const piece of pieces) {
    hash.update(piece)
    seen += piece.length
    if (seen === content.size && hash.digest('hex') !== content.sha256) {
      throw new AppError(
        'failed',
        `the content ${content.sha256} was altered on the disk: see cambista doctor`,
      )
    }
    yield piece
  }
}

/** The same in memory of their own, for who keeps them. */
export async function* copiesOf(pieces: Pieces): Pieces {
  for await (const piece of pieces) yield Buffer.from(piece)
}
