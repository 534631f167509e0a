// Folder of blobs: <dir>/ab/cd/<sha256>, each blob once, and <dir>/tmp for unfinished files. A blob gets its final name
// only after its bytes are flushed. `commit` returns only after the name is flushed too. The rows name the blobs that
// are needed. A folder that several nodes share has a store id. There existing files are verified by opening them: NFS
// shows names for a minute that another node removed.

import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import * as nodeFs from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../../runtime/errors.ts'
import { flush, unlessMissing } from '../../runtime/file-hash.ts'
import { createSemaphore } from '../../runtime/semaphore.ts'
import { storageError } from '../../runtime/storage-error.ts'
import type { Clock, IsoDate } from '../../values/dates.ts'
import { splitBatches } from '../batches.ts'
import type { UploadedBlob } from '../documents/blob-info.ts'
import { insertReferences, ROWS_AT_ONCE } from '../documents/blob-rows.ts'
import type { WriteDb } from '../tables.ts'
import { type BatchStore, createBlobBatch, type ListedBatch } from './batch.ts'
import { createBlobReader } from './blob-reader.ts'
import type { Blobs, RemovedBlob, RemovedFolder } from './blobs.ts'
import { blobPath, CALLS_AT_ONCE, renameBlobs } from './commit.ts'
import { inParallel } from './parallel.ts'
import { removeFiles } from './removal.ts'
import type { StoreId, StoreIdFiles } from './store-id.ts'
import { type BlobWriter, createBlobWriter, type StagedBlob, type WriterPool } from './writer.ts'

/** The functions of the file system that are used here. A test can record their calls and let any of them fail. */
export type BlobFs = Pick<typeof nodeFs, 'open' | 'mkdir' | 'rename' | 'unlink' | 'readdir' | 'stat'>

/** Blobs as files whose name is their SHA-256. */
export type BlobFolder = Blobs & {
  beginBlob(): Promise<BlobWriter>
  /**
   * Makes the staged files durable under their final names, or throws and removes them. Files that were renamed before
   * the failure stay until the garbage collection; they are complete.
   */
  commit(staged: StagedBlob[]): Promise<void>
  freeBytes(): Promise<number>
}

/** Folder of the blobs in a data directory. */
export const BLOB_FOLDER = 'blobs'
const SHA256 = /^[0-9a-f]{64}$/
const TWO_DIGITS = /^[0-9a-f]{2}$/
/** Subfolder of unreferenced blobs, which are deleted after --keep-removed days. */
export const REMOVED_FOLDER = 'removed'
/** File in the folder: blobs are moved into `removed/` and never deleted, since a later database needs them. */
export const HOLD_FILE = 'held'
const REMOVED_NAME = /^(\d{4}-\d\d-\d\d)\.([0-9a-f]{64})$/

/** `storeId`: set for a folder that several nodes share. `onFailure`: receives each failure to write. */
export type FolderOptions = {
  clock?: Clock | undefined
  storeId?: Pick<StoreId, 'verify'> | undefined
  onFailure?: ((error: unknown) => void) | undefined
}

export async function openBlobFolder(
  dir: string,
  fs: BlobFs = nodeFs,
  { clock = () => new Date(), storeId, onFailure }: FolderOptions = {},
): Promise<BlobFolder> {
  const temporary = join(dir, 'tmp')
  const batches = new Map<ListedBatch, string>() // with the beginning of their files' names
  const pool: WriterPool = { openFiles: 0, blocks: [], onFailure }
  const semaphore = createSemaphore(CALLS_AT_ONCE)
  const durable = new Set<string>()
  await fs.mkdir(temporary, { recursive: true, mode: 0o700 })
  await flush(dir, fs)
  await flush(dirname(dir), fs)

  const createWriter = async (path: string): Promise<BlobWriter> => {
    try {
      const file = await fs.open(path, 'wx', 0o600)
      return createBlobWriter(file, path, (name) => fs.unlink(name), pool)
    } catch (error) {
      onFailure?.(error)
      throw storageError(error)
    }
  }

  const blobs: BlobFolder = {
    beginBlob: () => createWriter(join(temporary, randomUUID())),
    beginBatch(memory) {
      const name = randomUUID()
      const store: BatchStore = {
        ...{ path: join(temporary, name), begin: createWriter, unlink: (path) => fs.unlink(path) },
        ...{ commitFiles: (files) => renameBlobs(fs, dir, files, durable), semaphore, onFailure },
        onEnd: (ended) => batches.delete(ended),
      }
      const batch = createBlobBatch(store, memory)
      batches.set(batch, name)
      return batch
    },
    async commit(staged) {
      try {
        await inParallel(staged, CALLS_AT_ONCE, (blob) => blob.sync())
        await renameBlobs(fs, dir, staged, durable)
      } catch (error) {
        await inParallel(staged, CALLS_AT_ONCE, (blob) => blob.discard())
        onFailure?.(error)
        throw storageError(error)
      }
    },
    ...createBlobReader(dir, fs),
    keepsRemoved: storeId !== undefined,
    addReferences: (trx, added) => addReferences(trx, added, { dir, fs, clock, storeId }),
    list: () => listBlobs(fs, dir),
    findModifiedTime: (sha256) => readModifiedTime(fs, blobPath(dir, sha256)),
    async inspect(sha256) {
      const stats = await unlessMissing(fs.stat(blobPath(dir, sha256)))
      return stats && { sha256, size: stats.size }
    },
    remove: async (sha256) => removeFile(fs, blobPath(dir, sha256)),
    removeFree(db, work) {
      const at = clock().toISOString()
      const moveDay = work.moveDay ?? (isHeld(dir) && !storeId ? (at.slice(0, 10) as IsoDate) : undefined)
      const isInUse = (sha256: string) => batches.keys().some((batch) => batch.has(sha256))
      return removeFiles(db, blobs, { ...work, at, moveDay, isInUse })
    },
    removeUnfinished: (before) => removeUnfinished(fs, temporary, { before, except: batches }),
    freeBytes: () => freeBytes(dir),
    ...(!storeId && { removedFolder: removedFolder(dir, fs, durable) }),
  }
  return blobs
}

type ReferenceOptions = { dir: string; fs: BlobFs; clock: Clock; storeId: FolderOptions['storeId'] }

// PostgreSQL ends a transaction that is idle for seconds, and checks over a network take time. So inserts of rows and
// checks of files alternate.
async function addReferences(
  trx: WriteDb,
  blobs: Iterable<UploadedBlob>,
  { dir, fs, clock, storeId }: ReferenceOptions,
): Promise<boolean> {
  await storeId?.verify(trx).catch((cause: unknown) => {
    // The mount went away: the new files are on this machine's own disk.
    throw new AppError('unavailable', 'The folder of documents is not there: try again later', { cause })
  })
  const at = clock().toISOString()
  const ordered = storeId ? [...blobs].sort((one, other) => (one.sha256 < other.sha256 ? -1 : 1)) : blobs
  let isWhole = true
  for (const some of splitBatches(ordered, ROWS_AT_ONCE)) {
    await insertReferences(trx, some, at)
    // A deletion unlinks inside a transaction, and SQLite runs one at a time: a file that exists now stays. So on one
    // machine a synchronous check of each name is enough.
    const allExist = storeId
      ? await canOpenAll(fs, dir, some)
      : some.every(({ sha256 }) => existsSync(blobPath(dir, sha256)))
    isWhole = allExist && isWhole
  }
  return isWhole
}

async function canOpenAll(fs: BlobFs, dir: string, blobs: readonly UploadedBlob[]): Promise<boolean> {
  let isWhole = true
  await inParallel(blobs, CALLS_AT_ONCE, async ({ sha256 }) => {
    const file = await unlessMissing(fs.open(blobPath(dir, sha256), 'r'))
    await file?.close()
    if (!file) isWhole = false
  })
  return isWhole
}

async function* listBlobs(fs: BlobFs, dir: string): AsyncGenerator<string> {
  for (const outer of await listNames(fs, dir, TWO_DIGITS)) {
    for (const inner of await listNames(fs, join(dir, outer), TWO_DIGITS)) {
      for (const sha256 of await listNames(fs, join(dir, outer, inner), SHA256)) {
        if (sha256.startsWith(outer + inner)) yield sha256
      }
    }
  }
}

async function readModifiedTime(fs: BlobFs, path: string): Promise<Date | undefined> {
  return (await unlessMissing(fs.stat(path)))?.mtime
}

/** Returns whether the file existed. */
async function removeFile(fs: BlobFs, path: string): Promise<boolean> {
  return (await unlessMissing(fs.unlink(path).then(() => true))) === true
}

/** Names that begin as one in `except` stay. */
async function removeUnfinished(
  fs: BlobFs,
  temporary: string,
  { before, except }: { before: Date | undefined; except: ReadonlyMap<unknown, string> },
): Promise<number> {
  let count = 0
  for (const name of await listNames(fs, temporary, /./)) {
    if (except.values().some((beginning) => name.startsWith(beginning))) continue
    const path = join(temporary, name)
    const modifiedTime = before && (await readModifiedTime(fs, path))
    const isOld = !before || (modifiedTime !== undefined && modifiedTime < before)
    if (isOld && (await removeFile(fs, path))) count += 1
  }
  return count
}

function isHeld(dir: string): boolean {
  return existsSync(join(dir, HOLD_FILE))
}

/** Opens <dir>/removed, whose files are <day>.<sha256>. */
function removedFolder(dir: string, fs: BlobFs, durable: Set<string>): RemovedFolder {
  const folder = join(dir, REMOVED_FOLDER)
  const blobFile = ({ day, sha256 }: RemovedBlob) => join(folder, `${day}.${sha256}`)
  return {
    async list() {
      const names = await listNames(fs, folder, REMOVED_NAME)
      return names.map((name) => {
        const [, day, sha256] = REMOVED_NAME.exec(name) as unknown as [string, IsoDate, string]
        return { day, sha256 }
      })
    },
    async add(blob) {
      await fs.mkdir(folder, { recursive: true, mode: 0o700 })
      const move = fs.rename(blobPath(dir, blob.sha256), blobFile(blob)).then(() => true)
      return (await unlessMissing(move)) === true
    },
    restore: (blobs) =>
      renameBlobs(
        fs,
        dir,
        blobs.map((blob) => ({ path: blobFile(blob), sha256: blob.sha256 })),
        durable,
      ),
    async delete(blob) {
      if (!isHeld(dir)) await unlessMissing(fs.unlink(blobFile(blob)))
    },
  }
}

/** Returns the files with store ids of a folder that several nodes share. */
export function folderStoreIds(dir: string, fs: BlobFs = nodeFs): StoreIdFiles {
  return (name) => storeIdFile(join(dir, name), dir, fs)
}

function storeIdFile(path: string, dir: string, fs: BlobFs): ReturnType<StoreIdFiles> {
  return {
    location: `file ${path}`,
    async read() {
      const file = await unlessMissing(fs.open(path, 'r'))
      if (!file) return undefined
      try {
        return (await file.readFile('utf8')).trim() || undefined // a crash left it empty
      } finally {
        await file.close()
      }
    },
    async write(mark) {
      const newPath = `${path}.${randomUUID()}` // other nodes read the file at any moment
      const file = await fs.open(newPath, 'w', 0o600)
      try {
        try {
          await file.writeFile(`${mark}\n`)
          await file.sync()
        } finally {
          await file.close()
        }
        await fs.rename(newPath, path)
      } catch (error) {
        await fs.unlink(newPath).catch(() => {}) // the first error counts; a full disk needs no more files
        throw error
      }
      await flush(dir, fs)
    },
  }
}

/** Returns the bytes that an unprivileged process can still write on the file system of this folder. */
export async function freeBytes(dir: string): Promise<number> {
  try {
    const { bavail, bsize } = await nodeFs.statfs(dir)
    return bavail * bsize
  } catch (error) {
    throw storageError(error)
  }
}

async function listNames(fs: BlobFs, path: string, pattern: RegExp): Promise<string[]> {
  const names = (await unlessMissing(fs.readdir(path))) ?? []
  return names.filter((name) => pattern.test(name)).sort()
}
