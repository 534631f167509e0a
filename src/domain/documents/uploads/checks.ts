// Validation of an upload and of its references. A single invalid document rejects the whole upload
// (decisions#all-or-nothing).

import { AppError } from '../../../runtime/errors.ts'
import { findAgent } from '../../../store/directory/agents.ts'
import { findCompany } from '../../../store/directory/companies.ts'
import { findOwner } from '../../../store/directory/owners.ts'
import type { PartyFields, RequestedOptions } from '../../../store/documents/documents.ts'
import type { ReadDb } from '../../../store/tables.ts'
import { NOT_BASE64 } from './faults.ts'
import { isDocuments, UPLOAD_FIELDS, type Upload, type ValidDocuments } from './upload.ts'

/** How an upload refuses invoices that have a document already. */
export type DuplicateRefusal = {
  /** Agent of the client: documents of others are no duplicates; null: all are. */
  agentId: number | null
  /** Name of its token: other bytes of another creator are no duplicates. */
  creator: string
  /** True: the error has the ids of documents. */
  showsIds: boolean
}

/** A valid upload; its company, agent and owner are not checked yet. */
export type Batch = ValidDocuments &
  PartyFields &
  Partial<RequestedOptions> & {
    /** Absent: duplicates are stored. */
    duplicates?: DuplicateRefusal | undefined
  }

const INVALID = 'Invalid documents'

/**
 * Validates an upload, in the order of decisions#checks.
 * @throws AppError `bad-request`; for bad documents its details have `errors`, the first 1,000 of them, and
 * `errors_total`, their number
 */
export function checkUpload(upload: Upload): Batch {
  requireFields(upload, UPLOAD_FIELDS, `Fields ${UPLOAD_FIELDS.join(', ')} are required`)
  const ownerId = checkId('owner_id', upload.owner_id)
  const companyId = checkId('company_id', upload.company_id)
  const agentId = checkId('agent_id', upload.agent_id)
  const { documents } = upload
  if (!isDocuments(documents)) throw new AppError('bad-request', INVALID)
  const { faults, faulty, valid } = documents
  const [first] = faults
  if (first || !valid) {
    const message = first?.message === NOT_BASE64 ? 'Invalid base64 content' : INVALID
    throw new AppError('bad-request', message, { details: { errors: faults, errors_total: faulty } })
  }
  return { companyId, agentId, ownerId, ...valid }
}

/** @throws AppError `bad-request` if fields are empty; its details have their names as `missing` */
export function requireFields<Name extends string>(
  fields: Readonly<Partial<Record<Name, unknown>>>,
  names: readonly Name[],
  message: string,
): void {
  const missing = names.filter((name) => isEmptyValue(fields[name]))
  if (missing.length > 0) throw new AppError('bad-request', message, { details: { missing } })
}

/**
 * Validates an id of a request: a JSON integer or a string of digits, from 1 to 2^53-1. A number that is not written
 * as an integer must be passed as NaN (decisions#ids).
 * @throws AppError `bad-request`
 */
export function checkId(field: string, value: unknown): number {
  const id = typeof value === 'string' && /^\d{1,20}$/.test(value) ? Number(value) : value
  if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 1) return id
  throw new AppError('bad-request', `${field} must be an integer`)
}

/** True for an absent field, null, an empty string or an empty array (decisions#checks). */
export function isEmptyValue(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

/**
 * Explains why an upload's company, agent or owner was not found.
 * @throws AppError `not-found` for the first that does not exist or is not allowed (decisions#company), `busy` if each
 * is valid now
 */
export async function rejectReferences(db: ReadDb, batch: PartyFields): Promise<never> {
  if (!(await findCompany(db, batch.companyId)))
    throw new AppError('not-found', 'Company not found', { reason: 'no_company' })
  const agent = await findAgent(db, batch.agentId)
  if (!agent?.active || agent.company_id !== batch.companyId)
    throw new AppError('not-found', 'Agent not found', { reason: 'no_agent' })
  const owner = await findOwner(db, batch.ownerId)
  const isAllowed = owner && (owner.company_id === null || owner.company_id === batch.companyId)
  if (!isAllowed) throw new AppError('not-found', 'Owner not found', { reason: 'no_owner' })
  throw new AppError('busy', 'The directory was being changed: send it again')
}
