// Moving a data directory to a database and a store of contents that several nodes share. Contents first, then the rows, which
// are compared; then the directory says that it is served no more, and only then the database may be. So both never are, and
// a move that was killed at any moment goes on where it was.

import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import { unlessMissing } from '../../file-hash.ts'
import { openBlobFolder } from '../../store/blobs/folder.ts'
import { openContents } from '../../store/blobs/open.ts'
import type { Engine, Lock } from '../../store/engine.ts'
import type { LostContent } from '../../store/lost-contents.ts'
import { selectMetaRow } from '../../store/meta.ts'
import { MOVED_TABLES } from '../../store/move/all-rows.ts'
import { writeMovedNote } from '../../store/move/moved-note.ts'
import type { Place } from '../../store/place.ts'
import { endMove } from '../../store/postgres/maintenance/moved.ts'
import { gatherStatistics } from '../../store/postgres/maintenance/statistics.ts'
import { openPostgres } from '../../store/postgres/open.ts'
import { openSqliteEngine } from '../../store/sqlite/engine.ts'
import { selectCounters } from '../../store/sqlite/id-counters.ts'
import { moveContents } from './contents.ts'
import { moveTables, type Progress } from './tables.ts'

const PATIENCE_MS = 20_000
const TRY_AGAIN_MS = 500

export type MoveRequest = {
  dataDir: string
  to: Place & { database: string }
  signal: AbortSignal
  progress: Progress
}

export type Moved = {
  database: string
  rows: Record<string, number>
  contents: { count: number; bytes: number }
  /** Contents that are missing or altered in the data directory, and were not known to be so. */
  lost: readonly LostContent[]
  epoch: string
}

/**
 * @throws AppError `failed` while a server or a sync uses the directory, for a directory that was moved already, and for a
 *   database that is in use
 */
export async function moveDataDir(request: MoveRequest): Promise<Moved> {
  const dataDir = resolve(request.dataDir)
  await using source = await openSource(dataDir)
  const meta = await selectMetaRow(source.db)
  await using parts = new AsyncDisposableStack()
  const { database, blobs: place } = request.to
  const target = await openPostgres(database, { movingFrom: meta.epoch })
  parts.defer(() => target.close())
  const lock = await takeMove(target, request.signal)
  parts.defer(() => lock.release())
  const contents = parts.use(await openContents(request.to, target))
  await contents.check()
  const folder = join(dataDir, 'blobs')
  const signal = AbortSignal.any([request.signal, lock.lost])
  const both = { lock, signal, progress: request.progress }
  try {
    const sent = await moveContents({
      from: { db: source.reads, blobs: await openBlobFolder(folder), folder },
      to: { db: target.db, blobs: contents.blobs },
      inPlace: place !== undefined && 'folder' in place && (await isSame(place.folder, folder)),
      since: target.clock().toISOString(),
      ...both,
    })
    const rows = await moveTables({ from: source.reads, to: target.db, ...both })
    await gatherStatistics(target.longReads, MOVED_TABLES)
    const counters = await selectCounters(source.reads)
    await writeMovedNote(dataDir, target.place, target.clock())
    const epoch = await endMove(target.db, { meta, counters, lost: sent.lost }, lock)
    const { count, bytes, lost } = sent
    return { database: target.place, rows, contents: { count, bytes }, lost, epoch }
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

/** The lease of a move that was killed ends by itself. */
async function takeMove(target: Engine, signal: AbortSignal): Promise<Lock> {
  const until = performance.now() + PATIENCE_MS
  while (true) {
    const lock = await target.takeLock('migrate')
    if (lock) return lock
    if (performance.now() > until) break
    await wait(TRY_AGAIN_MS, undefined, { signal })
  }
  throw new AppError(
    'failed',
    `this database is being worked on ${await target.holderOf('migrate')}: try again then`,
  )
}

async function isSame(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => unlessMissing(stat(path))))
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
}
