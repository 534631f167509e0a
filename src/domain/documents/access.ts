// Access of a client to the documents and the directory. Other companies and agents are rejected before any query, so
// neither message nor timing reveals whether they exist.

import { AppError } from '../../runtime/errors.ts'
import type { PartyFilter } from '../../store/documents/filter.ts'

/** A single company, or all (null); a single agent of them, or all (null). */
export type Access = { companyId: number | null; agentId: number | null }

/** Access of the command line. */
export const EVERYTHING: Access = { companyId: null, agentId: null }

/** Rejects companies outside of the access. @throws AppError `not-found` */
export function checkCompanyAccess({ companyId }: Access, requested: number): void {
  if (companyId !== null && requested !== companyId)
    throw new AppError('not-found', 'Company not found', { reason: 'no_company' })
}

/** Rejects agents outside of the access. @throws AppError `not-found` */
export function checkAgentAccess({ agentId }: Access, asked: number): void {
  if (agentId !== null && asked !== agentId)
    throw new AppError('not-found', 'Agent not found', { reason: 'no_agent' })
}

/** Combines a filter with the access. @throws AppError `not-found` outside of the access */
export function accessFilter(
  access: Access,
  { companyId = access.companyId ?? undefined, agentId = access.agentId ?? undefined }: PartyFilter,
): PartyFilter {
  if (companyId !== undefined) checkCompanyAccess(access, companyId)
  if (agentId !== undefined) checkAgentAccess(access, agentId)
  return { companyId, agentId }
}
