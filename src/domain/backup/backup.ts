// Making a backup of a data directory that may be in use, and dropping old ones.
//
// Order is what makes it right. An upload renames its contents into place before it commits the rows, and a deletion
// commits before it unlinks. So all contents are taken over first, then the database is copied, then the few contents
// that came between. A content that the copy names and that is gone by then was deleted after the copy: if the live
// rows no longer name it, the copy is made again; if they do, it is lost in the data directory, and the backup says so.

import { join, resolve } from 'node:path'
import { VERSION } from '../../assets.ts'
import { AppError, reasonOf } from '../../errors.ts'
import { hashFile } from '../../file-hash.ts'
import { diskError } from '../../storage-error.ts'
import { type Manifest, openList, writeManifest } from '../../store/backup/manifest.ts'
import { type BackupSet, type Draft, LIST_FILE } from '../../store/backup/set.ts'
import { removeOrphans } from '../../store/blobs/orphans.ts'
import { blobPath } from '../../store/blobs/place.ts'
import { faultOfBlob, type Loss, openBatch, sizeOfBlob, stageBlob } from '../../store/blobs/transfer.ts'
import { type Content, selectContents } from '../../store/contents.ts'
import { isBlobNamed } from '../../store/documents.ts'
import type { Examined } from '../../store/engine.ts'
import { selectLostContents } from '../../store/lost-contents.ts'
import { selectMeta } from '../../store/meta.ts'
import { DATABASE_FILE } from '../../store/sqlite/database.ts'
import { faultsOfDatabase, openToRead } from '../../store/sqlite/database-copy.ts'

const HAS_DOCUMENTS = 2 // the first schema that has them
const ATTEMPTS = 20

export type BackupEnd = {
  name: string
  path: string
  manifest: Omit<Manifest, 'format'>
  /** Contents that the set did not have yet. */
  added: { blobs: number; bytes: number }
}

export type BackupRequest = {
  dataDir: string
  now: Date
  signal?: AbortSignal
  /** Told after each content how many were looked at. */
  progress?: (done: number) => void
}

/**
 * Makes a backup in a set. Contents that the set has already are taken for good when their size is right; `verifyBackup`
 * reads them.
 * @throws AppError `failed`, and then there is no new backup
 */
export async function createBackup(set: BackupSet, request: BackupRequest): Promise<BackupEnd> {
  const dataDir = resolve(request.dataDir)
  set.clean()
  const live = openToRead(join(dataDir, DATABASE_FILE), { live: true })
  try {
    return await takeAll(set, live, dataDir, request)
  } catch (error) {
    set.clean()
    if (request.signal?.aborted)
      throw new AppError('failed', 'stopped before the end: there is no new backup')
    if (error instanceof AppError && error.code === 'failed') throw error
    const cause = error instanceof AppError ? (error.cause ?? error) : error
    const reason = reasonOf(diskError(cause, set.dir))
    throw new AppError('failed', `cannot write the backup to ${set.dir}: ${reason}`, { cause: error })
  } finally {
    await live.close()
  }
}

/**
 * Removes all but the newest `keep` backups, the given one among them, and the contents that none of the rest names.
 * @throws when a kept backup cannot be read; then no content is removed
 */
export async function pruneBackups(
  set: BackupSet,
  keep: number,
  newest: string,
): Promise<{ removed: string[]; blobs: number }> {
  const others = set.names().filter((name) => name !== newest)
  const removed = others.slice(0, Math.max(0, others.length - (keep - 1)))
  for (const name of removed) await set.remove(name)
  if (removed.length === 0) return { removed, blobs: 0 }
  const kept: Examined[] = []
  try {
    for (const name of set.names().reverse()) {
      kept.push(openToRead(join(set.dir, name, DATABASE_FILE), { live: false }))
    }
    const isNamed = async (sha256: string) => {
      for (const { db, schema } of kept) {
        if (schema >= HAS_DOCUMENTS && (await isBlobNamed(db, sha256))) return true
      }
      return false
    }
    return { removed, blobs: (await removeOrphans(set.blobs, { isNamed })).unnamed }
  } finally {
    for (const one of kept) await one.close()
  }
}

/** The contents that a database names; none in a schema without documents. */
export async function* contentsOf({ db, schema }: Examined): AsyncGenerator<Content> {
  if (schema >= HAS_DOCUMENTS) yield* selectContents(db)
}

async function takeAll(
  set: BackupSet,
  live: Examined,
  dataDir: string,
  request: BackupRequest,
): Promise<BackupEnd> {
  const added = { blobs: 0, bytes: 0 }
  const take = takerInto(set, join(dataDir, 'blobs'), added, request.signal)
  let done = 0
  try {
    for await (const content of contentsOf(live)) {
      await take.content(content)
      request.progress?.(++done)
    }
    await take.end()
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const draft = set.begin(request.now)
      await live.copyTo(join(draft.dir, DATABASE_FILE), request.signal)
      const manifest = await describe(draft, live, take, request)
      if (!manifest) continue
      await writeManifest(draft.dir, manifest)
      await set.finish(draft)
      return { name: draft.name, path: join(set.dir, draft.name), manifest, added }
    }
  } finally {
    await take.discard()
  }
  throw new AppError('failed', 'documents were deleted all the time: try again when that is over')
}

type Taker = {
  /** What was lost, or undefined when the set has the content, which is read if it is doubted. */
  content(content: Content, options?: { doubted: boolean }): Promise<Loss | undefined>
  end(): Promise<void>
  discard(): Promise<void>
}

function takerInto(
  set: BackupSet,
  from: string,
  added: BackupEnd['added'],
  signal: AbortSignal | undefined,
): Taker {
  const batch = openBatch(set.blobs)
  return {
    end: batch.end,
    discard: batch.discard,
    async content({ sha256, size }, { doubted } = { doubted: false }) {
      signal?.throwIfAborted()
      const isThere = doubted
        ? !(await faultOfBlob(blobPath(set.blobsDir, sha256), sha256, signal))
        : (await sizeOfBlob(set.blobsDir, sha256)) === size
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

/** What the copy holds, all its contents taken over; undefined: it names one that was deleted since. */
async function describe(
  draft: Draft,
  live: Examined,
  take: Taker,
  request: BackupRequest,
): Promise<Omit<Manifest, 'format'> | undefined> {
  const lost: Manifest['lost'] = []
  const blobs = { count: 0, bytes: 0 }
  const copy = openToRead(join(draft.dir, DATABASE_FILE), { live: false })
  const list = await openList(draft.dir)
  try {
    const [fault] = await faultsOfDatabase(copy.db, { inPieces: true })
    if (fault !== undefined) {
      throw new AppError(
        'failed',
        `the database is damaged (${fault}): no backup was made, see cambista doctor`,
      )
    }
    const known = new Map((await selectLostContents(copy.db)).map((one) => [one.sha256, one]))
    for await (const content of contentsOf(copy)) {
      const { sha256, size } = content
      const knownLoss = known.get(sha256)
      // What was lost may lie in the set as well, altered.
      const loss = await take.content(content, { doubted: knownLoss !== undefined })
      if (loss && knownLoss) {
        lost.push({ sha256, words: knownLoss.fault, since: knownLoss.since })
        continue
      }
      if (loss) {
        if (!(await isBlobNamed(live.db, sha256))) return undefined
        lost.push({ sha256, words: loss.words })
        continue
      }
      blobs.count++
      blobs.bytes += size
      await list.add(sha256)
    }
    await take.end()
    const meta = await selectMeta(copy.db)
    return {
      program: VERSION,
      schema: copy.schema,
      created_at: request.now.toISOString(),
      data_revision: meta.revision,
      epoch: meta.epoch,
      database: { file: DATABASE_FILE, ...(await fileOf(draft, DATABASE_FILE)) },
      blobs: { ...blobs, list: LIST_FILE, list_sha256: (await fileOf(draft, LIST_FILE)).sha256 },
      lost,
    }
  } finally {
    await list.close()
    await copy.close()
  }
}

async function fileOf(draft: Draft, name: string): Promise<{ bytes: number; sha256: string }> {
  const found = await hashFile(join(draft.dir, name))
  if (!found) throw new Error(`${name} is gone`)
  return { bytes: found.size, sha256: found.sha256 }
}
