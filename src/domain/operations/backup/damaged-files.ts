// Damaged files that a restore omits. <data-dir>.damaged.json lists them, and <data-dir>.damaged/ has unchanged copies of
// the altered ones. Both are published before the data directory, so it never exists without them. After a killed
// restore, the epoch of its database identifies them.

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
import { AppError, errorReason } from '../../../runtime/errors.ts'
import { flush } from '../../../runtime/file-hash.ts'
import { blobPath } from '../../../store/blobs/commit.ts'
import { isDiskFault } from '../../../store/blobs/transfer.ts'

export type DamagedFiles = {
  /** Where the list will be. */
  list: string
  /** Where the altered files will be. */
  dir: string
  /** Copies an altered blob of a folder; undefined: it cannot be read. Returns where it will be. */
  copyAltered(from: string, sha256: string): Promise<string | undefined>
  /** Puts list and files in their places, flushed. `epoch` is that of the restored database. */
  publish(list: Record<string, unknown> & { epoch: string }): Promise<void>
  /** Takes away what is not in its place, and, of a restore that did not land, what is. */
  close(landed: boolean): void
}

/** @throws AppError `failed` when those of an earlier restore are there, or none can be made */
export function openDamagedFiles(
  dataDir: string,
  owner: { uid: number; gid: number } | undefined,
): DamagedFiles {
  const { list, dir, work } = damagedPaths(dataDir)
  for (const path of [list, dir]) {
    if (existsSync(path)) {
      throw new AppError('failed', `${path} is there already, of an earlier restore: move it away first`)
    }
  }
  try {
    accessSync(dirname(dataDir), constants.W_OK)
  } catch (error) {
    const why = `the list of what is left out cannot be written beside ${dataDir} (${errorReason(error)})`
    throw new AppError('failed', `${why}: use sudo, or another --data-dir`, { cause: error })
  }
  const files = join(work, 'files')
  const draft = join(work, 'list.json')
  const publishedPaths: string[] = []
  const place = (from: string, to: string) => {
    renameSync(from, to)
    publishedPaths.push(to)
  }
  return {
    list,
    dir,
    async copyAltered(from, sha256) {
      mkdirSync(files, { recursive: true, mode: 0o700 })
      const path = join(files, sha256)
      try {
        await copyFile(blobPath(from, sha256), path)
      } catch (error) {
        rmSync(path, { force: true })
        if (isDiskFault(error)) return undefined
        throw error
      }
      chmodSync(path, 0o600)
      return join(dir, sha256)
    },
    async publish(content) {
      mkdirSync(work, { recursive: true, mode: 0o700 })
      await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
      const copies = existsSync(files) ? readdirSync(files).map((name) => join(files, name)) : []
      const newPaths = copies.length > 0 ? [draft, ...copies, files] : [draft]
      for (const path of newPaths) {
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
      if (!landed) for (const path of publishedPaths.reverse()) rmSync(path, { recursive: true, force: true })
    },
  }
}

/**
 * Removes files that a killed restore left beside its data directory. `epoch` is the epoch of its unpublished database.
 * The caller must have the locks.
 */
export function clearDamagedFiles(dataDir: string, epoch: string | undefined): void {
  const { list, dir, work } = damagedPaths(dataDir)
  rmSync(work, { recursive: true, force: true })
  if (epoch === undefined || readListEpoch(list) !== epoch) return
  rmSync(dir, { recursive: true, force: true })
  rmSync(list, { force: true }) // last, because it identifies the restore
}

function damagedPaths(dataDir: string): { list: string; dir: string; work: string } {
  const dir = `${dataDir}.damaged`
  return { list: `${dir}.json`, dir, work: `${dir}.restoring` }
}

function readListEpoch(path: string): unknown {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { epoch?: unknown }).epoch
  } catch {
    return undefined // there is none, or it is not ours
  }
}
