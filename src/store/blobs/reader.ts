// Reading contents. It makes and changes nothing, so that it is also for a program beside the server.

import * as nodeFs from 'node:fs/promises'
import { Readable } from 'node:stream'
import { unlessMissing } from '../../file-hash.ts'
import { type ByteRange, type Chunks, checkedChunks, chunksOf, copiesOf, createReaderPool } from './chunks.ts'
import { blobPath } from './place.ts'

export type StoredBlob = { size: number; stream(): Readable; chunks(): Chunks }

export type BlobReader = {
  /**
   * The size of the whole blob and its bytes, as a stream or lent a chunk at a time. No file is open until the first of
   * them is asked for. The chunks of a whole blob are checked against its hash, the first time and again when the file
   * has changed: to hash each download would make it half as fast.
   */
  read(sha256: string, range?: ByteRange): Promise<StoredBlob | undefined>
}

const MAX_PROVEN = 10_000

export function createBlobReader(dir: string, fs: Pick<typeof nodeFs, 'open' | 'stat'> = nodeFs): BlobReader {
  const readerPool = createReaderPool()
  const proven = new Map<string, number>() // blobs that were right, and when their files were written
  return {
    async read(sha256, range) {
      const path = blobPath(dir, sha256)
      const found = await unlessMissing(fs.stat(path))
      if (!found) return undefined
      const { size, mtimeMs } = found
      const { start, end } = range ?? { start: 0, end: size - 1 }
      const plain = () => chunksOf(() => fs.open(path, 'r'), { start, end }, readerPool)
      const chunks = () => {
        // A part cannot be checked against the hash of the whole.
        if (end - start + 1 < size || proven.get(sha256) === mtimeMs) return plain()
        if (proven.size >= MAX_PROVEN) proven.clear()
        return proving(checkedChunks(plain(), { sha256, size }), () => proven.set(sha256, mtimeMs))
      }
      return { size, chunks, stream: () => Readable.from(copiesOf(plain()), { objectMode: false }) }
    },
  }
}

/** The chunks, and a note when all of them have been given. */
async function* proving(chunks: Chunks, note: () => void): Chunks {
  yield* chunks
  note()
}
