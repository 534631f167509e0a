// Deleting documents for good. The rows go first, in one transaction; then each content that no row needs any more.
// A crash in between leaves contents without rows, which `serve` sweeps when it starts: never the other way round. Who
// deleted what is written down with it (decisions 1.9).

import type { Clock } from '../../dates.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import {
  type DocumentRow,
  deleteDocuments,
  isBlobNamed,
  selectDocuments,
  selectIdsAmong,
} from '../../store/documents.ts'
import { atomically, orderContent } from '../../store/engine.ts'
import { type Actor, insertEvents, type NewEvent } from '../../store/events.ts'
import { deleteLostContents } from '../../store/lost-contents.ts'
import type { Db } from '../../store/tables.ts'

export type Removed = {
  documents: number
  /** Contents that no other document needed, and their bytes. Those of a shared store are removed later. */
  blobs: number
  bytes: number
}

/** The token or user that deletes, and the clock that says when. */
export type Deleter = Actor & { clock: Clock }

export type Purge = {
  /** Documents that were there at this instant go. */
  createdUpTo: string
  companyId?: number | undefined
  by: Deleter
  /** Ends it after a batch. */
  signal?: AbortSignal
  /** Told each document once its rows are gone for good. */
  removed(document: DocumentRow): void
}

// A server beside it waits for a batch's transaction when it writes: a few milliseconds.
const BATCH = 200

/** Removes documents of any number that fit into one transaction. */
export async function removeDocuments(
  db: Db,
  blobs: Blobs,
  documents: readonly DocumentRow[],
  by: Deleter,
  removed: (document: DocumentRow) => void,
): Promise<Removed> {
  const remove = async (trx: Db) => {
    const ids = await deleteDocuments(trx, documents)
    const deleted = documents.filter(({ id }) => ids.has(id)) // another process may have deleted some
    await insertEvents(trx, eventsOf(deleted, by))
    return deleted
  }
  const isThere = async (trx: Db, gone: DocumentRow[]) => {
    const ids = gone.map(({ id }) => id)
    return (await selectIdsAmong(trx, ids)).size === 0
  }
  const gone = await atomically(db, remove, { isThere })
  for (const document of gone) removed(document)
  const sum: Removed = { documents: gone.length, blobs: 0, bytes: 0 }
  for (const [sha256, size] of new Map(gone.map(({ sha256, size }) => [sha256, size]))) {
    if (!(await removeUnnamedBlob(db, blobs, sha256))) continue
    sum.blobs++
    sum.bytes += size
  }
  return sum
}

/** Removes old documents, batch by batch. */
export async function purgeDocuments(db: Db, blobs: Blobs, purge: Purge): Promise<Removed> {
  const sum: Removed = { documents: 0, blobs: 0, bytes: 0 }
  for await (const batch of oldDocuments(db, purge)) {
    const removed = await removeDocuments(db, blobs, batch, purge.by, purge.removed)
    sum.documents += removed.documents
    sum.blobs += removed.blobs
    sum.bytes += removed.bytes
    if (purge.signal?.aborted) break
  }
  return sum
}

/** Documents that a purge would remove, by id, a batch at a time. */
export async function* oldDocuments(
  db: Db,
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

function eventsOf(documents: readonly DocumentRow[], { via, actor, clock }: Deleter): NewEvent[] {
  const shared = { at: clock().toISOString(), kind: 'deleted', via, actor } as const
  return documents.map(({ id: document_id, company_id, sha256, created_at, created_by }) => ({
    ...shared,
    document_id,
    company_id,
    sha256,
    created_at,
    created_by,
  }))
}

/**
 * The one thing that is awaited inside a transaction and may be no query is the end of a file: an upload of the same
 * content either has written its rows, and then the content stays, or will claim it when it writes them, and find it gone.
 */
export async function removeUnnamedBlob(db: Db, blobs: Blobs, sha256: string): Promise<boolean> {
  let isUnlinked = false // in the first of two runs
  const isReleased = await atomically(db, async (trx) => {
    await orderContent(trx, sha256)
    if (await isBlobNamed(trx, sha256)) return false
    await deleteLostContents(trx, [sha256])
    const wasThere = await blobs.release(trx, sha256)
    isUnlinked ||= wasThere && !blobs.removesLater
    return wasThere
  })
  return isReleased || isUnlinked
}
