// Ballast: files of random bytes in the data directory, given up when its disk is full. Deletions, claims and the
// checkpoint of SQLite's log then have room. A crash at any moment leaves less ballast, which housekeeping makes again.

import { randomBytes } from 'node:crypto'
import { rmSync, statSync, unlinkSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../runtime/errors.ts'
import { isDiskFull } from '../runtime/storage-error.ts'
import { BLOB_FOLDER, freeBytes } from './blobs/folder.ts'

export const BALLAST_FILE = 'ballast'
const BALLAST_BYTES = 4 * 1024 ** 2 // SQLite's log grows by as much before a checkpoint

const retriable = new WeakSet<Error>()

/** Gives up the ballast of a data directory. Returns whether there was any. */
export function giveUpBallast(dataDir: string): boolean {
  const paths = [dataDir, join(dataDir, BLOB_FOLDER)].map((folder) => join(folder, BALLAST_FILE))
  return paths.map(removeFile).includes(true)
}

/** Makes missing ballast where `minFree` bytes stay free. A blob folder on another file system has its own. */
export async function makeBallast(dataDir: string, minFree: number): Promise<void> {
  const blobs = join(dataDir, BLOB_FOLDER)
  const folders = statSync(blobs).dev === statSync(dataDir).dev ? [dataDir] : [dataDir, blobs]
  for (const folder of folders) {
    const path = join(folder, BALLAST_FILE)
    if (statSync(path, { throwIfNoEntry: false })?.size === BALLAST_BYTES) continue
    rmSync(path, { force: true }) // a crash left a part
    if ((await freeBytes(folder)) < BALLAST_BYTES + minFree) continue
    await writeFile(path, randomBytes(BALLAST_BYTES), { flag: 'wx', mode: 0o600, flush: true })
  }
}

/** Gives up the ballast if the disk is full. Returns whether a retry has room, as `hasNewRoom` does later. */
export function makeRoom(dataDir: string, error: unknown): boolean {
  const isGivenUp = isDiskFull(error) && giveUpBallast(dataDir)
  if (isGivenUp && error instanceof Error) retriable.add(error)
  return isGivenUp
}

/** Returns whether the ballast was given up for this error. */
export function hasNewRoom(error: unknown): boolean {
  return error instanceof Error && retriable.has(error)
}

function removeFile(path: string): boolean {
  try {
    unlinkSync(path)
    return true
  } catch (error) {
    if (/^(ENOENT|ENOTDIR|EROFS|EACCES|EPERM)$/.test(errorCode(error))) return false
    throw error
  }
}
