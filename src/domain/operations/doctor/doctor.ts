// Examines a data directory, also beside a running server, or the database and the blob store of a cluster. Changes
// nothing. Suspects of an upload, a deletion or a sync under way are checked twice. A note is
// information; a finding is a fault.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../../../runtime/assets.ts'
import { AppError, errorReason } from '../../../runtime/errors.ts'
import { previousTime } from '../../../runtime/schedule.ts'
import { freeBytes } from '../../../store/blobs/folder.ts'
import { movedNote } from '../../../store/cluster/moved-note.ts'
import type { InspectedDatabase } from '../../../store/engine.ts'
import { SCHEMA_VERSION } from '../../../store/migrations.ts'
import { DATABASE_FILE } from '../../../store/sqlite/database.ts'
import { inspectDatabase } from '../../../store/sqlite/database-copy.ts'
import type { ReadDb } from '../../../store/tables.ts'
import { TIME_ZONE } from '../../../values/dates.ts'
import { sizeText } from '../../../values/sizes.ts'
import { activeProviders, selectActiveProviders } from '../../rates/active-providers.ts'
import { isServed } from '../backup/data-dir-files.ts'
import { readManifest } from '../backup/manifest.ts'
import { findBackup, isOnSameDisk } from '../backup/set.ts'
import { readVerifiedNote } from '../backup/verified-note.ts'
import { examineSums, examineWithheld } from './damage.ts'
import { examineDirectory, noteUsage } from './directory.ts'
import type {
  CheckContext,
  DoctorRequest,
  Examination,
  FileContext,
  Report,
  SharedContext,
  SharedRequest,
} from './examination.ts'
import { examineFiles } from './files.ts'
import { examineHooks } from './hooks.ts'
import { examineIndicators } from './indicators.ts'
import { examineMailboxes } from './mailboxes.ts'
import { examineRates } from './rates.ts'
import { examineSharedBlobs, examineSharedDatabase } from './shared.ts'
import { noteSyncs } from './syncs.ts'

/** Check of a data directory, of a shared database, or of the rows of either; `anySchema`: of older ones too. */
type ListedCheck =
  | { on: 'file'; run(context: FileContext): Promise<void> | void }
  | { on: 'shared'; run(context: SharedContext): Promise<void> }
  | { on?: undefined; anySchema?: true; run(context: CheckContext): Promise<void> }

/** Checks in the order of their lines. */
const CHECKS: readonly ListedCheck[] = [
  { anySchema: true, run: examineRates },
  { run: examineSums },
  { run: examineWithheld },
  { anySchema: true, run: examineDirectory },
  { anySchema: true, run: noteSyncs },
  { run: noteUsage },
  { run: examineHooks },
  { run: examineMailboxes },
  { run: examineIndicators },
  { on: 'shared', run: examineSharedBlobs },
  { on: 'file', run: examineFiles },
  { on: 'file', run: examineSpace },
  { on: 'file', run: examineBackup },
  { on: 'file', run: noteZones },
]

const HOUR_MS = 3_600_000
const LATE_HOURS = 2 // time that a backup may take

/** Examines a data directory. @throws AppError `failed` when it is not a data directory of cambista */
export function examine(request: DoctorRequest): Promise<Examination> {
  const { dataDir } = request
  return examineAll(request, async (report) => {
    const isInUse = isServed(dataDir)
    report.note(`cambista ${VERSION} on ${dataDir}${isInUse ? ', which a server is using' : ''}`)
    const movedText = movedNote(dataDir)
    if (movedText !== undefined) report.note(movedText)
    const database = openOrReport(dataDir, report)
    await using parts = new AsyncDisposableStack()
    parts.defer(() => database?.close())
    const sound = database && (await examineDatabase(database, report)) ? database : undefined
    const allProviders = request.providers
    const providers = sound
      ? await selectActiveProviders(sound.db, allProviders)
      : activeProviders(allProviders, [])
    const context = { ...request, db: sound?.db as ReadDb, sound, isInUse, providers, allProviders, report }
    for (const check of CHECKS) {
      if (check.on === 'file') await check.run(context)
      else if (check.on === undefined && sound && (check.anySchema || sound.schema === SCHEMA_VERSION))
        await check.run(context)
    }
  })
}

/** Examines a database and a blob store that several nodes share. */
export function examineShared(request: SharedRequest): Promise<Examination> {
  const { engine, providers: allProviders } = request
  const { longReads: db, clock } = engine
  return examineAll(request, async (report) => {
    report.note(`cambista ${VERSION} on the database ${engine.location}`)
    await examineSharedDatabase(engine, report)
    const providers = await selectActiveProviders(db, allProviders)
    const context = { ...request, db, clock, providers, allProviders, report }
    for (const check of CHECKS) if (check.on !== 'file') await check.run(context)
  })
}

async function examineAll(
  { signal }: Pick<DoctorRequest, 'signal'>,
  work: (report: Report) => Promise<void>,
): Promise<Examination> {
  const examination: Examination = { findings: [], notes: [] }
  try {
    await work({
      finding: (check, message, advice) => examination.findings.push({ check, message, advice }),
      note: (message, advice) => examination.notes.push({ message, advice }),
    })
  } catch (error) {
    if (signal.aborted) throw new AppError('failed', 'stopped before the end')
    throw error
  }
  return examination
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

async function examineSpace({ dataDir, minFree, report }: FileContext): Promise<void> {
  const free = await freeBytes(dataDir)
  if (free >= minFree) return report.note(`${sizeText(free)} are free`)
  report.finding('space', `only ${sizeText(free)} are free: uploads are refused below ${sizeText(minFree)}`)
}

async function examineBackup({ dataDir, backup, clock, report }: FileContext): Promise<void> {
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

function noteZones({ providers, zone, report }: FileContext): void {
  const otherZones = providers
    .filter(({ timeZone }) => timeZone !== TIME_ZONE)
    .map(({ code, timeZone }) => `, those of ${code} of ${timeZone}`)
  const days = `days and schedules are those of ${TIME_ZONE}${otherZones.join('')}`
  report.note(`the zone of this machine is ${zone}; ${days}`)
}
