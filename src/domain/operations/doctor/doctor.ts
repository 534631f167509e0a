// What is wrong with a data directory. It only looks, beside a running server too: what an upload, a deletion or a sync
// is just about to change is looked at again before it is called wrong. What is only worth knowing is a note.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../../assets.ts'
import { TIME_ZONE } from '../../dates.ts'
import { AppError, reasonOf } from '../../errors.ts'
import { previousTime } from '../../schedule.ts'
import { sizeText } from '../../sizes.ts'
import { isServed } from '../../store/backup/data-dir-files.ts'
import { readManifest } from '../../store/backup/manifest.ts'
import { findBackup } from '../../store/backup/set.ts'
import { freeBytes, openBlobFolder } from '../../store/blobs/folder.ts'
import { removeOrphans } from '../../store/blobs/orphans.ts'
import { isBlobNamed } from '../../store/documents.ts'
import type { Examined } from '../../store/engine.ts'
import { movedNote } from '../../store/move/moved-note.ts'
import { type ProviderRow, selectProviders } from '../../store/rates/providers.ts'
import { DATABASE_FILE } from '../../store/sqlite/database.ts'
import { openToRead } from '../../store/sqlite/database-copy.ts'
import { takeFileLock } from '../../store/sqlite/lock.ts'
import { removeUnfinishedCopies } from '../../store/sqlite/migration-copy.ts'
import { SCHEMA_VERSION } from '../../store/sqlite/migrations.ts'
import { selectLastFinishedRunOf, selectNewestRun } from '../../store/sync-runs.ts'
import type { Db } from '../../store/tables.ts'
import { examineDirectory } from './directory.ts'
import type { DoctorRequest, Examination, Report } from './examination.ts'
import { examineFiles } from './files.ts'
import { examineHooks } from './hooks.ts'
import { examineRates } from './rates.ts'
import { correctUsage, noteUsage } from './usage.ts'

export type Repaired = { contents: number; temporary: number }

const HOUR_MS = 3_600_000
const LATE_HOURS = 2 // a backup takes its time

/** @throws AppError `failed` when there is no data directory of ours */
export async function examine(request: DoctorRequest): Promise<Examination> {
  const { dataDir, signal } = request
  const found: Examination = { findings: [], notes: [] }
  const report: Report = {
    finding: (check, message, advice) => found.findings.push({ check, message, advice }),
    note: (message, advice) => found.notes.push({ message, advice }),
  }
  const served = isServed(dataDir)
  report.note(`cambista ${VERSION} on ${dataDir}${served ? ', which a server is using' : ''}`)
  const moved = movedNote(dataDir)
  if (moved !== undefined) report.note(moved)
  const opened = openOrReport(dataDir, report)
  try {
    const sound = opened !== undefined && (await examineDatabase(opened, report))
    if (opened && sound) {
      await examineRates(opened.db, request, report)
      await examineDirectory(opened.db, report)
      await noteSyncs(opened, request, report)
      await noteUsage(opened, report)
      await examineHooks(opened, request, report)
    }
    await examineFiles(sound ? opened : undefined, { ...request, served }, report)
  } catch (error) {
    if (signal.aborted) throw new AppError('failed', 'stopped before the end')
    throw error
  } finally {
    await opened?.close()
  }
  await examineSpace(request, report)
  await examineBackup(request, report)
  const days = `days and schedules are those of ${TIME_ZONE}`
  report.note(`the zone of this machine is ${request.zone}; ${days}`)
  return found
}

/**
 * Removes contents that no row names, and temporary files: what a crash left. Nothing else, and nothing when the database
 * is damaged, because what its rows name is not certain then. Adds up anew what tokens and companies use.
 * @throws AppError `failed` when a server is running or the database is damaged
 */
export async function repair(dataDir: string): Promise<Repaired> {
  const opened = openToRead(join(dataDir, DATABASE_FILE), { live: true })
  try {
    const lock = takeFileLock(dataDir, 'serve.lock')
    if (!lock)
      throw new AppError('failed', `a server is using ${dataDir}`, { advice: { about: 'stopped-server' } })
    try {
      if (opened.schema !== SCHEMA_VERSION) {
        throw new AppError(
          'failed',
          `${dataDir} is of schema ${opened.schema}: start the server once, it upgrades it`,
        )
      }
      if ((await opened.faults()).length > 0) {
        throw new AppError('failed', 'nothing was removed, because the database is damaged', {
          advice: { about: 'damage' },
        })
      }
      const blobs = await openBlobFolder(join(dataDir, 'blobs'))
      const removed = await removeOrphans(blobs, { isNamed: (sha256) => isBlobNamed(opened.db, sha256) })
      await correctUsage(dataDir)
      return { contents: removed.unnamed, temporary: removed.temporary + removeUnfinishedCopies(dataDir) }
    } finally {
      lock.release()
    }
  } finally {
    await opened.close()
  }
}

/** Undefined, and a finding, when the database is there and cannot be opened. @throws AppError when it is not there */
function openOrReport(dataDir: string, report: Report): Examined | undefined {
  try {
    return openToRead(join(dataDir, DATABASE_FILE), { live: true })
  } catch (error) {
    if (!existsSync(join(dataDir, DATABASE_FILE))) throw error
    report.finding('database', reasonOf(error))
    return undefined
  }
}

async function examineDatabase({ schema, faults: look }: Examined, report: Report): Promise<boolean> {
  const faults = await look()
  for (const line of faults) report.finding('database', line)
  if (schema < SCHEMA_VERSION) {
    report.note(`the schema is ${schema}; the next start brings it to ${SCHEMA_VERSION}, after a copy`)
  } else report.note(`the schema is ${schema}, as it should be`)
  if (faults.length === 0) return true
  report.note('rates and contents are not looked at, because the database is damaged: restore a backup')
  return false
}

/** When each provider was synced last. */
export async function noteSyncs(
  { db }: Pick<Examined, 'db'>,
  { providers }: Pick<DoctorRequest, 'providers'>,
  report: Report,
): Promise<void> {
  const rows = await selectProviders(db)
  for (const { code } of providers) {
    const row = rows.find((one) => one.code === code)
    const last = row && (await selectLastFinishedRunOf(db, row.id))
    const of = providers.length > 1 ? ` of ${code}` : ''
    if (!last) await reportUnsynced(db, row, of, report)
    else {
      const message = last.message === null ? '' : ` (${last.message})`
      report.note(`last sync${of}: run ${last.id}, ended ${last.finished_at}, ${last.status}${message}`)
    }
  }
}

/** `of`: names the provider where there are several. */
async function reportUnsynced(
  db: Db,
  row: ProviderRow | undefined,
  of: string,
  report: Report,
): Promise<void> {
  const never = of ? `no sync${of} yet` : 'never synced'
  const open = row && (await selectNewestRun(db, row.id))
  if (open) report.note(`${never}: the first run began at ${open.started_at} and has not ended`)
  else if (row?.enabled)
    report.finding('rates', `${never}, so that there are no rates`, { about: 'first-sync' })
  else report.note(row ? `${never}: ${row.code} is disabled` : never)
}

async function examineSpace({ dataDir, minFree }: DoctorRequest, report: Report): Promise<void> {
  const free = await freeBytes(dataDir)
  if (free >= minFree) return report.note(`${sizeText(free)} are free`)
  report.finding('space', `only ${sizeText(free)} are free: uploads are refused below ${sizeText(minFree)}`)
}

async function examineBackup({ backup, clock }: DoctorRequest, report: Report): Promise<void> {
  if (!backup) return report.note('no nightly backup is set up', { about: 'nightly-backup' })
  try {
    const { dir } = findBackup(backup.dir)
    const made = (await readManifest(dir)).created_at
    const due = previousTime(backup.cron, new Date(clock().getTime() - LATE_HOURS * HOUR_MS))
    if (due === undefined || new Date(made) >= due) return report.note(`the newest backup is ${dir}`)
    report.finding(
      'backup',
      `the newest backup, ${dir}, is older than ${due.toISOString()}, when one was due`,
    )
  } catch (error) {
    report.finding('backup', reasonOf(error))
  }
}
