// Reading the contents that are objects of a bucket. What comes of a whole one is hashed each time: there is a network
// between, and it is slower than the hash.

import { Readable } from 'node:stream'
import { AppError } from '../../../errors.ts'
import { type ByteRange, type Chunks, checkedChunks } from '../chunks.ts'
import { assertSha256 } from '../place.ts'
import type { BlobReader } from '../reader.ts'
import type { BucketClient } from './client.ts'
import { bucketError } from './errors.ts'

// In a row, without a byte in between: a client that reads slowly may meet the end of an idle connection many times.
const BREAKS = 3

export function createBucketReader(
  client: Pick<BucketClient, 'head' | 'get' | 'timeoutMs'>,
  objectOf: (sha256: string) => Promise<string | null | undefined>,
): BlobReader {
  return {
    async read(sha256, range) {
      assertSha256(sha256)
      const key = await objectOf(sha256)
      const found = key && (await client.head(key))
      if (!key || !found) return undefined
      const { size } = found
      const { start, end } = range ?? { start: 0, end: size - 1 }
      const plain = () => chunksOf(client, key, { start, end })
      // A part cannot be checked against the hash of the whole.
      const chunks = () => (end - start + 1 < size ? plain() : checkedChunks(plain(), { sha256, size }))
      return { size, chunks, stream: () => Readable.from(chunks(), { objectMode: false }) }
    },
  }
}

/** The bytes of an object, asked for again from where they broke off. @throws AppError `unavailable` when that goes on */
async function* chunksOf(
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
        const next = await withinTime(reading.next(), bytes, timeoutMs)
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

/** What is waited for, or the end of the stream that it comes from. A client that reads slowly is not waited for here. */
async function withinTime<T>(awaited: Promise<T>, stream: Readable, ms: number): Promise<T> {
  const timer = setTimeout(() => stream.destroy(new Error('the bucket went silent')), ms)
  try {
    return await awaited
  } finally {
    clearTimeout(timer)
  }
}
