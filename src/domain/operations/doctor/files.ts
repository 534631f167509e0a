// Examines the files: blobs that are missing, altered or left over, and permissions.

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from '../../../runtime/file-hash.ts'
import { blobPath } from '../../../store/blobs/commit.ts'
import { REMOVED_FOLDER } from '../../../store/blobs/folder.ts'
import { findBlobSize, validateBlob } from '../../../store/blobs/transfer.ts'
import { type BlobInfo, selectBlobDocuments, selectBlobs } from '../../../store/documents/blob-info.ts'
import { isBlobReferenced } from '../../../store/documents/documents.ts'
import { findLostBlob, type LostBlob, selectLostBlobs } from '../../../store/documents/lost-blobs.ts'
import type { InspectedDatabase } from '../../../store/engine.ts'
import { DATABASE_FILE } from '../../../store/sqlite/database.ts'
import type { ReadDb } from '../../../store/tables.ts'
import { countNoun, sizeText } from '../../../values/sizes.ts'
import { KEEP_MOVED_DAYS } from '../../documents/gc.ts'
import { type DataDirFile, isServed, listDataDir } from '../backup/data-dir-files.ts'
import type { FileContext } from './examination.ts'

const MAX_LINES = 20 // a single wrong `chmod -R` causes thousands of findings
const DOCUMENTS_NAMED = 3
const YOUNG_BLOB_MS = 10 * 60_000 // longer than any upload takes between renaming a blob and committing its row

/** Examines the files of a data directory. Without a sound database only permissions are checked. */
export async function examineFiles(request: FileContext): Promise<void> {
  const { sound: database, report } = request
  if (database) await examineBlobs(request)
  const unnamed: DataDirFile[] = []
  const temporary: DataDirFile[] = []
  const modes: string[] = []
  const removedFiles: DataDirFile[] = []
  const owner = await findFilesOwner(request.dataDir)
  for await (const entry of listDataDir(request.dataDir)) {
    request.signal.throwIfAborted()
    const fault = permissionFault(entry, owner)
    if (fault !== undefined) modes.push(fault)
    if (entry.kind === 'temporary') temporary.push(entry)
    else if (entry.kind === 'removed') removedFiles.push(entry)
    else if (entry.kind === 'unknown') report.note(`${entry.path} is not a file of cambista`)
    else if (entry.kind === 'copy')
      report.note(`${entry.path} was made before an upgrade; remove it if you like`)
    else if (entry.kind === 'later')
      report.note(`${entry.path} is of a later database, which sudo cambista upgrade --forget removes`)
    else if (entry.kind === 'blob' && database && !(await isNamed(database, entry.name))) unnamed.push(entry)
  }
  if (removedFiles.length > 0) report.note(describeRemoved(removedFiles, request))
  for (const line of modes.slice(0, MAX_LINES)) report.finding('permissions', line)
  if (modes.length > MAX_LINES) {
    report.finding('permissions', `${modes.length - MAX_LINES} more files and directories have such faults`)
  }
  await reportLeftovers({ unnamed, temporary }, request)
}

/** Describes the blobs that the garbage collection moved instead of deleting, because they were many. */
function describeRemoved(files: readonly DataDirFile[], { dataDir }: FileContext): string {
  const size = sizeText(files.reduce((sum, { stats }) => sum + stats.size, 0))
  const [first = ''] = files.map(({ name }) => name.split('.')[0]).sort()
  const where = `${files.length} contents (${size}) in ${join(dataDir, 'blobs', REMOVED_FOLDER)} belong to no document`
  const when = `since ${first} and are deleted after ${KEEP_MOVED_DAYS} days`
  return `${where} ${when}. If the database was put back to an earlier moment, the later one finds them again`
}

/** Checks that every blob named by a row exists and is unaltered. */
async function examineBlobs(request: FileContext): Promise<void> {
  const { db, signal, progress, report } = request
  const dir = join(request.dataDir, 'blobs')
  const findCure = await openCures(dir, request)
  const sum = { count: 0, bytes: 0, lost: 0 }
  const knownLosses = new Set((await selectLostBlobs(db)).map(({ sha256 }) => sha256))
  for await (const blob of selectBlobs(db)) {
    signal.throwIfAborted()
    const blobFault = await describeBlobFault(db, dir, blob, signal)
    const { sha256 } = blob
    const loss = knownLosses.has(sha256) ? await findLostBlob(db, sha256) : undefined // undefined: it was restored in between
    if (loss && ++sum.lost <= MAX_LINES) report.note(await lostInWords(db, loss, blobFault, findCure))
    if (loss && blobFault !== undefined) continue // a known and incurable loss is no finding each night
    if (blobFault !== undefined) {
      const whose = await documentsInWords(db, blob.sha256)
      report.finding(
        'contents',
        `content ${blob.sha256} ${blobFault}: ${whose}${await findCure(blob.sha256)}`,
      )
    }
    sum.count++
    sum.bytes += blob.size
    progress?.(sum.count)
  }
  if (sum.lost > MAX_LINES)
    report.note(`${countNoun(sum.lost - MAX_LINES, 'more content is', 'more contents are')} known to be lost`)
  report.note(
    `${countNoun(sum.count, 'content of a document', 'contents of documents')}, ${sizeText(sum.bytes)}`,
  )
}

/** Describes a lost blob. `fault`: its fault today; undefined: it is readable again. */
async function lostInWords(
  db: ReadDb,
  { sha256, fault, since }: LostBlob,
  currentFault: string | undefined,
  findCure: (sha256: string) => Promise<string>,
): Promise<string> {
  const whose = await documentsInWords(db, sha256)
  const cure = currentFault === undefined ? '; it is there again: restart the server' : await findCure(sha256)
  const formerFault = fault.replace(/^is /, 'was ').replace(/^cannot /, 'could not ')
  return `content ${sha256} is known lost since ${since}, when it ${formerFault}: ${whose}${cure}`
}

async function describeBlobFault(
  db: ReadDb,
  dir: string,
  { sha256, size }: BlobInfo,
  signal: AbortSignal,
): Promise<string | undefined> {
  let loss = await validateBlob(blobPath(dir, sha256), sha256, signal)
  if (loss?.kind === 'missing') {
    // A deletion commits before it unlinks, so a blob without a row is no loss. A blob with a row is read
    // again, because an upload may have stored it since.
    if (!(await isBlobReferenced(db, sha256))) return undefined
    loss = await validateBlob(blobPath(dir, sha256), sha256, signal)
  }
  if (loss) return loss.words
  const storedSize = await findBlobSize(dir, sha256)
  return storedSize === undefined || storedSize === size
    ? undefined
    : `has ${storedSize} bytes, its rows say ${size}`
}

/**
 * Reports leftovers that still exist at a second check. Before, they may be an upload before its commit or a deletion
 * before its unlink. While a server runs, a blob must also be ten minutes old. Temporary files are reported only
 * without a running server: a slow upload may take hours.
 */
async function reportLeftovers(
  suspects: { unnamed: DataDirFile[]; temporary: DataDirFile[] },
  { sound: opened, dataDir, clock, isInUse, beforeRecheck, signal, report }: FileContext,
): Promise<void> {
  if (suspects.unnamed.length + suspects.temporary.length === 0) return
  await beforeRecheck(signal)
  const isBusy = isInUse || isServed(dataDir)
  const isYoung = ({ stats }: DataDirFile) => clock().getTime() - stats.ctimeMs < YOUNG_BLOB_MS
  const isThere = async ({ name }: DataDirFile) =>
    (await findBlobSize(join(dataDir, 'blobs'), name)) !== undefined
  let young = 0
  for (const entry of suspects.unnamed) {
    if (!opened || (await isNamed(opened, entry.name)) || !(await isThere(entry))) continue
    if (isBusy && isYoung(entry)) young++
    else
      report.finding(
        'contents',
        `content ${entry.name} (${sizeText(entry.stats.size)}) belongs to no document`,
      )
  }
  if (isBusy) {
    const count = young + suspects.temporary.length
    if (count > 0)
      report.note(`${countNoun(count, 'file seems', 'files seem')} to belong to uploads that are under way`)
    return
  }
  for (const { path } of suspects.temporary)
    report.finding('temporary', `${path} was left by something interrupted`)
}

function isNamed({ db, schema }: InspectedDatabase, sha256: string): Promise<boolean> | boolean {
  return schema >= 2 && isBlobReferenced(db, sha256)
}

/** `sharedPath`: the data directory if its owner is another user. */
type FilesOwner = { uid: number; words: string; sharedPath?: string }

/**
 * Returns the user to whom all files should belong: the owner of the directory. A volume of Kubernetes belongs to root,
 * and the server may write into it. There the owner of the database counts.
 */
async function findFilesOwner(dataDir: string): Promise<FilesOwner> {
  const directory = await stat(dataDir)
  const database = await unlessMissing(stat(join(dataDir, DATABASE_FILE)))
  const mayWrite = directory.gid === database?.gid ? 0o022 : 0o002
  if (!database || database.uid === directory.uid || (directory.mode & mayWrite) === 0)
    return { uid: directory.uid, words: 'the data directory' }
  return { uid: database.uid, words: 'the database', sharedPath: join(dataDir, '') }
}

/** Fault of a file's permissions: its mode or its owner; undefined: none. */
function permissionFault({ path, stats }: DataDirFile, owner: FilesOwner): string | undefined {
  if (stats.isSymbolicLink()) return undefined
  const mode = stats.mode & 0o777
  if (path === owner.sharedPath) {
    return mode & 0o002 ? `${path} has mode ${mode.toString(8)}: every user may write into it` : undefined
  }
  const expectedMode = stats.isDirectory() ? 0o700 : 0o600
  if (stats.uid !== owner.uid) return `${path} belongs to user ${stats.uid}, ${owner.words} to ${owner.uid}`
  if (mode === expectedMode) return undefined
  return `${path} has mode ${mode.toString(8)} instead of ${expectedMode.toString(8)}`
}

/** Returns a function that names a good copy of a blob; an empty text: there is none. */
async function openCures(dir: string, { backup, signal }: FileContext) {
  const folder = join(dir, REMOVED_FOLDER)
  const names = (await unlessMissing(readdir(folder))) ?? []
  const files = new Map(names.map((name) => [name.split('.')[1], join(folder, name)]))
  return async (sha256: string) => {
    const path = files.get(sha256)
    if (path !== undefined) return `; it is ${path}, which a start of the server moves back`
    const copy = backup && blobPath(join(backup.dir, 'blobs'), sha256)
    return !copy || (await validateBlob(copy, sha256, signal)) ? '' : `; a good copy is ${copy}`
  }
}

/** Names the first documents that need a blob, with `and more` for the rest. */
export async function documentsInWords(db: ReadDb, sha256: string): Promise<string> {
  const documents = await selectBlobDocuments(db, sha256, DOCUMENTS_NAMED + 1)
  const names = documents.slice(0, DOCUMENTS_NAMED).map(({ id, name }) => `${id} (${name})`)
  if (names.length === 0) return 'no document needs it'
  const more = documents.length > DOCUMENTS_NAMED ? ' and more' : ''
  return `document${documents.length === 1 ? '' : 's'} ${names.join(', ')}${more}`
}
