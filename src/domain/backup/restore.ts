// Making a data directory of a backup: every byte is checked on the way, and with one fault nothing is made; or, when that
// is asked for, all but the contents that are damaged, which the new directory then knows to be lost.

import { dirname, join, resolve } from 'node:path'
import { type Clock, todayIn } from '../../dates.ts'
import { AppError, reasonOf } from '../../errors.ts'
import { selectApiKeys } from '../../store/api-keys.ts'
import { type DamagedFiles, openDamagedFiles } from '../../store/backup/damaged-files.ts'
import { type Manifest, readManifest } from '../../store/backup/manifest.ts'
import { beginDataDir, type NewDataDir, type Owner } from '../../store/backup/new-data-dir.ts'
import { readRestoreNote, writeRestoreNote } from '../../store/backup/restore-note.ts'
import { findBackup } from '../../store/backup/set.ts'
import { openBlobFolder } from '../../store/blobs/folder.ts'
import { type Loss, openBatch, stageBlob } from '../../store/blobs/transfer.ts'
import { type Content, type DocumentOf, selectDocumentsOf } from '../../store/contents.ts'
import type { LostContent } from '../../store/lost-contents.ts'
import { openToRead } from '../../store/sqlite/database-copy.ts'
import type { Renewed } from '../../store/sqlite/restored-database.ts'
import type { Db } from '../../store/tables.ts'
import { selectTokens } from '../../store/tokens.ts'
import { type Checking, checkContents, checkDatabase } from './check.ts'

export type RestoreRequest = {
  dataDir: string
  /** Whose the data directory shall be; undefined: the user of this process. */
  owner: Owner | undefined
  now: Date
  /** Asked when the database is taken over; without one that is `now`, too. */
  clock?: Clock
  /** Leaves out the contents that are missing or altered, instead of restoring nothing. */
  withoutDamaged?: boolean
}

export type Restored = {
  name: string
  manifest: Manifest
  /** What kept it from being restored; 0: it was. */
  faults: number
  /** How many of the faults are contents that `withoutDamaged` would leave out. */
  damaged: number
  /** Undefined: nothing was restored. */
  made: Made | undefined
}

/** A row of the list of what was left out. `copy`: where its altered content is. */
export type LostDocument = DocumentOf & { size: number; sha256: string; fault: string; copy: string | null }

export type Made = {
  /** What is there of the contents that the backup's database names. */
  contents: { count: number; bytes: number }
  /** What was lost already when the backup was made, and still is. */
  lost: LostContent[]
  /** What was left out now, its documents, and where list and altered files are; undefined: nothing was. */
  leftOut:
    | { contents: LostContent[]; documents: LostDocument[]; list: string; copies: string | undefined }
    | undefined
  schema: Renewed['schema']
  /** What the next document gets. */
  nextId: number
  /** Names of those that are active, whatever was revoked since the backup was made. */
  active: { keys: string[]; tokens: string[] }
  /** Why it could not be noted in the set that ids were given to this restore; undefined: it was. */
  unnoted: string | undefined
}

type Found = { dir: string; blobsDir: string }
type KnownLoss = Manifest['lost'][number]
type Taken = {
  contents: Made['contents']
  leftOut: (LostContent & { size: number; kind: Loss['kind'] })[]
  lost: LostContent[]
}

/**
 * Makes a data directory of the backup that a path means. The database gets a new epoch (decisions 2.14), and no id that
 * was given since the backup was made is given again. What was lost when the backup was made is not a fault of the backup.
 * @throws AppError `failed` when the data directory is not empty, is in use, or cannot be made
 */
export async function restoreBackup(
  path: string,
  given: RestoreRequest,
  checking: Checking,
): Promise<Restored> {
  const request = { ...given, dataDir: resolve(given.dataDir) }
  const { dataDir, owner } = request
  const found = findBackup(path)
  const manifest = await readManifest(found.dir)
  const sum = { faults: 0, damaged: 0 }
  const fault = (line: string) => {
    sum.faults++
    checking.fault(line)
  }
  let made: NewDataDir | undefined
  let damaged: DamagedFiles | undefined
  try {
    made = beginDataDir(dataDir, owner)
    if (request.withoutDamaged) damaged = openDamagedFiles(dataDir, owner)
    const taken = await takeContents(
      found,
      manifest,
      made,
      request,
      { ...checking, fault },
      () => sum.damaged++,
    )
    let end: Made | undefined
    if (sum.faults === 0) {
      const { file, sha256 } = manifest.database
      const lost = [...taken.lost, ...taken.leftOut]
      // Until now, and not until the command began: where contents were copied for hours, another server may have gone on.
      const gap = {
        from: Date.parse(manifest.created_at),
        to: (request.clock?.() ?? request.now).getTime(),
      }
      const renewal = { above: readRestoreNote(dirname(found.blobsDir)), lost, gap }
      const from = { path: join(found.dir, file), sha256 }
      const renewed = await made.takeDatabase(from, renewal, checking.signal)
      if (!renewed) fault(`${file} was read differently twice: is the disk failing?`)
      else end = await finish(found, made, damaged, request, taken, renewed)
    }
    return { name: found.name, manifest, ...sum, made: end }
  } catch (error) {
    if (checking.signal?.aborted) throw new AppError('failed', 'stopped before the end: nothing was restored')
    if (error instanceof AppError && error.code === 'failed') throw error
    const cause = error instanceof AppError ? (error.cause ?? error) : error
    const why = `${reasonOf(cause)}; nothing was restored`
    throw new AppError('failed', `cannot restore to ${dataDir}: ${why}`, { cause: error })
  } finally {
    damaged?.close(made?.hasLanded() === true)
    made?.close()
  }
}

/** Checks the backup and takes its contents over, as hard links where owner and mode are right. */
async function takeContents(
  found: Found,
  manifest: Manifest,
  { blobsDir, mayShare }: NewDataDir,
  { now, withoutDamaged }: RestoreRequest,
  checking: Checking,
  countDamaged: () => void,
): Promise<Taken> {
  const { signal } = checking
  const blobs = await openBlobFolder(blobsDir)
  const batch = openBatch(blobs)
  const taken: Taken = { contents: { count: 0, bytes: 0 }, leftOut: [], lost: [] }
  const take = async ({ sha256, size }: Content): Promise<Loss | undefined> => {
    const mayLink = mayShare(found.blobsDir, sha256)
    const staged = await stageBlob(found.blobsDir, { dir: blobsDir, blobs }, sha256, { mayLink, signal })
    if ('words' in staged) return staged
    await batch.add(staged)
    taken.contents.count++
    taken.contents.bytes += size
    return undefined
  }
  const check = async (content: Content) => {
    const loss = await take(content)
    if (!loss) return undefined
    const { kind, words } = loss
    if (kind === 'refused') return words // the content may be a good one
    countDamaged()
    if (!withoutDamaged) return words
    taken.leftOut.push({ ...content, kind, fault: words, since: now.toISOString() })
    return undefined
  }
  const checkLost = async (content: Content, { words, since = manifest.created_at }: KnownLoss) => {
    // A later backup may have brought it into the set.
    if (await take(content)) taken.lost.push({ sha256: content.sha256, fault: words, since })
  }
  try {
    await checkDatabase(found.dir, manifest, checking, (opened) =>
      checkContents(opened, manifest, checking, { check, checkLost }),
    )
    await batch.end()
  } finally {
    await batch.discard()
  }
  return taken
}

/** The last steps, of which putting it in its place is the last of all. */
async function finish(
  found: Found,
  made: NewDataDir,
  damaged: DamagedFiles | undefined,
  { dataDir, now }: RestoreRequest,
  { contents, leftOut, lost }: Taken,
  { epoch, counters, schema }: Renewed,
): Promise<Made> {
  let active: Made['active']
  let left: Made['leftOut']
  const documents: LostDocument[] = []
  const { db, close } = openToRead(made.database, { live: false })
  try {
    active = await selectActive(db, now)
    for (const one of leftOut) {
      const copy = one.kind === 'altered' ? await damaged?.keep(found.blobsDir, one.sha256) : undefined
      for (const row of await selectDocumentsOf(db, one.sha256)) {
        documents.push({ ...row, size: one.size, sha256: one.sha256, fault: one.fault, copy: copy ?? null })
      }
    }
  } finally {
    await close()
  }
  documents.sort((one, other) => one.id - other.id)
  if (damaged && leftOut.length > 0) {
    const what = { backup: found.dir, data_dir: dataDir, restored_at: now.toISOString(), epoch }
    await damaged.place({ ...what, contents: leftOut.length, documents })
    const copies = documents.some(({ copy }) => copy !== null) ? damaged.dir : undefined
    const contents = leftOut.map(({ sha256, fault, since }) => ({ sha256, fault, since }))
    left = { contents, documents, list: damaged.list, copies }
  }
  const unnoted = await writeRestoreNote(dirname(found.blobsDir), counters) // ids that are never given do no harm
  await made.land()
  const nextId = (counters.documents ?? 0) + 1
  return { contents, lost, leftOut: left, schema, nextId, active, unnoted }
}

async function selectActive(db: Db, now: Date): Promise<Made['active']> {
  const today = todayIn(() => now)
  const keys = (await selectApiKeys(db)).filter((key) => key.revoked_at === null)
  const tokens = (await selectTokens(db)).filter(
    ({ revoked_at, expires_at }) => revoked_at === null && (expires_at === null || expires_at >= today),
  )
  return { keys: keys.map(({ name }) => name), tokens: tokens.map(({ name }) => name) }
}
