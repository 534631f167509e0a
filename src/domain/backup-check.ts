// Whether a backup is good: its files are those of its manifest, its database is sound, and every content that the
// database names is there, byte for byte. It only reads, so that it works on a disk that is mounted read-only.

import { join } from 'node:path'
import { AppError, reasonOf } from '../errors.ts'
import { findBackup } from '../store/backup-set.ts'
import { faultOfBlob } from '../store/blob-transfer.ts'
import { blobPath } from '../store/blobs.ts'
import { faultsOfDatabase, type OpenedDatabase, openToRead } from '../store/database-copy.ts'
import { hashFile } from '../store/file-hash.ts'
import { type Manifest, readManifest } from '../store/manifest.ts'
import { contentsOf } from './backup.ts'

// A backup takes what the set lacks, and does not read what it has.
const AGAIN = ', and the next backup takes it again if it can'

export type Checking = {
  /** Told each fault, a line. */
  fault(line: string): void
  signal?: AbortSignal | undefined
  /** Told after each content how many were checked. */
  progress?: ((done: number, of: number) => void) | undefined
  /** The database is checked a table at a time, so that a server answers in between. */
  inPieces: boolean
}

export type Checked = { name: string; manifest: Manifest; faults: number }

/**
 * Checks the backup that a path means: the newest of a set, or the one that it names itself.
 * @throws AppError `failed` when there is none, it says nothing about itself, or it was stopped
 */
export async function verifyBackup(path: string, checking: Checking): Promise<Checked> {
  const found = findBackup(path)
  const manifest = await readManifest(found.dir)
  let faults = 0
  const fault = (line: string) => {
    faults++
    checking.fault(line)
  }
  for (const { sha256, words } of manifest.lost) {
    fault(`content ${sha256} ${words}: so it was in the data directory already when the backup was made`)
  }
  try {
    await checkDatabase(found.dir, manifest, { ...checking, fault }, async (opened) => {
      await checkContents(opened, manifest, { ...checking, fault }, async (sha256) => {
        const path = blobPath(found.blobsDir, sha256)
        const loss = await faultOfBlob(path, sha256, checking.signal)
        return loss && (loss.missing ? `${loss.words}${AGAIN}` : `${loss.words}: remove ${path}${AGAIN}`)
      })
    })
  } catch (error) {
    if (checking.signal?.aborted) throw new AppError('failed', 'stopped before the end')
    fault(reasonOf(error))
  }
  return { name: found.name, manifest, faults }
}

/** Compares the files of a backup with its manifest, checks the database, and hands it on if it can be read. */
export async function checkDatabase(
  dir: string,
  manifest: Manifest,
  { fault, signal, inPieces }: Checking,
  next: (opened: OpenedDatabase) => Promise<void>,
): Promise<void> {
  const { database, blobs } = manifest
  const path = join(dir, database.file)
  const copy = await hashFile(path, signal)
  if (!copy) return fault(`${database.file} is missing`)
  if (copy.sha256 !== database.sha256) {
    fault(`${database.file} is altered: ${copy.size} bytes instead of ${database.bytes}, or another SHA-256`)
  }
  const list = await hashFile(join(dir, blobs.list), signal)
  if (list?.sha256 !== blobs.list_sha256) fault(`${blobs.list} is ${list ? 'altered' : 'missing'}`)
  const opened = openToRead(path, { live: false })
  try {
    for (const line of await faultsOfDatabase(opened.db, { inPieces })) fault(`${database.file}: ${line}`)
    if (opened.schema !== manifest.schema) fault(`${database.file} is not of schema ${manifest.schema}`)
    await next(opened)
  } finally {
    await opened.close()
  }
}

/** Hands every content of a backup to `check`, which answers what is wrong with it. */
export async function checkContents(
  opened: OpenedDatabase,
  manifest: Manifest,
  { fault, signal, progress }: Checking,
  check: (sha256: string) => Promise<string | undefined>,
): Promise<void> {
  const lost = new Set(manifest.lost.map(({ sha256 }) => sha256))
  let count = 0
  let sum = 0
  for await (const { sha256, size } of contentsOf(opened)) {
    if (lost.has(sha256)) continue
    signal?.throwIfAborted()
    const words = await check(sha256)
    if (words !== undefined) fault(`content ${sha256} ${words}`)
    count++
    sum += size
    progress?.(count, manifest.blobs.count)
  }
  if (count !== manifest.blobs.count || sum !== manifest.blobs.bytes) {
    const { count: were, bytes } = manifest.blobs
    fault(`the database names ${count} contents of ${sum} bytes, the manifest ${were} of ${bytes}`)
  }
}
