// The folder of blobs: <dir>/ab/cd/<sha256>, each content once, and <dir>/tmp for what is being written. A blob is
// under its final name only after its bytes are on the disk, and `commit` returns only after its name is too.
// Which blobs are needed is known by the rows, not here.

import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import * as nodeFs from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { unlessMissing } from '../../file-hash.ts'
import type { MemoryShare } from '../../memory-budget.ts'
import { createSemaphore } from '../../semaphore.ts'
import { storageError } from '../../storage-error.ts'
import { type BlobBatch, createBlobBatch } from './batch.ts'
import { inParallel } from './parallel.ts'
import { blobPath, CALLS_AT_ONCE, placeBlobs, syncFolder } from './place.ts'
import { type BlobReader, createBlobReader } from './reader.ts'
import { type BlobWriter, createBlobWriter, type StagedBlob, type WriterPool } from './writer.ts'

/** The file system as far as it is used here, so that a test can record its calls and let any of them fail. */
export type BlobFs = Pick<typeof nodeFs, 'open' | 'mkdir' | 'rename' | 'unlink' | 'readdir' | 'stat'>

export { blobPath }

export type Blobs = BlobReader & {
  beginBlob(): Promise<BlobWriter>
  /** Begins the contents of one upload. */
  beginBatch(memory: MemoryShare): BlobBatch
  /**
   * Makes the staged files durable under their final names, or throws and removes them. What was renamed before the
   * failure stays, complete and right, until `removeOrphans` finds that no row names it.
   */
  commit(staged: StagedBlob[]): Promise<void>
  /** Whether there was such a blob. */
  remove(sha256: string): Promise<boolean>
  /** Whether there is such a blob, without waiting: for use inside a transaction. */
  isThere(sha256: string): boolean
  list(): AsyncGenerator<string>
  /** Removes what a crash left: all temporary files and the blobs without a row. Only while nothing is uploaded. */
  removeOrphans(
    isNamed: (sha256: string) => boolean | Promise<boolean>,
  ): Promise<{ temporary: number; unnamed: number }>
}

const SHA256 = /^[0-9a-f]{64}$/
const TWO_DIGITS = /^[0-9a-f]{2}$/

export async function openBlobs(dir: string, fs: BlobFs = nodeFs): Promise<Blobs> {
  const temporary = join(dir, 'tmp')
  const pool: WriterPool = { openFiles: 0, blocks: [] }
  const semaphore = createSemaphore(CALLS_AT_ONCE)
  await fs.mkdir(temporary, { recursive: true, mode: 0o700 })
  await syncFolder(fs, dir)
  await syncFolder(fs, dirname(dir))

  const placeOf = (sha256: string): string => blobPath(dir, sha256)

  const beginAt = async (path: string): Promise<BlobWriter> => {
    try {
      const file = await fs.open(path, 'wx', 0o600)
      return createBlobWriter(file, path, (name) => fs.unlink(name), pool)
    } catch (error) {
      throw storageError(error)
    }
  }

  async function* list() {
    for (const outer of await namesIn(fs, dir, TWO_DIGITS)) {
      for (const inner of await namesIn(fs, join(dir, outer), TWO_DIGITS)) {
        for (const sha256 of await namesIn(fs, join(dir, outer, inner), SHA256)) {
          if (sha256.startsWith(outer + inner)) yield sha256
        }
      }
    }
  }

  const remove = async (sha256: string) => {
    const removed = await unlessMissing(fs.unlink(placeOf(sha256)).then(() => true))
    return removed === true
  }

  return {
    beginBlob: () => beginAt(join(temporary, randomUUID())),
    beginBatch(memory) {
      const path = join(temporary, randomUUID())
      const place = (files: Iterable<{ path: string; sha256: string }>) => placeBlobs(fs, dir, files)
      return createBlobBatch(
        { path, begin: beginAt, unlink: (name) => fs.unlink(name), place, semaphore },
        memory,
      )
    },
    async commit(staged) {
      try {
        await inParallel(staged, CALLS_AT_ONCE, (blob) => blob.sync())
        await placeBlobs(fs, dir, staged)
      } catch (error) {
        await inParallel(staged, CALLS_AT_ONCE, (blob) => blob.discard())
        throw storageError(error)
      }
    },
    ...createBlobReader(dir, fs),
    remove,
    isThere: (sha256) => existsSync(placeOf(sha256)),
    list,
    async removeOrphans(isNamed) {
      const removed = { temporary: 0, unnamed: 0 }
      for (const name of await namesIn(fs, temporary, /./)) {
        await fs.unlink(join(temporary, name))
        removed.temporary++
      }
      for await (const sha256 of list()) {
        if (await isNamed(sha256)) continue
        if (await remove(sha256)) removed.unnamed++
      }
      return removed
    },
  }
}

/** Bytes that an unprivileged process may still write on the file system of this folder. */
export async function freeBytes(dir: string): Promise<number> {
  try {
    const { bavail, bsize } = await nodeFs.statfs(dir)
    return bavail * bsize
  } catch (error) {
    throw storageError(error)
  }
}

async function namesIn(fs: BlobFs, path: string, wanted: RegExp): Promise<string[]> {
  const names = (await unlessMissing(fs.readdir(path))) ?? []
  return names.filter((name) => wanted.test(name))
}
