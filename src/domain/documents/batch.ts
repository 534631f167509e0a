// Stores an upload: its bytes, then its rows, all or nothing (decisions 3.5). An upload may have hundreds of
// thousands of documents, so the work yields every few milliseconds.

import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../runtime/errors.ts'
import { isOutcomeUnknown, storageError } from '../../runtime/storage-error.ts'
import { splitBatches } from '../../store/batches.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import { insertAttachments } from '../../store/documents/attachments.ts'
import { type Parties, selectUploadContext, type UploadContext } from '../../store/documents/context.ts'
import { allocateDocumentIds, insertDocuments, selectExistingIds } from '../../store/documents/documents.ts'
import {
  appendId,
  type IdRange,
  type IdRun,
  insertAnswer,
  rangeIds,
} from '../../store/documents/idempotency.ts'
import { deleteLostBlobs, selectLostHashes } from '../../store/documents/lost-contents.ts'
import { addUsed } from '../../store/documents/usage.ts'
import { atomically } from '../../store/engine.ts'
import type { ReadDb, WriteDb } from '../../store/tables.ts'
import { queueDocuments } from '../hooks/events.ts'
import { type Batch, rejectReferences } from './documents.ts'
import { blobHashes, uploadedContents } from './lost-contents.ts'
import { checkQuotas, selectQuotas, uploadQuotas } from './quotas.ts'

/** Time and token of an upload; null: the token is unknown. */
export type UploadOrigin = { at: string; tokenId: number | null }

/** Identifies a batch, so that a client can send it again. */
export type IdempotencyRecord = { tokenId: number; key: string; fingerprint: string; cutoff: string }

const ROWS_AT_ONCE = 50
// Other uploads wait for ids during these statements, each of which is a round trip to the database.
const DOCUMENTS_AT_ONCE = 500
const HAS_ANSWER = Symbol('there is an answer already')
const FILES_AT_ONCE = 200 // takes 1 to 2 ms

/** Computes a fingerprint of ids, names, types and contents: equal exactly for equal requests. */
export async function computeFingerprint({
  companyId,
  agentId,
  ownerId,
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
  return hash.update(']]').digest('hex')
}

/**
 * Stores a batch: first its bytes, renamed and flushed, then its rows in one transaction. After it returns,
 * everything is on disk. Undefined: a request with the same key was stored first, so this one was not.
 * @throws AppError `disk-full`, `over-quota`, `busy` or `unavailable`, and like `rejectReferences`; nothing is stored
 * then
 */
export async function storeBatch(
  db: WriteDb,
  blobs: Blobs,
  batch: Batch,
  origin: UploadOrigin,
  record: IdempotencyRecord | undefined,
): Promise<IdRange[] | undefined> {
  const { companyId, agentId, ownerId } = batch
  const parties: Parties = { companyId, agentId, ownerId, tokenId: origin.tokenId }
  const bytes = await totalSize(batch)
  const context = (await selectUploadContext(db, parties)) ?? (await rejectReferences(db, batch))
  checkQuotas(uploadQuotas(context, companyId), bytes) // before gigabytes are flushed in vain
  try {
    await batch.contents.commit()
    const insert = async (trx: WriteDb) => {
      // Checked again: a flush of a large batch takes long, and the agent may have become inactive.
      const context =
        (await selectUploadContext(trx, parties, { lock: true })) ?? (await rejectReferences(trx, batch))
      const attachments = await insertContents(trx, blobs, batch, { ...context, ...origin })
      // From here on other uploads wait for the sums and the ids.
      await addUsed(trx, [{ ...parties, bytes }])
      if (uploadQuotas(context, companyId).length > 0) {
        const quotas = await selectQuotas(trx, parties) // again: another upload may have used it up
        checkQuotas(
          quotas.map((quota) => ({ ...quota, used: quota.used - bytes })),
          bytes,
        )
      }
      const runs = await insertRows(trx, batch, attachments, origin)
      if (context.hasHooks) await queueDocuments(trx, { companyId, agentId, runs, at: origin.at })
      if (record) await insertRecord(trx, record, runs, origin.at)
      return runs
    }
    return await atomically(db, insert, { wasCommitted: wasInserted })
  } catch (error) {
    const failure = storageError(error)
    if (!mayBeCommitted(error)) await removeContents(db, blobs, batch)
    if (failure === HAS_ANSWER) return undefined
    throw failure
  }
}

/** Returns true if the rows were committed. Ids are never reused, and either all rows exist or none. */
async function wasInserted(db: ReadDb, [first]: IdRange[]): Promise<boolean> {
  return first !== undefined && (await selectExistingIds(db, [first.id])).has(first.id)
}

/** True if the rows may be committed, or if a check would wait for the database again. */
function mayBeCommitted(error: unknown): boolean {
  const failure = storageError(error)
  return isOutcomeUnknown(error) || (failure instanceof AppError && failure.code === 'busy')
}

async function insertContents(
  trx: WriteDb,
  blobs: Blobs,
  { files, contents }: Batch,
  { at: createdAt, hasLost }: UploadOrigin & Pick<UploadContext, 'hasLost'>,
): Promise<IdRun[]> {
  // The last other document of the same content may have been deleted since the check.
  if (!(await blobs.addReferences(trx, uploadedContents(contents)))) {
    throw new AppError('unavailable', 'The same content was being deleted: send it again')
  }
  // The contents exist again.
  if (hasLost) await deleteLostBlobs(trx, await selectLostHashes(trx, blobHashes(contents)))
  const runs: IdRun[] = []
  for (const some of splitBatches(files, ROWS_AT_ONCE)) {
    if (runs.length > 0) await setImmediate()
    const rows = some.map(({ name, mimetype, content }) => ({ name, mimetype, ...contents.at(content) }))
    for (const id of await insertAttachments(trx, rows, createdAt)) {
      const last = runs.at(-1)
      if (last && id === last.id + last.count) last.count++
      else runs.push({ id, count: 1 })
    }
  }
  return runs
}

async function insertRows(
  trx: WriteDb,
  { companyId, agentId, ownerId, files }: Batch,
  attachments: readonly IdRun[],
  { at: createdAt, tokenId: createdBy }: UploadOrigin,
): Promise<IdRange[]> {
  const runs: IdRange[] = []
  const attachmentIds = rangeIds(attachments)
  const documentIds = await allocateDocumentIds(trx, files.count())
  let count = 0
  for (const some of splitBatches(files, documentIds ? DOCUMENTS_AT_ONCE : ROWS_AT_ONCE)) {
    if (count > 0) await setImmediate()
    const attachedFiles = some.map(({ name }) => ({ id: attachmentIds.next().value ?? 0, name }))
    const party = { companyId, agentId, ownerId, createdAt, createdBy }
    const ownIds = documentIds?.slice(count, count + some.length)
    const ids = await insertDocuments(trx, { ...party, attachments: attachedFiles, ids: ownIds })
    count += some.length
    for (const [at, id] of ids.entries()) appendId(runs, { id, attachment_id: attachedFiles[at]?.id ?? 0 })
  }
  return runs
}

async function insertRecord(trx: WriteDb, record: IdempotencyRecord, runs: IdRange[], createdAt: string) {
  const { tokenId, key, fingerprint, cutoff } = record
  const isFirst = await insertAnswer(trx, { tokenId, key, fingerprint, ranges: runs, createdAt }, cutoff)
  if (!isFirst) throw HAS_ANSWER
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
