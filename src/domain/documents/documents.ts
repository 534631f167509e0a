// Accepting an upload: what makes it a valid request, and what it must name. All or nothing: one bad document and none is
// kept (decisions 3.5).

import { AppError } from '../../errors.ts'
import { findAgent } from '../../store/directory/agents.ts'
import { findCompany } from '../../store/directory/companies.ts'
import { findOwner } from '../../store/directory/owners.ts'
import type { Db } from '../../store/tables.ts'
import { NOT_BASE64 } from './faults.ts'
import { isDocuments, type KeptDocuments, type Upload } from './upload.ts'

/** An upload that is well formed; whether its company, agent and owner exist is not known yet. */
export type Batch = KeptDocuments & { companyId: number; agentId: number; ownerId: number }

const INVALID = 'Invalid documents'
const FIELDS = ['owner_id', 'company_id', 'agent_id', 'documents'] as const

/**
 * Checks what was sent, in the order of decisions 3.1.
 * @throws AppError `bad-request`; for bad documents its details hold `errors`, one for each of the first of them, and
 *   `errors_total`, how many they are
 */
export function checkUpload(upload: Upload): Batch {
  if (FIELDS.some((field) => isMissing(upload[field]))) {
    throw new AppError('bad-request', `Fields ${FIELDS.join(', ')} are required`)
  }
  const ownerId = checkId('owner_id', upload.owner_id)
  const companyId = checkId('company_id', upload.company_id)
  const agentId = checkId('agent_id', upload.agent_id)
  const { documents } = upload
  if (!isDocuments(documents)) throw new AppError('bad-request', INVALID)
  const { faults, faulty, kept } = documents
  const [first] = faults
  if (first || !kept) {
    const message = first?.message === NOT_BASE64 ? 'Invalid base64 content' : INVALID
    throw new AppError('bad-request', message, { details: { errors: faults, errors_total: faulty } })
  }
  return { companyId, agentId, ownerId, ...kept }
}

/**
 * An id from a request: a JSON integer, or a string of digits, from 1 to 2^53-1. A number that is not written as an
 * integer must come as NaN (decisions 3.2).
 * @throws AppError `bad-request`
 */
export function checkId(field: string, sent: unknown): number {
  const id = typeof sent === 'string' && /^\d{1,20}$/.test(sent) ? Number(sent) : sent
  if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 1) return id
  throw new AppError('bad-request', `${field} must be an integer`)
}

/** Whether a field counts as missing: absent, null, an empty string or an empty array (decisions 3.1). */
export function isMissing(sent: unknown): boolean {
  return sent === undefined || sent === null || sent === '' || (Array.isArray(sent) && sent.length === 0)
}

/**
 * Says why an upload finds nothing at which its documents could be (`lookForUpload`).
 * @throws AppError `not-found` for the first that is not there or not allowed (decisions 3.6), `busy` when all fits by now
 */
export async function refuseReferences(
  db: Db,
  batch: Pick<Batch, 'companyId' | 'agentId' | 'ownerId'>,
): Promise<never> {
  if (!(await findCompany(db, batch.companyId))) throw new AppError('not-found', 'Company not found')
  const agent = await findAgent(db, batch.agentId)
  if (!agent?.active || agent.company_id !== batch.companyId)
    throw new AppError('not-found', 'Agent not found')
  const owner = await findOwner(db, batch.ownerId)
  const fits = owner && (owner.company_id === null || owner.company_id === batch.companyId)
  if (!fits) throw new AppError('not-found', 'Owner not found')
  throw new AppError('busy', 'The directory was being changed: send it again')
}
