// Verifies a backup: files against the manifest, the database, and every blob byte for byte. Only reads, so it
// works on a read-only disk.

import { join } from 'node:path'
import { AppError, errorReason } from '../../../runtime/errors.ts'
import { hashFile } from '../../../runtime/file-hash.ts'
import { blobPath } from '../../../store/blobs/commit.ts'
import { validateBlob } from '../../../store/blobs/transfer.ts'
import { type BlobInfo, selectBlobs } from '../../../store/documents/blob-info.ts'
import type { InspectedDatabase } from '../../../store/engine.ts'
import { SCHEMA_VERSION } from '../../../store/migrations.ts'
import { findDatabaseFaults, inspectDatabase } from '../../../store/sqlite/database-copy.ts'
import { findDamagedRates } from '../../rates/rate-sums.ts'
import { type Manifest, readManifest } from './manifest.ts'
import { findBackup } from './set.ts'

// A backup copies only blobs that the set lacks.
const NEXT_BACKUP = ', and the next backup takes it again if it can'

export type CheckOptions = {
  /** Called for each fault with a line of text. */
  fault(line: string): void
  /** Called for each damaged blob, in addition to its fault. */
  damaged?: ((sha256: string) => void) | undefined
  signal?: AbortSignal | undefined
  /** Called after each blob with the number of blobs checked. */
  progress?: ((done: number, of: number) => void) | undefined
  /** Checks one table at a time, so that a server can answer in between. */
  inPieces: boolean
}

export type VerifyResult = { name: string; manifest: Manifest; faults: number }

/**
 * Verifies a backup: the newest of a set, or the one at `path`.
 * @throws AppError `failed` when there is none, its manifest is missing or invalid, or it was stopped
 */
export async function verifyBackup(path: string, options: CheckOptions): Promise<VerifyResult> {
  const backup = findBackup(path)
  const manifest = await readManifest(backup.dir)
  let faults = 0
  const fault = (line: string) => {
    faults++
    options.fault(line)
  }
  for (const { sha256, words, since } of manifest.lost) {
    if (since !== undefined) continue
    fault(`content ${sha256} ${words}: so it was in the data directory already when the backup was made`)
  }
  try {
    await checkFiles(
      backup.dir,
      manifest,
      { ...options, fault },
      {
        async checkRows({ db, schema }) {
          if (schema !== SCHEMA_VERSION) return
          for (const { message } of await findDamagedRates(db)) fault(message)
        },
        async check({ sha256 }) {
          const path = blobPath(backup.blobsDir, sha256)
          const loss = await validateBlob(path, sha256, options.signal)
          if (loss?.kind === 'altered' || loss?.kind === 'unreadable') options.damaged?.(sha256)
          const advice = loss?.kind === 'missing' ? '' : `: remove ${path}`
          return loss && `${loss.words}${advice}${NEXT_BACKUP}`
        },
      },
    )
  } catch (error) {
    if (options.signal?.aborted) throw new AppError('failed', 'stopped before the end')
    fault(errorReason(error))
  }
  return { name: backup.name, manifest, faults }
}

type BlobChecks = {
  checkRows?(database: InspectedDatabase): Promise<void>
  /** Returns the fault of a blob. */
  check(blob: BlobInfo): Promise<string | undefined>
  /** Gets the blobs that were lost before the backup. */
  checkLost?(blob: BlobInfo, loss: Manifest['lost'][number]): Promise<void>
}

/** Compares the files of a backup with its manifest, and checks its database and each of its blobs. */
export async function checkFiles(
  dir: string,
  manifest: Manifest,
  options: CheckOptions,
  checks: BlobChecks,
): Promise<void> {
  const { fault, signal, inPieces } = options
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
  const examined = inspectDatabase(path, { live: false })
  try {
    for (const line of await findDatabaseFaults(examined.db, { inPieces })) fault(`${database.file}: ${line}`)
    if (examined.schema !== manifest.schema) fault(`${database.file} is not of schema ${manifest.schema}`)
    await checks.checkRows?.(examined)
    await checkBlobs(examined, manifest, options, checks)
  } finally {
    await examined.close()
  }
}

async function checkBlobs(
  database: InspectedDatabase,
  manifest: Manifest,
  { fault, signal, progress }: CheckOptions,
  { check, checkLost }: BlobChecks,
): Promise<void> {
  const losses = new Map(manifest.lost.map((loss) => [loss.sha256, loss]))
  let count = 0
  let sum = 0
  for await (const blob of selectBlobs(database.db)) {
    const { sha256, size } = blob
    signal?.throwIfAborted()
    const loss = losses.get(sha256)
    if (loss) {
      await checkLost?.(blob, loss)
      continue
    }
    const words = await check(blob)
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
