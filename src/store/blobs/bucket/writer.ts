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
const NO_BYTES = Buffer.alloc(0)

/** Blocks for reuse by all writers of a bucket: the garbage collection of fresh ones costs more than sending them. */
export type PartPool = Buffer[]

/** Returns the size of the next part. A store takes 10,000 parts; growing parts suffice for its largest object. */
export function partSize(partCount: number): number {
  return PART_BYTES * 2 ** Math.floor(partCount / PARTS_OF_A_SIZE)
}

export function createObjectWriter(client: BucketClient, key: string, pool: PartPool): BlobWriter {
  return new ObjectWriter(client, key, pool)
}

class ObjectWriter implements BlobWriter {
  readonly #client: BucketClient
  readonly #key: string
  readonly #pool: PartPool
  readonly #hash = createHash('sha256')
  #size = 0
  #filling: Buffer = NO_BYTES
  #partLength = 0
  #upload: string | undefined
  #partCount = 0
  readonly #parts: UploadPart[] = []
  #sending: Promise<void> = Promise.resolve()
  #mayExist = false

  constructor(client: BucketClient, key: string, pool: PartPool) {
    this.#client = client
    this.#key = key
    this.#pool = pool
  }

  write(chunk: Buffer) {
    this.#hash.update(chunk)
    this.#size += chunk.length
    if (this.#partLength + chunk.length > partSize(this.#partCount)) return this.#writeParts(chunk)
    this.#fill(chunk)
    return undefined
  }

  async finish(): Promise<StagedBlob> {
    try {
      await this.#end()
    } catch (error) {
      await this.discard()
      throw error
    }
    const discard = () => this.discard()
    return {
      sha256: this.#hash.digest('hex'),
      size: this.#size,
      path: this.#key,
      sync: async () => {},
      discard,
    }
  }

  async discard() {
    await this.#sending.catch(() => {}) // a part that arrives after the abort would stay
    const id = this.#upload
    this.#upload = undefined
    if (id !== undefined) await this.#client.abort(this.#key, id).catch(() => {}) // gc aborts it
    if (this.#mayExist) await this.#client.remove(this.#key).catch(() => {}) // gc removes it
    this.#mayExist = false
  }

  async #end() {
    if (this.#upload === undefined) {
      this.#mayExist = true
      return this.#client.put(this.#key, this.#takePart())
    }
    await this.#sendPart()
    await this.#sending
    this.#mayExist = true
    await this.#client.complete(this.#key, this.#upload, this.#parts)
    this.#upload = undefined
  }

  async #writeParts(chunk: Buffer) {
    for (let at = this.#fill(chunk); at < chunk.length; ) {
      await this.#sendPart()
      at += this.#fill(chunk.subarray(at))
    }
  }

  /** Copies the beginning of a chunk that fits into the part. */
  #fill(chunk: Buffer) {
    const size = partSize(this.#partCount)
    const needed = Math.min(this.#partLength + chunk.length, size)
    if (needed > this.#filling.length) {
      const larger = allocateBlock(Math.max(needed, FIRST_BYTES, 2 * this.#partLength), size, this.#pool)
      this.#filling.copy(larger, 0, 0, this.#partLength)
      this.#filling = larger
    }
    const copied = chunk.copy(this.#filling, this.#partLength)
    this.#partLength += copied
    return copied
  }

  /** Awaits the previous part, and starts to send this one. */
  async #sendPart() {
    await this.#sending
    const id = this.#upload ?? (await this.#client.begin(this.#key))
    this.#upload = id
    const bytes = this.#takePart()
    this.#partCount += 1
    this.#sending = this.#client.part(this.#key, id, this.#partCount, bytes).then((part) => {
      this.#parts.push(part)
      if (bytes.buffer.byteLength === PART_BYTES && this.#pool.length < MAX_FREE)
        this.#pool.push(Buffer.from(bytes.buffer))
    })
    this.#sending.catch(() => {}) // the next part or finish handles it
  }

  /** Returns the filled part and starts an empty one. */
  #takePart() {
    const bytes = this.#filling.subarray(0, this.#partLength)
    this.#filling = NO_BYTES
    this.#partLength = 0
    return bytes
  }
}

/** Returns a block of at least `bytes`; beyond LARGEST_GROWN it has the size of a whole part. */
function allocateBlock(bytes: number, partBytes: number, pool: PartPool): Buffer {
  if (bytes <= LARGEST_GROWN) return Buffer.allocUnsafeSlow(bytes)
  return (partBytes === PART_BYTES && pool.pop()) || Buffer.allocUnsafeSlow(partBytes)
}
