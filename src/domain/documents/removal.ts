// Deletes documents for good. A transaction deletes the rows and drops their references to blobs. Then a data
// directory removes each blob that no row names. After a crash in between the garbage collection removes the
// blobs; a row never lacks its blob. The deletion is an event (decisions#actions).

import { errorReason } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import type { Blobs, Removal } from '../../store/blobs/blobs.ts'
import { dropReferences, lockBlobRows } from '../../store/documents/blob-rows.ts'
import {
  type DocumentRow,
  deleteDocuments,
  selectDocuments,
  selectNames,
} from '../../store/documents/documents.ts'
import { type Actor, insertEvents, type NewEvent, removeNotes } from '../../store/documents/events.ts'
import { atomically } from '../../store/engine.ts'
import type { ReadDb, WriteDb } from '../../store/tables.ts'
import type { Clock } from '../../values/dates.ts'

export type RemovalResult = {
  documents: number
  /** Blobs that no other document needed, and their bytes. A shared store removes them later. */
  blobs: number
  bytes: number
  /** Blobs that no document needs, and that the store failed to remove. `because`: reason of the first. */
  kept?: number
  because?: string
}

/** Token or user that deletes, and the clock for the event. */
export type Deleter = Actor & { clock: Clock }

export type Purge = {
  /** Deletes documents that existed at this instant. */
  createdUpTo: string
  companyId?: number | undefined
  by: Deleter
  /** Stops after a batch. */
  signal?: AbortSignal
  /** Called for each document after the commit. */
  onRemoved(document: DocumentRow): void
}

// Writes of a server on the same database wait for the transaction of a batch: a few milliseconds.
const BATCH = 200

/** Removes documents in one transaction, which limits their number. */
export async function removeDocuments(
  db: WriteDb,
  blobs: Blobs,
  documents: readonly DocumentRow[],
  by: Deleter,
  onRemoved: (document: DocumentRow) => void,
): Promise<RemovalResult> {
  const sizes = new Map(documents.map(({ sha256, size }) => [sha256, size]))
  const remove = async (trx: WriteDb) => {
    await lockBlobRows(trx, sizes.keys()) // before the sums of companies and tokens, in the order of an upload
    const ids = await deleteDocuments(trx, documents)
    await removeNotes(trx, [...ids])
    const deletedDocuments = documents.filter(({ id }) => ids.has(id)) // another process may have deleted some
    await insertEvents(trx, deletionEvents(deletedDocuments, by))
    const hashes = new Set(deletedDocuments.map(({ sha256 }) => sha256))
    return { deleted: deletedDocuments, dropped: await dropReferences(trx, hashes, by.clock().toISOString()) }
  }
  const isThere = async (trx: WriteDb, { deleted }: { deleted: DocumentRow[]; dropped: string[] }) => {
    const ids = deleted.map(({ id }) => id)
    return (await selectNames(trx, ids)).size === 0
  }
  const { deleted, dropped } = await atomically(db, remove, { wasCommitted: isThere })
  for (const document of deleted) onRemoved(document)
  const { removed, errors } = await removeDropped(db, blobs, dropped)
  const bytes = removed.reduce((sum, sha256) => sum + (sizes.get(sha256) ?? 0), 0)
  const result = { documents: deleted.length, blobs: removed.length, bytes }
  return errors.length > 0 ? { ...result, kept: errors.length, because: errorReason(errors[0]) } : result
}

/** Removes blobs without references. A shared store waits for `--keep-removed` days. */
export async function removeDropped(
  db: WriteDb,
  blobs: Pick<Blobs, 'keepsRemoved' | 'removeFree'>,
  hashes: readonly string[],
): Promise<Removal> {
  if (blobs.keepsRemoved || hashes.length === 0) return { removed: hashes, errors: [] }
  return blobs.removeFree(db, { names: hashes }) // the garbage collection retries those with errors
}

/** Logs blobs that the store failed to remove: their documents are deleted, and the deletion has succeeded. */
export function logKept({ kept, because }: Pick<RemovalResult, 'kept' | 'because'>, log: Log): void {
  if (kept) log.warn('contents of deleted documents cannot be removed yet', { contents: kept, because })
}

/** Removes old documents in batches. */
export async function purgeDocuments(db: WriteDb, blobs: Blobs, purge: Purge): Promise<RemovalResult> {
  const sum: RemovalResult = { documents: 0, blobs: 0, bytes: 0 }
  for await (const batch of oldDocuments(db, purge)) {
    const result = await removeDocuments(db, blobs, batch, purge.by, purge.onRemoved)
    sum.documents += result.documents
    sum.blobs += result.blobs
    sum.bytes += result.bytes
    if (result.because !== undefined) {
      sum.kept = (sum.kept ?? 0) + (result.kept ?? 0)
      sum.because ??= result.because
    }
    if (purge.signal?.aborted) break
  }
  return sum
}

/** Documents that a purge would remove, in batches by id. */
export async function* oldDocuments(
  db: ReadDb,
  { createdUpTo, companyId }: Pick<Purge, 'createdUpTo' | 'companyId'>,
): AsyncGenerator<DocumentRow[]> {
  let after = 0
  while (true) {
    const batch = await selectDocuments(db, { createdUpTo, companyId, after, limit: BATCH })
    const last = batch.at(-1)
    if (!last) return
    yield batch
    after = last.id
  }
}

function deletionEvents(
  documents: readonly DocumentRow[],
  { via, actor, person, clock }: Deleter,
): NewEvent[] {
  const shared = { at: clock().toISOString(), kind: 'deleted', via, actor, person } as const
  return documents.map(({ id: document_id, company_id, sha256, created_at, created_by }) => ({
    ...shared,
    document_id,
    company_id,
    sha256,
    created_at,
    created_by,
  }))
}
