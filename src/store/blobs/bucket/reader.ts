// Reads blobs that are objects of a bucket. A whole blob is hashed at each download: the network may alter it, and is
// slower than the hash.

import { Readable } from 'node:stream'
import { AppError } from '../../../runtime/errors.ts'
import type { BlobReader } from '../blob-reader.ts'
import { type ByteRange, type Chunks, checkedChunks } from '../chunks.ts'
import { assertSha256 } from '../commit.ts'
import { bucketError } from './bucket-errors.ts'
import type { BucketClient } from './client.ts'
import { readInTime } from './silence.ts'

// Breaks in a row, without a byte in between. A slow client can lose idle connections many times during a download.
const BREAKS = 3

export function createBucketReader(
  client: Pick<BucketClient, 'head' | 'get' | 'timeoutMs'>,
  findObjectName: (sha256: string) => Promise<string | null | undefined>,
): BlobReader {
  return {
    async read(sha256, range) {
      assertSha256(sha256)
      const key = await findObjectName(sha256)
      const head = key && (await client.head(key))
      if (!key || !head) return undefined
      const { size } = head
      const { start, end } = range ?? { start: 0, end: size - 1 }
      const plain = () => objectChunks(client, key, { start, end })
      // A part cannot be checked against the hash of the whole.
      const chunks = () => (end - start + 1 < size ? plain() : checkedChunks(plain(), { sha256, size }))
      return { size, chunks, stream: () => Readable.from(chunks(), { objectMode: false }) }
    },
  }
}

/** Yields the bytes of an object, and resumes after a break. @throws AppError `unavailable` after more than BREAKS */
export async function* objectChunks(
  { get, timeoutMs }: Pick<BucketClient, 'get' | 'timeoutMs'>,
  key: string,
  { start, end }: ByteRange,
): Chunks {
  let breaks = 0
  for (let at = start; at <= end; ) {
    const bytes = await get(key, { start: at, end })
    if (!bytes) throw new AppError('unavailable', 'The content of the document was removed meanwhile')
    const reading = bytes[Symbol.asyncIterator]()
    try {
      while (at <= end) {
        const next = await readInTime(reading.next(), bytes, timeoutMs)
        if (next.done) throw new Error('the answer is shorter than its object')
        if (next.value.length === 0) continue
        breaks = 0
        at += next.value.length
        if (at > end + 1) throw new AppError('failed', 'the bucket gave more bytes than it was asked for')
        yield next.value
      }
    } catch (error) {
      if (error instanceof AppError || ++breaks > BREAKS) throw bucketError(error)
    } finally {
      await reading.return?.()
    }
  }
}
