// Writes a blob to a temporary file and hashes it. The file is not durable yet: the folder of blobs (folder.ts) flushes
// it and gives it its final name.

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { storageError } from '../../runtime/storage-error.ts'

/** A written temporary file. Its owner must commit it or discard it. */
export type StagedBlob = {
  sha256: string
  size: number
  path: string
  /** Flushes the bytes to the disk and closes the file. */
  sync(): Promise<void>
  /** Removes the file and ignores errors. Without effect after a commit and when repeated. */
  discard(): Promise<void>
}

export type BlobWriter = {
  /** Copies the chunk. If it returns a promise, await it before the next call. */
  write(chunk: Buffer): Promise<void> | undefined
  /** Writes the last bytes and returns the file. After an error the file is removed. */
  finish(): Promise<StagedBlob>
  discard(): Promise<void>
}

/** State that the writers of one folder share. */
export type WriterPool = {
  /** Number of finished files that wait for their commit and are open. */
  openFiles: number
  /** Blocks for reuse: fresh ones cost more than copying into them. */
  blocks: Buffer[]
  /** Receives each failure to write. */
  onFailure?: ((error: unknown) => void) | undefined
}

type WriterFile = Pick<FileHandle, 'write' | 'sync' | 'close'>

const BLOCK_BYTES = 512 * 1024
// Blocks that are written while the next one fills. With one block client and disk waited for each other.
const BLOCKS_UNDER_WAY = 3
// Blocks between two early flushes, which shorten the last flush, the one that the client waits for.
const BLOCKS_A_FLUSH = 32
const MAX_OPEN_FILES = 64
const MAX_FREE_BLOCKS = 16

type Unlink = (path: string) => Promise<void>

export function createBlobWriter(
  file: WriterFile,
  path: string,
  unlink: Unlink,
  pool: WriterPool,
): BlobWriter {
  return new FileWriter(file, path, unlink, pool)
}

class FileWriter implements BlobWriter {
  readonly #file: WriterFile
  readonly #path: string
  readonly #unlink: Unlink
  readonly #pool: WriterPool
  readonly #hash = createHash('sha256')
  #size = 0
  #block: Buffer | undefined
  #blockLength = 0
  #blocks = 0
  #writing: Promise<void> = Promise.resolve()
  #flushing: Promise<void> = Promise.resolve()
  readonly #pendingWrites: Promise<void>[] = []
  #isClosed = false
  #isWaiting = false // true: counted in openFiles

  constructor(file: WriterFile, path: string, unlink: Unlink, pool: WriterPool) {
    this.#file = file
    this.#path = path
    this.#unlink = unlink
    this.#pool = pool
  }

  write(chunk: Buffer) {
    this.#hash.update(chunk)
    this.#size += chunk.length
    let wait: Promise<void> | undefined
    for (let at = 0; at < chunk.length; ) {
      this.#block ??= this.#pool.blocks.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES)
      const copied = chunk.copy(this.#block, this.#blockLength, at)
      at += copied
      this.#blockLength += copied
      if (this.#blockLength === BLOCK_BYTES) wait = this.#writeBlock() ?? wait
    }
    return wait?.catch((error) => {
      this.#pool.onFailure?.(error)
      throw storageError(error)
    })
  }

  async finish(): Promise<StagedBlob> {
    try {
      this.#writeBlock()
      await this.#writing
      await this.#flushing
      if (this.#pool.openFiles >= MAX_OPEN_FILES) await this.#sync()
      else {
        this.#pool.openFiles++
        this.#isWaiting = true
      }
    } catch (error) {
      await this.discard()
      this.#pool.onFailure?.(error)
      throw storageError(error)
    }
    const [sync, discard] = [() => this.#sync(), () => this.discard()]
    return { sha256: this.#hash.digest('hex'), size: this.#size, path: this.#path, sync, discard }
  }

  async discard() {
    if (this.#block !== undefined) free(this.#pool, this.#block)
    this.#block = undefined
    await this.#writing.catch(() => {}) // the caller of `write` got it
    await this.#flushing.catch(() => {}) // as above
    await this.#close().catch(() => {}) // its bytes are not needed
    await this.#unlink(this.#path).catch(() => {}) // gc removes it
  }

  /** Starts to write the block, after the previous ones. Await the promise that it returns before the next chunk. */
  #writeBlock() {
    const block = this.#block
    if (block === undefined) return undefined
    const bytes = block.subarray(0, this.#blockLength)
    this.#block = undefined
    this.#blockLength = 0
    this.#writing = this.#writing
      .then(() => writeAll(this.#file, bytes))
      .finally(() => free(this.#pool, block))
    this.#writing.catch(() => {}) // the next block or finish handles it
    if (++this.#blocks % BLOCKS_A_FLUSH === 0) this.#flushEarly()
    this.#pendingWrites.push(this.#writing)
    return this.#pendingWrites.length > BLOCKS_UNDER_WAY ? this.#pendingWrites.shift() : undefined
  }

  /** Flushes early. Its error fails the file: the kernel reports it once, so the last flush would miss it. */
  #flushEarly() {
    this.#flushing = Promise.all([this.#writing, this.#flushing]).then(() => this.#file.sync())
    this.#flushing.catch(() => {}) // finish handles it
  }

  // Files are flushed before they are closed, because the kernel reports errors of its own writes only to open files.
  // Beyond MAX_OPEN_FILES files are therefore flushed before their commit.
  async #sync() {
    if (this.#isClosed) return
    await this.#file.sync()
    await this.#close()
  }

  async #close() {
    if (this.#isClosed) return
    this.#isClosed = true
    if (this.#isWaiting) this.#pool.openFiles--
    await this.#file.close()
  }
}

function free(pool: WriterPool, block: Buffer): void {
  if (pool.blocks.length < MAX_FREE_BLOCKS) pool.blocks.push(block)
}

async function writeAll(file: WriterFile, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at)
    if (bytesWritten === 0) throw new Error('the file system wrote nothing')
    at += bytesWritten
  }
}
