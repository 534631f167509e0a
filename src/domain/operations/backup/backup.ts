// Creates a backup of a data directory that may be in use, and removes old backups.
//
// The order makes it correct. An upload renames its blobs before it commits the rows, and a deletion commits before
// it unlinks. So all blobs are copied first, then the database, then the few blobs that were added in between. A
// blob that the copied database names may be missing: it was deleted after the copy, or it is lost. If no live row
// names it, the database is copied again; otherwise the backup records the loss.

import { join, resolve } from 'node:path'
import { VERSION } from '../../../runtime/assets.ts'
import { AppError, errorReason } from '../../../runtime/errors.ts'
import { hashFile } from '../../../runtime/file-hash.ts'
import { diskError } from '../../../runtime/storage-error.ts'
import { blobPath } from '../../../store/blobs/commit.ts'
import {
  findBlobSize,
  type Loss,
  openTransferBatch,
  stageBlob,
  validateBlob,
} from '../../../store/blobs/transfer.ts'
import { type BlobInfo, selectBlobs } from '../../../store/documents/blob-info.ts'
import { isBlobReferenced } from '../../../store/documents/documents.ts'
import { selectLostBlobs } from '../../../store/documents/lost-blobs.ts'
import type { InspectedDatabase } from '../../../store/engine.ts'
import { selectMeta } from '../../../store/meta.ts'
import { DATABASE_FILE } from '../../../store/sqlite/database.ts'
import { findDatabaseFaults, inspectDatabase } from '../../../store/sqlite/database-copy.ts'
import { type Manifest, openList, writeManifest } from './manifest.ts'
import { type BackupDraft, type BackupSet, LIST_FILE } from './set.ts'

const HAS_DOCUMENTS = 2 // first schema with documents
const ATTEMPTS = 20

export type BackupEnd = {
  name: string
  path: string
  manifest: Omit<Manifest, 'format'>
  /** Blobs that were new to the set. */
  added: { blobs: number; bytes: number }
}

export type BackupRequest = {
  dataDir: string
  now: Date
  signal?: AbortSignal
  /** Called after each blob with the number of blobs checked. */
  progress?: (done: number) => void
}

/**
 * Creates a backup in a set. Existing blobs of the set are trusted if their size is right; `verifyBackup` reads
 * them.
 * @throws AppError `failed`, and then there is no new backup
 */
export async function createBackup(set: BackupSet, request: BackupRequest): Promise<BackupEnd> {
  const dataDir = resolve(request.dataDir)
  set.clean()
  const live = inspectDatabase(join(dataDir, DATABASE_FILE), { live: true })
  try {
    return await copyAll(set, live, dataDir, request)
  } catch (error) {
    set.clean()
    if (request.signal?.aborted)
      throw new AppError('failed', 'stopped before the end: there is no new backup')
    if (error instanceof AppError && error.code === 'failed') throw error
    const cause = error instanceof AppError ? (error.cause ?? error) : error
    const reason = errorReason(diskError(cause, set.dir))
    throw new AppError('failed', `cannot write the backup to ${set.dir}: ${reason}`, { cause: error })
  } finally {
    await live.close()
  }
}

/**
 * Removes all but the newest `keep` readable backups, `newest` among them, and blobs that no remaining backup names.
 * An unreadable backup is not one of the `keep`, and goes when it is older than they are.
 * @throws when a remaining backup cannot be read; then no blob is removed
 */
export async function pruneBackups(
  set: BackupSet,
  keep: number,
  newest: string,
): Promise<{ removed: string[]; blobs: number }> {
  const names = [...set.names().filter((name) => name !== newest), newest]
  const databases: InspectedDatabase[] = []
  let fault: unknown
  try {
    while (databases.length < keep) {
      const name = names.pop()
      if (name === undefined) break
      try {
        databases.push(inspectDatabase(join(set.dir, name, DATABASE_FILE), { live: false, anyAge: true }))
      } catch (error) {
        fault ??= error
      }
    }
    for (const name of names) await set.remove(name)
    if (fault !== undefined) throw fault
    if (names.length === 0) return { removed: names, blobs: 0 }
    const isNamed = async (sha256: string) => {
      for (const { db, schema } of databases) {
        if (schema >= HAS_DOCUMENTS && (await isBlobReferenced(db, sha256))) return true
      }
      return false
    }
    await set.blobs.removeUnfinished()
    let blobs = 0
    for await (const sha256 of set.blobs.list()) {
      if (!(await isNamed(sha256)) && (await set.blobs.remove(sha256))) blobs += 1
    }
    return { removed: names, blobs }
  } finally {
    for (const one of databases) await one.close()
  }
}

async function copyAll(
  set: BackupSet,
  live: InspectedDatabase,
  dataDir: string,
  request: BackupRequest,
): Promise<BackupEnd> {
  const added = { blobs: 0, bytes: 0 }
  const copier = createCopier(set, join(dataDir, 'blobs'), added, request.signal)
  let count = 0
  try {
    for await (const blob of selectBlobs(live.db)) {
      await copier.copy(blob)
      request.progress?.(++count)
    }
    await copier.end()
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const draft = set.begin(request.now)
      await live.writeCopy(join(draft.dir, DATABASE_FILE), request.signal)
      const manifest = await describe(draft, live, copier, request)
      if (!manifest) continue
      await writeManifest(draft.dir, manifest)
      await set.finish(draft)
      return { name: draft.name, path: join(set.dir, draft.name), manifest, added }
    }
  } finally {
    await copier.discard()
  }
  throw new AppError('failed', 'documents were deleted all the time: try again when that is over')
}

type Copier = {
  /**
   * Copies a blob unless the set has it; a doubtful one is read first. Returns the loss, or undefined on success.
   */
  copy(blob: BlobInfo, options?: { isDoubtful: boolean }): Promise<Loss | undefined>
  end(): Promise<void>
  discard(): Promise<void>
}

function createCopier(
  set: BackupSet,
  from: string,
  added: BackupEnd['added'],
  signal: AbortSignal | undefined,
): Copier {
  const batch = openTransferBatch(set.blobs)
  return {
    end: batch.end,
    discard: batch.discard,
    async copy({ sha256, size }, { isDoubtful } = { isDoubtful: false }) {
      signal?.throwIfAborted()
      const isThere = isDoubtful
        ? !(await validateBlob(blobPath(set.blobsDir, sha256), sha256, signal))
        : (await findBlobSize(set.blobsDir, sha256)) === size
      if (isThere) return undefined
      const staged = await stageBlob(from, { dir: set.blobsDir, blobs: set.blobs }, sha256, {
        mayLink: true,
        signal,
      })
      if ('words' in staged) return staged
      await batch.add(staged)
      added.blobs++
      added.bytes += staged.size
      return undefined
    },
  }
}

/** Describes the copy of the database after copying its blobs. Undefined: a blob was deleted in between. */
async function describe(
  draft: BackupDraft,
  live: InspectedDatabase,
  copier: Copier,
  request: BackupRequest,
): Promise<Omit<Manifest, 'format'> | undefined> {
  const losses: Manifest['lost'] = []
  const blobs = { count: 0, bytes: 0 }
  const copy = inspectDatabase(join(draft.dir, DATABASE_FILE), { live: false })
  const list = await openList(draft.dir)
  try {
    const [fault] = await findDatabaseFaults(copy.db, { inPieces: true })
    if (fault !== undefined) {
      throw new AppError(
        'failed',
        `the database is damaged (${fault}): no backup was made, see cambista doctor`,
      )
    }
    const knownLosses = new Map((await selectLostBlobs(copy.db)).map((one) => [one.sha256, one]))
    for await (const blob of selectBlobs(copy.db)) {
      const { sha256, size } = blob
      const knownLoss = knownLosses.get(sha256)
      // The set may have an altered version of a blob that was lost.
      const loss = await copier.copy(blob, { isDoubtful: knownLoss !== undefined })
      if (loss && knownLoss) {
        losses.push({ sha256, words: knownLoss.fault, since: knownLoss.since })
        continue
      }
      if (loss) {
        if (!(await isBlobReferenced(live.db, sha256))) return undefined
        losses.push({ sha256, words: loss.words })
        continue
      }
      blobs.count++
      blobs.bytes += size
      await list.add(sha256)
    }
    await copier.end()
    const meta = await selectMeta(copy.db)
    return {
      program: VERSION,
      schema: copy.schema,
      created_at: request.now.toISOString(),
      data_revision: meta.revision,
      epoch: meta.epoch,
      database: { file: DATABASE_FILE, ...(await hashDraftFile(draft, DATABASE_FILE)) },
      blobs: { ...blobs, list: LIST_FILE, list_sha256: (await hashDraftFile(draft, LIST_FILE)).sha256 },
      lost: losses,
    }
  } finally {
    await list.close()
    await copy.close()
  }
}

async function hashDraftFile(draft: BackupDraft, name: string): Promise<{ bytes: number; sha256: string }> {
  const file = await hashFile(join(draft.dir, name))
  if (!file) throw new Error(`${name} is gone`)
  return { bytes: file.size, sha256: file.sha256 }
}
