// Examines the server of a database and the blob store that several nodes share. Leftovers that the nodes remove
// themselves are notes.

import { errorCode } from '../../../runtime/errors.ts'
import { readPages } from '../../../store/batches.ts'
import {
  type NamedBlob,
  selectBlobsWithoutRow,
  selectHashesWithRow,
  selectNamedBlobs,
} from '../../../store/documents/blob-rows.ts'
import { findLostBlob, selectLostBlobs } from '../../../store/documents/lost-blobs.ts'
import { type LossTime, type OrphanedBlob, selectLosses } from '../../../store/documents/orphans.ts'
import type { Engine } from '../../../store/engine.ts'
import { SCHEMA_VERSION } from '../../../store/migrations.ts'
import { selectFacts, selectHolders } from '../../../store/postgres/maintenance/facts.ts'
import { selectSequences } from '../../../store/postgres/maintenance/sequences.ts'
import { countNoun } from '../../../values/sizes.ts'
import { findUnnamed } from '../../documents/unnamed-blobs.ts'
import { counted, differences } from '../move/compare.ts'
import type { Report, SharedContext } from './examination.ts'
import { documentsInWords } from './files.ts'

const PAGE = 500
const STORE_FAULT = /^(unavailable|busy)$/ // faults of the whole store, not of a single blob
const MAX_LINES = 20
const OFF_NOTED_MS = 2000
const OFF_MS = 60_000 // beyond it a node is not ready

export async function examineSharedDatabase(engine: Engine, report: Report): Promise<void> {
  const { db, clockOffsetMs, lineage } = engine
  await examineServer(engine, report)
  const lineageFault = lineage?.fault()
  if (lineageFault !== undefined) report.finding('database', lineageFault)
  const { version, encoding, collation, isolation, synchronousCommit, fsync, standbys } =
    await selectFacts(db)
  report.note(`${version}, schema ${SCHEMA_VERSION}, transactions are ${isolation}`)
  if (encoding !== 'UTF8') {
    const consequence = 'what has a character that is not in it is refused'
    report.finding(
      'database',
      `its encoding is ${encoding} (collation ${collation}) and not UTF8: ${consequence}`,
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
  const offsetMs = Math.round(clockOffsetMs?.() ?? 0)
  const message = `the clock of this machine is ${Math.abs(offsetMs)} ms ${offsetMs > 0 ? 'behind' : 'ahead of'} that of the database`
  if (Math.abs(offsetMs) > OFF_MS) report.finding('clock', `${message}: a server here would not be ready`)
  else if (Math.abs(offsetMs) > OFF_NOTED_MS) report.note(message)
  for (const { table, lastId, highest } of await selectSequences(db)) {
    if (lastId >= highest) continue
    const message = `the next id of ${table} would be ${lastId + 1}, but there is one of ${highest}`
    report.finding('database', `${message}: cambista database restored mends it, with all nodes stopped`)
  }
  const holders = await selectHolders(db)
  for (const { task, holder, since } of holders) report.note(`${task}: on ${holder}, since ${since}`)
  if (!holders.some(({ task }) => task === 'scheduler')) {
    report.note('no node has the scheduler: none runs, or each has --no-scheduler')
  }
}

/** Reports the hosts of the address, if it has several, and settings that a pooler drops. */
async function examineServer(engine: Engine, report: Report): Promise<void> {
  const { hosts, settingFaults } = (await engine.examineServer?.()) ?? { hosts: [], settingFaults: [] }
  for (const fault of settingFaults) report.finding('database', `in a transaction ${fault}`)
  const waitingCommits = engine.waitingCommits?.() ?? 0
  if (waitingCommits > 0)
    report.finding('database', `${waitingCommits} commits wait for a synchronous standby`)
  if (hosts.length < 2) return
  for (const host of hosts) {
    if ('fault' in host) {
      report.finding('database', `host ${host.name}: ${host.fault}`)
      continue
    }
    const lag =
      host.role === 'standby' && host.bytesBehind !== undefined ? `, ${host.bytesBehind} bytes behind` : ''
    report.note(`host ${host.name}: ${host.role}, timeline ${host.timeline ?? 'not known'}${lag}`)
  }
  const primaries = hosts.flatMap((host) => ('role' in host && host.role === 'primary' ? [host.name] : []))
  if (primaries.length > 1) {
    report.finding(
      'database',
      `${primaries.join(' and ')} both write: all but that of the highest timeline must stop`,
    )
  }
}

export async function examineSharedBlobs(request: SharedContext): Promise<void> {
  const { engine, blobStore, signal, progress, report } = request
  const { blobs } = blobStore
  const fault = await blobStore.findFault()
  if (fault !== undefined) return report.finding('contents', fault) // otherwise every blob would be reported missing
  const losses = await selectLosses(engine.longReads)
  const orphans: OrphanedBlob[] = []
  let count = 0
  const suspects: NamedBlob[] = []
  let unnamed = 0
  const countedRows = counted(selectNamedBlobs(engine.longReads), () => {
    signal.throwIfAborted()
    count += 1
    progress?.(count)
  })
  for await (const page of readPages(differences(countedRows, blobs.list()), PAGE)) {
    const names = page.flatMap((one) => (one.only === 'name' ? [one.name] : []))
    const unnamedBlobs = await findUnnamed(engine.db, blobs, losses, names)
    orphans.push(...unnamedBlobs.orphans)
    unnamed += unnamedBlobs.others.length
    for (const one of page) {
      if (one.only === 'row' && !(await blobs.findModifiedTime(one.row.name))) suspects.push(one.row)
    }
  }
  if (losses.length > 0) reportOrphans(losses, orphans, report)
  const faults = new Map<string, string>(suspects.map(({ sha256 }) => [sha256, 'is missing']))
  for (const { sha256 } of await selectBlobsWithoutRow(engine.longReads)) {
    faults.set(sha256, 'has no row that says where it is')
  }
  if (request.readAll) await readBlobs(request, faults)
  if (faults.size > 0) await request.beforeRecheck(signal)
  await reportFaults(request, faults)
  if (unnamed > 0)
    report.note(
      `${countNoun(unnamed, 'content belongs', 'contents belong')} to no document: the nodes remove such contents in time`,
    )
  const how = request.readAll ? 'all read' : '--read-all reads them'
  report.note(`${countNoun(count, 'content of a document', 'contents of documents')}, ${how}`)
}

/** Reports all of them, since the operator compares the list with what clients have. */
function reportOrphans(losses: readonly LossTime[], orphans: readonly OrphanedBlob[], report: Report): void {
  const times = losses
    .map(({ from, to }) => `${new Date(from).toISOString()} to ${new Date(to).toISOString()}`)
    .join(', ')
  const end = 'cambista database accept-loss ends this message'
  if (orphans.length === 0) {
    report.note(`the database failed over or went back (${times}): no content was lost; ${end}`)
    return
  }
  const heal = 'an upload of the same bytes heals each'
  report.finding(
    'contents',
    `the database failed over or went back (${times}): ${countNoun(orphans.length, 'content has', 'contents have')} no document; ${heal}; ${end}, and the nodes remove such contents in time`,
  )
  for (const { sha256, size, stored_at } of orphans) {
    const message = `content ${sha256} of ${size} bytes, stored ${stored_at}, has no document`
    report.finding('contents', `${message}: it was acknowledged and lost, or its upload was refused`)
  }
}

async function readBlobs(
  { engine, blobStore, signal }: SharedContext,
  faults: Map<string, string>,
): Promise<void> {
  for await (const { sha256 } of selectNamedBlobs(engine.longReads)) {
    signal.throwIfAborted()
    if (faults.has(sha256)) continue
    try {
      const blob = await blobStore.blobs.read(sha256)
      if (!blob) faults.set(sha256, 'is missing')
      else for await (const _ of blob.chunks()) signal.throwIfAborted()
    } catch (error) {
      if (signal.aborted || STORE_FAULT.test(errorCode(error))) throw error
      faults.set(sha256, `cannot be read as it was stored`)
    }
  }
}

/** Reports faults. A missing blob without a row was deleted since; a known loss is no finding each night. */
async function reportFaults(
  { engine, blobStore, report }: SharedContext,
  faults: ReadonlyMap<string, string>,
): Promise<void> {
  const knownLosses = new Set((await selectLostBlobs(engine.db)).map(({ sha256 }) => sha256))
  const hashesWithRow = await selectHashesWithRow(engine.db, [...faults.keys()])
  const lines: string[] = []
  for (const [sha256, fault] of faults) {
    if (fault === 'is missing' && (!hashesWithRow.has(sha256) || (await blobStore.blobs.read(sha256))))
      continue
    const whose = await documentsInWords(engine.db, sha256)
    const loss = knownLosses.has(sha256) ? await findLostBlob(engine.db, sha256) : undefined
    if (loss) report.note(`content ${sha256} is known lost since ${loss.since} (${loss.fault}): ${whose}`)
    else lines.push(`content ${sha256} ${fault}: ${whose}`)
  }
  for (const line of lines.slice(0, MAX_LINES)) report.finding('contents', line)
  if (lines.length > MAX_LINES) {
    report.finding('contents', `${lines.length - MAX_LINES} more contents have such faults`)
  }
}
