// Accepting an upload: what makes it a valid request, whom it must name, and the moment at which it is kept.
// All or nothing: one bad document and none is kept (decisions 3.5).

import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../errors.ts'
import { findAgent } from '../store/agents.ts'
import type { StagedBlob } from '../store/blob-writer.ts'
import type { Blobs } from '../store/blobs.ts'
import { findCompany } from '../store/companies.ts'
import { insertDocuments } from '../store/documents.ts'
import { deleteAnswersBefore, insertAnswer } from '../store/idempotency.ts'
import { findOwner } from '../store/owners.ts'
import { storageError } from '../store/storage-error.ts'
import type { Db } from '../store/tables.ts'
import { removeUnnamedBlob } from './removal.ts'
import type { Upload, UploadedDocument, UploadedField } from './upload.ts'

/** An upload that is well formed; whether its company, agent and owner exist is not known yet. */
export type Batch = {
  companyId: number
  agentId: number
  ownerId: number
  files: { name: string; mimetype: string; blob: StagedBlob }[]
}

export type DocumentFault = { index: number; field: 'name' | 'mimetype' | 'base64'; message: string }

/** How the answer of a batch is remembered, for a client that asks for it again. */
export type Remember = { tokenId: number; key: string; fingerprint: string; forgetBefore: string }

const FIELDS = ['owner_id', 'company_id', 'agent_id', 'documents'] as const
const MAX_NAME = 255
const LOOKED_FOR_AT_ONCE = 200 // a millisecond or two
const MIMETYPE = /^[\w!#$%&'*+.^`|~-]{1,127}\/[\w!#$%&'*+.^`|~-]{1,127}$/

/**
 * Checks what was sent, in the order of decisions 3.1.
 * @throws AppError `bad-request`; for bad documents its details hold `errors`, one for each of them
 */
export function checkUpload(upload: Upload): Batch {
  if (FIELDS.some((field) => isMissing(upload[field]))) {
    throw new AppError('bad-request', `Fields ${FIELDS.join(', ')} are required`)
  }
  const ownerId = idOf('owner_id', upload.owner_id)
  const companyId = idOf('company_id', upload.company_id)
  const agentId = idOf('agent_id', upload.agent_id)
  if (!Array.isArray(upload.documents)) throw new AppError('bad-request', 'Invalid documents')

  const files: Batch['files'] = []
  const errors: DocumentFault[] = []
  for (const [index, document] of upload.documents.entries()) {
    const file = fileOf(document)
    if ('message' in file) errors.push({ index, ...file })
    else files.push(file)
  }
  const [first] = errors
  if (first) throw new AppError('bad-request', first.message, { details: { errors } })
  return { companyId, agentId, ownerId, files }
}

/**
 * An id from a request: a JSON integer, or a string of digits, from 1 to 2^53-1.
 * @throws AppError `bad-request`
 */
export function idOf(field: string, sent: unknown): number {
  const id = typeof sent === 'string' && /^\d{1,20}$/.test(sent) ? Number(sent) : sent
  if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 1) return id
  throw new AppError('bad-request', `${field} must be an integer`)
}

/** Whether a field counts as missing: absent, null, an empty string or an empty array (decisions 3.1). */
export function isMissing(sent: unknown): boolean {
  return sent === undefined || sent === null || sent === '' || (Array.isArray(sent) && sent.length === 0)
}

/**
 * Refuses a company to a token that is bound to another one, and never looks whether it is there: what nobody asks
 * cannot be told, by words or by time. `bound` is the token's company, null: any.
 * @throws AppError `not-found`
 */
export function checkReach(bound: number | null, companyId: number): void {
  if (bound !== null && companyId !== bound) throw new AppError('not-found', 'Company not found')
}

/** @throws AppError `not-found` for the first that is not there or not allowed (decisions 3.6) */
export async function checkParties(db: Db, batch: Batch): Promise<void> {
  if (!(await findCompany(db, batch.companyId))) throw new AppError('not-found', 'Company not found')
  const agent = await findAgent(db, batch.agentId)
  if (!agent?.active || agent.company_id !== batch.companyId)
    throw new AppError('not-found', 'Agent not found')
  const owner = await findOwner(db, batch.ownerId)
  const fits = owner && (owner.company_id === null || owner.company_id === batch.companyId)
  if (!fits) throw new AppError('not-found', 'Owner not found')
}

/** What two uploads have in common exactly if they ask for the same: ids, names, types and contents. */
export function fingerprintOf(batch: Batch): string {
  const files = batch.files.map(({ name, mimetype, blob }) => [name, mimetype, blob.sha256])
  return hash('sha256', JSON.stringify([batch.companyId, batch.agentId, batch.ownerId, files]), 'hex')
}

/**
 * Keeps a batch: first its bytes, under their final names and flushed, then its rows in one transaction. When
 * this returns, all of it is on disk.
 * @returns the answer, as JSON text
 * @throws AppError `disk-full`, `busy` or `unavailable`, and like `checkParties`; nothing is kept then
 */
export async function keepBatch(
  db: Db,
  blobs: Blobs,
  batch: Batch,
  createdAt: string,
  remember: Remember | undefined,
): Promise<string> {
  try {
    await blobs.commit(batch.files.map(({ blob }) => blob))
    return await db.transaction().execute((trx) => insertBatch(trx, blobs, batch, createdAt, remember))
  } catch (error) {
    const failure = storageError(error)
    const isBusy = failure instanceof AppError && failure.code === 'busy' // and would be waited for again
    if (!isBusy) await removeContents(db, blobs, batch)
    throw failure
  }
}

async function insertBatch(
  trx: Db,
  blobs: Blobs,
  batch: Batch,
  createdAt: string,
  remember: Remember | undefined,
): Promise<string> {
  await checkParties(trx, batch) // again: to flush a large batch takes a while, and an agent can be put to sleep
  const files = batch.files.map(({ name, mimetype, blob: { size, sha256 } }) => ({
    name,
    mimetype,
    size,
    sha256,
  }))
  const { companyId, agentId, ownerId } = batch
  const rows = await insertDocuments(trx, { companyId, agentId, ownerId, createdAt, files })
  // A deletion of the last other document of the same content may have come between: it unlinks under the
  // same lock that this transaction holds, so what is here now stays.
  for (const [at, { sha256 }] of files.entries()) {
    if (at > 0 && at % LOOKED_FOR_AT_ONCE === 0) await setImmediate() // others have their turn
    if (!blobs.isThere(sha256)) {
      throw new AppError('unavailable', 'The same content was being deleted: send it again')
    }
  }
  const answer = answerOf(batch, rows)
  if (remember) {
    const { tokenId, key, fingerprint, forgetBefore } = remember
    await deleteAnswersBefore(trx, forgetBefore)
    await insertAnswer(trx, { tokenId, key, fingerprint, answer, createdAt })
  }
  return answer
}

/** Removes the contents of a batch that got no rows, as far as it can: the next start sweeps the rest. */
async function removeContents(db: Db, blobs: Blobs, { files }: Batch): Promise<void> {
  try {
    for (const sha256 of new Set(files.map(({ blob }) => blob.sha256))) {
      await removeUnnamedBlob(db, blobs, sha256)
    }
  } catch {} // what made the batch fail is the error to report
}

function answerOf(
  batch: Batch,
  rows: readonly { id: number; name: string; attachment_id: number }[],
): string {
  const { companyId: company_id, agentId: agent_id, ownerId: owner_id } = batch
  const count = rows.length
  return JSON.stringify({
    status: 'success',
    message: `${count} document${count === 1 ? '' : 's'} created successfully`,
    created_documents: rows.map(({ id, name, attachment_id }) => ({
      id,
      name,
      attachment_id,
      agent_id,
      owner_id,
      company_id,
    })),
    total_created: count,
    agent_id,
    company_id,
    owner_id,
  })
}

function fileOf(document: UploadedDocument): Batch['files'][number] | Omit<DocumentFault, 'index'> {
  const { name, mimetype, content } = document
  if (!isName(name)) return { field: 'name', message: 'Invalid documents' }
  if (typeof mimetype !== 'string' || !MIMETYPE.test(mimetype)) {
    return { field: 'mimetype', message: 'Invalid documents' }
  }
  if (content && 'blob' in content) return { name, mimetype, blob: content.blob }
  const isBad = content?.problem === 'not base64'
  return { field: 'base64', message: isBad ? 'Invalid base64 content' : 'Invalid documents' }
}

function isName(name: UploadedField): name is string {
  if (typeof name !== 'string' || name === '' || !name.isWellFormed() || /\p{Cc}/u.test(name)) return false
  return [...name].length <= MAX_NAME
}
