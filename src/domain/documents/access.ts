// What a client may see of the documents and of the directory that they hang on. The rest is not there: it is refused
// without a look whether it is, for what is not asked cannot be told, by words or by time.

import { AppError } from '../../errors.ts'

/** One company, or all (null); of its agents one, or all (null). */
export type Access = { companyId: number | null; agentId: number | null }

/** For what is asked on the command line. */
export const EVERYTHING: Access = { companyId: null, agentId: null }

/** @throws AppError `not-found` */
export function checkCompanyAccess({ companyId }: Access, asked: number): void {
  if (companyId !== null && asked !== companyId) throw new AppError('not-found', 'Company not found')
}

/** @throws AppError `not-found` */
export function checkAgentAccess({ agentId }: Access, asked: number): void {
  if (agentId !== null && asked !== agentId) throw new AppError('not-found', 'Agent not found')
}
