// Making a data directory of a backup: every byte is checked on the way, and with one fault nothing is made.

import { AppError, reasonOf } from '../errors.ts'
import { findBackup } from '../store/backup-set.ts'
import { openBatch, stageBlob } from '../store/blob-transfer.ts'
import { openBlobs } from '../store/blobs.ts'
import { type Manifest, readManifest } from '../store/manifest.ts'
import { beginDataDir, type NewDataDir, type Owner } from '../store/new-data-dir.ts'
import { type Checking, checkContents, checkDatabase } from './backup-check.ts'

export type Restored = { name: string; manifest: Manifest; faults: number }

/**
 * Makes a data directory of the backup that a path means. The database gets a new epoch (decisions 2.14). What was lost
 * when the backup was made is not a fault of the backup.
 * @param to.owner whose the data directory shall be; undefined: whoever this process is
 * @throws AppError `failed` when the data directory is not empty, is in use, or cannot be made
 */
export async function restoreBackup(
  path: string,
  to: { dataDir: string; owner: Owner | undefined },
  checking: Checking,
): Promise<Restored> {
  const found = findBackup(path)
  const manifest = await readManifest(found.dir)
  let faults = 0
  const fault = (line: string) => {
    faults++
    checking.fault(line)
  }
  let made: NewDataDir | undefined
  try {
    made = beginDataDir(to.dataDir, to.owner)
    await takeContents(found, manifest, made, { ...checking, fault })
    if (faults === 0) {
      const { file, sha256 } = manifest.database
      const taken = await made.takeDatabase(`${found.dir}/${file}`, sha256, checking.signal)
      if (!taken) fault(`${file} was read differently twice: is the disk failing?`)
    }
    if (faults === 0) await made.land()
    return { name: found.name, manifest, faults }
  } catch (error) {
    if (checking.signal?.aborted) throw new AppError('failed', 'stopped before the end: nothing was restored')
    if (error instanceof AppError && error.code === 'failed') throw error
    const cause = error instanceof AppError ? (error.cause ?? error) : error
    const why = `${reasonOf(cause)}; nothing was restored`
    throw new AppError('failed', `cannot restore to ${to.dataDir}: ${why}`, { cause: error })
  } finally {
    made?.close()
  }
}

/** Checks the backup and takes its contents over, as hard links where owner and mode are right. */
async function takeContents(
  found: { dir: string; blobsDir: string },
  manifest: Manifest,
  { blobsDir, mayShare }: NewDataDir,
  checking: Checking,
): Promise<void> {
  const { signal } = checking
  const blobs = await openBlobs(blobsDir)
  const batch = openBatch(blobs)
  const take = async (sha256: string) => {
    const mayLink = mayShare(found.blobsDir, sha256)
    const staged = await stageBlob(found.blobsDir, { dir: blobsDir, blobs }, sha256, { mayLink, signal })
    if ('words' in staged) return staged.words
    await batch.add(staged)
    return undefined
  }
  try {
    await checkDatabase(found.dir, manifest, checking, (opened) =>
      checkContents(opened, manifest, checking, take),
    )
    await batch.end()
  } finally {
    await batch.discard()
  }
}
