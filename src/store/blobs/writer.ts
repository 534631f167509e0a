// One temporary file that a blob is written to while its hash is taken. Nothing here is durable yet: the folder of
// blobs (blobs.ts) decides when it is flushed and under which name it stays.

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { storageError } from '../../storage-error.ts'

/** A written temporary file. Its owner must commit it or discard it. */
export type StagedBlob = {
  sha256: string
  size: number
  path: string
  /** Flushes the bytes to the disk and closes the file. */
  sync(): Promise<void>
  /** Removes the file, as far as it can; harmless after a commit and when repeated. */
  discard(): Promise<void>
}

export type BlobWriter = {
  /** Copies the chunk. If a promise comes back, wait for it before the next call. */
  write(chunk: Buffer): Promise<void> | undefined
  /** The file with all its bytes. A failure has removed it. */
  finish(): Promise<StagedBlob>
  discard(): Promise<void>
}

/** What the writers of one folder share. */
export type WriterPool = {
  /** Finished files that wait for their commit, open. */
  openFiles: number
  /** Blocks for reuse: fresh ones cost more than copying into them. */
  blocks: Buffer[]
}

type WriterFile = Pick<FileHandle, 'write' | 'sync' | 'close'>

const BLOCK_BYTES = 512 * 1024
// Written while the next one fills. With one alone the client waited for the disk, and the disk for the client.
const BLOCKS_UNDER_WAY = 3
// What is flushed while more comes: the last flush, which the client waits for, is short then.
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
  let filled = 0
  let blocks = 0
  let writing: Promise<void> = Promise.resolve()
  let flushing: Promise<void> = Promise.resolve()
  const underWay: Promise<void>[] = []
  let closed = false
  let waiting = false // counted in openFiles

  /** Starts to write the block, after those before; what comes back is what to wait for before more is given. */
  const writeBlock = (): Promise<void> | undefined => {
    const full = block
    const bytes = full?.subarray(0, filled)
    block = undefined
    filled = 0
    if (full === undefined || bytes === undefined) return undefined
    writing = writing.then(() => writeAll(file, bytes)).finally(() => free(pool, full))
    writing.catch(() => {}) // the next block or finish meets it
    if (++blocks % BLOCKS_A_FLUSH === 0) flushEarly()
    underWay.push(writing)
    return underWay.length > BLOCKS_UNDER_WAY ? underWay.shift() : undefined
  }

  /** An error of it is the file's: the kernel reports it once, and the flush at the end would not have it. */
  const flushEarly = () => {
    flushing = Promise.all([writing, flushing]).then(() => file.sync())
    flushing.catch(() => {}) // finish meets it
  }

  const close = async () => {
    if (closed) return
    closed = true
    if (waiting) pool.openFiles--
    await file.close()
  }

  // A file is never closed before it was flushed: an error of the kernel's own writing back is reported only to
  // those who had the file open. So where too many would stay open, the flush comes early.
  const sync = async () => {
    if (closed) return
    await file.sync()
    await close()
  }

  const discard = async () => {
    if (block !== undefined) free(pool, block)
    block = undefined
    await writing.catch(() => {})
    await flushing.catch(() => {})
    await close().catch(() => {})
    await unlink(path).catch(() => {})
  }

  return {
    write(chunk) {
      hash.update(chunk)
      size += chunk.length
      let wait: Promise<void> | undefined
      for (let at = 0; at < chunk.length; ) {
        block ??= pool.blocks.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES)
        const copied = chunk.copy(block, filled, at)
        at += copied
        filled += copied
        if (filled === BLOCK_BYTES) wait = writeBlock() ?? wait
      }
      return wait?.catch((error) => {
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
