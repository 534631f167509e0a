// Reads blobs of a folder. Writes nothing, so commands can use it while a server runs.

import * as nodeFs from 'node:fs/promises'
import { Readable } from 'node:stream'
import { unlessMissing } from '../../runtime/file-hash.ts'
import {
  type ByteRange,
  type Chunks,
  checkedChunks,
  copyChunks,
  createReaderPool,
  fileChunks,
} from './chunks.ts'
import { blobPath } from './commit.ts'

export type StoredBlob = { size: number; stream(): Readable; chunks(): Chunks }

export type BlobReader = {
  /**
   * Returns the size of the whole blob and its bytes, as a stream or as chunks. The file is opened at the first read.
   * Chunks of a whole blob are checked against its hash, once for each version of the file. Hashing makes a download
   * half as fast.
   */
  read(sha256: string, range?: ByteRange): Promise<StoredBlob | undefined>
}

const MAX_PROVEN = 10_000

export function createBlobReader(dir: string, fs: Pick<typeof nodeFs, 'open' | 'stat'> = nodeFs): BlobReader {
  const readerPool = createReaderPool()
  const proven = new Map<string, number>() // checked blobs, and the times at which their files were written
  return {
    async read(sha256, range) {
      const path = blobPath(dir, sha256)
      const stats = await unlessMissing(fs.stat(path))
      if (!stats) return undefined
      const { size, mtimeMs } = stats
      const { start, end } = range ?? { start: 0, end: size - 1 }
      const plain = () => fileChunks(() => fs.open(path, 'r'), { start, end }, readerPool)
      const chunks = () => {
        // A part cannot be checked against the hash of the whole.
        if (end - start + 1 < size || proven.get(sha256) === mtimeMs) return plain()
        if (proven.size >= MAX_PROVEN) proven.clear()
        return proving(checkedChunks(plain(), { sha256, size }), () => proven.set(sha256, mtimeMs))
      }
      return { size, chunks, stream: () => Readable.from(copyChunks(plain()), { objectMode: false }) }
    },
  }
}

/** Yields the chunks, and calls `note` after the last one. */
async function* proving(chunks: Chunks, note: () => void): Chunks {
  yield* chunks
  note()
}
