// Restores a data directory from a backup. Every byte is checked, and a single fault cancels the restore. With
// `withoutDamaged` the damaged blobs are omitted and recorded as lost.

import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import * as v from 'valibot'
import { AppError, errorReason } from '../../../runtime/errors.ts'
import { selectApiKeys } from '../../../store/access/api-keys.ts'
import { selectTokens } from '../../../store/access/tokens.ts'
import { openBlobFolder } from '../../../store/blobs/folder.ts'
import { type Loss, openTransferBatch, stageBlob } from '../../../store/blobs/transfer.ts'
import { type BlobDocument, type BlobInfo, selectBlobDocuments } from '../../../store/documents/blob-info.ts'
import type { LostBlob } from '../../../store/documents/lost-blobs.ts'
import { inspectDatabase } from '../../../store/sqlite/database-copy.ts'
import type { Counters } from '../../../store/sqlite/id-counters.ts'
import type { RenewedFile } from '../../../store/sqlite/restored-database.ts'
import type { ReadDb } from '../../../store/tables.ts'
import { type Clock, currentDay } from '../../../values/dates.ts'
import { findDamagedRates } from '../../rates/rate-sums.ts'
import { type CheckOptions, checkFiles } from './check.ts'
import { type DamagedFiles, openDamagedFiles } from './damaged-files.ts'
import { type Manifest, readManifest } from './manifest.ts'
import { createDataDir, type FileOwner, type NewDataDir } from './new-data-dir.ts'
import { writeNote } from './note.ts'
import { findBackup } from './set.ts'

export type RestoreRequest = {
  dataDir: string
  /** Owner of the data directory; undefined: the user of this process. */
  owner: FileOwner | undefined
  now: Date
  /** Read when the database is copied; by default `now`. */
  clock?: Clock
  /** Omits blobs that are missing or altered, instead of restoring nothing. */
  withoutDamaged?: boolean
}

export type RestoreResult = {
  name: string
  manifest: Manifest
  /** Number of faults that prevented the restore; 0: it succeeded. */
  faults: number
  /** Number of faults that `withoutDamaged` would omit. */
  damaged: number
  /** Undefined: nothing was restored. */
  data: RestoredData | undefined
}

/** A document whose blob was omitted. `copy`: path of the altered blob. */
export type LostDocument = BlobDocument & { size: number; sha256: string; fault: string; copy: string | null }

export type RestoredData = {
  /** Restored blobs. */
  blobs: { count: number; bytes: number }
  /** Blobs that were lost before the backup and still are. */
  lost: LostBlob[]
  /** Blobs omitted now, their documents, and paths of the list and the altered files; undefined: none. */
  leftOut:
    | { contents: LostBlob[]; documents: LostDocument[]; list: string; copies: string | undefined }
    | undefined
  schema: RenewedFile['schema']
  /** Id of the next document. */
  nextId: number
  /** Names of active keys and tokens, including those revoked after the backup. */
  active: { keys: string[]; tokens: string[] }
  /** Rates that were damaged when the backup was made, a line each. */
  damagedRates: string[]
  /** Error of the note in the set about ids of this restore; undefined: it was written. */
  unnoted: string | undefined
}

type BackupPaths = { dir: string; blobsDir: string }
type KnownLoss = Manifest['lost'][number]
type CopyResult = {
  blobs: RestoredData['blobs']
  leftOut: (LostBlob & { size: number; kind: Loss['kind'] })[]
  lost: LostBlob[]
}

/**
 * Restores a data directory from the backup at `path`. The database gets a new epoch (decisions#caching), and no id
 * used since the backup is reused. Losses from before the backup are no faults.
 * @throws AppError `failed` when the data directory is not empty, is in use, or cannot be created
 */
export async function restoreBackup(
  path: string,
  options: RestoreRequest,
  checkOptions: CheckOptions,
): Promise<RestoreResult> {
  const request = { ...options, dataDir: resolve(options.dataDir) }
  const { dataDir, owner } = request
  const backup = findBackup(path)
  const manifest = await readManifest(backup.dir)
  const sum = { faults: 0, damaged: 0 }
  const fault = (line: string) => {
    sum.faults++
    checkOptions.fault(line)
  }
  let dataFolder: NewDataDir | undefined
  let damaged: DamagedFiles | undefined
  try {
    dataFolder = createDataDir(dataDir, owner)
    if (request.withoutDamaged) damaged = openDamagedFiles(dataDir, owner)
    const copyResult = await copyBlobs(
      backup,
      manifest,
      dataFolder,
      request,
      { ...checkOptions, fault },
      () => sum.damaged++,
    )
    let end: RestoredData | undefined
    if (sum.faults === 0) {
      const { file, sha256 } = manifest.database
      const losses = [...copyResult.lost, ...copyResult.leftOut]
      // Ends now, not at the start of the command: during hours of copying another server may have gone on.
      const gap = {
        from: Date.parse(manifest.created_at),
        to: (request.clock?.() ?? request.now).getTime(),
      }
      const renewal = { above: readRestoreNote(dirname(backup.blobsDir)), lost: losses, gap }
      const from = { path: join(backup.dir, file), sha256 }
      const renewed = await dataFolder.importDatabase(from, renewal, checkOptions.signal)
      if (!renewed) fault(`${file} was read differently twice: is the disk failing?`)
      else end = await finish(backup, dataFolder, damaged, request, copyResult, renewed)
    }
    return { name: backup.name, manifest, ...sum, data: end }
  } catch (error) {
    if (checkOptions.signal?.aborted)
      throw new AppError('failed', 'stopped before the end: nothing was restored')
    if (error instanceof AppError && error.code === 'failed') throw error
    const cause = error instanceof AppError ? (error.cause ?? error) : error
    const why = `${errorReason(cause)}; nothing was restored`
    throw new AppError('failed', `cannot restore to ${dataDir}: ${why}`, { cause: error })
  } finally {
    damaged?.close(dataFolder?.isPublished() === true)
    dataFolder?.close()
  }
}

/** Checks the backup and copies its blobs, as hard links where owner and mode allow it. */
async function copyBlobs(
  backup: BackupPaths,
  manifest: Manifest,
  { blobsDir, canShare }: NewDataDir,
  { now, withoutDamaged }: RestoreRequest,
  checking: CheckOptions,
  countDamaged: () => void,
): Promise<CopyResult> {
  const { signal } = checking
  const blobs = await openBlobFolder(blobsDir)
  const batch = openTransferBatch(blobs)
  const result: CopyResult = { blobs: { count: 0, bytes: 0 }, leftOut: [], lost: [] }
  const take = async ({ sha256, size }: BlobInfo): Promise<Loss | undefined> => {
    const mayLink = canShare(backup.blobsDir, sha256)
    const staged = await stageBlob(backup.blobsDir, { dir: blobsDir, blobs }, sha256, { mayLink, signal })
    if ('words' in staged) return staged
    await batch.add(staged)
    result.blobs.count++
    result.blobs.bytes += size
    return undefined
  }
  const check = async (blob: BlobInfo) => {
    const loss = await take(blob)
    if (!loss) return undefined
    const { kind, words } = loss
    if (kind === 'refused') return words // the blob may be undamaged
    countDamaged()
    if (!withoutDamaged) return words
    result.leftOut.push({ ...blob, kind, fault: words, since: now.toISOString() })
    return undefined
  }
  const checkLost = async (blob: BlobInfo, { words, since = manifest.created_at }: KnownLoss) => {
    // A later backup may have added it to the set.
    if (await take(blob)) result.lost.push({ sha256: blob.sha256, fault: words, since })
  }
  try {
    await checkFiles(backup.dir, manifest, checking, { check, checkLost })
    await batch.end()
  } finally {
    await batch.discard()
  }
  return result
}

/** Writes list, notes and finally the directory, which is renamed last. */
async function finish(
  backup: BackupPaths,
  dataFolder: NewDataDir,
  damaged: DamagedFiles | undefined,
  { dataDir, now }: RestoreRequest,
  { blobs, leftOut, lost }: CopyResult,
  { epoch, counters, schema }: RenewedFile,
): Promise<RestoredData> {
  let active: RestoredData['active']
  let damagedRates: string[]
  let omitted: RestoredData['leftOut']
  const documents: LostDocument[] = []
  const { db, close } = inspectDatabase(dataFolder.database, { live: false })
  try {
    active = await selectActive(db, now)
    damagedRates = (await findDamagedRates(db)).map(({ message }) => message)
    for (const one of leftOut) {
      const copy =
        one.kind === 'altered' ? await damaged?.copyAltered(backup.blobsDir, one.sha256) : undefined
      for (const row of await selectBlobDocuments(db, one.sha256)) {
        documents.push({ ...row, size: one.size, sha256: one.sha256, fault: one.fault, copy: copy ?? null })
      }
    }
  } finally {
    await close()
  }
  documents.sort((one, other) => one.id - other.id)
  if (damaged && leftOut.length > 0) {
    const what = { backup: backup.dir, data_dir: dataDir, restored_at: now.toISOString(), epoch }
    await damaged.publish({ ...what, contents: leftOut.length, documents })
    const copies = documents.some(({ copy }) => copy !== null) ? damaged.dir : undefined
    const lostBlobs = leftOut.map(({ sha256, fault, since }) => ({ sha256, fault, since }))
    omitted = { contents: lostBlobs, documents, list: damaged.list, copies }
  }
  const unnoted = await writeRestoreNote(dirname(backup.blobsDir), counters) // unused ids do no harm
  await dataFolder.publish()
  const nextId = (counters.documents ?? 0) + 1
  return { blobs, lost, leftOut: omitted, schema, nextId, active, damagedRates, unnoted }
}

async function selectActive(db: ReadDb, now: Date): Promise<RestoredData['active']> {
  const today = currentDay(() => now)
  const keys = (await selectApiKeys(db)).filter((key) => key.revoked_at === null)
  const tokens = (await selectTokens(db)).filter(
    ({ revoked_at, expires_at }) => revoked_at === null && (expires_at === null || expires_at >= today),
  )
  return { keys: keys.map(({ name }) => name), tokens: tokens.map(({ name }) => name) }
}

// Note in a backup set of the first ids after its restores. The same backup may be restored twice, and ids assigned after
// the first restore must not be assigned again.
const NOTE_FILE = 'restored.json'

const Note = v.object({ counters: v.record(v.string(), v.pipe(v.number(), v.safeInteger(), v.minValue(0))) })

/** The highest counters that a restore from this set has begun with; none when no such note can be read. */
function readRestoreNote(setDir: string): Counters {
  try {
    return v.parse(Note, JSON.parse(readFileSync(join(setDir, NOTE_FILE), 'utf8'))).counters
  } catch {
    return {} // a note is no reason not to restore
  }
}

/** Notes them, flushed. Returns why that could not be done: a set may be on a disk that is only read. */
async function writeRestoreNote(setDir: string, counters: Counters): Promise<string | undefined> {
  const highest = { ...readRestoreNote(setDir) }
  for (const [table, counter] of Object.entries(counters)) {
    highest[table] = Math.max(counter, highest[table] ?? 0)
  }
  return writeNote(setDir, NOTE_FILE, { counters: highest })
}
