// The folder of blobs: <dir>/ab/cd/<sha256>, each content once, and <dir>/tmp for what is being written. A blob is
// under its final name only after its bytes are on the disk, and `commit` returns only after its name is too.
// Which blobs are needed is known by the rows, not here.

import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import * as nodeFs from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { unlessMissing } from '../../file-hash.ts'
import { createSemaphore } from '../../semaphore.ts'
import { storageError } from '../../storage-error.ts'
import type { KeptContent } from '../contents.ts'
import { createBlobBatch } from './batch.ts'
import type { Blobs } from './blobs.ts'
import { inParallel } from './parallel.ts'
import { blobPath, CALLS_AT_ONCE, placeBlobs, syncFolder } from './place.ts'
import { createBlobReader } from './reader.ts'
import { type BlobWriter, createBlobWriter, type StagedBlob, type WriterPool } from './writer.ts'

/** The file system as far as it is used here, so that a test can record its calls and let any of them fail. */
export type BlobFs = Pick<typeof nodeFs, 'open' | 'mkdir' | 'rename' | 'unlink' | 'readdir' | 'stat'>

/** The name of a content is its SHA-256. */
export type BlobFolder = Blobs & {
  beginBlob(): Promise<BlobWriter>
  /**
   * Makes the staged files durable under their final names, or throws and removes them. What was renamed before the
   * failure stays, complete and right, until `removeOrphans` finds that no row names it.
   */
  commit(staged: StagedBlob[]): Promise<void>
  freeBytes(): Promise<number>
}

const SHA256 = /^[0-9a-f]{64}$/
const TWO_DIGITS = /^[0-9a-f]{2}$/
const LOOKED_AT_AT_ONCE = 200 // a millisecond or two

export async function openBlobFolder(dir: string, fs: BlobFs = nodeFs): Promise<BlobFolder> {
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

  // A deletion unlinks inside a transaction, too, and SQLite has one of them at a time: what is here now stays. A look of
  // its own for each, for the transaction waits for nothing but a turn of the event loop.
  const areThere = async (contents: Iterable<KeptContent>) => {
    let seen = 0
    for (const { sha256 } of contents) {
      if (seen > 0 && seen % LOOKED_AT_AT_ONCE === 0) await setImmediate()
      seen += 1
      if (!existsSync(placeOf(sha256))) return false
    }
    return true
  }

  const writtenAt = async (path: string) => (await unlessMissing(fs.stat(path)))?.mtime

  const isFrom = async (path: string, before: Date) => {
    const written = await writtenAt(path)
    return written !== undefined && written < before
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
    removesLater: false,
    claim: (_trx, contents) => areThere(contents),
    release: (_trx, sha256) => remove(sha256),
    list,
    writtenAt: (sha256) => writtenAt(placeOf(sha256)),
    remove,
    async removeUnfinished(before) {
      let removed = 0
      for (const name of await namesIn(fs, temporary, /./)) {
        const path = join(temporary, name)
        if (before && !(await isFrom(path, before))) continue
        if (await unlessMissing(fs.unlink(path).then(() => true))) removed += 1
      }
      return removed
    },
    freeBytes: () => freeBytes(dir),
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
  return names.filter((name) => wanted.test(name)).sort()
}
