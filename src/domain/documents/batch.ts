// The moment at which an upload is kept: its bytes, then its rows, all or nothing (decisions 3.5). It may have hundreds of
// thousands of documents, so others have their turn every few milliseconds.

import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import { isOutcomeUnknown, storageError } from '../../storage-error.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import { insertDocuments, selectIdsAmong } from '../../store/documents.ts'
import { atomically } from '../../store/engine.ts'
import { addToRuns, insertAnswer, type Run } from '../../store/idempotency.ts'
import { deleteLostContents, selectLostAmong } from '../../store/lost-contents.ts'
import { portionsOf } from '../../store/portions.ts'
import type { Db } from '../../store/tables.ts'
import { lookForUpload, type Parties, type UploadLook } from '../../store/uploads.ts'
import { addUsed } from '../../store/usage.ts'
import { queueDocuments } from '../hooks/events.ts'
import { type Batch, refuseReferences } from './documents.ts'
import { hashesOf, keptContentsOf } from './lost-contents.ts'
import { checkQuotas, quotasIn } from './quotas.ts'
import { removeUnnamedBlob } from './removal.ts'

/** When an upload was sent, and by which token; null: not known. */
export type Sent = { at: string; tokenId: number | null }

/** How a batch is kept for a client that sends it again. */
export type IdempotencyRecord = { tokenId: number; key: string; fingerprint: string; forgetBefore: string }

const ROWS_AT_ONCE = 50
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
      await addUsed(trx, [{ ...parties, bytes }])
      // Again: to flush a large batch takes a while, and an agent can be put to sleep, or another upload take the room.
      const look = (await lookForUpload(trx, parties, { hold: true })) ?? (await refuseReferences(trx, batch))
      checkQuotas(quotasIn(look, companyId, bytes), bytes)
      return insertBatch(trx, blobs, batch, { ...look, ...sent }, record)
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

async function insertBatch(
  trx: Db,
  blobs: Blobs,
  batch: Batch,
  { at: createdAt, tokenId: createdBy, hasLost, hasHooks }: Sent & Pick<UploadLook, 'hasLost' | 'hasHooks'>,
  record: IdempotencyRecord | undefined,
): Promise<Run[]> {
  const { companyId, agentId, ownerId, contents } = batch
  // A deletion of the last other document of the same content may have come between.
  if (!(await blobs.claim(trx, keptContentsOf(contents)))) {
    throw new AppError('unavailable', 'The same content was being deleted: send it again')
  }
  // They are on the disk again.
  if (hasLost) await deleteLostContents(trx, await selectLostAmong(trx, hashesOf(contents)))
  const runs: Run[] = []
  for (const some of portionsOf(batch.files, ROWS_AT_ONCE)) {
    if (runs.length > 0) await setImmediate()
    const files = some.map(({ name, mimetype, content }) => ({ name, mimetype, ...contents.at(content) }))
    const rows = await insertDocuments(trx, { companyId, agentId, ownerId, createdAt, createdBy, files })
    for (const row of rows) addToRuns(runs, row)
  }
  if (hasHooks) await queueDocuments(trx, { companyId, agentId, runs, at: createdAt })
  if (record) {
    const { tokenId, key, fingerprint, forgetBefore } = record
    const isFirst = await insertAnswer(trx, { tokenId, key, fingerprint, runs, createdAt }, forgetBefore)
    if (!isFirst) throw ANSWERED
  }
  return runs
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
