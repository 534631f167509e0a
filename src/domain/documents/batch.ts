// The moment at which an upload is kept: its bytes, then its rows, all or nothing (decisions 3.5). It may have hundreds of
// thousands of documents, so others have their turn every few milliseconds.

import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import { isOutcomeUnknown, storageError } from '../../storage-error.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import { insertDocuments, newDocumentIds, selectIdsAmong } from '../../store/documents.ts'
import { atomically } from '../../store/engine.ts'
import { addToRuns, insertAnswer, type Run } from '../../store/idempotency.ts'
import { deleteLostContents, selectLostAmong } from '../../store/lost-contents.ts'
import { portionsOf } from '../../store/portions.ts'
import type { Db } from '../../store/tables.ts'
import { insertAttachments } from '../../store/uploads/attachments.ts'
import { lookForUpload, type Parties, type UploadLook } from '../../store/uploads/look.ts'
import { addUsed } from '../../store/usage.ts'
import { queueDocuments } from '../hooks/events.ts'
import { type Batch, refuseReferences } from './documents.ts'
import { hashesOf, keptContentsOf } from './lost-contents.ts'
import { checkQuotas, quotasIn, quotasOf } from './quotas.ts'
import { removeUnnamedBlob } from './removal.ts'

/** When an upload was sent, and by which token; null: not known. */
export type Sent = { at: string; tokenId: number | null }

/** How a batch is kept for a client that sends it again. */
export type IdempotencyRecord = { tokenId: number; key: string; fingerprint: string; forgetBefore: string }

const ROWS_AT_ONCE = 50
// While others wait for the ids that follow: each statement goes to the database and back.
const DOCUMENTS_AT_ONCE = 500
const ANSWERED = Symbol('there is an answer already')
const LOOKED_AT_AT_ONCE = 200 // a millisecond or two

/** What two uploads have in common exactly if they ask for the same: ids, names, types and contents. */
export async function fingerprintOf({
  companyId,
  agentId,
  ownerId,
  files,
  contents,
}: Batch): Promise<string> {
  const hash = createHash('sha256').update(`[${companyId},${agentId},${ownerId},[`)
  let at = 0
  for (const { name, mimetype, content } of files) {
    if (at > 0) hash.update(',')
    hash.update(JSON.stringify([name, mimetype, contents.at(content).sha256]))
    if (++at % LOOKED_AT_AT_ONCE === 0) await setImmediate()
  }
  return hash.update(']]').digest('hex')
}

/**
 * Keeps a batch: first its bytes, under their final names and flushed, then its rows in one transaction. When
 * this returns, all of it is on disk. Undefined: meanwhile another request of its key was kept, and nothing of this one.
 * @throws AppError `disk-full`, `over-quota`, `busy` or `unavailable`, and like `refuseReferences`; nothing is kept then
 */
export async function storeBatch(
  db: Db,
  blobs: Blobs,
  batch: Batch,
  sent: Sent,
  record: IdempotencyRecord | undefined,
): Promise<Run[] | undefined> {
  const { companyId, agentId, ownerId } = batch
  const parties: Parties = { companyId, agentId, ownerId, tokenId: sent.tokenId }
  const bytes = await bytesOf(batch)
  const look = (await lookForUpload(db, parties)) ?? (await refuseReferences(db, batch))
  checkQuotas(quotasIn(look, companyId), bytes) // before gigabytes are flushed for nothing
  try {
    await batch.contents.commit()
    const insert = async (trx: Db) => {
      // Again: to flush a large batch takes a while, and an agent can be put to sleep.
      const look = (await lookForUpload(trx, parties, { hold: true })) ?? (await refuseReferences(trx, batch))
      const attachments = await insertContents(trx, blobs, batch, { ...look, ...sent })
      // From here on others wait: for the sums, and for ids.
      await addUsed(trx, [{ ...parties, bytes }])
      if (quotasIn(look, companyId).length > 0) {
        const quotas = await quotasOf(trx, parties) // again: another upload may have taken the room
        checkQuotas(
          quotas.map((quota) => ({ ...quota, used: quota.used - bytes })),
          bytes,
        )
      }
      const runs = await insertRows(trx, batch, attachments, sent)
      if (look.hasHooks) await queueDocuments(trx, { companyId, agentId, runs, at: sent.at })
      if (record) await insertRecord(trx, record, runs, sent.at)
      return runs
    }
    return await atomically(db, insert, { isThere: haveFirst })
  } catch (error) {
    const failure = storageError(error)
    if (!mayBeKept(error)) await removeContents(db, blobs, batch)
    if (failure === ANSWERED) return undefined
    throw failure
  }
}

/** Whether the rows of an upload are there: ids are never given twice, and all of them were written, or none. */
async function haveFirst(db: Db, [first]: Run[]): Promise<boolean> {
  return first !== undefined && (await selectIdsAmong(db, [first.id])).has(first.id)
}

/** Whether rows may name the contents, or it would be waited for again to see that. */
function mayBeKept(error: unknown): boolean {
  const failure = storageError(error)
  return isOutcomeUnknown(error) || (failure instanceof AppError && failure.code === 'busy')
}

/** Ids that rise by one, of as many rows. */
type IdRun = { id: number; count: number }

async function insertContents(
  trx: Db,
  blobs: Blobs,
  { files, contents }: Batch,
  { at: createdAt, hasLost }: Sent & Pick<UploadLook, 'hasLost'>,
): Promise<IdRun[]> {
  // A deletion of the last other document of the same content may have come between.
  if (!(await blobs.claim(trx, keptContentsOf(contents)))) {
    throw new AppError('unavailable', 'The same content was being deleted: send it again')
  }
  // They are on the disk again.
  if (hasLost) await deleteLostContents(trx, await selectLostAmong(trx, hashesOf(contents)))
  const runs: IdRun[] = []
  for (const some of portionsOf(files, ROWS_AT_ONCE)) {
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
  trx: Db,
  { companyId, agentId, ownerId, files }: Batch,
  attachments: readonly IdRun[],
  { at: createdAt, tokenId: createdBy }: Sent,
): Promise<Run[]> {
  const runs: Run[] = []
  const attachmentIds = idsIn(attachments)
  const taken = await newDocumentIds(trx, files.count())
  let done = 0
  for (const some of portionsOf(files, taken ? DOCUMENTS_AT_ONCE : ROWS_AT_ONCE)) {
    if (done > 0) await setImmediate()
    const attached = some.map(({ name }) => ({ id: attachmentIds.next().value ?? 0, name }))
    const party = { companyId, agentId, ownerId, createdAt, createdBy }
    const own = taken?.slice(done, done + some.length)
    const ids = await insertDocuments(trx, { ...party, attachments: attached, ids: own })
    done += some.length
    for (const [at, id] of ids.entries()) addToRuns(runs, { id, attachment_id: attached[at]?.id ?? 0 })
  }
  return runs
}

function* idsIn(runs: readonly IdRun[]): Generator<number, undefined> {
  for (const { id, count } of runs) for (let at = 0; at < count; at++) yield id + at
}

async function insertRecord(trx: Db, record: IdempotencyRecord, runs: Run[], createdAt: string) {
  const { tokenId, key, fingerprint, forgetBefore } = record
  const isFirst = await insertAnswer(trx, { tokenId, key, fingerprint, runs, createdAt }, forgetBefore)
  if (!isFirst) throw ANSWERED
}

/** What the documents count in the quotas: each its size, equal ones too. */
async function bytesOf({ files, contents }: Batch): Promise<number> {
  let bytes = 0
  let at = 0
  for (const { content } of files) {
    bytes += contents.at(content).size
    if (++at % LOOKED_AT_AT_ONCE === 0) await setImmediate()
  }
  return bytes
}

/** Removes the contents of a batch that got no rows, as far as it can: what is left is an orphan, which is swept later. */
async function removeContents(db: Db, blobs: Blobs, { contents }: Batch): Promise<void> {
  if (blobs.removesLater) return // a database elsewhere may have committed and not been able to say so
  try {
    for (const { sha256 } of keptContentsOf(contents)) await removeUnnamedBlob(db, blobs, sha256)
  } catch {} // what made the batch fail is the error to report
}
