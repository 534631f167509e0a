// Whether a backup is good: its files are those of its manifest, its database is sound, and every content that the
// database names is there, byte for byte. It only reads, so that it works on a disk that is mounted read-only.

import { join } from 'node:path'
import { AppError, reasonOf } from '../../errors.ts'
import { hashFile } from '../../file-hash.ts'
import { type Manifest, readManifest } from '../../store/backup/manifest.ts'
import { findBackup } from '../../store/backup/set.ts'
import { blobPath } from '../../store/blobs/place.ts'
import { faultOfBlob } from '../../store/blobs/transfer.ts'
import type { Content } from '../../store/contents.ts'
import type { Examined } from '../../store/engine.ts'
import { faultsOfDatabase, openToRead } from '../../store/sqlite/database-copy.ts'
import { contentsOf } from './backup.ts'

// A backup takes what the set lacks, and does not read what it has.
const AGAIN = ', and the next backup takes it again if it can'

export type Checking = {
  /** Told each fault, a line. */
  fault(line: string): void
  /** Told each content that is there and damaged, beside its fault. */
  damaged?: ((sha256: string) => void) | undefined
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
  for (const { sha256, words, since } of manifest.lost) {
    if (since !== undefined) continue
    fault(`content ${sha256} ${words}: so it was in the data directory already when the backup was made`)
  }
  try {
    await checkDatabase(found.dir, manifest, { ...checking, fault }, async (opened) => {
      const check = async ({ sha256 }: Content) => {
        const path = blobPath(found.blobsDir, sha256)
        const loss = await faultOfBlob(path, sha256, checking.signal)
        if (loss?.kind === 'altered' || loss?.kind === 'unreadable') checking.damaged?.(sha256)
        return (
          loss &&
          (loss.kind === 'missing' ? `${loss.words}${AGAIN}` : `${loss.words}: remove ${path}${AGAIN}`)
        )
      }
      await checkContents(opened, manifest, { ...checking, fault }, { check })
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
  next: (opened: Examined) => Promise<void>,
): Promise<void> {
  const { database, blobs } = manifest
  const path = join(dir, database.file)
  const copy = await hashFile(path, signal)
  if (!copy) return fault(`${database.file} is missing`)
  if (copy.sha256 !== database.sha256) {
    const size = `it has ${copy.size} bytes instead of ${database.bytes}`
    fault(`${database.file} is altered: ${copy.size === database.bytes ? 'its SHA-256 is another' : size}`)
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

/**
 * Hands every content of a backup to `check`, which answers what is wrong with it; those that were lost when it was made
 * to `checkLost`.
 */
export async function checkContents(
  opened: Examined,
  manifest: Manifest,
  { fault, signal, progress }: Checking,
  {
    check,
    checkLost,
  }: {
    check: (content: Content) => Promise<string | undefined>
    checkLost?: (content: Content, loss: Manifest['lost'][number]) => Promise<void>
  },
): Promise<void> {
  const lost = new Map(manifest.lost.map((loss) => [loss.sha256, loss]))
  let count = 0
  let sum = 0
  for await (const content of contentsOf(opened)) {
    const { sha256, size } = content
    signal?.throwIfAborted()
    const loss = lost.get(sha256)
    if (loss) {
      await checkLost?.(content, loss)
      continue
    }
    const words = await check(content)
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
