// The contents of one upload, kept or dropped together: each is in a temporary file of its own, and what is remembered of
// it is its SHA-256 and its size. Small contents are written beside the reading, some at once, because each of them waits
// for the disk.

import { hash } from 'node:crypto'
import type { MemoryShare } from '../../memory-budget.ts'
import type { Semaphore } from '../../semaphore.ts'
import { storageError } from '../../storage-error.ts'
import type { KeptContent } from '../contents.ts'
import { createContentTable } from './content-table.ts'
import { inParallel } from './parallel.ts'
import { CALLS_AT_ONCE } from './place.ts'
import type { BlobWriter, StagedBlob } from './writer.ts'

export type BlobBatch = {
  /** How many contents were kept, each counted once. */
  count(): number
  /** What is known of a content by its number. */
  at(index: number): KeptContent
  /** Begins a content. It must be kept or discarded before the next one is written. */
  begin(): ContentWriter
  /**
   * Makes all contents, or those of these SHA-256, durable under their final names, or throws and removes the temporary
   * files. The others stay temporary.
   */
  commit(chosen?: ReadonlySet<string>): Promise<void>
  /** Removes the temporary files, as far as it can; harmless after a commit and when repeated. */
  discard(): Promise<void>
}

export type ContentWriter = {
  /** Copies the bytes. If a promise comes back, wait for it before the next call. */
  write(bytes: Buffer): Promise<void> | undefined
  /** Adds the content to the batch; answers its number, which is that of an equal one if there is one. */
  keep(): Promise<number>
  discard(): Promise<void>
}

/** What a batch needs of where it writes: a folder of temporary files, or a bucket, whose objects stay as they are. */
export type BatchStore = {
  /** The beginning of the paths of its temporary files, or of the names of its objects. */
  path: string
  begin: (path: string) => Promise<BlobWriter>
  unlink: (path: string) => Promise<void>
  /** Gives files their final names. Or each stays an object of its own, and it is said since when there may be some. */
  place: ((files: Iterable<{ path: string; sha256: string }>) => Promise<void>) | { begunAt: string }
  /** Of small contents of all batches, to be written: each has a file open and its bytes in memory. */
  semaphore: Semaphore
}

const SMALL = 64 * 1024
// Files that wait for the commit are open (writer.ts says how many); the others of these have been flushed.
const WAITING = 64

export function createBlobBatch(store: BatchStore, memory: MemoryShare): BlobBatch {
  const contents = createContentTable(memory)
  const writing = new Set<Promise<void>>()
  const large = new Set<BlobWriter>()
  let waiting: StagedBlob[] = []
  let failure: { error: unknown } | undefined
  let files = 0 // begun; no number is used twice, though its file may be gone
  let isOver = false
  let isCommitted = (_sha256: string) => false

  const { place } = store
  const pathOf = (file: number) => `${store.path}-${file}`

  const filesOf = (isMeant: (sha256: string) => boolean) => ({
    *[Symbol.iterator]() {
      for (let index = 0; index < contents.count(); index++) {
        const { sha256, file } = contents.at(index)
        if (isMeant(sha256)) yield { path: pathOf(file), sha256 }
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
    const writer = await store.begin(pathOf(file))
    try {
      await writer.write(bytes)
    } catch (error) {
      await writer.discard()
      throw error
    }
    await staged(await writer.finish())
  }

  /** Waits for a permit, not for the work. */
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
    const known = contents.find(sha256)
    if (known !== undefined) return known
    const file = files++
    const index = contents.add(sha256, bytes.length, file)
    await startSmall(file, bytes)
    return index
  }

  const keepLarge = async (writer: BlobWriter, file: number): Promise<number> => {
    large.delete(writer)
    const blob = await writer.finish()
    const sha256 = Buffer.from(blob.sha256, 'hex')
    const known = contents.find(sha256)
    if (known !== undefined) {
      await blob.discard()
      return known
    }
    try {
      const index = contents.add(sha256, blob.size, file)
      await staged(blob)
      return index
    } catch (error) {
      await blob.discard()
      throw error
    }
  }

  const discard = async () => {
    if (isOver) return
    isOver = true
    for (const writer of large) await writer.discard()
    large.clear()
    await Promise.all(writing)
    for (const blob of waiting) await blob.discard()
    waiting = []
    const files = filesOf((sha256) => !isCommitted(sha256))
    await inParallel(files, CALLS_AT_ONCE, ({ path }) => store.unlink(path).catch(() => {}))
  }

  return {
    count: contents.count,
    at(index) {
      const { sha256, size, file } = contents.at(index)
      return { sha256, size, ...('begunAt' in place && { object: pathOf(file), ...place }) }
    },
    begin() {
      const small = createGrowingBuffer()
      let writer: BlobWriter | undefined
      let file = 0
      const grow = async (bytes: Buffer) => {
        file = files++
        writer = await store.begin(pathOf(file))
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
        if (typeof place === 'function') await place(filesOf(isChosen))
        isCommitted = isChosen
        waiting = []
        isOver = chosen === undefined
      } catch (error) {
        await discard()
        throw storageError(error)
      }
    },
    discard,
  }
}

/** Bytes that come in pieces of any size, however small, in one buffer. */
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
