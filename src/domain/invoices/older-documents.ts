// Reads the invoices among documents that an earlier version of the program stored, newest first. The server does it in
// the background, with little of the processor; `cambista document recognise` does it at once.

import { setTimeout as wait } from 'node:timers/promises'
import { AppError, errorReason } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import type { BlobReader } from '../../store/blobs/blob-reader.ts'
import { findNewestId } from '../../store/documents/context.ts'
import { READER_VERSION, type StoredInvoice } from '../../store/documents/invoices.ts'
import {
  findReaderProgress,
  replaceInvoices,
  selectUnread,
  updateReaderProgress,
} from '../../store/documents/unread.ts'
import { atomically, type Engine, type Lock } from '../../store/engine.ts'
import type { ReadDb, WriteDb } from '../../store/tables.ts'
import { loadRecognition } from './invoice-reader.ts'

const DOCUMENTS_AT_ONCE = 50
/** Pace of the server: 50 documents a second, and 5 % of a processor. */
const PACE: Pace = { leastMs: 1000, processorShare: 0.05 }
const RETRY_MS = 60_000
/** Errors of a single file. */
const UNREADABLE = ['EIO', 'EACCES', 'EISDIR']

/** Pause after each batch: it lasts at least so long, and uses at most this share of a processor. */
type Pace = { leastMs: number; processorShare: number }

type ReadingDeps = {
  db: WriteDb
  reads: ReadDb
  blobs: BlobReader
  lock?: Lock
  signal: AbortSignal
}

/**
 * `invoices`, `faults`: blobs that are invoices, or faulty ones. `unreadable`: documents without a sound blob.
 */
export type ReadCounts = { documents: number; invoices: number; faults: number; unreadable: number }

/**
 * Reads the documents that wait for the reader, and records how far it is, so that a later call continues. The reader
 * is loaded only if there is such a document.
 */
export async function readOlderDocuments(deps: ReadingDeps, pace?: Pace): Promise<ReadCounts> {
  const progress = await findReaderProgress(deps.reads)
  const isCurrent = progress !== undefined && progress.reader >= READER_VERSION
  const before = isCurrent ? progress.unreadBefore : (await findNewestId(deps.reads)) + 1
  const storeProgress = (trx: WriteDb, unreadBefore: number) =>
    updateReaderProgress(trx, { reader: READER_VERSION, unreadBefore })
  if (before > 1) return readDocuments(deps, { before, reader: READER_VERSION, pace, storeProgress })
  if (!isCurrent) await atomically(deps.db, (trx) => storeProgress(trx, 0), deps.lock)
  return createCounts()
}

/** Reads all documents, or those of a company. `again`: also those that the present reader has read. */
export async function readAllDocuments(
  deps: ReadingDeps,
  { companyId, again }: { companyId?: number | undefined; again: boolean },
): Promise<ReadCounts> {
  const before = (await findNewestId(deps.reads)) + 1
  return readDocuments(deps, { before, companyId, reader: again ? undefined : READER_VERSION })
}

type Run = {
  before: number
  companyId?: number | undefined
  /** Skips documents whose facts are of this reader. */
  reader?: number | undefined
  pace?: Pace | undefined
  /**
   * Records in the transaction of the facts the id before which documents are unread, 0 at the end. Returns the stored
   * one, since another process may be further.
   */
  storeProgress?: (trx: WriteDb, unreadBefore: number) => Promise<number>
}

async function readDocuments(deps: ReadingDeps, run: Run): Promise<ReadCounts> {
  const { db, reads, lock, signal } = deps
  const { recognizeBlob } = await loadRecognition()
  const counts = createCounts()
  for (let before = run.before; before > 0 && !signal.aborted && !lock?.lost.aborted; ) {
    const [start, cpuBefore] = [performance.now(), process.cpuUsage()]
    const documents = await selectUnread(reads, { ...run, before, limit: DOCUMENTS_AT_ONCE })
    const ids: number[] = []
    const rows: StoredInvoice[] = []
    for (const { id, company_id, name, sha256 } of documents) {
      const recognition = recognizeBlob()
      if (!(await readForRecognition(deps.blobs, sha256, recognition.write))) {
        counts.unreadable += 1
        continue
      }
      ids.push(id)
      const facts = recognition.end(name)
      if (!facts) continue
      rows.push({ document_id: id, company_id, ...facts })
      if (facts.source === 'content') counts[facts.fault === null ? 'invoices' : 'faults'] += 1
    }
    counts.documents += documents.length
    const last = documents.length < DOCUMENTS_AT_ONCE ? 0 : (documents.at(-1)?.id ?? 0)
    const write = async (trx: WriteDb) => {
      await replaceInvoices(trx, ids, rows)
      return run.storeProgress ? run.storeProgress(trx, last) : last
    }
    before = await atomically(db, write, lock)
    if (run.pace && before > 0) await pause(run.pace, { start, cpuBefore, signal })
  }
  return counts
}

function createCounts(): ReadCounts {
  return { documents: 0, invoices: 0, faults: 0, unreadable: 0 }
}

/** Reads a blob until the reader has enough. Returns false for one that is missing or altered. */
async function readForRecognition(
  blobs: BlobReader,
  sha256: string,
  write: (bytes: Uint8Array) => boolean,
): Promise<boolean> {
  const blob = await blobs.read(sha256)
  if (!blob) return false
  try {
    for await (const chunk of blob.chunks()) if (!write(chunk)) break
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'failed') return false // an altered blob
    if (UNREADABLE.includes(String((error as NodeJS.ErrnoException).code))) return false
    throw error
  }
}

async function pause(
  { leastMs, processorShare }: Pace,
  { start, cpuBefore, signal }: { start: number; cpuBefore: NodeJS.CpuUsage; signal: AbortSignal },
): Promise<void> {
  const { user, system } = process.cpuUsage(cpuBefore) // includes requests, so a busy server reads slower
  const ms = Math.max(leastMs, (user + system) / 1000 / processorShare) - (performance.now() - start)
  await wait(Math.max(0, ms), undefined, { signal }).catch(() => {}) // stopped
}

/** Reads older documents on the node that has the lock, until all are read or the server ends. */
export function startOlderDocuments(
  deps: Pick<Engine, 'db' | 'reads' | 'takeLock'> & { blobs: BlobReader; log: Log },
): { close(): Promise<void> } {
  const { db, reads, takeLock, blobs, log } = deps
  const stop = new AbortController()
  const { signal } = stop
  const attempt = async (): Promise<boolean> => {
    const progress = await findReaderProgress(reads)
    if (progress && progress.reader >= READER_VERSION && progress.unreadBefore === 0) return true
    const lock = await takeLock('invoices')
    if (!lock) return false
    try {
      const counts = await readOlderDocuments({ db, reads, blobs, lock, signal }, PACE)
      if (counts.documents > 0) log.info('older documents read', counts)
      return true
    } finally {
      await lock.release()
    }
  }
  const attemptUntilRead = async () => {
    while (!signal.aborted) {
      const isEnd = await attempt().catch((error: unknown) => {
        if (!signal.aborted) log.warn('older documents are not read yet', { reason: errorReason(error) })
        return false
      })
      if (isEnd) break
      await wait(RETRY_MS, undefined, { signal }).catch(() => {}) // closed
    }
  }
  const running = attemptUntilRead()
  return {
    async close() {
      stop.abort()
      await running
    },
  }
}
