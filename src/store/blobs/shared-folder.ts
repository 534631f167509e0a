// A folder of blobs that several nodes see, such as one over NFS. Rows put uploads and deletions in order, and what no row
// names is unlinked later, by the janitor alone.

import * as nodeFs from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { unlessMissing } from '../../file-hash.ts'
import type { ContentRows } from '../contents.ts'
import { atomically, type Lock } from '../engine.ts'
import { portionsOf } from '../portions.ts'
import type { Db } from '../tables.ts'
import type { Blobs, Removal } from './blobs.ts'
import { type BlobFolder, type BlobFs, openBlobFolder } from './folder.ts'
import { MARK, type Mark, type MarkedStore } from './mark.ts'
import { inParallel } from './parallel.ts'
import { blobPath, CALLS_AT_ONCE, syncFolder } from './place.ts'

const CLAIMED_AT_ONCE = 1000

export async function openSharedFolder(
  dir: string,
  { rows, mark }: { rows: Pick<ContentRows, 'claim' | 'release'>; mark: Pick<Mark, 'hold'> },
  fs: BlobFs = nodeFs,
): Promise<BlobFolder> {
  const blobs = await openBlobFolder(dir, fs)
  // It is opened, not looked at: names that another node removed NFS may show for a minute.
  const isThere = async (sha256: string) => {
    const file = await unlessMissing(fs.open(blobPath(dir, sha256), 'r'))
    await file?.close()
    return file !== undefined
  }
  return {
    ...blobs,
    removesLater: true,
    async claim(trx, contents) {
      try {
        await mark.hold(trx) // unmounted meanwhile, what was just written is on this machine's disk
      } catch (cause) {
        throw new AppError('unavailable', 'The folder of documents is not there: try again later', { cause })
      }
      const sorted = [...contents].sort((one, other) => (one.sha256 < other.sha256 ? -1 : 1))
      let areThere = true
      // The database ends a transaction that says nothing for seconds, and files of another machine take their time.
      for (const some of portionsOf(sorted, CLAIMED_AT_ONCE)) {
        await rows.claim(trx, some)
        await inParallel(some, CALLS_AT_ONCE, async ({ sha256 }) => {
          areThere &&= await isThere(sha256)
        })
      }
      return areThere
    },
    release: rows.release,
  }
}

/** The file with the mark of the folder. */
export function markedFolder(dir: string, fs: BlobFs = nodeFs): MarkedStore {
  const path = join(dir, MARK)
  return {
    place: `file ${path}`,
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
      const file = await fs.open(path, 'w', 0o600)
      try {
        await file.writeFile(`${mark}\n`)
        await file.sync()
      } finally {
        await file.close()
      }
      await syncFolder(fs, dir)
    },
  }
}

/** Unlinks files that belong to no content. One that was written lately is left: an upload may be about to name it. */
export async function removeFiles(
  db: Db,
  blobs: Pick<Blobs, 'writtenAt' | 'remove'>,
  rows: Pick<ContentRows, 'unlinkFree' | 'forget'>,
  { names, writtenBefore, lock }: { names: readonly string[]; writtenBefore: Date; lock: Lock },
): Promise<Removal> {
  let removed = 0
  const kept: unknown[] = []
  for (const sha256 of names) {
    const writtenAt = await blobs.writtenAt(sha256)
    if (writtenAt && writtenAt >= writtenBefore) continue
    let refusal: unknown
    const unlink = async () => {
      try {
        return await blobs.remove(sha256)
      } catch (error) {
        refusal = error
        throw error
      }
    }
    // The end of a file is waited for inside the transaction: an upload of the same content waits for both.
    const remove = async (trx: Db) => {
      const isFree = await rows.unlinkFree(trx, sha256, unlink)
      await rows.forget(trx, [sha256])
      return isFree
    }
    try {
      if (await atomically(db, remove, lock)) removed += 1
    } catch (error) {
      if (refusal === undefined) throw error
      kept.push(refusal)
    }
  }
  return { removed, kept }
}
