// Blobs of one upload, committed or discarded together. Each has a temporary file; memory has only its SHA-256, size
// and file number. Small blobs are written in parallel while the request is read, because each of them waits for the
// disk.

import { hash } from 'node:crypto'
import type { MemoryShare } from '../../runtime/memory-budget.ts'
import type { Semaphore } from '../../runtime/semaphore.ts'
import { storageError } from '../../runtime/storage-error.ts'
import type { UploadedBlob } from '../documents/blob-info.ts'
import { createBlobTable } from './blob-table.ts'
import { CALLS_AT_ONCE } from './commit.ts'
import { inParallel } from './parallel.ts'
import type { BlobWriter, StagedBlob } from './writer.ts'

export type BlobBatch = {
  /** Number of different blobs that were added. */
  count(): number
  /** Returns a blob by its number. */
  at(index: number): UploadedBlob
  /** Begins a blob. Call `keep` or `discard` on it before the next one is written. */
  begin(): BatchBlobWriter
  /**
   * Makes all blobs, or those of these SHA-256, durable under their final names; the others stay temporary. After an
   * error it removes the temporary files and throws.
   */
  commit(chosen?: ReadonlySet<string>): Promise<void>
  /** Removes the temporary files and ignores errors. Without effect after a commit and when repeated. */
  discard(): Promise<void>
}

export type BatchBlobWriter = {
  /** Copies the bytes. If it returns a promise, await it before the next call. */
  write(bytes: Buffer): Promise<void> | undefined
  /** Adds the blob to the batch and returns its number; an equal blob has the same number. */
  keep(): Promise<number>
  discard(): Promise<void>
}

/** Target of a batch: a folder of temporary files, or a bucket. Objects of a bucket are not renamed. */
export type BatchStore = {
  /** Prefix of the paths of its temporary files, or of the names of its objects. */
  path: string
  begin: (path: string) => Promise<BlobWriter>
  unlink: (path: string) => Promise<void>
  /** Gives files their final names. For objects: the instant from which they may exist. */
  commitFiles: ((files: Iterable<{ path: string; sha256: string }>) => Promise<void>) | { startedAt: string }
  /** Limits the writing of small blobs over all batches: each has an open file and its bytes in memory. */
  semaphore: Semaphore
  /** Receives each failure to write. */
  onFailure?: ((error: unknown) => void) | undefined
}

const SMALL = 64 * 1024
// Files that wait for the commit are open (at most MAX_OPEN_FILES of writer.ts); the others have been flushed.
const WAITING = 64

export function createBlobBatch(store: BatchStore, memory: MemoryShare): BlobBatch {
  const table = createBlobTable(memory)
  const writing = new Set<Promise<void>>()
  const large = new Set<BlobWriter>()
  let waiting: StagedBlob[] = []
  let failure: { error: unknown } | undefined
  let files = 0 // begun; no number is used twice, not even after its file was removed
  let isClosed = false
  let isCommitted = (_sha256: string) => false

  const { commitFiles } = store
  const filePath = (file: number) => `${store.path}-${file}`

  const selectFiles = (isMeant: (sha256: string) => boolean) => ({
    *[Symbol.iterator]() {
      for (let index = 0; index < table.count(); index++) {
        const { sha256, file } = table.at(index)
        if (isMeant(sha256)) yield { path: filePath(file), sha256 }
      }
    },
  })

  const staged = async (blob: StagedBlob) => {
    waiting.push(blob)
    if (waiting.length < WAITING) return
    const some = waiting
    waiting = []
    try {
      for (const one of some) await one.sync()
    } catch (error) {
      for (const one of some) await one.discard()
      throw error
    }
  }

  const writeSmall = async (file: number, bytes: Buffer) => {
    const writer = await store.begin(filePath(file))
    try {
      await writer.write(bytes)
    } catch (error) {
      await writer.discard()
      throw error
    }
    await staged(await writer.finish())
  }

  /** Waits for a permit, not for the end of the work. */
  const startSmall = async (file: number, bytes: Buffer) => {
    const permit = await store.semaphore.acquire()
    const work = writeSmall(file, bytes)
      .catch((error: unknown) => {
        failure ??= { error }
      })
      .finally(() => {
        permit[Symbol.dispose]()
        writing.delete(work)
      })
    writing.add(work)
  }

  const allWritten = async () => {
    await Promise.all(writing)
    if (failure) throw failure.error
  }

  const keepSmall = async (bytes: Buffer): Promise<number> => {
    if (failure) throw failure.error
    const sha256 = hash('sha256', bytes, 'buffer')
    const existingIndex = table.find(sha256)
    if (existingIndex !== undefined) return existingIndex
    const file = files++
    const index = table.add(sha256, bytes.length, file)
    await startSmall(file, bytes)
    return index
  }

  const keepLarge = async (writer: BlobWriter, file: number): Promise<number> => {
    large.delete(writer)
    const blob = await writer.finish()
    const sha256 = Buffer.from(blob.sha256, 'hex')
    const existingIndex = table.find(sha256)
    if (existingIndex !== undefined) {
      await blob.discard()
      return existingIndex
    }
    try {
      const index = table.add(sha256, blob.size, file)
      await staged(blob)
      return index
    } catch (error) {
      await blob.discard()
      throw error
    }
  }

  const discard = async () => {
    if (isClosed) return
    isClosed = true
    for (const writer of large) await writer.discard()
    large.clear()
    await Promise.all(writing)
    for (const blob of waiting) await blob.discard()
    waiting = []
    const files = selectFiles((sha256) => !isCommitted(sha256))
    // The garbage collection removes the files that stay.
    await inParallel(files, CALLS_AT_ONCE, ({ path }) => store.unlink(path).catch(() => {}))
  }

  return {
    count: table.count,
    at(index) {
      const { sha256, size, file } = table.at(index)
      return { sha256, size, ...('startedAt' in commitFiles && { object: filePath(file), ...commitFiles }) }
    },
    begin() {
      const small = createGrowingBuffer()
      let writer: BlobWriter | undefined
      let file = 0
      const grow = async (bytes: Buffer) => {
        file = files++
        writer = await store.begin(filePath(file))
        large.add(writer)
        await writer.write(small.bytes())
        await writer.write(bytes)
      }
      return {
        write(bytes) {
          if (writer) return writer.write(bytes)
          if (small.bytes().length + bytes.length > SMALL) return grow(bytes)
          small.append(bytes)
          return undefined
        },
        keep: () => (writer ? keepLarge(writer, file) : keepSmall(small.bytes())),
        async discard() {
          if (!writer) return
          large.delete(writer)
          await writer.discard()
        },
      }
    },
    async commit(chosen) {
      try {
        await allWritten()
        await inParallel(waiting, CALLS_AT_ONCE, (blob) => blob.sync())
        const isChosen = (sha256: string) => chosen?.has(sha256) ?? true
        if (typeof commitFiles === 'function') await commitFiles(selectFiles(isChosen))
        isCommitted = isChosen
        waiting = []
        isClosed = chosen === undefined
      } catch (error) {
        await discard()
        store.onFailure?.(error)
        throw storageError(error)
      }
    },
    discard,
  }
}

/** Collects pieces of any size in one buffer, which doubles up to SMALL. */
function createGrowingBuffer() {
  let buffer = Buffer.alloc(0)
  let size = 0
  return {
    bytes: () => buffer.subarray(0, size),
    append(bytes: Buffer) {
      if (size + bytes.length > buffer.length) {
        buffer = Buffer.concat(
          [buffer.subarray(0, size)],
          Math.max(size + bytes.length, Math.min(SMALL, 2 * size)),
        )
      }
      bytes.copy(buffer, size)
      size += bytes.length
    },
  }
}
