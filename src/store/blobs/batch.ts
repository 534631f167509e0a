// Blobs of one upload, committed or discarded together. Each has a temporary file; memory has only its SHA-256, size
// and file number. Small blobs are written in parallel while the request is read, because each of them waits for the
// disk.

import { hash } from 'node:crypto'
import type { MemoryShare } from '../../runtime/memory-budget.ts'
import type { Semaphore } from '../../runtime/semaphore.ts'
import { storageError } from '../../runtime/storage-error.ts'
import type { UploadedBlob } from '../documents/blob-info.ts'
import { type BlobTable, createBlobTable } from './blob-table.ts'
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
  /**
   * Ends the batch: removes the temporary files and ignores errors. After a commit its blobs are no longer in use; a
   * repeated call has no effect.
   */
  discard(): Promise<void>
}

/** A batch in the list of the running ones. */
export type ListedBatch = BlobBatch & { has(sha256: string): boolean }

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
  /** Receives the batch when it ends. */
  onEnd?: (batch: ListedBatch) => void
}

type LargeBlob = { writer: BlobWriter; file: number }

const SMALL = 64 * 1024
// Files that wait for the commit are open (at most MAX_OPEN_FILES of writer.ts); the others have been flushed.
const WAITING = 64

export function createBlobBatch(store: BatchStore, memory: MemoryShare): ListedBatch {
  return new StagedBatch(store, memory)
}

class StagedBatch implements ListedBatch {
  readonly #store: BatchStore
  readonly #table: BlobTable
  readonly #writing = new Set<Promise<void>>()
  readonly #large = new Set<BlobWriter>()
  #waiting: StagedBlob[] = []
  #failure: { error: unknown } | undefined
  #files = 0 // begun; no number is used twice, not even after its file was removed
  #isClosed = false
  #isCommitted = (_sha256: string) => false

  constructor(store: BatchStore, memory: MemoryShare) {
    this.#store = store
    this.#table = createBlobTable(memory)
  }

  count() {
    return this.#table.count()
  }

  has(sha256: string) {
    return this.#table.find(Buffer.from(sha256, 'hex')) !== undefined
  }

  at(index: number) {
    const { sha256, size, file } = this.#table.at(index)
    const { commitFiles } = this.#store
    return { sha256, size, ...('startedAt' in commitFiles && { object: this.#path(file), ...commitFiles }) }
  }

  begin(): BatchBlobWriter {
    const small = createGrowingBuffer()
    let large: LargeBlob | undefined
    const grow = async (bytes: Buffer) => {
      large = await this.#beginLarge()
      await large.writer.write(small.bytes())
      await large.writer.write(bytes)
    }
    return {
      write(bytes) {
        if (large) return large.writer.write(bytes)
        if (small.bytes().length + bytes.length > SMALL) return grow(bytes)
        small.append(bytes)
        return undefined
      },
      keep: () => (large ? this.#keepLarge(large) : this.#keepSmall(small.bytes())),
      discard: async () => {
        if (!large) return
        this.#large.delete(large.writer)
        await large.writer.discard()
      },
    }
  }

  async commit(chosen?: ReadonlySet<string>) {
    const { commitFiles, onFailure } = this.#store
    try {
      await Promise.all(this.#writing)
      if (this.#failure) throw this.#failure.error
      await inParallel(this.#waiting, CALLS_AT_ONCE, (blob) => blob.sync())
      const isChosen = (sha256: string) => chosen?.has(sha256) ?? true
      if (typeof commitFiles === 'function') await commitFiles(this.#selectFiles(isChosen))
      this.#isCommitted = isChosen
      this.#waiting = []
      this.#isClosed = chosen === undefined
    } catch (error) {
      await this.discard()
      onFailure?.(error)
      throw storageError(error)
    }
  }

  async discard() {
    this.#store.onEnd?.(this)
    if (this.#isClosed) return
    this.#isClosed = true
    for (const writer of this.#large) await writer.discard()
    this.#large.clear()
    await Promise.all(this.#writing)
    for (const blob of this.#waiting) await blob.discard()
    this.#waiting = []
    const files = this.#selectFiles((sha256) => !this.#isCommitted(sha256))
    // The garbage collection removes the files that stay.
    await inParallel(files, CALLS_AT_ONCE, ({ path }) => this.#store.unlink(path).catch(() => {}))
  }

  async #keepSmall(bytes: Buffer) {
    if (this.#failure) throw this.#failure.error
    const sha256 = hash('sha256', bytes, 'buffer')
    const existingIndex = this.#table.find(sha256)
    if (existingIndex !== undefined) return existingIndex
    const file = this.#files++
    const index = this.#table.add(sha256, bytes.length, file)
    await this.#startSmall(file, bytes)
    return index
  }

  /** Waits for a permit, not for the end of the work. */
  async #startSmall(file: number, bytes: Buffer) {
    const permit = await this.#store.semaphore.acquire()
    const work = this.#writeSmall(file, bytes)
      .catch((error: unknown) => {
        this.#failure ??= { error }
      })
      .finally(() => {
        permit[Symbol.dispose]()
        this.#writing.delete(work)
      })
    this.#writing.add(work)
  }

  async #writeSmall(file: number, bytes: Buffer) {
    const writer = await this.#store.begin(this.#path(file))
    try {
      await writer.write(bytes)
    } catch (error) {
      await writer.discard()
      throw error
    }
    await this.#stage(await writer.finish())
  }

  async #beginLarge(): Promise<LargeBlob> {
    const file = this.#files++
    const writer = await this.#store.begin(this.#path(file))
    this.#large.add(writer)
    return { writer, file }
  }

  async #keepLarge({ writer, file }: LargeBlob) {
    this.#large.delete(writer)
    const blob = await writer.finish()
    const sha256 = Buffer.from(blob.sha256, 'hex')
    const existingIndex = this.#table.find(sha256)
    if (existingIndex !== undefined) {
      await blob.discard()
      return existingIndex
    }
    try {
      const index = this.#table.add(sha256, blob.size, file)
      await this.#stage(blob)
      return index
    } catch (error) {
      await blob.discard()
      throw error
    }
  }

  async #stage(blob: StagedBlob) {
    this.#waiting.push(blob)
    if (this.#waiting.length < WAITING) return
    const some = this.#waiting
    this.#waiting = []
    try {
      for (const one of some) await one.sync()
    } catch (error) {
      for (const one of some) await one.discard()
      throw error
    }
  }

  /** Selects files; the result can be iterated several times. */
  #selectFiles(isMeant: (sha256: string) => boolean) {
    return { [Symbol.iterator]: () => this.#iterateFiles(isMeant) }
  }

  *#iterateFiles(isMeant: (sha256: string) => boolean) {
    for (let index = 0; index < this.#table.count(); index++) {
      const { sha256, file } = this.#table.at(index)
      if (isMeant(sha256)) yield { path: this.#path(file), sha256 }
    }
  }

  #path(file: number) {
    return `${this.#store.path}-${file}`
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
