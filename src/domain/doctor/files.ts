// The doctor's look at the files: contents that are missing, altered or left over, and which users may read what.

import { join } from 'node:path'
import { sizeText } from '../../sizes.ts'
import { type Entry, isServed, listDataDir } from '../../store/backup/data-dir-files.ts'
import { blobPath } from '../../store/blobs/place.ts'
import { faultOfBlob, sizeOfBlob } from '../../store/blobs/transfer.ts'
import { type Content, selectDocumentsOf } from '../../store/contents.ts'
import { isBlobNamed } from '../../store/documents.ts'
import type { Examined } from '../../store/engine.ts'
import { findLostContent, type LostContent, selectLostContents } from '../../store/lost-contents.ts'
import type { Db } from '../../store/tables.ts'
import { contentsOf } from '../backup/backup.ts'
import type { DoctorRequest, Report } from './examination.ts'

const SHOWN = 20 // of the findings that one wrong `chmod -R` can make thousands of
const DOCUMENTS_NAMED = 3
const YOUNG_MS = 10 * 60_000 // no upload waits so long between giving a content its name and committing its row

type FilesRequest = DoctorRequest & { served: boolean }

/** @param opened the database if it is sound, else only permissions are looked at */
export async function examineFiles(
  opened: Examined | undefined,
  request: FilesRequest,
  report: Report,
): Promise<void> {
  if (opened) await examineContents(opened, request, report)
  const unnamed: Entry[] = []
  const temporary: Entry[] = []
  const modes: string[] = []
  let owner: { uid: number } | undefined
  for await (const entry of listDataDir(request.dataDir)) {
    request.signal.throwIfAborted()
    owner ??= entry.stats
    const wrong = wrongWith(entry, owner.uid)
    if (wrong !== undefined) modes.push(wrong)
    if (entry.kind === 'temporary') temporary.push(entry)
    else if (entry.kind === 'unknown') report.note(`${entry.path} is not a file of cambista`)
    else if (entry.kind === 'copy')
      report.note(`${entry.path} was made before an upgrade; remove it if you like`)
    else if (entry.kind === 'blob' && opened && !(await isNamed(opened, entry.name))) unnamed.push(entry)
  }
  for (const line of modes.slice(0, SHOWN)) report.finding('permissions', line)
  if (modes.length > SHOWN) {
    report.finding('permissions', `${modes.length - SHOWN} more files and directories have such faults`)
  }
  await lookAgain(opened, { unnamed, temporary }, request, report)
}

/** Every content that the rows name: is it there, is it the one? */
async function examineContents(opened: Examined, request: FilesRequest, report: Report): Promise<void> {
  const { signal, progress } = request
  const dir = join(request.dataDir, 'blobs')
  const sum = { count: 0, bytes: 0, lost: 0 }
  const known = new Set((await selectLostContents(opened.db)).map(({ sha256 }) => sha256))
  for await (const content of contentsOf(opened)) {
    signal.throwIfAborted()
    const wrong = await wrongWithContent(opened.db, dir, content, signal)
    const { sha256 } = content
    const lost = known.has(sha256) ? await findLostContent(opened.db, sha256) : undefined // or it came meanwhile
    if (lost && ++sum.lost <= SHOWN) report.note(await lostInWords(opened.db, lost, wrong, request))
    if (lost && wrong !== undefined) continue // what is known and cannot be mended is no finding each night
    if (wrong !== undefined) {
      const whose = await documentsInWords(opened.db, content.sha256)
      const cure = request.backup ? await copyInWords(request.backup.dir, content.sha256, signal) : ''
      report.finding('contents', `content ${content.sha256} ${wrong}: ${whose}${cure}`)
    }
    sum.count++
    sum.bytes += content.size
    progress?.(sum.count)
  }
  if (sum.lost > SHOWN) report.note(`${sum.lost - SHOWN} more contents are known to be lost`)
  report.note(`${sum.count} contents of documents, ${sizeText(sum.bytes)}`)
}

/** What is known of a lost content. `wrong`: what is wrong with it today; undefined: nothing any more. */
async function lostInWords(
  db: Db,
  { sha256, fault, since }: LostContent,
  wrong: string | undefined,
  { backup, signal }: FilesRequest,
): Promise<string> {
  const whose = await documentsInWords(db, sha256)
  const cure = backup && wrong !== undefined ? await copyInWords(backup.dir, sha256, signal) : ''
  const again = wrong === undefined ? '; it is there again: restart the server' : cure
  const was = fault.replace(/^is /, 'was ').replace(/^cannot /, 'could not ')
  return `content ${sha256} is known lost since ${since}, when it ${was}: ${whose}${again}`
}

async function wrongWithContent(
  db: Db,
  dir: string,
  { sha256, size }: Content,
  signal: AbortSignal,
): Promise<string | undefined> {
  let loss = await faultOfBlob(blobPath(dir, sha256), sha256, signal)
  if (loss?.kind === 'missing') {
    // A deletion commits before it unlinks: what no row names any more is rightly gone. And it may be there again.
    if (!(await isBlobNamed(db, sha256))) return undefined
    loss = await faultOfBlob(blobPath(dir, sha256), sha256, signal)
  }
  if (loss) return loss.words
  const stored = await sizeOfBlob(dir, sha256)
  return stored === undefined || stored === size ? undefined : `has ${stored} bytes, its rows say ${size}`
}

/**
 * What looks left over may be an upload whose row is not committed yet, or a deletion that has not unlinked yet. It is
 * left over if that is so a while later, and, while a server runs, it has had its name for ten minutes. A temporary file
 * is left over only where no server runs: a slow upload may take hours.
 */
async function lookAgain(
  opened: Examined | undefined,
  found: { unnamed: Entry[]; temporary: Entry[] },
  { dataDir, clock, served, beforeSecondLook, signal }: FilesRequest,
  report: Report,
): Promise<void> {
  if (found.unnamed.length + found.temporary.length === 0) return
  await beforeSecondLook(signal)
  const busy = served || isServed(dataDir)
  const isYoung = ({ stats }: Entry) => clock().getTime() - stats.ctimeMs < YOUNG_MS
  const isThere = async ({ name }: Entry) => (await sizeOfBlob(join(dataDir, 'blobs'), name)) !== undefined
  let young = 0
  for (const entry of found.unnamed) {
    if (!opened || (await isNamed(opened, entry.name)) || !(await isThere(entry))) continue
    if (busy && isYoung(entry)) young++
    else
      report.finding(
        'contents',
        `content ${entry.name} (${sizeText(entry.stats.size)}) belongs to no document`,
      )
  }
  if (busy) {
    const count = young + found.temporary.length
    if (count > 0) report.note(`${count} files seem to belong to uploads that are under way`)
    return
  }
  for (const { path } of found.temporary)
    report.finding('temporary', `${path} was left by something interrupted`)
}

function isNamed({ db, schema }: Examined, sha256: string): Promise<boolean> | boolean {
  return schema >= 2 && isBlobNamed(db, sha256)
}

/** What is wrong with who may read a file: others may (only its owner should), or it belongs to somebody else. */
function wrongWith({ path, stats }: Entry, owner: number): string | undefined {
  if (stats.isSymbolicLink()) return undefined
  const wanted = stats.isDirectory() ? 0o700 : 0o600
  const mode = stats.mode & 0o777
  if (stats.uid !== owner) return `${path} belongs to user ${stats.uid}, the data directory to ${owner}`
  if (mode === wanted) return undefined
  return `${path} has mode ${mode.toString(8)} instead of ${wanted.toString(8)}`
}

async function copyInWords(set: string, sha256: string, signal: AbortSignal): Promise<string> {
  const path = blobPath(join(set, 'blobs'), sha256)
  return (await faultOfBlob(path, sha256, signal)) ? '' : `; a good copy is ${path}`
}

/** Which documents need a content: the first of them, and whether there are more. */
export async function documentsInWords(db: Db, sha256: string): Promise<string> {
  const documents = await selectDocumentsOf(db, sha256, DOCUMENTS_NAMED + 1)
  const named = documents.slice(0, DOCUMENTS_NAMED).map(({ id, name }) => `${id} (${name})`)
  if (named.length === 0) return 'no document needs it'
  const more = documents.length > DOCUMENTS_NAMED ? ' and more' : ''
  return `document${documents.length === 1 ? '' : 's'} ${named.join(', ')}${more}`
}
