// What a restore leaves out stands beside the data directory that it makes: <data-dir>.damaged.json lists it, and
// <data-dir>.damaged/ has the altered files as they are. Both are in place before the directory is, so that it is never
// there without them; those of a restore that was killed between the two are known by the epoch of its database.

import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { copyFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError, reasonOf } from '../../errors.ts'
import { flush } from '../../file-hash.ts'
import { blobPath } from '../blobs/place.ts'
import { isOfBadDisk } from '../blobs/transfer.ts'

export type DamagedFiles = {
  /** Where the list will be. */
  list: string
  /** Where the altered files will be. */
  dir: string
  /** Copies an altered content of a folder of blobs; undefined: it cannot be read. Returns where it will be. */
  keep(from: string, sha256: string): Promise<string | undefined>
  /** Puts list and files in their places, flushed. `epoch` is that of the restored database. */
  place(list: Record<string, unknown> & { epoch: string }): Promise<void>
  /** Takes away what is not in its place, and, of a restore that did not land, what is. */
  close(landed: boolean): void
}

/** @throws AppError `failed` when those of an earlier restore are there, or none can be made */
export function openDamagedFiles(
  dataDir: string,
  owner: { uid: number; gid: number } | undefined,
): DamagedFiles {
  const { list, dir, work } = placesBeside(dataDir)
  for (const path of [list, dir]) {
    if (existsSync(path)) {
      throw new AppError('failed', `${path} is there already, of an earlier restore: move it away first`)
    }
  }
  try {
    accessSync(dirname(dataDir), constants.W_OK)
  } catch (error) {
    const why = `the list of what is left out cannot be written beside ${dataDir} (${reasonOf(error)})`
    throw new AppError('failed', `${why}: use sudo, or another --data-dir`, { cause: error })
  }
  const files = join(work, 'files')
  const draft = join(work, 'list.json')
  const placed: string[] = []
  const place = (from: string, to: string) => {
    renameSync(from, to)
    placed.push(to)
  }
  return {
    list,
    dir,
    async keep(from, sha256) {
      mkdirSync(files, { recursive: true, mode: 0o700 })
      const path = join(files, sha256)
      try {
        await copyFile(blobPath(from, sha256), path)
      } catch (error) {
        rmSync(path, { force: true })
        if (isOfBadDisk(error)) return undefined
        throw error
      }
      chmodSync(path, 0o600)
      return join(dir, sha256)
    },
    async place(content) {
      mkdirSync(work, { recursive: true, mode: 0o700 })
      await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
      const copies = existsSync(files) ? readdirSync(files).map((name) => join(files, name)) : []
      const made = copies.length > 0 ? [draft, ...copies, files] : [draft]
      for (const path of made) {
        if (owner) chownSync(path, owner.uid, owner.gid)
        await flush(path)
      }
      place(draft, list)
      if (copies.length > 0) place(files, dir)
      rmSync(work, { recursive: true }) // now: a process that is killed after the last step leaves nothing
      await flush(dirname(dataDir))
    },
    close(landed) {
      rmSync(work, { recursive: true, force: true })
      if (!landed) for (const path of placed.reverse()) rmSync(path, { recursive: true, force: true })
    },
  }
}

/**
 * Removes what a restore that was killed has left beside the place of its data directory. `epoch` is that of the database
 * which it did not put in its place; the caller holds the locks.
 */
export function clearDamagedFiles(dataDir: string, epoch: string | undefined): void {
  const { list, dir, work } = placesBeside(dataDir)
  rmSync(work, { recursive: true, force: true })
  if (epoch === undefined || epochOfList(list) !== epoch) return
  rmSync(dir, { recursive: true, force: true })
  rmSync(list, { force: true }) // the last, because it tells whose they are
}

function placesBeside(dataDir: string): { list: string; dir: string; work: string } {
  const dir = `${dataDir}.damaged`
  return { list: `${dir}.json`, dir, work: `${dir}.restoring` }
}

function epochOfList(path: string): unknown {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { epoch?: unknown }).epoch
  } catch {
    return undefined // there is none, or it is not ours
  }
}
