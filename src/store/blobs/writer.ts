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

export function createBlobWriter(
  file: WriterFile,
  path: string,
  unlink: (path: string) => Promise<void>,
  pool: WriterPool,
): BlobWriter {
  const hash = createHash('sha256')
  let size = 0
  let block: Buffer | undefined
  let blockLength = 0
  let blocks = 0
  let writing: Promise<void> = Promise.resolve()
  let flushing: Promise<void> = Promise.resolve()
  const pendingWrites: Promise<void>[] = []
  let isClosed = false
  let waiting = false // true: counted in openFiles

  /** Starts to write the block, after the previous ones. Await the promise that it returns before the next chunk. */
  const writeBlock = (): Promise<void> | undefined => {
    const full = block
    const bytes = full?.subarray(0, blockLength)
    block = undefined
    blockLength = 0
    if (full === undefined || bytes === undefined) return undefined
    writing = writing.then(() => writeAll(file, bytes)).finally(() => free(pool, full))
    writing.catch(() => {}) // the next block or finish handles it
    if (++blocks % BLOCKS_A_FLUSH === 0) flushEarly()
    pendingWrites.push(writing)
    return pendingWrites.length > BLOCKS_UNDER_WAY ? pendingWrites.shift() : undefined
  }

  /** Flushes early. Its error fails the file: the kernel reports it once, so the last flush would miss it. */
  const flushEarly = () => {
    flushing = Promise.all([writing, flushing]).then(() => file.sync())
    flushing.catch(() => {}) // finish handles it
  }

  const close = async () => {
    if (isClosed) return
    isClosed = true
    if (waiting) pool.openFiles--
    await file.close()
  }

  // Files are flushed before they are closed, because the kernel reports errors of its own writes only to open files.
  // Beyond MAX_OPEN_FILES files are therefore flushed before their commit.
  const sync = async () => {
    if (isClosed) return
    await file.sync()
    await close()
  }

  const discard = async () => {
    if (block !== undefined) free(pool, block)
    block = undefined
    await writing.catch(() => {}) // the caller of `write` got it
    await flushing.catch(() => {}) // as above
    await close().catch(() => {}) // its bytes are not needed
    await unlink(path).catch(() => {}) // gc removes it
  }

  return {
    write(chunk) {
      hash.update(chunk)
      size += chunk.length
      let wait: Promise<void> | undefined
      for (let at = 0; at < chunk.length; ) {
        block ??= pool.blocks.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES)
        const copied = chunk.copy(block, blockLength, at)
        at += copied
        blockLength += copied
        if (blockLength === BLOCK_BYTES) wait = writeBlock() ?? wait
      }
      return wait?.catch((error) => {
        pool.onFailure?.(error)
        throw storageError(error)
      })
    },
    async finish() {
      try {
        writeBlock()
        await writing
        await flushing
        if (pool.openFiles >= MAX_OPEN_FILES) {
          await sync()
        } else {
          pool.openFiles++
          waiting = true
        }
      } catch (error) {
        await discard()
        pool.onFailure?.(error)
        throw storageError(error)
      }
      return { sha256: hash.digest('hex'), size, path, sync, discard }
    },
    discard,
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
