// Stores an upload: its bytes, then its rows, all or nothing (decisions 3.5). An upload may have hundreds of
// thousands of documents, so the work yields every few milliseconds.

import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../runtime/errors.ts'
import { isOutcomeUnknown, storageError } from '../../runtime/storage-error.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import { selectUploadContext } from '../../store/documents/context.ts'
import type { IdRange } from '../../store/documents/idempotency.ts'
import type { WriteDb } from '../../store/tables.ts'
import { type Batch, rejectReferences } from './documents.ts'
import {
  HAS_ANSWER,
  type IdempotencyRecord,
  insertUploads,
  type StagedUpload,
  type UploadOrigin,
  uploadParties,
} from './insert-uploads.ts'
import { blobHashes } from './lost-contents.ts'
import { checkQuotas, uploadQuotas } from './quotas.ts'

export type UploadStorage = {
  db: WriteDb
  blobs: Blobs
  /** Commits an upload together with others that wait; undefined where a commit is cheap. */
  commitInGroup?: ((upload: StagedUpload) => Promise<IdRange[]>) | undefined
}

const FILES_AT_ONCE = 200 // takes 1 to 2 ms

/**
 * Computes a fingerprint of ids, names, types and contents: equal exactly for equal requests. The
 * priority 0 and stored duplicates are left out, as in earlier fingerprints.
 */
export async function computeFingerprint({
  companyId,
  agentId,
  ownerId,
  priority = 0,
  duplicates,
  files,
  contents,
}: Batch): Promise<string> {
  const hash = createHash('sha256').update(`[${companyId},${agentId},${ownerId},[`)
  let index = 0
  for (const { name, mimetype, content } of files) {
    if (index > 0) hash.update(',')
    hash.update(JSON.stringify([name, mimetype, contents.at(content).sha256]))
    if (++index % FILES_AT_ONCE === 0) await setImmediate()
  }
  const options = [priority > 0 && `,${priority}`, duplicates && ',"refuse"'].filter(Boolean).join('')
  return hash.update(`]${options}]`).digest('hex')
}

/**
 * Stores a batch: first its bytes, renamed and flushed, then its rows in one transaction. After it returns,
 * everything is on disk. Undefined: a request with the same key was stored first, so this one was not. `commitInGroup`:
 * commits an upload without a quota together with others.
 * @throws AppError `disk-full`, `over-quota`, `busy` or `unavailable`, and like `rejectReferences`; nothing is stored
 * then
 */
export async function storeBatch(
  { db, blobs, commitInGroup }: UploadStorage,
  batch: Batch,
  origin: UploadOrigin,
  record: IdempotencyRecord | undefined,
): Promise<IdRange[] | undefined> {
  const bytes = await totalSize(batch)
  const context =
    (await selectUploadContext(db, uploadParties(batch, origin))) ?? (await rejectReferences(db, batch))
  const quotas = uploadQuotas(context, batch.companyId)
  checkQuotas(quotas, bytes) // before gigabytes are flushed in vain
  const upload: StagedUpload = { batch, origin, record, bytes }
  try {
    await batch.contents.commit()
    if (commitInGroup && quotas.length === 0) return await commitInGroup(upload)
    const [runs] = await insertUploads(db, blobs, [upload])
    return runs
  } catch (error) {
    const failure = storageError(error)
    if (!mayBeCommitted(error)) await removeContents(db, blobs, batch)
    if (failure === HAS_ANSWER) return undefined
    throw failure
  }
}

/** True if the rows may be committed, or if a check would wait for the database again. */
function mayBeCommitted(error: unknown): boolean {
  const failure = storageError(error)
  return isOutcomeUnknown(error) || (failure instanceof AppError && failure.code === 'busy')
}

/** Sum of the document sizes for the quotas; equal contents count each time. */
async function totalSize({ files, contents }: Batch): Promise<number> {
  let bytes = 0
  let at = 0
  for (const { content } of files) {
    bytes += contents.at(content).size
    if (++at % FILES_AT_ONCE === 0) await setImmediate()
  }
  return bytes
}

/** Removes the contents of a batch without rows, as far as possible. The garbage collection removes the rest. */
async function removeContents(db: WriteDb, blobs: Blobs, { contents }: Batch): Promise<void> {
  if (blobs.keepsRemoved) return // the commit may have succeeded on the database server without an answer
  try {
    await blobs.removeFree(db, { names: [...blobHashes(contents)] })
  } catch {} // the error of the batch is the one to report
}
