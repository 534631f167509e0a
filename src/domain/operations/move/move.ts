// Moves a data directory to a cluster: blobs first, then rows, which are compared. Then a note forbids serving the
// directory, and only then the database may be served. So the two are never served both, and an interrupted move can
// be resumed.

import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { AppError } from '../../../runtime/errors.ts'
import { unlessMissing } from '../../../runtime/file-hash.ts'
import { openBlobFolder } from '../../../store/blobs/folder.ts'
import { openBlobStore } from '../../../store/blobs/open-blobs.ts'
import { MOVED_TABLES } from '../../../store/cluster/all-rows.ts'
import { readMovedEpoch, writeMovedNote } from '../../../store/cluster/moved-note.ts'
import type { LostBlob } from '../../../store/documents/lost-blobs.ts'
import type { Engine, Lock } from '../../../store/engine.ts'
import { selectMetaRow } from '../../../store/meta.ts'
import { completeMove, wasMoved } from '../../../store/postgres/maintenance/moved.ts'
import { gatherStatistics } from '../../../store/postgres/maintenance/statistics.ts'
import { openPostgres } from '../../../store/postgres/open-postgres.ts'
import { makeEpoch } from '../../../store/postgres/steps.ts'
import { selectCounters } from '../../../store/sqlite/id-counters.ts'
import { openSqliteEngine } from '../../../store/sqlite/sqlite-engine.ts'
import type { StorageConfig } from '../../../store/storage-config.ts'
import { moveBlobs } from './moved-blobs.ts'
import { moveTables, type Progress } from './moved-tables.ts'

const LOCK_WAIT_MS = 20_000
const LOCK_RETRY_MS = 500

export type MoveRequest = {
  dataDir: string
  to: StorageConfig & { database: string }
  signal: AbortSignal
  progress: Progress
}

export type MoveResult = {
  database: string
  rows: Record<string, number>
  contents: { count: number; bytes: number }
  /** Blobs that are missing or altered in the data directory, and whose loss was not recorded before. */
  lost: readonly LostBlob[]
  epoch: string
}

/**
 * Moves a data directory. Returns undefined if it was moved to this database already.
 * @throws AppError `failed` while a server or a sync uses the directory, for a directory that was moved before, and
 * for a database that is in use
 */
export async function moveDataDir(request: MoveRequest): Promise<MoveResult | undefined> {
  const dataDir = resolve(request.dataDir)
  await using source = await openSource(dataDir)
  const movedEpoch = readMovedEpoch(dataDir)
  if (movedEpoch !== undefined && (await wasMoved(request.to.database, movedEpoch))) return undefined
  const meta = await selectMetaRow(source.db)
  await using parts = new AsyncDisposableStack()
  const { database, blobs: place } = request.to
  const target = await openPostgres(database, { movingFrom: meta.epoch })
  parts.defer(() => target.close())
  const lock = await takeMoveLock(target, request.signal)
  parts.defer(() => lock.release())
  const blobStore = parts.use(await openBlobStore(request.to, target))
  await blobStore.check()
  const folder = join(dataDir, 'blobs')
  const signal = AbortSignal.any([request.signal, lock.lost])
  const options = { lock, signal, progress: request.progress }
  try {
    const movedBlobs = await moveBlobs({
      from: { db: source.reads, blobs: await openBlobFolder(folder), folder },
      to: { db: target.db, blobs: blobStore.blobs },
      inPlace: place !== undefined && 'folder' in place && (await isSame(place.folder, folder)),
      since: target.clock().toISOString(),
      ...options,
    })
    const rows = await moveTables({ from: source.reads, to: target.db, ...options })
    await gatherStatistics(target.longReads, MOVED_TABLES)
    const counters = await selectCounters(source.reads)
    const { count, bytes, lost } = movedBlobs
    const epoch = makeEpoch()
    await writeMovedNote(dataDir, { to: target.location, at: target.clock(), epoch })
    await completeMove(target.db, database, { epoch, meta, counters, lost }, lock)
    return { database: target.location, rows, contents: { count, bytes }, lost, epoch }
  } catch (error) {
    if (!request.signal.aborted) throw error
    throw new AppError(
      'failed',
      'stopped before the end: the same command goes on, the directory can still be served',
    )
  }
}

async function openSource(dataDir: string): Promise<Engine & AsyncDisposable> {
  const engine = await openSqliteEngine(dataDir, { server: true, mustExist: true, isMoving: true })
  const sync = await engine.takeLock('sync')
  const close = async () => {
    await sync?.release()
    await engine.close()
  }
  if (sync) return { ...engine, [Symbol.asyncDispose]: close }
  await close()
  throw new AppError('failed', `a sync is running on ${dataDir}: wait for its end, then try again`)
}

/** Takes the lock of the move. The lease of a killed move expires by itself. */
async function takeMoveLock(target: Engine, signal: AbortSignal): Promise<Lock> {
  const deadline = performance.now() + LOCK_WAIT_MS
  while (true) {
    const lock = await target.takeLock('migrate')
    if (lock) return lock
    if (performance.now() > deadline) break
    await wait(LOCK_RETRY_MS, undefined, { signal })
  }
  throw new AppError(
    'failed',
    `this database is being worked on ${await target.findHolder('migrate')}: try again then`,
  )
}

async function isSame(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => unlessMissing(stat(path))))
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
}
