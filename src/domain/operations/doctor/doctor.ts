// Examines a data directory, also beside a running server, without changing it. Suspects of an upload, a deletion or
// a sync under way are checked twice. A note is information; a finding is a fault.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../../../runtime/assets.ts'
import { AppError, errorReason } from '../../../runtime/errors.ts'
import { previousTime } from '../../../runtime/schedule.ts'
import { freeBytes, openBlobFolder } from '../../../store/blobs/folder.ts'
import { movedNote } from '../../../store/cluster/moved-note.ts'
import type { InspectedDatabase } from '../../../store/engine.ts'
import { SCHEMA_VERSION } from '../../../store/migrations.ts'
import { type ProviderRow, selectProviders } from '../../../store/rates/providers.ts'
import { selectLastFinishedRun, selectNewestRun } from '../../../store/rates/sync-runs.ts'
import { DATABASE_FILE, openDatabase } from '../../../store/sqlite/database.ts'
import { inspectDatabase } from '../../../store/sqlite/database-copy.ts'
import { isLocked, takeFileLock } from '../../../store/sqlite/lock.ts'
import { removeUnfinishedCopies } from '../../../store/sqlite/migration-copy.ts'
import type { ReadDb } from '../../../store/tables.ts'
import { TIME_ZONE } from '../../../values/dates.ts'
import { sizeText } from '../../../values/sizes.ts'
import { collectGarbage } from '../../documents/gc.ts'
import { activeProviders, selectActiveProviders } from '../../rates/active-providers.ts'
import { acceptDamagedPart } from '../../rates/rate-sums.ts'
import { isServed } from '../backup/data-dir-files.ts'
import { readManifest } from '../backup/manifest.ts'
import { findBackup, isOnSameDisk } from '../backup/set.ts'
import { readVerifiedNote } from '../backup/verified-note.ts'
import { examineDirectory } from './directory.ts'
import { type DoctorRequest, type Examination, type Report, runText } from './examination.ts'
import { examineFiles } from './files.ts'
import { examineHooks } from './hooks.ts'
import { examineIndicators } from './indicators.ts'
import { examineMailboxes } from './mailboxes.ts'
import { examineRates } from './rates.ts'
import { examineSums } from './sums.ts'
import { correctUsage, noteUsage } from './usage.ts'
import { examineWithheld } from './withheld.ts'

export type RepairResult = { contents: number; temporary: number }

const HOUR_MS = 3_600_000
const LATE_HOURS = 2 // time that a backup may take

/** Examines a data directory. @throws AppError `failed` when it is not a data directory of cambista */
export async function examine(request: DoctorRequest): Promise<Examination> {
  const { dataDir, signal } = request
  const examination: Examination = { findings: [], notes: [] }
  const report: Report = {
    finding: (check, message, advice) => examination.findings.push({ check, message, advice }),
    note: (message, advice) => examination.notes.push({ message, advice }),
  }
  const isInUse = isServed(dataDir)
  report.note(`cambista ${VERSION} on ${dataDir}${isInUse ? ', which a server is using' : ''}`)
  const movedText = movedNote(dataDir)
  if (movedText !== undefined) report.note(movedText)
  const database = openOrReport(dataDir, report)
  let providers = activeProviders(request.providers, [])
  try {
    const sound = database !== undefined && (await examineDatabase(database, report))
    if (database && sound) {
      providers = await selectActiveProviders(database.db, request.providers)
      await examineRates(database.db, { ...request, providers }, report)
      if (database.schema === SCHEMA_VERSION)
        await examineSums(database.db, { ...request, providers }, report)
      await examineWithheld(database, report)
      await examineDirectory(database.db, report)
      await noteSyncs(database, { providers, isSyncing: () => isLocked(dataDir, 'sync.lock') }, report)
      await noteUsage(database, report)
      await examineHooks(database, request, report)
      await examineMailboxes(database, report)
      await examineIndicators(database, request, report)
    }
    await examineFiles(sound ? database : undefined, { ...request, isInUse: isInUse }, report)
  } catch (error) {
    if (signal.aborted) throw new AppError('failed', 'stopped before the end')
    throw error
  } finally {
    await database?.close()
  }
  await examineSpace(request, report)
  await examineBackup(request, report)
  const otherZones = providers
    .filter(({ timeZone }) => timeZone !== TIME_ZONE)
    .map(({ code, timeZone }) => `, those of ${code} of ${timeZone}`)
  const days = `days and schedules are those of ${TIME_ZONE}${otherZones.join('')}`
  report.note(`the zone of this machine is ${request.zone}; ${days}`)
  return examination
}

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
    const gc = { db, clock: () => new Date(), blobs, keepRemovedDays: 0, isIdle: true }
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

/**
 * Reports a finding and returns undefined when the database exists but cannot be opened.
 * @throws AppError when it does not exist
 */
function openOrReport(dataDir: string, report: Report): InspectedDatabase | undefined {
  try {
    return inspectDatabase(join(dataDir, DATABASE_FILE), { live: true })
  } catch (error) {
    if (!existsSync(join(dataDir, DATABASE_FILE))) throw error
    report.finding('database', errorReason(error))
    return undefined
  }
}

async function examineDatabase(
  { schema, faults: listFaults }: InspectedDatabase,
  report: Report,
): Promise<boolean> {
  const faults = await listFaults()
  for (const line of faults) report.finding('database', line)
  if (schema < SCHEMA_VERSION) {
    report.note(`the schema is ${schema}; the next start brings it to ${SCHEMA_VERSION}, after a copy`)
  } else report.note(`the schema is ${schema}, as it should be`)
  if (faults.length === 0) return true
  report.note('rates and contents are not looked at, because the database is damaged: restore a backup')
  return false
}

/** Notes the last sync of each provider. `isSyncing`: whether a run is under way; undefined: unknown. */
export async function noteSyncs(
  { db }: Pick<InspectedDatabase, 'db'>,
  { providers, isSyncing }: Pick<DoctorRequest, 'providers'> & { isSyncing?: () => boolean },
  report: Report,
): Promise<void> {
  const rows = await selectProviders(db)
  for (const { code } of providers) {
    const row = rows.find((one) => one.code === code)
    const last = row && (await selectLastFinishedRun(db, row.id))
    const of = providers.length > 1 ? ` of ${code}` : ''
    if (!last) await reportUnsynced(db, { row, of, isSyncing }, report)
    else report.note(`last sync${of}: ${runText(last)}`)
  }
}

/** `of`: names the provider if there are several. */
async function reportUnsynced(
  db: ReadDb,
  {
    row,
    of,
    isSyncing,
  }: { row: ProviderRow | undefined; of: string; isSyncing?: (() => boolean) | undefined },
  report: Report,
): Promise<void> {
  const never = of ? `no sync${of} yet` : 'never synced'
  const open = row && (await selectNewestRun(db, row.id))
  if (open) {
    const began = `${never}: the first run began at ${open.started_at}`
    if (isSyncing?.() ?? true) report.note(`${began} and has not ended`)
    else report.note(`${began} and was interrupted`, { about: 'first-sync' })
  } else if (row?.enabled)
    report.finding('rates', `${never}, so that there are no rates`, { about: 'first-sync' })
  else report.note(row ? `${never}: ${row.code} is disabled` : never)
}

async function examineSpace({ dataDir, minFree }: DoctorRequest, report: Report): Promise<void> {
  const free = await freeBytes(dataDir)
  if (free >= minFree) return report.note(`${sizeText(free)} are free`)
  report.finding('space', `only ${sizeText(free)} are free: uploads are refused below ${sizeText(minFree)}`)
}

async function examineBackup({ dataDir, backup, clock }: DoctorRequest, report: Report): Promise<void> {
  if (!backup) return report.note('no nightly backup is set up', { about: 'nightly-backup' })
  try {
    const { dir, name } = findBackup(backup.dir)
    if (isOnSameDisk(backup.dir, dataDir))
      report.note(
        `${backup.dir} is on the disk of ${dataDir}, and would be lost with it: is its disk mounted?`,
      )
    const { created_at } = await readManifest(dir)
    const due = previousTime(backup.cron, new Date(clock().getTime() - LATE_HOURS * HOUR_MS))
    const isLate = (time: Date) => due !== undefined && time < due
    const verified = readVerifiedNote(backup.dir)
    if (isLate(new Date(created_at))) {
      const dueTime = due?.toISOString()
      report.finding('backup', `the newest backup, ${dir}, is older than ${dueTime}, when one was due`)
    } else if (verified === undefined || isLate(verified.createdAt)) {
      const older = verified
        ? `the newest verified one is of ${verified.createdAt.toISOString()}`
        : 'none is verified'
      report.finding('backup', `the newest backup, ${dir}, is not verified, and ${older}`)
    } else {
      report.note(`the newest backup is ${dir}${name === verified.name ? '' : ', not verified yet'}`)
    }
  } catch (error) {
    report.finding('backup', errorReason(error))
  }
}
