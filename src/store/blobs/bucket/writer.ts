// One object that a content is written to while its hash is taken. Up to a part of it is held and put when all of it is
// there; more goes in parts, one of which fills while another is on its way. It is complete, or it is not there.

import { createHash } from 'node:crypto'
import type { BlobWriter, StagedBlob } from '../writer.ts'
import type { BucketClient, UploadPart } from './client.ts'

const PART_BYTES = 5 * 1024 * 1024 // the smallest that a store takes, but for the last one
const PARTS_OF_A_SIZE = 1000
const FIRST_BYTES = 64 * 1024
const LARGEST_GROWN = 1024 * 1024
const MAX_FREE = 4

/** Blocks of a part for reuse, of all writers of a bucket: fresh ones cost more, in the garbage collector, than sending them. */
export type PartPool = Buffer[]

/** The size of the part after so many: a store takes 10,000 of them, and growing they are enough for all that it takes. */
export function partBytesAfter(sent: number): number {
  return PART_BYTES * 2 ** Math.floor(sent / PARTS_OF_A_SIZE)
}

export function createObjectWriter(client: BucketClient, key: string, pool: PartPool): BlobWriter {
  const hash = createHash('sha256')
  let size = 0
  let filling: Buffer = Buffer.alloc(0)
  let filled = 0
  let upload: string | undefined
  let sent = 0
  const parts: UploadPart[] = []
  let onItsWay: Promise<void> = Promise.resolve()
  let mayBeThere = false

  /** As much as fits in the part. */
  const fill = (chunk: Buffer): number => {
    const needed = Math.min(filled + chunk.length, partBytesAfter(sent))
    if (needed > filling.length) {
      const larger = blockOf(Math.max(needed, FIRST_BYTES, 2 * filled), partBytesAfter(sent), pool)
      filling.copy(larger, 0, 0, filled)
      filling = larger
    }
    const copied = chunk.copy(filling, filled)
    filled += copied
    return copied
  }

  /** What was filled, which is held here no longer. */
  const taken = (): Buffer => {
    const bytes = filling.subarray(0, filled)
    filling = Buffer.alloc(0)
    filled = 0
    return bytes
  }

  /** Waits for the part before, and starts this one. */
  const sendPart = async () => {
    await onItsWay
    const id = upload ?? (await client.begin(key))
    upload = id
    const bytes = taken()
    sent += 1
    onItsWay = client.part(key, id, sent, bytes).then((part) => {
      parts.push(part)
      if (bytes.buffer.byteLength === PART_BYTES && pool.length < MAX_FREE)
        pool.push(Buffer.from(bytes.buffer))
    })
    onItsWay.catch(() => {}) // the next part or finish meets it
  }

  const writeOver = async (chunk: Buffer) => {
    for (let at = fill(chunk); at < chunk.length; ) {
      await sendPart()
      at += fill(chunk.subarray(at))
    }
  }

  const discard = async () => {
    await onItsWay.catch(() => {}) // what arrives after the end would stay
    const id = upload
    upload = undefined
    if (id !== undefined) await client.abort(key, id).catch(() => {})
    if (mayBeThere) await client.remove(key).catch(() => {})
    mayBeThere = false
  }

  const end = async () => {
    if (upload === undefined) {
      mayBeThere = true
      return client.put(key, taken())
    }
    await sendPart()
    await onItsWay
    mayBeThere = true
    await client.complete(key, upload, parts)
    upload = undefined
  }

  return {
    write(chunk) {
      hash.update(chunk)
      size += chunk.length
      if (filled + chunk.length > partBytesAfter(sent)) return writeOver(chunk)
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

/** At least so many bytes; what is not small is a whole part at once. */
function blockOf(bytes: number, partBytes: number, pool: PartPool): Buffer {
  if (bytes <= LARGEST_GROWN) return Buffer.allocUnsafeSlow(bytes)
  return (partBytes === PART_BYTES && pool.pop()) || Buffer.allocUnsafeSlow(partBytes)
}
