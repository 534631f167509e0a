// The folder of blobs: <dir>/ab/cd/<sha256>, each content once, and <dir>/tmp for what is being written. A blob is
// under its final name only after its bytes are on the disk, and `commit` returns only after its name is too.
// Which blobs are needed is known by the rows, not here.

import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import * as nodeFs from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { type ByteRange, checkedPieces, copiesOf, createCrowd, type Pieces, piecesOf } from './blob-pieces.ts'
import { type BlobWriter, createBlobWriter, type StagedBlob, type WriterPool } from './blob-writer.ts'
import { unlessMissing } from './file-hash.ts'
import { storageError } from './storage-error.ts'

/** The file system as far as it is used here, so that a test can record its calls and let any of them fail. */
export type BlobFs = Pick<typeof nodeFs, 'open' | 'mkdir' | 'rename' | 'unlink' | 'readdir' | 'stat'>

export type StoredBlob = { size: number; stream(): Readable; pieces(): Pieces }

export type Blobs = {
  beginBlob(): Promise<BlobWriter>
  /**
   * Makes the staged files durable under their final names, or throws and removes them. What was renamed before the
   * failure stays, complete and right, until `sweep` finds that no row names it.
   */
  commit(staged: StagedBlob[]): Promise<void>
  /**
   * The size of the whole blob and its bytes, as a stream or lent a piece at a time. No file is open until the first of
   * them is asked for. The pieces of a whole blob are checked against its hash, the first time and again when the file
   * has changed: to hash each download would make it half as fast.
   */
  read(sha256: string, range?: ByteRange): Promise<StoredBlob | undefined>
  /** Whether there was such a blob. */
  remove(sha256: string): Promise<boolean>
  /** Whether there is such a blob, without waiting: for use inside a transaction. */
  isThere(sha256: string): boolean
  list(): AsyncGenerator<string>
  /** Removes what a crash left: all temporary files and the blobs without a row. Only while nobody uploads. */
  sweep(
    isNamed: (sha256: string) => boolean | Promise<boolean>,
  ): Promise<{ temporary: number; unnamed: number }>
}

const SHA256 = /^[0-9a-f]{64}$/
const TWO_DIGITS = /^[0-9a-f]{2}$/
const MAX_PROVEN = 10_000
const AT_ONCE = 8 // flushes that run together, so that the file system may join them in one commit of its journal

export async function openBlobs(dir: string, fs: BlobFs = nodeFs): Promise<Blobs> {
  const temporary = join(dir, 'tmp')
  const pool: WriterPool = { openFiles: 0, blocks: [] }
  const crowd = createCrowd()
  const proven = new Map<string, number>() // blobs that were right, and when their files were written
  await fs.mkdir(temporary, { recursive: true, mode: 0o700 })
  await syncFolder(fs, dir)
  await syncFolder(fs, dirname(dir))

  const placeOf = (sha256: string): string => blobPath(dir, sha256)

  const place = async (staged: StagedBlob[]) => {
    await together(staged, (blob) => blob.sync())
    const folders = new Set<string>()
    for (const { path, sha256 } of staged) {
      const folder = dirname(placeOf(sha256))
      await fs.mkdir(folder, { recursive: true, mode: 0o700 })
      // Over a blob of the same content too: the stored one may be damaged, or not yet on the disk.
      await fs.rename(path, placeOf(sha256))
      // The parents too, even if they were there: another upload may have made them and not flushed them yet.
      folders.add(folder).add(dirname(folder)).add(dir)
    }
    await together([...folders], (folder) => syncFolder(fs, folder))
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
    async beginBlob() {
      const path = join(temporary, randomUUID())
      try {
        const file = await fs.open(path, 'wx', 0o600)
        return createBlobWriter(file, path, (name) => fs.unlink(name), pool)
      } catch (error) {
        throw storageError(error)
      }
    },
    async commit(staged) {
      try {
        await place(staged)
      } catch (error) {
        await together(staged, (blob) => blob.discard())
        throw storageError(error)
      }
    },
    async read(sha256, range) {
      const path = placeOf(sha256)
      const found = await unlessMissing(fs.stat(path))
      if (!found) return undefined
      const { size, mtimeMs } = found
      const { start, end } = range ?? { start: 0, end: size - 1 }
      const plain = () => piecesOf(() => fs.open(path, 'r'), { start, end }, crowd)
      const pieces = () => {
        // A part cannot be checked against the hash of the whole.
        if (end - start + 1 < size || proven.get(sha256) === mtimeMs) return plain()
        if (proven.size >= MAX_PROVEN) proven.clear()
        return proving(checkedPieces(plain(), { sha256, size }), () => proven.set(sha256, mtimeMs))
      }
      return { size, pieces, stream: () => Readable.from(copiesOf(plain()), { objectMode: false }) }
    },
    remove,
    isThere: (sha256) => existsSync(placeOf(sha256)),
    list,
    async sweep(isNamed) {
      const swept = { temporary: 0, unnamed: 0 }
      for (const name of await namesIn(fs, temporary, /./)) {
        await fs.unlink(join(temporary, name))
        swept.temporary++
      }
      for await (const sha256 of list()) {
        if (await isNamed(sha256)) continue
        if (await remove(sha256)) swept.unnamed++
      }
      return swept
    },
  }
}

/** Where the blob is in a folder of blobs. */
export function blobPath(dir: string, sha256: string): string {
  if (!SHA256.test(sha256)) throw new TypeError('not a SHA-256 in lower case hexadecimal')
  return join(dir, sha256.slice(0, 2), sha256.slice(2, 4), sha256)
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

async function syncFolder(fs: BlobFs, path: string): Promise<void> {
  const folder = await fs.open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

async function namesIn(fs: BlobFs, path: string, wanted: RegExp): Promise<string[]> {
  const names = (await unlessMissing(fs.readdir(path))) ?? []
  return names.filter((name) => wanted.test(name))
}

/** The pieces, and a note when all of them have been given. */
async function* proving(pieces: Pieces, note: () => void): Pieces {
  yield* pieces
  note()
}

/** Runs the work on all items, some at once, and throws the first failure only when nothing runs any more. */
async function together<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values()
  const lane = async () => {
    for (const item of rest) await work(item)
  }
  const lanes = await Promise.allSettled(Array.from({ length: AT_ONCE }, lane))
  for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason
}
