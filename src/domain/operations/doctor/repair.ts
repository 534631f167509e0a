// Repairs a data directory whose server is stopped: removes leftovers of a crash, or accepts damaged rates.

import { join } from 'node:path'
import { AppError } from '../../../runtime/errors.ts'
import { openBlobFolder } from '../../../store/blobs/folder.ts'
import type { InspectedDatabase } from '../../../store/engine.ts'
import { SCHEMA_VERSION } from '../../../store/migrations.ts'
import { DATABASE_FILE, openDatabase } from '../../../store/sqlite/database.ts'
import { inspectDatabase } from '../../../store/sqlite/database-copy.ts'
import { takeFileLock } from '../../../store/sqlite/lock.ts'
import { removeUnfinishedCopies } from '../../../store/sqlite/migration-copy.ts'
import { collectGarbage } from '../../documents/gc.ts'
import { acceptDamagedPart } from '../../rates/rate-sums.ts'
import { correctUsage } from './directory.ts'

export type RepairResult = { contents: number; temporary: number }

/**
 * Removes leftovers of a crash: blobs that no row names, and temporary files. Many blobs are moved instead.
 * Recomputes the used bytes of tokens and companies. With a damaged database nothing is removed, because its rows are
 * unreliable.
 * @throws AppError `failed` when a server is running or the database is damaged
 */
export async function repair(dataDir: string): Promise<RepairResult> {
  return whileStopped(dataDir, async (database) => {
    if ((await database.faults()).length > 0) {
      throw new AppError('failed', 'nothing was removed, because the database is damaged', {
        advice: { about: 'damage' },
      })
    }
    const { contents, temporary } = await repairData(dataDir)
    return { contents, temporary: temporary + removeUnfinishedCopies(dataDir) }
  })
}

/**
 * Accepts the rows of a damaged part of a series.
 * @throws AppError `failed` when a server is running, or for a part that is not damaged
 */
export async function acceptRates(dataDir: string, seriesId: number, part: string): Promise<void> {
  await whileStopped(dataDir, async () => {
    const db = openDatabase(dataDir, { mustExist: true })
    await acceptDamagedPart(db, { seriesId, part, now: new Date() }).finally(() => db.destroy())
  })
}

/** Calls `work` under the lock of a server. @throws AppError `failed` when one is running, or for an older schema */
async function whileStopped<T>(
  dataDir: string,
  work: (database: InspectedDatabase) => Promise<T>,
): Promise<T> {
  const database = inspectDatabase(join(dataDir, DATABASE_FILE), { live: true })
  try {
    const lock = takeFileLock(dataDir, 'serve.lock')
    if (!lock)
      throw new AppError('failed', `a server is using ${dataDir}`, { advice: { about: 'stopped-server' } })
    try {
      if (database.schema !== SCHEMA_VERSION) {
        throw new AppError(
          'failed',
          `${dataDir} is of schema ${database.schema}: start the server once, it upgrades it`,
        )
      }
      return await work(database)
    } finally {
      lock.release()
    }
  } finally {
    await database.close()
  }
}

async function repairData(dataDir: string): Promise<RepairResult> {
  const db = openDatabase(dataDir, { mustExist: true })
  try {
    const blobs = await openBlobFolder(join(dataDir, 'blobs'))
    const gc = { db, clock: () => new Date(), blobs, keepRemovedDays: 0, isAlone: true }
    const {
      removed,
      moved = 0,
      unfinished,
    } = await collectGarbage(gc, undefined, new AbortController().signal)
    await correctUsage(db)
    return { contents: removed + moved, temporary: unfinished }
  } finally {
    await db.destroy()
  }
}
