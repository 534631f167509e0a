// What can be asked of the documents and of the agents that they are for, by a client that may see those of one company, or of all.

import { AppError } from '../../errors.ts'
import { type AgentRow, selectActiveAgents } from '../../store/agents.ts'
import { type CompanyRow, findCompanyByCode } from '../../store/companies.ts'
import { type DocumentRow, findDocument, selectDocuments } from '../../store/documents.ts'
import type { Db } from '../../store/tables.ts'
import { checkCompanyAccess } from './documents.ts'

/** Ids beyond this one, in this order. */
export type Page = { limit: number; order: 'asc' | 'desc'; after?: number; before?: number }

/**
 * A page of the documents, and whether there is another. `bound`: the company that the client may see, null: all.
 * @throws AppError `not-found` for a company that it may not see
 */
export async function documentsOn(
  db: Db,
  bound: number | null,
  asked: { companyId?: number | undefined; agentId?: number | undefined; page: Page },
): Promise<{ documents: DocumentRow[]; hasMore: boolean }> {
  const { companyId = bound ?? undefined, agentId, page } = asked
  if (companyId !== undefined) checkCompanyAccess(bound, companyId)
  // One more than asked for tells whether there is a next page.
  const found = await selectDocuments(db, { companyId, agentId, ...page, limit: page.limit + 1 })
  return { documents: found.slice(0, page.limit), hasMore: found.length > page.limit }
}

/** @throws AppError `not-found` for one that is not there, and alike for one that the client may not see */
export async function documentBy(db: Db, bound: number | null, id: number): Promise<DocumentRow> {
  const document = Number.isSafeInteger(id) ? await findDocument(db, id, bound ?? undefined) : undefined
  if (!document) throw new AppError('not-found', 'Document not found')
  return document
}

/**
 * A company and its active agents, by id. `bound`: the company that the client may see, null: all.
 * @throws AppError `not-found` for a company that is not there, has another code, or may not be seen
 */
export async function activeAgentsOf(
  db: Db,
  bound: number | null,
  { companyId, code }: { companyId: number; code: string },
): Promise<{ company: CompanyRow; agents: AgentRow[] }> {
  checkCompanyAccess(bound, companyId)
  const company = await findCompanyByCode(db, companyId, code)
  if (!company) throw new AppError('not-found', 'Company not found')
  return { company, agents: await selectActiveAgents(db, companyId) }
}
