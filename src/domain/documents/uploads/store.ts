// Stores an upload: its bytes, then its rows, all or nothing (decisions#all-or-nothing). Several small uploads share a
// transaction. An upload may have hundreds of thousands of documents, so the work yields every few milliseconds.

import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../../runtime/errors.ts'
import { isOutcomeUnknown, storageError } from '../../../runtime/storage-error.ts'
import { splitBatches } from '../../../store/batches.ts'
import type { BlobBatch } from '../../../store/blobs/batch.ts'
import type { Blobs } from '../../../store/blobs/blobs.ts'
import { insertAttachments } from '../../../store/documents/attachments.ts'
import type { UploadedBlob } from '../../../store/documents/blob-info.ts'
import { type Parties, selectUploadContext, type UploadContext } from '../../../store/documents/context.ts'
import { insertCounts, type NewCounts } from '../../../store/documents/counts.ts'
import {
  allocateDocumentIds,
  insertDocuments,
  type NewDocument,
  type RequestedOptions,
  selectNames,
} from '../../../store/documents/documents.ts'
import {
  appendId,
  type IdRange,
  type IdRun,
  insertAnswers,
  rangeIds,
} from '../../../store/documents/idempotency.ts'
import { insertInvoices, type StoredInvoice } from '../../../store/documents/invoices.ts'
import { deleteLostBlobs, selectLostHashes } from '../../../store/documents/lost-blobs.ts'
import { addUsed } from '../../../store/documents/usage.ts'
import { atomically } from '../../../store/engine.ts'
import type { ReadDb, WriteDb } from '../../../store/tables.ts'
import { queueDocuments } from '../../hooks/queued-events.ts'
import { blobHashes, uploadedBlobs } from '../regained-blobs.ts'
import { type Batch, rejectReferences } from './checks.ts'
import { refuseDuplicates } from './duplicates.ts'
import { FILES_AT_ONCE } from './fingerprint.ts'
import { checkQuotas, selectQuotas, uploadQuotas } from './quotas.ts'
import type { UploadedFile } from './uploaded-files.ts'

/**
 * Time and token of an upload; null: the token is unknown, or a mail brought it. `insertOrigin` inserts the entry of the
 * mail in the same transaction, and throws HAS_ANSWER if the mail was stored first.
 */
export type UploadOrigin = {
  at: string
  tokenId: number | null
  insertOrigin?: (trx: WriteDb, runs: readonly IdRange[]) => Promise<void>
}

/** Identifies a batch, so that a client can send it again. */
export type BatchIdentity = { tokenId: number; key: string; fingerprint: string; cutoff: string }

/** An upload whose blobs are in the store. `bytes`: what it adds to the usage. */
export type StagedUpload = {
  batch: Batch
  origin: UploadOrigin
  identity: BatchIdentity | undefined
  bytes: number
}

/** Thrown if a request with the same key was stored first. */
export const HAS_ANSWER = Symbol('there is an answer already')

export type UploadStorage = {
  db: WriteDb
  blobs: Blobs
  /** Commits an upload together with others that wait; undefined for a mail, whose entry is of its transaction. */
  commitInGroup?: ((upload: StagedUpload) => Promise<IdRange[]>) | undefined
}

const ROWS_AT_ONCE = 50
// Other uploads wait for ids during these statements, each of which is a round trip to the database.
const DOCUMENTS_AT_ONCE = 500

/**
 * Stores a batch: first its bytes, renamed and flushed, then its rows in one transaction. After it returns,
 * everything is on disk. Undefined: a request with the same key was stored first, so this one was not. `commitInGroup`:
 * commits an upload without a quota together with others.
 * @throws AppError `disk-full`, `over-quota`, `busy` or `unavailable`, and like `rejectReferences`; nothing is stored
 * then
 */
export async function storeBatch(
  storage: UploadStorage,
  batch: Batch,
  origin: UploadOrigin,
  identity: BatchIdentity | undefined,
): Promise<IdRange[] | undefined> {
  const runs = await storeBatches(storage, [{ batch, origin, identity }])
  return runs?.[0]
}

/** Stores batches with the same company and blobs in one transaction, like `storeBatch`. Returns the ids of each. */
export async function storeBatches(
  { db, blobs, commitInGroup }: UploadStorage,
  batches: readonly Omit<StagedUpload, 'bytes'>[],
): Promise<IdRange[][] | undefined> {
  const uploads: StagedUpload[] = []
  let total = 0
  let hasQuotas = false
  for (const { batch, origin, identity } of batches) {
    const bytes = await totalSize(batch)
    const context =
      (await selectUploadContext(db, uploadParties(batch, origin))) ?? (await rejectReferences(db, batch))
    const quotas = uploadQuotas(context, batch.companyId)
    total += bytes
    checkQuotas(quotas, total) // before gigabytes are flushed in vain
    hasQuotas ||= quotas.length > 0
    uploads.push({ batch, origin, identity, bytes })
  }
  const [upload, ...others] = uploads
  try {
    for (const staged of listBlobs(uploads)) await staged.commit()
    if (commitInGroup && upload && others.length === 0 && !hasQuotas) return [await commitInGroup(upload)]
    return await insertUploads(db, blobs, uploads)
  } catch (error) {
    const failure = storageError(error)
    if (!mayBeCommitted(error)) for (const staged of listBlobs(uploads)) await removeBlobs(db, blobs, staged)
    if (failure === HAS_ANSWER) return undefined
    throw failure
  }
}

/**
 * Stores the rows of uploads in one transaction, all or none. Several uploads must have different keys, and the same
 * batch of blobs or different blobs. Returns the ids of each.
 * @throws AppError `over-quota`, `busy` or `unavailable`, and like `rejectReferences`; HAS_ANSWER
 */
export function insertUploads(
  db: WriteDb,
  blobs: Blobs,
  uploads: readonly StagedUpload[],
): Promise<IdRange[][]> {
  const insert = async (trx: WriteDb) => {
    const contexts = await lockContexts(trx, uploads)
    const hasLost = contexts.some((context) => context.hasLost)
    const attachments = await insertBlobs(trx, blobs, uploads, hasLost)
    await insertCounts(trx, uploads.map(arrivalCounts))
    // From here on other uploads wait for the sums and the ids.
    await addUsed(
      trx,
      uploads.map(({ batch, origin, bytes }) => ({ ...uploadParties(batch, origin), bytes })),
    )
    await recheckQuotas(trx, uploads, contexts)
    const runs = await insertRows(trx, uploads, attachments)
    for (const [index, { batch, origin }] of uploads.entries()) {
      const { companyId, agentId } = batch
      const ownRuns = runs[index] ?? []
      if (contexts[index]?.hasHooks)
        await queueDocuments(trx, { companyId, agentId, runs: ownRuns, at: origin.at })
      await origin.insertOrigin?.(trx, ownRuns)
    }
    await insertBatchAnswers(trx, uploads, runs)
    return runs
  }
  return atomically(db, insert, { wasCommitted: wasInserted })
}

/** Agent, owner, company and token of an upload. */
function uploadParties({ companyId, agentId, ownerId }: Batch, { tokenId }: UploadOrigin): Parties {
  return { companyId, agentId, ownerId, tokenId }
}

/**
 * Returns true if the rows were committed. Ids are never reused, and all rows are inserted or none. Queries the first
 * document of each upload, since a reader may have deleted some already.
 */
async function wasInserted(db: ReadDb, runs: IdRange[][]): Promise<boolean> {
  const ids = runs.flatMap(([first]) => (first ? [first.id] : []))
  return (await selectNames(db, ids)).size > 0
}

/** Checks again: a flush of a large batch takes long, and the agent may have become inactive. */
async function lockContexts(trx: WriteDb, uploads: readonly StagedUpload[]): Promise<UploadContext[]> {
  const contexts = new Map<string, UploadContext>()
  const joinParties = ({ batch, origin }: StagedUpload) =>
    Object.values(uploadParties(batch, origin)).join(' ')
  const byAgent = uploads.toSorted((one, other) => one.batch.agentId - other.batch.agentId) // same order in each group
  for (const upload of byAgent) {
    const { batch, origin } = upload
    if (contexts.has(joinParties(upload))) continue
    const context = await selectUploadContext(trx, uploadParties(batch, origin), { lock: true })
    contexts.set(joinParties(upload), context ?? (await rejectReferences(trx, batch)))
  }
  return uploads.map((upload) => contexts.get(joinParties(upload)) as UploadContext)
}

async function insertBlobs(
  trx: WriteDb,
  blobs: Blobs,
  uploads: readonly StagedUpload[],
  hasLost: boolean,
): Promise<IdRun[]> {
  // The last other document of the same blob may have been deleted since the check.
  if (!(await blobs.addReferences(trx, allBlobs(uploads)))) {
    throw new AppError('unavailable', 'The same content was being deleted: send it again')
  }
  // The blobs exist again.
  if (hasLost) await deleteLostBlobs(trx, await selectLostHashes(trx, allHashes(uploads)))
  const runs: IdRun[] = []
  for (const some of splitBatches(allFiles(uploads), ROWS_AT_ONCE)) {
    if (runs.length > 0) await setImmediate()
    const rows = some.map(({ upload, file: { name, mimetype, blob } }) => {
      return { name, mimetype, ...upload.batch.blobs.at(blob), created_at: upload.origin.at }
    })
    for (const id of await insertAttachments(trx, rows)) {
      const last = runs.at(-1)
      if (last && id === last.id + last.count) last.count++
      else runs.push({ id, count: 1 })
    }
  }
  return runs
}

/** Another upload may have used a quota up. The sums have all these uploads. */
async function recheckQuotas(
  trx: WriteDb,
  uploads: readonly StagedUpload[],
  contexts: readonly UploadContext[],
): Promise<void> {
  for (const [index, { batch, origin, bytes }] of uploads.entries()) {
    const context = contexts[index]
    if (!context || uploadQuotas(context, batch.companyId).length === 0) continue
    const quotas = await selectQuotas(trx, uploadParties(batch, origin))
    checkQuotas(
      quotas.map((quota) => ({ ...quota, used: quota.used - bytes })),
      bytes,
    )
  }
}

/** Inserts the documents in the order of the uploads. Returns the ids of each. */
async function insertRows(
  trx: WriteDb,
  uploads: readonly StagedUpload[],
  attachments: readonly IdRun[],
): Promise<IdRange[][]> {
  const runs = new Map<StagedUpload, IdRange[]>(uploads.map((upload) => [upload, []]))
  const attachmentIds = rangeIds(attachments)
  const total = uploads.reduce((sum, { batch }) => sum + batch.files.count(), 0)
  const documentIds = await allocateDocumentIds(trx, total)
  await refuseDuplicates(
    trx,
    uploads.map(({ batch }) => batch),
  )
  let count = 0
  for (const some of splitBatches(allFiles(uploads), documentIds ? DOCUMENTS_AT_ONCE : ROWS_AT_ONCE)) {
    if (count > 0) await setImmediate()
    const rows = some.map(
      ({ upload: { batch, origin }, file: { name } }): NewDocument & RequestedOptions => ({
        ...{ company_id: batch.companyId, agent_id: batch.agentId, owner_id: batch.ownerId },
        ...{ attachment_id: attachmentIds.next().value ?? 0, name },
        ...{ created_at: origin.at, created_by: origin.tokenId, priority: batch.priority },
      }),
    )
    const ids = await insertDocuments(trx, rows, documentIds?.slice(count, count + some.length))
    count += some.length
    await insertInvoices(trx, invoiceRows(some, ids))
    for (const [at, id] of ids.entries()) {
      const upload = some[at]?.upload
      if (upload) appendId(runs.get(upload) ?? [], { id, attachment_id: rows[at]?.attachment_id ?? 0 })
    }
  }
  return [...runs.values()]
}

/** Facts of the invoices among some files, which have these ids. */
function invoiceRows(
  some: readonly { upload: StagedUpload; file: UploadedFile }[],
  ids: readonly number[],
): StoredInvoice[] {
  return some.flatMap(({ upload, file: { invoice } }, at) => {
    const document_id = ids[at]
    if (!invoice || document_id === undefined) return []
    return [{ document_id, company_id: upload.batch.companyId, ...invoice }]
  })
}

function arrivalCounts({ batch, bytes }: StagedUpload): NewCounts {
  const count = batch.files.count()
  return { agent_id: batch.agentId, new: count, changes: count, bytes }
}

async function insertBatchAnswers(
  trx: WriteDb,
  uploads: readonly StagedUpload[],
  runs: readonly IdRange[][],
): Promise<void> {
  const answers = uploads.flatMap(({ identity, origin }, index) =>
    identity ? [{ ...identity, ranges: runs[index] ?? [], createdAt: origin.at }] : [],
  )
  if (answers.length > 0 && !(await insertAnswers(trx, answers))) throw HAS_ANSWER
}

function* allFiles(
  uploads: readonly StagedUpload[],
): Generator<{ upload: StagedUpload; file: UploadedFile }> {
  for (const upload of uploads) for (const file of upload.batch.files) yield { upload, file }
}

/** Batches of blobs, each once. */
function listBlobs(uploads: readonly StagedUpload[]): Set<BlobBatch> {
  return new Set(uploads.map(({ batch }) => batch.blobs))
}

function* allBlobs(uploads: readonly StagedUpload[]): Generator<UploadedBlob> {
  for (const staged of listBlobs(uploads)) yield* uploadedBlobs(staged)
}

function* allHashes(uploads: readonly StagedUpload[]): Generator<string> {
  for (const { sha256 } of allBlobs(uploads)) yield sha256
}

/** True if the rows may be committed, or if a check would wait for the database again. */
function mayBeCommitted(error: unknown): boolean {
  const failure = storageError(error)
  return isOutcomeUnknown(error) || (failure instanceof AppError && failure.code === 'busy')
}

/** Sum of the document sizes for the quotas; equal blobs count each time. */
async function totalSize({ files, blobs }: Batch): Promise<number> {
  let bytes = 0
  let at = 0
  for (const { blob } of files) {
    bytes += blobs.at(blob).size
    if (++at % FILES_AT_ONCE === 0) await setImmediate()
  }
  return bytes
}

/** Removes the blobs of a batch without rows, as far as possible. The garbage collection removes the rest. */
async function removeBlobs(db: WriteDb, store: Blobs, blobs: BlobBatch): Promise<void> {
  if (store.keepsRemoved) return // the commit may have succeeded on the database server without an answer
  try {
    await store.removeFree(db, { names: [...blobHashes(blobs)] })
  } catch {} // the error of the batch is the one to report
}
