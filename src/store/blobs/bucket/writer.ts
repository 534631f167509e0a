// Writes a blob to an object and hashes it. A blob of at most one part is sent by one PUT at its end. A larger one is
// sent in parts: one fills while another is sent. The object is complete, or it does not exist.

import { createHash } from 'node:crypto'
import type { BlobWriter, StagedBlob } from '../writer.ts'
import type { BucketClient, UploadPart } from './client.ts'

const PART_BYTES = 5 * 1024 * 1024 // the smallest part that stores accept, except for the last one
const PARTS_OF_A_SIZE = 1000
const FIRST_BYTES = 64 * 1024
const LARGEST_GROWN = 1024 * 1024
const MAX_FREE = 4

/** Blocks for reuse by all writers of a bucket: the garbage collection of fresh ones costs more than sending them. */
export type PartPool = Buffer[]

/** Returns the size of the next part. A store takes 10,000 parts; growing parts suffice for its largest object. */
export function partSize(partCount: number): number {
  return PART_BYTES * 2 ** Math.floor(partCount / PARTS_OF_A_SIZE)
}

export function createObjectWriter(client: BucketClient, key: string, pool: PartPool): BlobWriter {
  const hash = createHash('sha256')
  let size = 0
  let filling: Buffer = Buffer.alloc(0)
  let partLength = 0
  let upload: string | undefined
  let partCount = 0
  const parts: UploadPart[] = []
  let sending: Promise<void> = Promise.resolve()
  let mayExist = false

  /** Copies the beginning of a chunk that fits into the part. */
  const fill = (chunk: Buffer): number => {
    const needed = Math.min(partLength + chunk.length, partSize(partCount))
    if (needed > filling.length) {
      const larger = allocateBlock(Math.max(needed, FIRST_BYTES, 2 * partLength), partSize(partCount), pool)
      filling.copy(larger, 0, 0, partLength)
      filling = larger
    }
    const copied = chunk.copy(filling, partLength)
    partLength += copied
    return copied
  }

  /** Returns the filled part and starts an empty one. */
  const takePart = (): Buffer => {
    const bytes = filling.subarray(0, partLength)
    filling = Buffer.alloc(0)
    partLength = 0
    return bytes
  }

  /** Awaits the previous part, and starts to send this one. */
  const sendPart = async () => {
    await sending
    const id = upload ?? (await client.begin(key))
    upload = id
    const bytes = takePart()
    partCount += 1
    sending = client.part(key, id, partCount, bytes).then((part) => {
      parts.push(part)
      if (bytes.buffer.byteLength === PART_BYTES && pool.length < MAX_FREE)
        pool.push(Buffer.from(bytes.buffer))
    })
    sending.catch(() => {}) // the next part or finish handles it
  }

  const writeParts = async (chunk: Buffer) => {
    for (let at = fill(chunk); at < chunk.length; ) {
      await sendPart()
      at += fill(chunk.subarray(at))
    }
  }

  const discard = async () => {
    await sending.catch(() => {}) // a part that arrives after the abort would stay
    const id = upload
    upload = undefined
    if (id !== undefined) await client.abort(key, id).catch(() => {}) // gc aborts it
    if (mayExist) await client.remove(key).catch(() => {}) // gc removes it
    mayExist = false
  }

  const end = async () => {
    if (upload === undefined) {
      mayExist = true
      return client.put(key, takePart())
    }
    await sendPart()
    await sending
    mayExist = true
    await client.complete(key, upload, parts)
    upload = undefined
  }

  return {
    write(chunk) {
      hash.update(chunk)
      size += chunk.length
      if (partLength + chunk.length > partSize(partCount)) return writeParts(chunk)
      fill(chunk)
      return undefined
    },
    async finish(): Promise<StagedBlob> {
      try {
        await end()
      } catch (error) {
        await discard()
        throw error
      }
      return { sha256: hash.digest('hex'), size, path: key, sync: async () => {}, discard }
    },
    discard,
  }
}

/** Returns a block of at least `bytes`; beyond LARGEST_GROWN it has the size of a whole part. */
function allocateBlock(bytes: number, partBytes: number, pool: PartPool): Buffer {
  if (bytes <= LARGEST_GROWN) return Buffer.allocUnsafeSlow(bytes)
  return (partBytes === PART_BYTES && pool.pop()) || Buffer.allocUnsafeSlow(partBytes)
}
