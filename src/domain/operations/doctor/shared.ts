// What is wrong with a database and a store of contents that several nodes share. It only looks, beside them: what is just
// about to change is looked at again before it is called wrong. What the nodes remove by themselves is only worth knowing.

import { VERSION } from '../../assets.ts'
import { AppError, codeOf } from '../../errors.ts'
import type { SharedContents } from '../../store/blobs/open.ts'
import type { Engine } from '../../store/engine.ts'
import { findLostContent, selectLostContents } from '../../store/lost-contents.ts'
import { pagesOf } from '../../store/portions.ts'
import {
  type NamedContent,
  selectContentsWithoutRow,
  selectNamedContents,
  selectSentAmong,
} from '../../store/postgres/maintenance/content-names.ts'
import { selectFacts, selectHolders } from '../../store/postgres/maintenance/facts.ts'
import { selectSequences } from '../../store/postgres/maintenance/sequences.ts'
import { SCHEMA_VERSION } from '../../store/sqlite/migrations.ts'
import { counted, differences } from '../move/compare.ts'
import { examineDirectory } from './directory.ts'
import { noteSyncs } from './doctor.ts'
import type { DoctorRequest, Examination, Report } from './examination.ts'
import { documentsInWords } from './files.ts'
import { examineHooks } from './hooks.ts'
import { examineRates } from './rates.ts'
import { noteUsage } from './usage.ts'

export type SharedRequest = Pick<DoctorRequest, 'providers' | 'signal' | 'beforeSecondLook' | 'progress'> & {
  engine: Engine
  contents: SharedContents
  /** Reads and hashes every content; otherwise it is looked whether each is there. */
  readAll: boolean
  /** Of the secrets of hooks, if it was given. */
  hookKey?: Buffer | undefined
}

const PAGE = 500
const AWAY = /^(unavailable|busy)$/ // the store, not a content of it
const SHOWN = 20
const OFF_NOTED_MS = 2000
const OFF_MS = 60_000 // more, and a node is not ready

export async function examineShared(request: SharedRequest): Promise<Examination> {
  const { engine, providers, signal } = request
  const found: Examination = { findings: [], notes: [] }
  const report: Report = {
    finding: (check, message, advice) => found.findings.push({ check, message, advice }),
    note: (message, advice) => found.notes.push({ message, advice }),
  }
  report.note(`cambista ${VERSION} on the database ${engine.place}`)
  try {
    await examineDatabase(engine, report)
    const opened = { db: engine.longReads, schema: SCHEMA_VERSION }
    const clock = engine.clock
    await examineRates(opened.db, { clock, providers }, report)
    await examineDirectory(opened.db, report)
    await noteSyncs(opened, { providers }, report)
    await noteUsage(opened, { ...report, note: (message) => report.note(message) }) // no --repair mends it
    await examineHooks(opened, { clock, hookKey: request.hookKey }, report)
    await examineContents(request, report)
  } catch (error) {
    if (signal.aborted) throw new AppError('failed', 'stopped before the end')
    throw error
  }
  return found
}

async function examineDatabase({ db, clockOffsetMs }: Engine, report: Report): Promise<void> {
  const { version, encoding, collation, isolation, synchronousCommit, fsync, standbys } =
    await selectFacts(db)
  report.note(`${version}, schema ${SCHEMA_VERSION}, transactions are ${isolation}`)
  if (encoding !== 'UTF8') {
    const refused = 'what has a character that is not in it is refused'
    report.finding(
      'database',
      `its encoding is ${encoding} (collation ${collation}) and not UTF8: ${refused}`,
    )
  }
  const lossy = 'what was acknowledged may be lost when the server fails'
  if (/^(off|local)$/.test(synchronousCommit)) {
    report.finding('database', `synchronous_commit is ${synchronousCommit}: ${lossy}`)
  }
  if (fsync === 'off') report.finding('database', `fsync is off: ${lossy}`)
  if (standbys === '') {
    report.note(
      'synchronous_standby_names is empty: with the machine of the database, or after a fail-over, what was acknowledged last is lost',
    )
  }
  const off = Math.round(clockOffsetMs?.() ?? 0)
  const which = `the clock of this machine is ${Math.abs(off)} ms ${off > 0 ? 'behind' : 'ahead of'} that of the database`
  if (Math.abs(off) > OFF_MS) report.finding('clock', `${which}: a server here would not be ready`)
  else if (Math.abs(off) > OFF_NOTED_MS) report.note(which)
  for (const { table, given, highest } of await selectSequences(db)) {
    if (given >= highest) continue
    const what = `the next id of ${table} would be ${given + 1}, but there is one of ${highest}`
    report.finding('database', `${what}: cambista database restored mends it, with all nodes stopped`)
  }
  const holders = await selectHolders(db)
  for (const { task, holder, since } of holders) report.note(`${task}: on ${holder}, since ${since}`)
  if (!holders.some(({ task }) => task === 'scheduler')) {
    report.note('no node has the scheduler: none runs, or each has --no-scheduler')
  }
}

async function examineContents(request: SharedRequest, report: Report): Promise<void> {
  const { engine, contents, signal, progress } = request
  const { blobs, rows } = contents
  const fault = await contents.fault()
  if (fault !== undefined) return report.finding('contents', fault) // else each of them would be missing
  let count = 0
  const suspects: NamedContent[] = []
  let unnamed = 0
  const seen = counted(selectNamedContents(engine.longReads), () => {
    signal.throwIfAborted()
    count += 1
    progress?.(count)
  })
  for await (const page of pagesOf(differences(seen, blobs.list()), PAGE)) {
    const names = page.flatMap((one) => (one.only === 'name' ? [one.name] : []))
    unnamed += (await rows.unknownAmong(names)).length
    for (const one of page) {
      if (one.only === 'row' && !(await blobs.writtenAt(one.row.name))) suspects.push(one.row)
    }
  }
  const faults = new Map<string, string>(suspects.map(({ sha256 }) => [sha256, 'is missing']))
  for (const { sha256 } of await selectContentsWithoutRow(engine.longReads)) {
    faults.set(sha256, 'has no row that says where it is')
  }
  if (request.readAll) await readAll(request, faults)
  if (faults.size > 0) await request.beforeSecondLook(signal)
  await reportFaults(request, faults, report)
  if (unnamed > 0) report.note(`${unnamed} contents belong to no document: the nodes remove them in time`)
  const how = request.readAll ? 'all read' : '--read-all reads them'
  report.note(`${count} contents of documents, ${how}`)
}

async function readAll(
  { engine, contents, signal }: SharedRequest,
  faults: Map<string, string>,
): Promise<void> {
  for await (const { sha256 } of selectNamedContents(engine.longReads)) {
    signal.throwIfAborted()
    if (faults.has(sha256)) continue
    try {
      const blob = await contents.blobs.read(sha256)
      if (!blob) faults.set(sha256, 'is missing')
      else for await (const _ of blob.chunks()) signal.throwIfAborted()
    } catch (error) {
      if (signal.aborted || AWAY.test(codeOf(error))) throw error
      faults.set(sha256, `cannot be read as it was stored`)
    }
  }
}

/** What a deletion has let go of since is rightly gone; what is known to be lost is no finding each night. */
async function reportFaults(
  { engine, contents }: SharedRequest,
  faults: ReadonlyMap<string, string>,
  report: Report,
): Promise<void> {
  const known = new Set((await selectLostContents(engine.db)).map(({ sha256 }) => sha256))
  const still = await selectSentAmong(engine.db, [...faults.keys()])
  const lines: string[] = []
  for (const [sha256, fault] of faults) {
    if (fault === 'is missing' && (!still.has(sha256) || (await contents.blobs.read(sha256)))) continue
    const whose = await documentsInWords(engine.db, sha256)
    const lost = known.has(sha256) ? await findLostContent(engine.db, sha256) : undefined
    if (lost) report.note(`content ${sha256} is known lost since ${lost.since} (${lost.fault}): ${whose}`)
    else lines.push(`content ${sha256} ${fault}: ${whose}`)
  }
  for (const line of lines.slice(0, SHOWN)) report.finding('contents', line)
  if (lines.length > SHOWN) {
    report.finding('contents', `${lines.length - SHOWN} more contents have such faults`)
  }
}
