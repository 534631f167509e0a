// The moment at which an upload is kept: its bytes, then its rows, all or nothing (decisions 3.5). It may have hundreds of
// thousands of documents, so others have their turn every few milliseconds.

import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import { storageError } from '../../storage-error.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import { insertDocuments } from '../../store/documents.ts'
import { atomically, orderCompany } from '../../store/engine.ts'
import { addToRuns, deleteAnswersBefore, insertAnswer, type Run } from '../../store/idempotency.ts'
import { deleteLostContents, selectLostAmong } from '../../store/lost-contents.ts'
import type { Db } from '../../store/tables.ts'
import { queueDocuments } from '../hooks/events.ts'
import { type Batch, checkReferences } from './documents.ts'
import { hashesOf, keptContentsOf } from './lost-contents.ts'
import { checkQuotas, quotasOf } from './quotas.ts'
import { removeUnnamedBlob } from './removal.ts'
import type { UploadedFile } from './uploaded-files.ts'

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
 * @throws AppError `disk-full`, `over-quota`, `busy` or `unavailable`, and like `checkReferences`; nothing is kept then
 */
export async function storeBatch(
  db: Db,
  blobs: Blobs,
  batch: Batch,
  sent: Sent,
  record: IdempotencyRecord | undefined,
): Promise<Run[] | undefined> {
  const account = { companyId: batch.companyId, tokenId: sent.tokenId }
  const bytes = await bytesOf(batch)
  const checkRoomFor = async (among: Db) => checkQuotas(await quotasOf(among, account), bytes)
  await checkRoomFor(db) // before gigabytes are flushed for nothing
  try {
    await batch.contents.commit()
    return await atomically(db, async (trx) => {
      await orderCompany(trx, batch.companyId)
      await checkReferences(trx, batch) // again: to flush a large batch takes a while, and an agent can be put to sleep
      await checkRoomFor(trx) // again: another upload may have taken it meanwhile
      return insertBatch(trx, blobs, batch, sent, record)
    })
  } catch (error) {
    const failure = storageError(error)
    const isBusy = failure instanceof AppError && failure.code === 'busy' // and would be waited for again
    if (!isBusy) await removeContents(db, blobs, batch)
    if (failure === ANSWERED) return undefined
    throw failure
  }
}

async function insertBatch(
  trx: Db,
  blobs: Blobs,
  batch: Batch,
  { at: createdAt, tokenId: createdBy }: Sent,
  record: IdempotencyRecord | undefined,
): Promise<Run[]> {
  const { companyId, agentId, ownerId, contents } = batch
  // A deletion of the last other document of the same content may have come between.
  if (!(await blobs.claim(trx, keptContentsOf(contents)))) {
    throw new AppError('unavailable', 'The same content was being deleted: send it again')
  }
  await deleteLostContents(trx, await selectLostAmong(trx, hashesOf(contents))) // they are on the disk again
  const runs: Run[] = []
  for (const some of inPortions(batch.files)) {
    if (runs.length > 0) await setImmediate()
    const files = some.map(({ name, mimetype, content }) => ({ name, mimetype, ...contents.at(content) }))
    const rows = await insertDocuments(trx, { companyId, agentId, ownerId, createdAt, createdBy, files })
    for (const row of rows) addToRuns(runs, row)
  }
  await queueDocuments(trx, { companyId, agentId, runs, at: createdAt })
  if (record) {
    const { tokenId, key, fingerprint, forgetBefore } = record
    await deleteAnswersBefore(trx, forgetBefore)
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

function* inPortions(files: Iterable<UploadedFile>): Generator<UploadedFile[]> {
  let some: UploadedFile[] = []
  for (const file of files) {
    some.push(file)
    if (some.length < ROWS_AT_ONCE) continue
    yield some
    some = []
  }
  if (some.length > 0) yield some
}

/** Removes the contents of a batch that got no rows, as far as it can: what is left is an orphan, which is swept later. */
async function removeContents(db: Db, blobs: Blobs, { contents }: Batch): Promise<void> {
  try {
    for (const { sha256, object } of keptContentsOf(contents)) {
      // An object waits until it is old: a database elsewhere may have committed and not been able to say so.
      if (object === undefined) await removeUnnamedBlob(db, blobs, sha256)
    }
  } catch {} // what made the batch fail is the error to report
}
